"""Values as a notebook shows them: their tables, and the figure of a replay."""

from typing import Any

from markupsafe import Markup

from truepool.comparison import Comparison
from truepool.online import Trace
from truepool.panel.panel import Panel
from truepool.render import figures
from truepool.render.html.layout import fragment
from truepool.render.tables import comparison as comparison_tables
from truepool.render.tables import panel as panel_tables
from truepool.render.tables import replay as replay_tables
from truepool.render.tables.grid import Grid


def panel(shown: Panel) -> Markup:
    """Return who reported how often, and how well."""
    return tables(panel_tables.grid(shown))


def comparison(shown: Comparison) -> Markup:
    """Return every pool with its intervals."""
    return tables(comparison_tables.grid(shown))


def trace(shown: Trace) -> Markup:
    """Return the losses, weights and figure of a replay."""
    return tables(
        replay_tables.grid([shown.summary]),
        replay_tables.weights(shown.summary),
        figure=figures.replay(shown),
        label=f"Weights of {shown.name} and losses, case by case",
        key=f"replay-{shown.name}-{len(shown.losses)}",
    )


def tables(*grids: Grid, **context: Any) -> Markup:
    """Return tables, and what a template of a notebook takes besides."""
    return fragment("notebook.html.j2", grids=grids, **context)
