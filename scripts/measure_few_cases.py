"""Measure `auto` with few cases against the plain mean, on panels it was not set on.

Run: python scripts/measure_few_cases.py [PANEL...] [--draws 3] [--cases 10 20 50 100]
[--first 0] [--fresh] [--pool auto].
Prints the table of docs/pools.md: Brier loss of `auto` minus that of the mean, in
thousandths, so that below 0 `auto` is better. The real panels are those of the race
that played no part in choosing anything, and have six draws of agents, which take turns
with new draws of cases; the juries were made up after everything was set. --fresh takes
panels that were first measured after the prior for few cases was set. A panel is used
with so many cases only if it has them.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import truepool as tp
from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.losses import Loss

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / part) for part in ("benchmarks", "scripts")]

REAL = (
    "heart", "heart-sparse", "diabetes", "diabetes-drift", "banana-mis", "web",
    "kdd-probe-adv", "kdd-remote-rare", "unsw-fuzzers", "unsw-exploits-sparse",
    "unsw-rare", "governors",
)  # fmt: skip
"""Panels of two classes of the race, one or two of each source."""
SIMULATED = ("rubric", "topics", "sleepers")
"""Juries of `fresh_juries.py`, whose others came later."""
FRESH_REAL = (
    "heart-40", "diabetes-40", "banana", "web-sparse", "kdd-probe-60",
    "unsw-fuzzers-adv", "unsw-fuzzers-drift", "unsw-exploits", "unsw-exploits-mis",
    "wine-K3", "segment-K7", "kdd-families-K4-adv", "unsw-kinds-K5",
)  # fmt: skip
"""The other panels of the race, also of more classes."""
REAL_DRAWS = 6
CASES = (10, 20, 50, 100)
MOST_NEW = 1_000
Draw = tuple[tp.Panel, FloatArray, IntArray]


def panels() -> dict[str, Callable[[int], Draw]]:
    """Return every panel, a function of the draw: what is learned, then new cases."""
    from fresh_juries import OWN

    return _draws(REAL, {name: OWN[name] for name in SIMULATED})


def fresh_panels() -> dict[str, Callable[[int], Draw]]:
    """Return the panels that were first measured after the prior was set."""
    from fresh_juries import FRESH

    return _draws(FRESH_REAL, FRESH)


def _draws(
    real: Sequence[str], juries: Mapping[str, Callable[..., Any]]
) -> dict[str, Callable[[int], Draw]]:
    from race.panels import PANELS  # type: ignore[import-not-found]

    return {
        **{name: partial(_real, PANELS[name]) for name in real},
        **{name: partial(_simulated, jury) for name, jury in juries.items()},
    }


def _real(task: Any, number: int) -> Draw:
    draw = task.draw(number % REAL_DRAWS)
    return draw.learning, draw.reports[:MOST_NEW], draw.outcomes[:MOST_NEW]


def _simulated(jury: Callable[..., Any], number: int) -> Draw:
    reports, truth = jury(number)
    learning = tp.Panel(reports[:-MOST_NEW], truth[:-MOST_NEW])
    return learning, reports[-MOST_NEW:], truth[-MOST_NEW:]


def gain(
    panel: tp.Panel, reports: FloatArray, outcomes: IntArray, pool: str = "auto"
) -> float:
    """Brier loss of a pool learned from a panel, minus the mean's, on new cases."""
    asked = tp.Panel(reports, outcomes)
    losses = (
        Loss("brier").evaluate(rule.fit_panel(panel).combine(asked.values), outcomes)
        for rule in (tp.pools.make(pool), tp.Mean())
    )
    ours, theirs = (float(loss.mean()) for loss in losses)
    return ours - theirs


def measure(
    make: Callable[[int], Draw],
    cases: tuple[int, ...],
    draws: int,
    first: int = 0,
    pool: str = "auto",
) -> Iterator[float]:
    """Mean gain of a panel for each number of cases; NaN where it has too few."""
    drawn = {number: make(number) for number in range(first, first + draws)}
    for n in cases:
        gains = []
        for number, (learning, reports, outcomes) in drawn.items():
            order = np.random.default_rng([number, n]).permutation(len(learning))
            if n <= len(order):
                known = learning.take(np.sort(order[:n]))
                gains.append(gain(known, reports, outcomes, pool))
        yield float(np.mean(gains)) if gains else np.nan


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("panel", nargs="*")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--pool", default="auto")
    parser.add_argument("--cases", type=int, nargs="+", default=list(CASES))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    every = fresh_panels() if given.fresh else panels()
    how = tuple(given.cases), given.draws, given.first, given.pool
    table = []
    print("| panel |" + "".join(f" {n} |" for n in given.cases))
    print("|---|" + "---|" * len(given.cases))
    for name in given.panel or every:
        row = [1000 * g for g in measure(every[name], *how)]
        table.append(row)
        print(f"| {name} | {' | '.join(f'{g:+.1f}' for g in row)} |", flush=True)
    every_row = np.array(table)
    summary = {
        "mean": np.nanmean(every_row, axis=0),
        "median": np.nanmedian(every_row, axis=0),
        "worst": np.nanmax(every_row, axis=0),
    }
    for what, line in summary.items():
        print(f"| *{what}* | {' | '.join(f'{g:+.1f}' for g in line)} |")


if __name__ == "__main__":
    main()
