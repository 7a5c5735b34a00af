"""Charts of games: shifts of reports and the price of anarchy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from truepool.pages.figures.style import GREY, INK, house_style, line_style
from truepool.pages.numbers import setting
from truepool_lab.games import Equilibrium, Sweep
from truepool_lab.games.parameter_sweep import SweepPoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SYMBOLS = {"correlation": "correlation of beliefs", "agents": "agents"}
WIDE_SPREAD = 30.0
"""Ratio of the largest to the smallest price above which the scale is log."""


@house_style
def sweep(found: Sweep) -> "Figure":
    """Draw shift and price of anarchy against the first setting varied."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 6), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True)
    name, *others = found.over
    words = any(isinstance(value, str) for value in found.over[name])
    for place, (label, points) in enumerate(_lines(found, others)):
        at = [p.settings[name] for p in points]
        at = [setting(value) for value in at] if words else at
        style = line_style(place)
        shifts, spread = [p.shift for p in points], [p.shift_error for p in points]
        top.errorbar(at, shifts, spread, label=label, **style)
        prices = [np.nan if p.poa is None else p.poa for p in points]
        bottom.errorbar(at, prices, [p.poa_error or 0.0 for p in points], **style)
    _label(top, bottom, found, name)
    return figure


def _label(top: "Axes", bottom: "Axes", sweep: Sweep, name: str) -> None:
    top.axhline(0.0, color=GREY, linewidth=0.8, linestyle=":")
    bottom.axhline(1.0, color=GREY, linewidth=0.8, linestyle=":")
    top.set_ylabel("mean shift of reports")
    bottom.set_ylabel("price of anarchy\n(missed / missed if truthful)")
    bottom.set_xlabel(SYMBOLS.get(name, name))
    prices = [p.poa for p in sweep.points if p.poa]
    if prices and max(prices) / min(prices) > WIDE_SPREAD:
        bottom.set_yscale("log")
        bottom.yaxis.set_major_formatter("{x:g}")
    top.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    top.set_title("Shift of reports and price of anarchy")


def _lines(sweep: Sweep, others: list[str]) -> list[tuple[str, list[SweepPoint]]]:
    """Points of each line: one payment, and one value of every other setting."""
    lines: dict[str, list[SweepPoint]] = {}
    for point in sweep.points:
        rest = [f"{other} {setting(point.settings[other])}" for other in others]
        lines.setdefault(", ".join([point.payment, *rest]), []).append(point)
    return list(lines.items())


@house_style
def shifts(equilibria: Sequence[Equilibrium]) -> "Figure":
    """Draw each agent's shift after every round, under each payment."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 1.2 + 2.1 * len(equilibria)), layout="constrained")
    rows = figure.subplots(len(equilibria), 1, sharex=True, squeeze=False)[:, 0]
    for axes, end in zip(rows, equilibria, strict=True):
        for i in range(end.path.shape[1]):
            axes.plot(end.path[:, i], linewidth=0.9, **line_style(i))
        axes.plot(end.path.mean(axis=1), color=INK, linewidth=2, label="mean")
        axes.axhline(0.0, color=GREY, linewidth=0.8, linestyle=":")
        axes.set_ylabel(f"{end.payment}\nmean shift")
        axes.xaxis.get_major_locator().set_params(integer=True)
    rows[0].legend(loc="best")
    rows[0].set_title("Each agent's shift after every round")
    rows[-1].set_xlabel("round")
    return figure
