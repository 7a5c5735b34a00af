"""A panel at a glance: who spoke, what they said, and how wrong they were."""

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
        said = panel.values[:, i, 0]
        said = said[~np.isnan(said)]
        told = [number(float(said.mean()))] if binary and said.size else ["-"] * binary
        told.append(number(float(brier[i])) if said.size else "-")
        rows.append((agent, percent(said.size / len(panel)), *told))
    heads = ("agent", "spoke", *(("mean report",) if binary else ()), "Brier")
    return Grid(_title(panel), heads, tuple(rows))


def _title(panel: Panel) -> str:
    if panel.classes == 2:
        share = percent(float(panel.outcomes.mean()))
        rate = f"{panel.labels.positive} happened in {share}"
    else:
        rate = f"{panel.classes} classes"
    return f"{len(panel):,} cases, {len(panel.agents)} agents; {rate}"
