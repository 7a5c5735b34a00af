"""Values as a notebook shows them: their tables, and the chart of a replay."""

import numpy as np
from markupsafe import Markup

from truepool.comparison import Comparison
from truepool.core.arrays import thin
from truepool.online import Trace
from truepool.pages import comparison as comparison_tables
from truepool.pages import panel as panel_tables
from truepool.pages import replay as replay_tables
from truepool.pages.chart import COLOURS, Line, line_chart
from truepool.pages.grid import Grid
from truepool.pages.html import fragment
from truepool.pages.page import Figure, Part
from truepool.panel.panel import Panel


def panel(shown: Panel) -> Markup:
    """Return who reported how often, and how well."""
    return tables(panel_tables.grid(shown))


def comparison(shown: Comparison) -> Markup:
    """Return every pool with its intervals."""
    return tables(comparison_tables.grid(shown))


def trace(shown: Trace) -> Markup:
    """Return the losses and weights of a replay, and how the weights moved."""
    drawn: list[Part] = []
    if shown.weights is not None:
        some = thin(len(shown.weights))
        order = np.argsort(-shown.weights[-1], kind="stable")[:COLOURS]
        lines = [
            Line(shown.panel.agents[i], 100 * shown.weights[some, i]) for i in order
        ]
        label = f"Weights of {shown.name}, case by case"
        ends = ("case 1", f"case {len(shown.losses):,}")
        chart = line_chart(lines, label, ends, form="{:g} %".format)
        drawn.append(Figure(label, chart, tuple(line.name for line in lines)))
    return tables(
        replay_tables.grid([shown.summary]),
        replay_tables.weights(shown.summary),
        *drawn,
    )


def tables(*parts: Grid | Part) -> Markup:
    """Return tables and figures, one below the other."""
    chart = any(isinstance(part, Figure) for part in parts)
    return fragment("notebook.html.j2", parts=parts, chart=chart)
