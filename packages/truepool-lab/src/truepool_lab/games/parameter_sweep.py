"""Games solved over a grid of settings."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from math import prod
from numbers import Real
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from truepool.core.engine import Engine, Processes
from truepool.core.errors import SettingError, UnknownNameError
from truepool.core.seeds import check_seed
from truepool_lab.games.beliefs import (
    CLIPPED_SHARE,
    ClippedBeliefsWarning,
    check_count,
)
from truepool_lab.games.game import Game

ALIASES = {"rho": "correlation", "n": "agents", "tau": "threshold", "mu": "mean"}
SOLVE_SETTINGS = ("rounds", "response", "order", "sees")
PROBE_GAMES = 4
"""Games solved in this process to estimate how long the others will take."""
NAME_SETTINGS = ("model", "truth", "outcomes", "pool", "response", "order")
"""Settings whose values are names or objects; all others are numbers."""
MAX_GAMES = 100_000
"""Largest number of games in a sweep, over all points and repetitions."""
STARTUP_SECONDS = 4.0
"""Seconds of remaining work above which starting other processes pays off."""


@dataclass(frozen=True)
class SweepPoint:
    """One payment at one combination of settings: means over the repetitions.

    ``poa`` is mean FN over mean truthful FN, None where the latter is 0; ``poa_error``
    is its standard error over the repetitions, 0 with only one.
    """

    settings: Mapping[str, Any]
    payment: str
    shift: float
    shift_error: float
    fn: float
    fp: float
    cost: float
    truthful_fn: float
    truthful_fp: float
    truthful_cost: float
    bias: float
    poa: float | None
    poa_error: float | None
    converged: float
    cycles: float
    offset: float
    clipped_share: float


@dataclass(frozen=True)
class Sweep:
    """Equilibria over a grid, one point per combination of settings and payment."""

    over: Mapping[str, tuple[Any, ...]]
    points: tuple[SweepPoint, ...]
    repetitions: int
    game: Game

    def select(self, payment: str) -> tuple[SweepPoint, ...]:
        """Return the points of one payment, in the order of the sweep."""
        return tuple(p for p in self.points if p.payment == payment)

    @property
    def payments(self) -> tuple[str, ...]:
        """Names of the payments, in the order of the sweep."""
        return tuple(dict.fromkeys(p.payment for p in self.points))

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, ready for JSON."""
        return {
            "over": {name: list(values) for name, values in self.over.items()},
            "repetitions": self.repetitions,
            "points": [asdict(point) for point in self.points],
        }


def sweep(
    game: Game,
    over: Mapping[str, Sequence[Any]],
    payments: Sequence[str] = ("brier", "vcg"),
    *,
    repetitions: int = 1,
    seed: int = 0,
    jobs: int | None = None,
    engine: Engine | None = None,
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
    **settings: Any,
) -> Sweep:
    """Solve a game at every combination of the given settings, on all cores.

    Parameters
    ----------
    over : mapping of str to sequence
        Fields of `Game` (short: ``rho``, ``n``, ``tau``, ``mu``) or arguments of
        `Game.solve`, and the values to try.
    repetitions : int
        Games drawn at every point. All points use the same seeds, so that they differ
        by what is varied and not by the draw.
    jobs : int, optional
        Number of processes, at most one per core; -1 uses all cores. By default all
        cores, or one where starting more would take longer. Results do not depend on
        it.
    engine : Engine, optional
        Where games are solved instead, such as a cluster.
    **settings
        Passed on to `Game.solve`.

    Examples
    --------
    >>> found = sweep(Game(cases=2000), {"offset": [0.0, 0.05]}, ["brier"])
    >>> [round(point.shift, 2) for point in found.points]
    [0.0, -0.05]
    """
    names = {ALIASES.get(name, name): tuple(values) for name, values in over.items()}
    if len(names) < len(over):
        raise SettingError(
            f"a sweep varies each setting once; got {', '.join(map(repr, over))}"
        )
    _check(names)
    check_count("repetitions", repetitions, 1)
    check_seed(seed)
    _check_jobs(jobs)
    check_size(prod(map(len, names.values())) * len(payments) * repetitions)
    tasks = list(_tasks(game, names, payments, repetitions, seed, settings))
    results = []
    found = engine.map(_solve, tasks) if engine else _solve_all(tasks, jobs)
    for done, rows in enumerate(found):
        progress(tasks[done].payment, done + 1, len(tasks))
        results.append(rows)
    points = tuple(
        _point(task.at, task.payment, rows)
        for task, rows in zip(tasks, results, strict=True)
    )
    _warn(points)
    return Sweep(names, points, repetitions, game)


class SweepTask(NamedTuple):
    """One point of a sweep: a game and a payment, solved once for each seed."""

    game: Game
    payment: str
    settings: dict[str, Any]
    at: dict[str, Any]
    seeds: list[int]


