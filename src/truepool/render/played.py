"""Games and sweeps of games, as tables and figures."""

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from truepool.games import Beliefs, Equilibrium, Game, Price, Sweep
from truepool.games.sweeping import Point
from truepool.render.grid import Grid
from truepool.render.numbers import between, number, percent, signed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SYMBOLS = {"correlation": "correlation of beliefs", "agents": "agents"}
WIDE_SPREAD = 30.0
"""Prices further apart than this factor are drawn on a log scale."""


def told(end: Equilibrium, level: float = 0.95) -> dict[str, Any]:
    """Return an equilibrium with its intervals, ready for JSON."""
    return end.to_dict() | {"intervals": end.intervals(level)}


def grid(
    ends: Sequence[Equilibrium], game: Game, beliefs: Beliefs, level: float = 0.95
) -> Grid:
    """Lay out where a game ends under each mechanism."""
    headers = (
        "paid by", "shift", "missed", "truthful", "price of anarchy",
        "alarms", "cost", "truthful", "ends",
    )  # fmt: skip
    rows = tuple(_row(end, level) for end in ends)
    title = (
        f"{beliefs.agents} agents, correlation {beliefs.correlation:.2f}, base rate "
        f"{beliefs.chance.mean():.2f}, offset {signed(beliefs.offset, 0.1)}, "
        f"{len(beliefs):,} cases"
    )
    return Grid(title, headers, rows, _notes(game, ends, level), essential=5)


def _row(end: Equilibrium, level: float) -> tuple[str, ...]:
    low, high = float(end.shifts.min()), float(end.shifts.max())
    shift = f"{end.shift:+.3f}"
    if round(high - low, 3) > 0:
        shift += " " + between(f"{low:+.2f}", f"{high:+.2f}")
    return (
        end.mechanism,
        shift,
        percent(end.fn),
        percent(end.truthful_fn),
        _price(end.anarchy, end.intervals(level)["poa"]),
        percent(end.fp),
        number(end.cost),
        number(end.truthful_cost),
        _ends(end),
    )


def _price(price: Price, interval: tuple[float, float] | None) -> str:
    if price.ratio is None:
        return "undefined"
    if interval is None:
        return number(price.ratio)
    low, high = (number(end, max(price.ratio, 0.01)) for end in interval)
    return f"{number(price.ratio, max(price.ratio, 0.01))} {between(low, high)}"


def _ends(end: Equilibrium) -> str:
    if end.converged:
        return f"round {end.rounds - 1}"
    return f"circle of {end.cycle}" if end.cycle else "moving"


def _notes(game: Game, ends: Sequence[Equilibrium], level: float) -> tuple[str, ...]:
    costs = game.costs
    line = (
        f"1 is decided above {game.line:.3f}; a missed case costs {costs.fn:g}, a "
        f"false alarm {costs.fp:g}"
    )
    if abs(game.line - costs.threshold) > 1e-12:
        line += f" (these costs would ask for {costs.threshold:.3f})"
    notes = [
        f"{line}.",
        "Shift: what agents add to their beliefs, in the mean (least to most). Missed "
        "and truthful: share of 1s missed at the end, and if all told the truth. Price "
        f"of anarchy: the one over the other, with its {100 * level:g} % interval by "
        "resampling cases; undefined where truth misses nothing. Alarms: share of 0s. "
        "Cost: a case. Ends: last round in which somebody moved.",
    ]
    if not all(end.converged for end in ends):
        notes.append(
            "Where agents go in a circle or still move, the numbers are those of the "
            "last round: no equilibrium was reached."
        )
    return tuple(notes)


def swept(sweep: Sweep) -> Grid:
    """Lay a sweep out, one row a setting and mechanism."""
    names = tuple(sweep.over)
    headers = (
        *names, "paid by", "shift", "missed", "truthful", "price of anarchy",
        "alarms", "cost", "stood still",
    )  # fmt: skip
    rows = tuple(
        (*(_value(point.settings[name]) for name in names), *_point_cells(point, sweep))
        for point in sweep.points
    )
    times = "once" if sweep.repetitions == 1 else f"{sweep.repetitions} times"
    games = len(sweep.points) * sweep.repetitions
    title = f"{games} games, each setting drawn {times}"
    notes = [
        "Missed, truthful: share of 1s missed at the end, and if all told the truth. "
        "Price of anarchy: the one over the other. Alarms: share of 0s. Cost: a case."
    ]
    if sweep.repetitions > 1:
        notes.append("±: standard error over the repetitions.")
    return Grid(title, headers, rows, tuple(notes), essential=len(names) + 5)


