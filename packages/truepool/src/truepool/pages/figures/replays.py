"""The weights and losses of a replay."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truepool.core.arrays import FloatArray, IntArray, thin
from truepool.core.formatting import pluralize
from truepool.online import Trace
from truepool.online.trace import ReplaySummary, WeightPath
from truepool.pages.chart import running_mean
from truepool.pages.figures.style import (
    GREY,
    SERIES,
    house_style,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LETTERS = 36
"""Letters that fit side by side in a legend of at most three columns."""


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