def _tasks(
    game: Game,
    over: Mapping[str, tuple[Any, ...]],
    payments: Sequence[str],
    repetitions: int,
    seed: int,
    settings: dict[str, Any],
) -> Iterator[SweepTask]:
    state = np.random.SeedSequence(seed).generate_state(repetitions - 1)
    seeds = [seed, *state.tolist()]
    for values in product(*over.values()):
        at = dict(zip(over, values, strict=True))
        settings_at = {k: v for k, v in at.items() if k in SOLVE_SETTINGS}
        fields_at = {k: v for k, v in at.items() if k not in SOLVE_SETTINGS}
        changed = replace(game, **fields_at)
        for payment in payments:
            yield SweepTask(changed, payment, settings | settings_at, at, seeds)


def _solve_all(
    tasks: list[SweepTask], jobs: int | None
) -> Iterator[list[dict[str, Any]]]:
    """Solve the games in this process, or in several if requested or worthwhile."""
    rest = tasks
    if jobs is None:
        yield from map(_solve, tasks[:1])  # the first one also compiles
        started = process_time()
        yield from map(_solve, tasks[1:PROBE_GAMES])
        rest = tasks[PROBE_GAMES:]
        left = (process_time() - started) / (PROBE_GAMES - 1) * len(rest)
        jobs = -1 if left > STARTUP_SECONDS else 1
    if jobs != 1:
        from joblib import cpu_count

        jobs = cpu_count() if jobs == -1 else min(jobs, cpu_count())
    yield from Processes(jobs).map(_solve, rest)


def _solve(task: SweepTask) -> list[dict[str, Any]]:
    game = task.game
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClippedBeliefsWarning)
        for seed in task.seeds:
            end = game.solve(task.payment, seed=seed, **task.settings)
            beliefs = game.draw(seed)
            row = end.to_dict()
            row |= {"offset": beliefs.offset, "clipped_share": beliefs.clipped_share}
            rows.append(row)
    return rows


def _point(at: dict[str, Any], payment: str, rows: list[dict[str, Any]]) -> SweepPoint:
    def mean(name: str) -> float:
        return float(np.mean([row[name] for row in rows]))

    shifts = np.array([np.mean(row["shifts"]) for row in rows])
    ratios = [row["poa"] for row in rows]
    before, after = mean("truthful_fn"), mean("fn")
    defined = [ratio for ratio in ratios if ratio is not None]
    plain = (
        "fn", "fp", "cost", "truthful_fn", "truthful_fp", "truthful_cost", "bias",
        "converged", "offset", "clipped_share",
    )  # fmt: skip
    return SweepPoint(
        settings=at,
        payment=payment,
        shift=float(shifts.mean()),
        shift_error=_standard_error(shifts.tolist()),
        poa=after / before if before > 0 else None,
        poa_error=_standard_error(defined) if len(defined) == len(rows) else None,
        cycles=float(np.mean([row["cycle"] is not None for row in rows])),
        **{name: mean(name) for name in plain},
    )


def _standard_error(values: list[float]) -> float:
    if len(values) < 2:
        return 0.0
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def _check(over: Mapping[str, tuple[Any, ...]]) -> None:
    known = {f.name for f in fields(Game)} - {"panel", "costs"} | set(SOLVE_SETTINGS)
    for name, values in over.items():
        if name not in known:
            raise UnknownNameError("parameter to sweep", name, known | set(ALIASES))
        if not values:
            raise SettingError(
                f"a sweep needs at least one value of {name!r}; got none"
            )
        if name == "sees":
            continue
        kind = "names" if name in NAME_SETTINGS else "numbers"
        for value in values:
            if isinstance(value, Real) == (name in NAME_SETTINGS):
                raise SettingError(f"values of {name!r} must be {kind}; got {value!r}")


def _check_jobs(jobs: int | None) -> None:
    if jobs in (None, -1):
        return
    if not isinstance(jobs, int | np.integer) or jobs < 1:
        raise SettingError(
            "jobs must be a whole number of at least 1, or -1 for all cores; got "
            f"{jobs!r}"
        )


def check_size(games: int) -> None:
    """Refuse a sweep of more than `MAX_GAMES` games."""
    if games > MAX_GAMES:
        raise SettingError(
            f"a sweep may have at most {MAX_GAMES:,} games; got {games:,}. Use a "
            "larger step, fewer values or fewer repetitions."
        )


def _warn(points: tuple[SweepPoint, ...]) -> None:
    worst = max(points, key=lambda point: point.clipped_share, default=None)
    if worst is not None and worst.clipped_share > CLIPPED_SHARE:
        warnings.warn(
            f"offsets move up to {100 * worst.clipped_share:.1f} % of the beliefs out "
            "of [0, 1], where they are clipped; a point has the offset after clipping",
            ClippedBeliefsWarning,
            stacklevel=3,
        )
