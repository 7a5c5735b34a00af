"""A panel at a glance: who reported how often, what, and how well."""

import numpy as np

from truepool.data.panel import Panel
from truepool.measures.losses import agent_losses, as_loss
from truepool.render.numbers import number, percent
from truepool.render.tables.grid import Grid


def grid(panel: Panel) -> Grid:
    """Lay the agents of a panel out."""
    brier = agent_losses(panel, as_loss("brier"))
    binary = panel.classes == 2
    rows = []
    for i, agent in enumerate(panel.agents):
        column = panel.values[:, i, 0]
        known = column[~np.isnan(column)]
        cells = [number(float(known.mean())) if known.size else "-"] if binary else []
        cells.append(number(float(brier[i])) if known.size else "-")
        rows.append((agent, percent(known.size / len(panel)), *cells))
    headers = ("agent", "reported", *(("mean report",) if binary else ()), "Brier")
    return Grid(_title(panel), headers, tuple(rows))


def _title(panel: Panel) -> str:
    if panel.classes == 2:
        share = percent(float(panel.outcomes.mean()))
        positive = panel.labels.positive
        rate = f"{share} positive" + ("" if positive == 1 else f" ({positive})")
    else:
        rate = f"{panel.classes} classes"
    return f"{len(panel):,} cases, {len(panel.agents)} agents; {rate}"
