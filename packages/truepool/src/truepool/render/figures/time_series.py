"""Weights and losses over time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truepool.audits.values import Drift
from truepool.core.arrays import FloatArray, IntArray, thin
from truepool.core.formatting import pluralize
from truepool.online import Trace
from truepool.online.trace import ReplaySummary, WeightPath
from truepool.render.figures.style import (
    DASHES,
    GREY,
    INK,
    SERIES,
    canvas,
    house_style,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POOLS = ("the pool", "pool")
"""Names of the pool among the agents; the first one present is used."""
SMOOTH = 5
"""Number of points over which a line is averaged."""
NAMED_ALARMS = 6
"""Largest number of alarms that are labelled."""
LETTERS = 36
"""Letters that fit side by side in a legend of at most three columns."""
DATES = 4
"""Number of dates on an axis."""


@house_style
def paths(drift: Drift, agents: Sequence[str]) -> "Figure":
    """Draw the weights that an online learner would have given over time."""
    figure, ax = canvas(2.9)
    _stack(ax, drift.cases, drift.weights, agents)
    _mark_time(ax, drift, "")
    return figure


@house_style
def losses(drift: Drift) -> "Figure":
    """Draw the loss of pool and agents over time, with a vertical line per alarm."""
    figure, ax = canvas(2.9)
    whole = _pool(drift)
    alarmed = {alarm[0] for alarm in drift.alarms}
    for place, who in enumerate(_select_series(drift)):
        pool = who == whole
        colour = INK if pool else SERIES[(place - 1) % len(SERIES)]
        ax.plot(
            drift.cases, running_mean(drift.losses[who], SMOOTH), color=colour,
            label=shorten(who),
            linestyle="-" if pool else DASHES[(place - 1) % len(DASHES)],
            linewidth=2.2 if pool else 1.5 if who in alarmed else 0.9,
        )  # fmt: skip
    for who, case, _, _ in drift.alarms:
        ax.axvline(case, color=INK, linewidth=0.9, linestyle=":")
        if len(drift.alarms) <= NAMED_ALARMS:
            top = ax.get_xaxis_transform()
            text = f" {shorten(who)} "
            ax.text(
                case, 1, text, transform=top, rotation=90, va="top", ha="right",
                clip_on=True, in_layout=False,
            )  # fmt: skip
    ax.set_ylabel("Brier loss per case")
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    _mark_time(ax, drift, " (dotted: alarms)" if drift.alarms else "")
    ax.grid(axis="y")
    _legend(ax)
    return figure


@house_style
def replay(trace: Trace, smooth: int = 50) -> "Figure":
    """Draw the path of the weights, and the running loss of pool and best agent."""
    figure, top, bottom = _replay_canvas(trace.name)
    if trace.weights is not None:
        cases = thin(len(trace.weights))
        _stack(top, cases, trace.weights[cases], trace.panel.agents)
    own = trace.losses
    best = own - np.diff(trace.regret_to_agent, prepend=0.0)
    cases = thin(len(own))
    lines = [running_mean(line, smooth)[cases] for line in (own, best)]
    _running_losses(bottom, cases, lines, trace.best_agent)
    bottom.set_ylabel(f"{trace.learner.loss.name} loss\n(mean of {smooth})")
    return figure


@house_style
def replay_path(summary: ReplaySummary, path: WeightPath) -> "Figure":
    """Draw the weights of a replay at some cases, and the losses in between."""
    figure, top, bottom = _replay_canvas(summary.name)
    _stack(top, path.cases, path.weights, summary.agents)
    lines = [path.losses, path.agent_losses]
    _running_losses(bottom, path.cases[1:], lines, summary.best_agent)
    every = int(np.diff(path.cases).max())
    bottom.set_ylabel(f"{summary.learner.loss.name} loss\n(mean of {every:,})")
    return figure


def _replay_canvas(name: str) -> "tuple[Figure, Axes, Axes]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 5.5), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    figure.suptitle(f"{name}: weights, case by case")
    return figure, top, bottom


def _running_losses(
    ax: "Axes",
    cases: IntArray,
    lines: Sequence[FloatArray],
    best_agent: str,
) -> None:
    """Draw the losses of the pool and of the best agent, each a mean of some cases."""
    names = ("pool", f"best agent ({shorten(best_agent)})")
    for line, label, colour in zip(lines, names, SERIES, strict=False):
        ax.plot(cases, line, label=label, color=colour)
    ax.set_xlabel("case")
    _legend(ax)


def _mark_time(ax: "Axes", drift: Drift, note: str) -> None:
    """Name the axis of time, with dates at some cases if they have any."""
    if not drift.dates:
        ax.set_xlabel(f"case{note}")
        return
    shown = np.linspace(0, len(drift.cases) - 1, DATES + 2).astype(int)[1:-1]
    days = [drift.dates[i][:10] for i in shown]
    ax.set_xticks(drift.cases[shown], days)
    ax.set_xlabel(f"date of the case{note}")


def running_mean(values: FloatArray, length: int) -> FloatArray:
    """Mean of the last ``length`` values, ignoring NaN; NaN if there are no others.

    >>> running_mean(np.array([1.0, np.nan, 3.0, 5.0]), 2)
    array([1., 1., 3., 4.])
    """
    known = ~np.isnan(values)
    total = np.cumsum(np.where(known, values, 0.0))
    count = np.cumsum(known)
    before = np.maximum(np.arange(len(values)) - length, -1)
    past = np.where(before >= 0, total[before], 0.0)
    seen = np.where(before >= 0, count[before], 0)
    inside = count - seen
    return np.where(inside > 0, (total - past) / np.maximum(inside, 1), np.nan)


def _stack(
    ax: "Axes", cases: FloatArray | IntArray, weights: FloatArray, agents: Sequence[str]
) -> None:
    """Stack the weights; beyond the palette, the smallest share a colour."""
    order = np.argsort(-weights.mean(axis=0), kind="stable")
    named, rest = order[: len(SERIES)], order[len(SERIES) :]
    parts = [weights[:, i] for i in named]
    labels = [shorten(agents[i]) for i in named]
    if rest.size:
        parts.append(weights[:, rest].sum(axis=1))
        labels.append(pluralize(rest.size, "other"))
    colours = [*SERIES[: len(named)], GREY]
    ax.stackplot(cases, *parts, colors=colours, alpha=0.8, linewidth=0)
    ax.set(ylabel="weight", ylim=(0, 1))
    ax.margins(x=0)
    bands = [_patch(colour) for colour in colours[: len(parts)]]
    _legend(ax, handles=bands, labels=labels)


def _select_series(drift: Drift) -> list[str]:
    """Select the pool, then agents with alarms, then those with the highest loss."""
    alarmed = {alarm[0] for alarm in drift.alarms}
    whole = _pool(drift)
    reported = [who for who, lost in drift.losses.items() if not np.isnan(lost).all()]
    agents = [who for who in reported if who != whole]
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
