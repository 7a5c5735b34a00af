"""Measure `auto` with few cases against the plain mean, on panels it was not set on.

Run: python scripts/measure_few_cases.py [PANEL...] [--draws 3] [--cases 10 20 50 100].
Prints the table of docs/pools.md: Brier loss of `auto` minus that of the mean, in
thousandths, so that below 0 `auto` is better. The real panels are those of the race
that played no part in choosing anything, and have six draws; the juries were made up
after everything was set. A panel is used with so many cases only if it has them.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import truepool as tp
from truepool.core.arrays import FloatArray, IntArray

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / part) for part in ("benchmarks", "tests", "scripts")]

REAL = (
    "heart", "heart-sparse", "diabetes", "diabetes-drift", "banana-mis", "web",
    "kdd-probe-adv", "kdd-remote-rare", "unsw-fuzzers", "unsw-exploits-sparse",
    "unsw-rare", "governors",
)  # fmt: skip
"""Panels of two classes of the race, one or two of each source."""
SIMULATED = ("rubric", "topics", "sleepers")
"""Juries of `measure_jury.py`."""
CASES = (10, 20, 50, 100)
MOST_NEW = 1_000
Draw = tuple[tp.Panel, FloatArray, IntArray]


def panels() -> dict[str, Callable[[int], Draw]]:
    """Return every panel, a function of the draw: what is learned, then new cases."""
    import measure_jury
    from race.panels import PANELS  # type: ignore[import-not-found]

    found: dict[str, Callable[[int], Draw]] = {}
    for name in REAL:
        found[name] = partial(_real, PANELS[name])
    for name in SIMULATED:
        found[name] = partial(_simulated, measure_jury.own_panels()[name])
    return found


def _real(task: Any, number: int) -> Draw:
    draw = task.draw(number)
    return draw.learning, draw.reports[:MOST_NEW], draw.outcomes[:MOST_NEW]


def _simulated(jury: Callable[..., Any], number: int) -> Draw:
    reports, truth = jury(number)
    learning = tp.Panel(reports[:-MOST_NEW], truth[:-MOST_NEW])
    return learning, reports[-MOST_NEW:], truth[-MOST_NEW:]


def gain(panel: tp.Panel, reports: FloatArray, outcomes: IntArray) -> float:
    """Brier loss of `auto` learned from a panel, minus the mean's, on new cases."""
    pooled = tp.Auto().fit_panel(panel).predict_proba(reports)[:, 1]
    mean = np.nanmean(reports, axis=1)
    return float(np.mean((pooled - outcomes) ** 2 - (mean - outcomes) ** 2))


def measure(
    make: Callable[[int], Draw], cases: tuple[int, ...], draws: int
) -> Iterator[float]:
    """Mean gain of a panel for each number of cases; NaN where it has too few."""
    drawn = [make(number) for number in range(draws)]
    for n in cases:
        gains = []
        for number, (learning, reports, outcomes) in enumerate(drawn):
            order = np.random.default_rng([number, n]).permutation(len(learning))
            if n <= len(order):
                first = learning.take(np.sort(order[:n]))
                gains.append(gain(first, reports, outcomes))
        yield float(np.mean(gains)) if gains else np.nan


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("panel", nargs="*")
    parser.add_argument("--draws", type=int, default=3, choices=range(1, 7))
    parser.add_argument("--cases", type=int, nargs="+", default=list(CASES))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    every = panels()
    table = []
    print("| panel |" + "".join(f" {n} |" for n in given.cases))
    print("|---|" + "---|" * len(given.cases))
    for name in given.panel or every:
        row = [1000 * g for g in measure(every[name], tuple(given.cases), given.draws)]
        table.append(row)
        print(f"| {name} | {' | '.join(f'{g:+.1f}' for g in row)} |", flush=True)
    for what, function in (("mean", np.nanmean), ("worst", np.nanmax)):
        line = function(np.array(table), axis=0)
        print(f"| *{what}* | {' | '.join(f'{g:+.1f}' for g in line)} |")


if __name__ == "__main__":
    main()
