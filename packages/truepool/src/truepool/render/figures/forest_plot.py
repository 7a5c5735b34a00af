"""Estimates with their intervals, one row each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from truepool.audits.values import AgentSummary
from truepool.comparison import Comparison, Estimate
from truepool.core.formatting import in_unit
from truepool.render.figures.style import (
    GREY,
    INK,
    MARKERS,
    SERIES,
    canvas,
    house_style,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.23
"""Height of a row in inches."""


@house_style
def weights(summaries: Sequence[AgentSummary]) -> "Figure":
    """Draw the weight each agent earns as a bar with its interval, largest first."""
    known = [(one.agent, one.weight) for one in summaries if one.weight is not None]
    known.sort(key=lambda pair: -pair[1].value)
    figure, ax = canvas(0.7 + ROW * len(known))
    values = [weight.value for _, weight in known]
    ax.barh(range(len(known)), values, color=SERIES[0], alpha=0.45, height=0.62)
    _draw_intervals(ax, [weight for _, weight in known], 0.0, None, INK)
    _rows(ax, [shorten(agent) for agent, _ in known], "weight earned")
    ax.set_xlim(left=0.0)
    return figure


@house_style
def worth(summaries: Sequence[AgentSummary], currency: str = "") -> "Figure":
    """Draw what the recommended pool loses without each agent, fitted again."""
    known = [one for one in summaries if one.worth is not None]
    ordered = sorted(known, key=_worth_value, reverse=True)
    figure, ax = canvas(0.7 + ROW * len(ordered))
    _draw_intervals(ax, [one.worth for one in ordered], 0.0, MARKERS[0], SERIES[0])
    ax.axvline(0, color=INK, linewidth=0.8)
    _rows(
        ax,
        [shorten(one.agent) for one in ordered],
        in_unit("worth per 1,000 cases", currency),
    )
    return figure


@house_style
def credit(summaries: Sequence[AgentSummary], currency: str = "") -> "Figure":
    """Draw the credit of each agent; one with credit below 0 harms the pool."""
    ordered = sorted(summaries, key=_credit_value, reverse=True)
    figure, ax = canvas(1.0 + 1.3 * ROW * len(ordered))
    kinds = {
        "leave-one-out": [one.leave_one_out for one in ordered],
        "Shapley": [one.shapley for one in ordered],
    }
    drawn = {name: row for name, row in kinds.items() if any(row)}
    for place, (name, row) in enumerate(drawn.items()):
        shift = 0.0 if len(drawn) == 1 else 0.18 * (2 * place - 1)
        _draw_intervals(ax, row, shift, MARKERS[place], SERIES[place], name)
    ax.axvline(0, color=INK, linewidth=0.8)
    _rows(
        ax,
        [shorten(one.agent) for one in ordered],
        f"credit, {in_unit('cost per case', currency)}; right: helps",
    )
    if len(drawn) > 1:
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderpad=0)
    return figure


@house_style
def comparison(found: Comparison, used: str | None = None) -> "Figure":
    """Draw the loss of each pool with its interval; the one in use is filled."""
    rows = found.rows
    figure, ax = canvas(0.7 + 0.2 * len(rows))
    _draw_intervals(ax, [row.loss for row in rows], 0.0, "o", SERIES[0], hollow=True)
    ax.axvline(found["mean"].loss.value, color=GREY, linewidth=1, linestyle="--")
    for place, row in enumerate(rows):
        if row.pool == used:
            ax.plot(row.loss.value, place, "o", color=SERIES[1], markersize=6)
    what = "cost" if found.loss == "cost" else f"{found.loss} loss"
    unit = found.costs.currency if found.loss == "cost" else ""
    across = f"{in_unit(f'{what} per case', unit)}; dashed: plain mean"
    _rows(ax, [shorten(row.pool) for row in rows], across)
    return figure


@house_style
def intervals(rows: Sequence[tuple[str, Estimate]], across: str) -> "Figure":
    """Draw named estimates with their intervals, from the top down."""
    figure, ax = canvas(0.8 + ROW * len(rows))
    _draw_intervals(ax, [estimate for _, estimate in rows], 0.0, "o", SERIES[0])
    ax.axvline(0, color=INK, linewidth=0.8)
    _rows(ax, [shorten(name) for name, _ in rows], across)
    return figure


def _worth_value(summary: AgentSummary) -> float:
    return float("-inf") if summary.worth is None else summary.worth.value


def _credit_value(summary: AgentSummary) -> float:
    known = summary.leave_one_out or summary.shapley
    return float("-inf") if known is None else known.value


def _draw_intervals(
    ax: "Axes",
    estimates: Sequence[Estimate | None],
    shift: float,
    marker: str | None,
    colour: str,
    label: str | None = None,
    hollow: bool = False,
) -> None:
    """Draw one interval per row, and its value where there is a marker."""
    places = [i + shift for i, one in enumerate(estimates) if one is not None]
    known = [one for one in estimates if one is not None]
    # Without an interval both ends are NaN, and nothing is drawn.
    ends = np.array([(one.low, one.high) for one in known]).reshape(-1, 2)
    ax.hlines(places, ends[:, 0], ends[:, 1], color=colour, linewidth=1.6)
    if marker is not None:
        face = "none" if hollow else colour
        values = [one.value for one in known]
        ax.plot(
            values, places, marker, color=colour, markerfacecolor=face,
            markersize=4.5, linestyle="none", label=label,
        )  # fmt: skip


def _rows(ax: "Axes", names: Sequence[str], across: str) -> None:
    """Name the rows from the top down."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x")
    ax.set_xlabel(across)
