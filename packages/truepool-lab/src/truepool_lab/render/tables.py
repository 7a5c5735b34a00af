"""Tables of equilibria and of sweeps over games."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from truepool.core.formatting import pluralize
from truepool.pages.grid import Grid
from truepool.pages.notebook import tables as html_tables
from truepool.pages.numbers import format_interval, number, percent, setting, signed
from truepool_lab.games import Beliefs, Equilibrium, Game, PriceOfAnarchy, Sweep
from truepool_lab.games.parameter_sweep import SweepPoint

COLUMNS = (
    (
        "missed",
        "Missed, truthful: share of positive cases missed at equilibrium, and with "
        "truthful reports.",
    ),
    (
        "price of anarchy",
        "Price of anarchy: the ratio of the two, undefined where truthful reports miss "
        "nothing.",
    ),
    ("false alarms", "False alarms: share of negative cases."),
    ("cost", "Cost: per case."),
)
"""What the columns of both tables mean."""


def notebook(end: Equilibrium) -> Markup:
    """Return an equilibrium beside truthful reports."""
    return html_tables(comparison_with_truth(end))


def to_dict(end: Equilibrium, level: float = 0.95) -> dict[str, Any]:
    """Return an equilibrium with its intervals as plain values for JSON."""
    return end.to_dict() | {"intervals": end.intervals(level)}


def grid(
    equilibria: Sequence[Equilibrium], game: Game, beliefs: Beliefs, level: float = 0.95
) -> Grid:
    """Lay out the equilibrium under each payment."""
    headers = (
        "payment", "shift", "missed", "truthful", "price of anarchy",
        "false alarms", "cost", "truthful", "converged",
    )  # fmt: skip
    rows = tuple(_row(end, level) for end in equilibria)
    title = (
        f"{beliefs.agents} agents, correlation {beliefs.correlation:.2f}, base rate "
        f"{beliefs.chance.mean():.2f}, offset {signed(beliefs.offset, 0.1)}, "
        f"{len(beliefs):,} cases"
    )
    shift = ("shift", "Shift: mean of what agents add to their beliefs.")
    rounds = "Converged: after how many rounds, the last of which changed no report."
    legend = (shift, *COLUMNS, ("converged", rounds))
    notes = _notes(game, equilibria, level)
    return Grid(title, headers, rows, notes, essential=5, legend=legend)


def comparison_with_truth(end: Equilibrium) -> Grid:
    """Lay out one equilibrium beside truthful reports."""
    rows = (
        ("share of positive cases missed", percent(end.fn), percent(end.truthful_fn)),
        (
            "share of negative cases with a false alarm",
            percent(end.fp),
            percent(end.truthful_fp),
        ),
        ("cost per case", number(end.cost), number(end.truthful_cost)),
        ("mean shift of reports", signed(end.shift, 0.1), "0"),
    )
    title = (
        f"Payment {end.payment}: price of anarchy {_price(end.price_fn, None)}; "
        f"converged: {_convergence(end)}"
    )
    return Grid(title, ("", "at equilibrium", "if truthful"), rows)


def _row(end: Equilibrium, level: float) -> tuple[str, ...]:
    low, high = float(end.shifts.min()), float(end.shifts.max())
    shift = f"{end.shift:+.3f}"
    if round(high - low, 3) > 0:
        shift += " " + format_interval(f"{low:+.2f}", f"{high:+.2f}")
    return (
        end.payment,
        shift,
        percent(end.fn),
        percent(end.truthful_fn),
        _price(end.price_fn, end.intervals(level)["poa"]),
        percent(end.fp),
        number(end.cost),
        number(end.truthful_cost),
        _convergence(end),
    )


def _price(price: PriceOfAnarchy, interval: tuple[float, float] | None) -> str:
    if price.ratio is None:
        return "undefined"
    if interval is None:
        return number(price.ratio)
    low, high = (number(end, max(price.ratio, 0.01)) for end in interval)
    return f"{number(price.ratio, max(price.ratio, 0.01))} {format_interval(low, high)}"


def _convergence(end: Equilibrium) -> str:
    if end.converged:
        return f"after {pluralize(end.rounds, 'round')}"
    return f"no, cycle of {end.cycle}" if end.cycle else "no"


def _notes(
    game: Game, equilibria: Sequence[Equilibrium], level: float
) -> tuple[str, ...]:
    costs = game.costs
    decision = (
        f"Positive is decided above {game.decision_threshold:.3f}; a missed case costs "
        f"{costs.fn:g}, a false alarm {costs.fp:g}"
    )
    if abs(game.decision_threshold - costs.threshold) > 1e-12:
        decision += f" (the threshold for these costs is {costs.threshold:.3f})"
    notes = [
        f"{decision}.",
        "In brackets: the lowest and highest shift; the "
        f"{100 * level:g} % bootstrap interval over cases.",
    ]
    if not all(end.converged for end in equilibria):
        notes.append(
            "Where the game did not converge, the numbers are those of the last round."
        )
    return tuple(notes)


def sweep_grid(sweep: Sweep) -> Grid:
    """Lay out a sweep, one row per combination of settings and payment."""
    names = tuple(sweep.over)
    headers = (
        *names, "payment", "shift", "missed", "truthful", "price of anarchy",
        "false alarms", "cost", "converged",
    )  # fmt: skip
    rows = tuple(
        (
            *(setting(point.settings[name]) for name in names),
            *_point_cells(point, sweep),
        )
        for point in sweep.points
    )
    games = len(sweep.points) * sweep.repetitions
    repeated = "repetition" if sweep.repetitions == 1 else "repetitions"
    title = f"{games} games, {sweep.repetitions} {repeated} of each setting"
    several = sweep.repetitions > 1
    notes = ("±: standard error over the repetitions.",) if several else ()
    legend = (*COLUMNS, ("converged", "Converged: share of the games."))
    return Grid(title, headers, rows, notes, essential=len(names) + 5, legend=legend)


def _point_cells(point: SweepPoint, sweep: Sweep) -> tuple[str, ...]:
    several = sweep.repetitions > 1
    shift = signed(point.shift, 0.1)
    poa = "undefined" if point.poa is None else number(point.poa, max(point.poa, 0.01))
    if several:
        shift += f" ± {point.shift_error:.3f}"
        if point.poa is not None and point.poa_error is not None:
            poa += f" ± {number(point.poa_error, max(point.poa, 0.01))}"
    return (
        point.payment,
        shift,
        percent(point.fn),
        percent(point.truthful_fn),
        poa,
        percent(point.fp),
        number(point.cost),
        percent(point.converged),
    )
