"""Who counts, and who errs, case by case."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truepool.audits.values import Drift
from truepool.core.arrays import FloatArray
from truepool.online import Trace
from truepool.render.figures.style import (
    DASHES,
    GREY,
    INK,
    SERIES,
    canvas,
    short,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POOLS = ("the pool", "pool")
"""What the pool is called among the agents, the first of these that is there."""
SMOOTH = 5
"""Points of a thinned line that are drawn as their mean."""
NAMED_ALARMS = 6
"""Alarms up to which their names fit beside them."""
LETTERS = 36
"""Letters of names that fit beside each other in a legend, in three columns at most."""
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
    whole = _pool(drift)
    alarmed = {alarm[0] for alarm in drift.alarms}
    for place, who in enumerate(_worth_drawing(drift)):
        pool = who == whole
        colour = INK if pool else SERIES[(place - 1) % len(SERIES)]
        ax.plot(
            drift.cases, running(drift.losses[who], SMOOTH), color=colour,
            label=short(who),
            linestyle="-" if pool else DASHES[(place - 1) % len(DASHES)],
            linewidth=2.2 if pool else 1.5 if who in alarmed else 0.9,
        )  # fmt: skip
    for who, case, _, _ in drift.alarms:
        ax.axvline(case, color=INK, linewidth=0.9, linestyle=":")
        if len(drift.alarms) <= NAMED_ALARMS:
            top = ax.get_xaxis_transform()
            told = f" {short(who)} "
            ax.text(
                case, 1, told, transform=top, rotation=90, va="top", ha="right",
                clip_on=True, in_layout=False,
            )  # fmt: skip
    ax.set(xlabel="case (dotted: alarms)", ylabel="loss per case")
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    ax.grid(axis="y")
    _legend(ax)
    return figure


@styled
def replay(trace: Trace, smooth: int = 50) -> "Figure":
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
    names = ("pool", f"best agent ({short(trace.best_agent)})")
    for line, label, colour in zip((lost, best), names, SERIES, strict=False):
        bottom.plot(kept, running(line, smooth)[kept], label=label, color=colour)
    bottom.set_ylabel(f"{trace.learner.loss.name} loss\n(mean of {smooth})")
    bottom.set_xlabel("case")
    _legend(bottom)
    return figure


def running(values: FloatArray, length: int) -> FloatArray:
    """Mean of the last ``length`` values, NaN passed over; NaN if there is no other.

    >>> running(np.array([1.0, np.nan, 3.0, 5.0]), 2)
    array([1., 1., 3., 4.])
    """
    known = ~np.isnan(values)
    total = np.cumsum(np.where(known, values, 0.0))
    count = np.cumsum(known)
    before = np.maximum(np.arange(len(values)) - length, -1)
    past = np.where(before >= 0, total[before], 0.0)
    seen = np.where(before >= 0, count[before], 0)
    heard = count - seen
    return np.where(heard > 0, (total - past) / np.maximum(heard, 1), np.nan)


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
    whole = _pool(drift)
    agents = [who for who in drift.losses if who != whole]
    agents.sort(key=lambda who: (who not in alarmed, -np.nanmean(drift.losses[who])))
    return ([whole] if whole else []) + agents[: len(SERIES)]


def _pool(drift: Drift) -> str | None:
    return next((name for name in POOLS if name in drift.losses), None)


def _patch(colour: str) -> object:
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, alpha=0.8)


def _legend(ax: "Axes", **given: Any) -> None:
    labels = given.get("labels") or ax.get_legend_handles_labels()[1]
    columns = LETTERS // max(LETTERS // 3, *map(len, labels))
    ax.legend(
        loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=columns, borderaxespad=0.2,
        columnspacing=1.2, handlelength=2.2, **given,
    )  # fmt: skip
