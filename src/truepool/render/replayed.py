"""Replays of learners, as tables and as figures of their weights."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from truepool.errors import SourceError
from truepool.render.grid import Grid
from truepool.render.numbers import number, percent, signed
from truepool.rounds import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")


def told(trace: Trace) -> dict[str, Any]:
    """Return a replay as plain numbers and strings, ready for JSON."""
    regret = None if trace.regret is None else float(trace.regret[-1])
    best = trace.best_weights
    agents = trace.panel.agents
    return {
        "learner": trace.learner.name,
        "loss": trace.learner.loss.name,
        "cases": len(trace.losses),
        "mean_loss": float(np.nanmean(trace.losses)),
        "regret": regret,
        "regret_to_agent": float(trace.regret_to_agent[-1]),
        "best_agent": trace.best_agent,
        "bound": trace.bound,
        "effective_agents": trace.effective_agents,
        "skipped": trace.skipped,
        "unsettled": trace.unsettled,
        "weights": dict(zip(agents, trace.state.weights.tolist(), strict=True)),
        "best_weights": None
        if best is None
        else dict(zip(agents, best.tolist(), strict=True)),
    }


def grid(traces: Sequence[Trace]) -> Grid:
    """Lay learners out side by side, least loss first."""
    rows = [told(trace) for trace in traces]
    rows.sort(key=lambda row: row["mean_loss"])
    first = rows[0]
    lines = tuple(
        (
            row["learner"],
            number(row["mean_loss"]),
            "-" if row["regret"] is None else signed(row["regret"], 10.0),
            signed(row["regret_to_agent"], 10.0),
            "-" if row["bound"] is None else number(row["bound"]),
            f"{row['effective_agents']:.1f}",
        )
        for row in rows
    )
    headers = (
        "learner",
        f"{first['loss']} loss a case",
        "regret to best weights",
        f"to best agent ({first['best_agent']})",
        "bound",
        "effective agents",
    )
    title = (
        f"{first['cases']:,} cases in their order, {len(traces[0].panel.agents)} agents"
    )
    notes = [
        "Regret: loss of all cases beyond what hindsight would have lost; below 0 is "
        "better than hindsight's best fixed choice. Bound: what theory allows."
    ]
    if first["skipped"] or first["unsettled"]:
        notes.append(
            f"{first['skipped']:,} cases skipped (nobody spoke); "
            f"{first['unsettled']:,} outcomes had not come by the end."
        )
    return Grid(title, headers, lines, tuple(notes), essential=3)


def weights(trace: Trace) -> Grid:
    """Lay out the last weights of a learner beside the best in hindsight."""
    row = told(trace)
    best = row["best_weights"]
    agents = sorted(row["weights"], key=lambda agent: -row["weights"][agent])
    if best is None:
        plain = tuple((a, percent(row["weights"][a])) for a in agents)
        return Grid("Last weights", ("agent", "weight"), plain)
    lines = tuple((a, percent(row["weights"][a]), percent(best[a])) for a in agents)
    return Grid("Last weights", ("agent", "weight", "best in hindsight"), lines)


def figure(trace: Trace, smooth: int = 50) -> "Figure":
    """Draw the path of the weights, and the running loss of pool and best agent."""
    from matplotlib.figure import Figure

    page = Figure(figsize=(9, 6), layout="constrained")
    top, bottom = page.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    if trace.weights is not None:
        cases = np.arange(len(trace.weights))
        top.stackplot(cases, trace.weights.T, labels=trace.panel.agents, alpha=0.85)
        top.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    top.set_ylabel("weight")
    top.set_ylim(0, 1)
    top.margins(x=0)
    top.set_title(f"{trace.learner.name}: who counts how much, case by case")
    lost = trace.losses
    best = lost - np.diff(trace.regret_to_agent, prepend=0.0)
    for line, label in ((lost, "pool"), (best, f"best agent ({trace.best_agent})")):
        bottom.plot(_running(line, smooth), label=label, linewidth=1.3)
    bottom.set_ylabel(f"{trace.learner.loss.name} loss\n(mean of {smooth})")
    bottom.set_xlabel("case")
    bottom.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return page


def check_figure(path: Path) -> None:
    """Refuse a path that no figure could be written to."""
    if path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder; name a file in it")
    if path.suffix.lower() not in FORMATS:
        raise SourceError(f"a figure is written as {', '.join(FORMATS)}; {path} is not")
    if not path.parent.is_dir():
        raise SourceError(f"there is no folder {str(path.parent)!r} to write into")


def save(page: "Figure", path: Path) -> None:
    """Write a figure as SVG, PNG or PDF."""
    check_figure(path)
    try:
        page.savefig(path, dpi=120)
    except OSError as error:
        raise SourceError(
            f"{str(path)!r} cannot be written: {error.strerror}"
        ) from None


def _running(values: Any, length: int) -> Any:
    """Mean of the last ``length`` values, NaN passed over."""
    known = ~np.isnan(values)
    total = np.cumsum(np.where(known, values, 0.0))
    count = np.cumsum(known)
    before = np.maximum(np.arange(len(values)) - length, -1)
    past = np.where(before >= 0, total[before], 0.0)
    seen = np.where(before >= 0, count[before], 0)
    return (total - past) / np.maximum(count - seen, 1)
