"""A panel at a glance: who reported how often, what, and how well."""

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.measures.losses import agent_losses, as_loss
from truepool.pages.grid import Grid
from truepool.pages.numbers import number, percent
from truepool.pages.weights import SHOWN
from truepool.panel.panel import Panel


def grid(panel: Panel) -> Grid:
    """Lay the agents of a panel out; of very many, those who reported most."""
    brier = agent_losses(panel, as_loss("brier"))
    counts, binary = panel.report_counts, panel.classes == 2
    means = _mean_reports(panel) if binary else np.zeros(len(counts))
    shown = np.arange(len(counts))
    notes: tuple[str, ...] = ()
    if len(counts) > SHOWN:
        shown = np.argsort(-counts, kind="stable")[:SHOWN]
        notes = (f"The {SHOWN} agents of {len(counts):,} who reported most.",)
    rows = []
    for i in shown.tolist():
        known = counts[i] > 0
        cells = [number(float(means[i])) if known else "-"] if binary else []
        cells.append(number(float(brier[i])) if known else "-")
        rows.append((panel.agents[i], percent(counts[i] / len(panel)), *cells))
    headers = ("agent", "reported", *(("mean report",) if binary else ()), "Brier")
    return Grid(_title(panel), headers, tuple(rows), notes)


def _mean_reports(panel: Panel) -> FloatArray:
    """Mean report of each agent, (N,)."""
    cells, counts = panel.sparse, np.maximum(panel.report_counts, 1)
    if cells is None:
        return np.asarray(np.nansum(panel.reports, axis=0) / counts)
    return cells.by_agent(cells.values) / counts


def _title(panel: Panel) -> str:
    if panel.classes == 2:
        share = percent(float(panel.outcomes.mean()))
        positive = panel.labels.positive
        rate = f"{share} positive" + ("" if positive == 1 else f" ({positive})")
    else:
        rate = f"{panel.classes} classes"
    return f"{len(panel):,} cases, {len(panel.agents)} agents; {rate}"
