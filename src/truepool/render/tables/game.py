"""Games and sweeps of games, as tables and figures."""

from collections.abc import Sequence
from typing import Any

from truepool.games import Beliefs, Equilibrium, Game, Price, Sweep
from truepool.games.parameter_sweep import Point
from truepool.render.numbers import between, number, percent, setting, signed
from truepool.render.tables.grid import Grid


def to_dict(end: Equilibrium, level: float = 0.95) -> dict[str, Any]:
    """Return an equilibrium with its intervals, ready for JSON."""
    return end.to_dict() | {"intervals": end.intervals(level)}


def grid(
    ends: Sequence[Equilibrium], game: Game, beliefs: Beliefs, level: float = 0.95
) -> Grid:
    """Lay out where a game ends under each payment."""
    headers = (
        "payment", "shift", "missed", "if truthful", "price of anarchy",
        "alarms", "cost", "if truthful", "ends",
    )  # fmt: skip
    rows = tuple(_row(end, level) for end in ends)
    title = (
        f"{beliefs.agents} agents, correlation {beliefs.correlation:.2f}, base rate "
        f"{beliefs.chance.mean():.2f}, offset {signed(beliefs.offset, 0.1)}, "
        f"{len(beliefs):,} cases"
    )
    return Grid(title, headers, rows, _notes(game, ends, level), essential=5)


def against_truth(end: Equilibrium) -> Grid:
    """Lay out where one game ended, truth beside it."""
    rows = (
        ("share of positive cases missed", percent(end.fn), percent(end.truthful_fn)),
        (
            "share of negative cases with an alarm",
            percent(end.fp),
            percent(end.truthful_fp),
        ),
        ("cost per case", number(end.cost), number(end.truthful_cost)),
        ("mean shift of reports", signed(end.shift, 0.1), "0"),
    )
    price = _price(end.anarchy, None)
    title = f"Paid by {end.mechanism}: price of anarchy {price}; ends: {_ends(end)}"
    return Grid(title, ("", "as agents report", "if truthful"), rows)


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
    return f"cycle of {end.cycle}" if end.cycle else "moving"


def _notes(game: Game, ends: Sequence[Equilibrium], level: float) -> tuple[str, ...]:
    costs = game.costs
    line = (
        f"Positive is decided above {game.line:.3f}; a missed case costs "
        f"{costs.fn:g}, a false alarm {costs.fp:g}"
    )
    if abs(game.line - costs.threshold) > 1e-12:
        line += f" (the threshold for these costs is {costs.threshold:.3f})"
    notes = [
        f"{line}.",
        "Shift: what agents add to their beliefs, on average (smallest to largest). "
        "Missed: share of positive cases missed at the end, and if all reports were "
        "truthful. Price of anarchy: the ratio of the two, with its "
        f"{100 * level:g} % interval by resampling cases; undefined where truthful "
        "reports miss nothing. Alarms: share of negative cases decided positive. Cost: "
        "per case. Ends: the last round in which an agent changed its reports.",
    ]
    if not all(end.converged for end in ends):
        notes.append(
            "Where agents cycle or still move, no equilibrium was reached: the numbers "
            "are those of the last round."
        )
    return tuple(notes)


def sweep_grid(sweep: Sweep) -> Grid:
    """Lay a sweep out, one row per setting and payment."""
    names = tuple(sweep.over)
    headers = (
        *names, "payment", "shift", "missed", "if truthful", "price of anarchy",
        "alarms", "cost", "converged",
    )  # fmt: skip
    rows = tuple(
        (
            *(setting(point.settings[name]) for name in names),
            *_point_cells(point, sweep),
        )
        for point in sweep.points
    )
    times = "once" if sweep.repetitions == 1 else f"{sweep.repetitions} times"
    games = len(sweep.points) * sweep.repetitions
    title = f"{games} games, each setting simulated {times}"
    notes = [
        "Missed: share of positive cases missed at the end, and if all reports were "
        "truthful. Price of anarchy: the ratio of the two. Alarms: share of negative "
        "cases decided positive. Cost: per case."
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
