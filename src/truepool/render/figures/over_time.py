"""Who counts, and who errs, case by case."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truepool.arrays import FloatArray
from truepool.audit.values import Drift
from truepool.render.figures.style import (
    DASHES,
    GREY,
    INK,
    SERIES,
    canvas,
    short,
    styled,
)
from truepool.rounds import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POOL = "pool"
POINTS = 400
"""A line of a figure needs no more points than this."""


@styled
def paths(drift: Drift, agents: Sequence[str]) -> "Figure":
    """Draw how an online learner would have shared the weight out over time."""
    figure, ax = canvas(2.9)
    _stack(ax, drift.cases, drift.weights, agents)
    ax.set_xlabel("case")
    return figure


@styled
def losses(drift: Drift) -> "Figure":
    """Draw the loss of pool and agents over time; an alarm is a line down."""
    figure, ax = canvas(2.9)
    for place, who in enumerate(_worth_drawing(drift)):
        pool = who == POOL
        colour = INK if pool else SERIES[(place - 1) % len(SERIES)]
        ax.plot(
            drift.cases, drift.losses[who], color=colour, label=short(who),
            linestyle="-" if pool else DASHES[(place - 1) % len(DASHES)],
            linewidth=2.2 if pool else 1.3,
        )  # fmt: skip
    for alarm in drift.alarms:
        ax.axvline(alarm[1], color=SERIES[1], linewidth=1, alpha=0.7)
    ax.set(xlabel="case (upright: alarms)", ylabel="loss a case")
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    ax.grid(axis="y")
    _legend(ax)
    return figure


@styled
def replayed(trace: Trace, smooth: int = 50) -> "Figure":
    """Draw the path of the weights, and the running loss of pool and best agent."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 5.5), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    if trace.weights is not None:
        cases = thinned(len(trace.weights))
        _stack(top, cases, trace.weights[cases], trace.panel.agents)
    figure.suptitle(f"{trace.learner.name}: who counts how much, case by case")
    lost = trace.losses
    best = lost - np.diff(trace.regret_to_agent, prepend=0.0)
    kept = thinned(len(lost))
    names = (POOL, f"best agent ({short(trace.best_agent)})")
    for line, label, colour in zip((lost, best), names, SERIES, strict=False):
        bottom.plot(kept, running(line, smooth)[kept], label=label, color=colour)
    bottom.set_ylabel(f"{trace.learner.loss.name} loss\n(mean of {smooth})")
    bottom.set_xlabel("case")
    _legend(bottom)
    return figure


def running(values: FloatArray, length: int) -> FloatArray:
    """Mean of the last ``length`` values, NaN passed over.

    >>> running(np.array([1.0, np.nan, 3.0, 5.0]), 2)
    array([1., 1., 3., 4.])
    """
    known = ~np.isnan(values)
    total = np.cumsum(np.where(known, values, 0.0))
    count = np.cumsum(known)
    before = np.maximum(np.arange(len(values)) - length, -1)
    past = np.where(before >= 0, total[before], 0.0)
    seen = np.where(before >= 0, count[before], 0)
    return np.asarray((total - past) / np.maximum(count - seen, 1))


def thinned(length: int) -> np.ndarray:
    """Places (at most `POINTS`) that stand for a long line, its ends among them.

    >>> thinned(3), thinned(10_000).size
    (array([0, 1, 2]), 400)
    """
    return np.unique(np.linspace(0, length - 1, min(length, POINTS)).astype(int))


def _stack(
    ax: "Axes", cases: FloatArray, weights: FloatArray, agents: Sequence[str]
) -> None:
    """Weights on top of each other; beyond the palette the lightest share a colour."""
    order = np.argsort(-weights.mean(axis=0), kind="stable")
    named, rest = order[: len(SERIES)], order[len(SERIES) :]
    parts = [weights[:, i] for i in named]
    labels = [short(agents[i]) for i in named]
    if rest.size:
        parts.append(weights[:, rest].sum(axis=1))
        labels.append(f"{rest.size} others")
    colours = [*SERIES[: len(named)], GREY]
    ax.stackplot(cases, *parts, colors=colours, alpha=0.8, linewidth=0)
    ax.set(ylabel="weight", ylim=(0, 1))
    ax.margins(x=0)
    bands = [_patch(colour) for colour in colours[: len(parts)]]
    _legend(ax, handles=bands, labels=labels)


def _worth_drawing(drift: Drift) -> list[str]:
    """The pool, then those with alarms, then those of most loss, while ink lasts."""
    alarmed = {alarm[0] for alarm in drift.alarms}
    agents = [who for who in drift.losses if who != POOL]
    agents.sort(key=lambda who: (who not in alarmed, -np.nanmean(drift.losses[who])))
    first = [POOL] if POOL in drift.losses else []
    return first + agents[: len(SERIES)]


def _patch(colour: str) -> object:
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, alpha=0.8)


def _legend(ax: "Axes", **given: Any) -> None:
    ax.legend(
        loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=3, borderaxespad=0.2,
        columnspacing=1.2, handlelength=2.2, **given,
    )  # fmt: skip