def _point_cells(point: Point, sweep: Sweep) -> tuple[str, ...]:
    several = sweep.repetitions > 1
    shift = signed(point.shift, 0.1)
    poa = "undefined" if point.poa is None else number(point.poa, max(point.poa, 0.01))
    if several:
        shift += f" ± {point.shift_error:.3f}"
        if point.poa is not None and point.poa_error is not None:
            poa += f" ± {number(point.poa_error, max(point.poa, 0.01))}"
    return (
        point.mechanism,
        shift,
        percent(point.fn),
        percent(point.truthful_fn),
        poa,
        percent(point.fp),
        number(point.cost),
        percent(point.converged),
    )


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def figure(sweep: Sweep) -> "Figure":
    """Draw shift and price of anarchy against what was varied first."""
    from matplotlib.figure import Figure

    page = Figure(figsize=(8, 6.5), layout="constrained")
    top, bottom = page.subplots(2, 1, sharex=True)
    name, *others = sweep.over
    words = any(isinstance(value, str) for value in sweep.over[name])
    styles = cycle(("-", "--", "-.", ":"))  # so that a line under another shows
    for label, points in _lines(sweep, others):
        at = [p.settings[name] for p in points]
        at = [_value(value) for value in at] if words else at
        style = {"marker": "o", "markersize": 3.5, "linestyle": next(styles)}
        shifts, spread = [p.shift for p in points], [p.shift_error for p in points]
        top.errorbar(at, shifts, spread, label=label, **style)
        prices = [np.nan if p.poa is None else p.poa for p in points]
        bottom.errorbar(at, prices, [p.poa_error or 0.0 for p in points], **style)
    _dress(top, bottom, sweep, name)
    return page


def _dress(top: "Axes", bottom: "Axes", sweep: Sweep, name: str) -> None:
    top.axhline(0.0, color="grey", linewidth=0.8, linestyle=":")
    bottom.axhline(1.0, color="grey", linewidth=0.8, linestyle=":")
    top.set_ylabel("mean shift of reports")
    bottom.set_ylabel("price of anarchy\n(missed / missed if truthful)")
    bottom.set_xlabel(SYMBOLS.get(name, name))
    prices = [p.poa for p in sweep.points if p.poa]
    if prices and max(prices) / min(prices) > WIDE_SPREAD:
        bottom.set_yscale("log")
        bottom.yaxis.set_major_formatter("{x:g}")
    top.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    top.set_title("What agents add to their beliefs, and what it does to missed cases")


def _lines(sweep: Sweep, others: list[str]) -> list[tuple[str, list[Point]]]:
    """Points of one line each: a mechanism, and one value of all else varied."""
    lines: dict[str, list[Point]] = {}
    for point in sweep.points:
        rest = [f"{other} {_value(point.settings[other])}" for other in others]
        lines.setdefault(", ".join([point.mechanism, *rest]), []).append(point)
    return list(lines.items())


def rounds(ends: Sequence[Equilibrium]) -> "Figure":
    """Draw how each agent's shift moved, round by round, under each mechanism."""
    from matplotlib.figure import Figure

    page = Figure(figsize=(8, 1.2 + 2.2 * len(ends)), layout="constrained")
    rows = page.subplots(len(ends), 1, sharex=True, squeeze=False)[:, 0]
    for axes, end in zip(rows, ends, strict=True):
        axes.plot(end.path, linewidth=0.9, marker="o", markersize=3, alpha=0.8)
        axes.plot(end.path.mean(axis=1), color="black", linewidth=2, label="mean")
        axes.axhline(0.0, color="grey", linewidth=0.8, linestyle=":")
        axes.set_ylabel(f"{end.mechanism}\nmean shift")
        axes.xaxis.get_major_locator().set_params(integer=True)
    rows[0].legend(frameon=False, loc="best")
    rows[0].set_title("Each agent's shift after every round")
    rows[-1].set_xlabel("round")
    return page
