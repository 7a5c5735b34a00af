"""Measure how often intervals by propensity hold the true cost of a pool.

Run: python scripts/measure_propensity_coverage.py [RUNS] [--cases N] [--explored P].
Cases are drawn from a population in which the cost per case of the mean of three agents
is known (from two million cases). A case is reviewed for sure when the pool decides
positive and with the chance explored otherwise; `compare` sees the reviewed cases only,
with and without their propensities. What matters is how many missed cases are reviewed.
"""

import argparse

import numpy as np

from truepool.comparison import Estimate, compare
from truepool.core.arrays import BoolArray, FloatArray, IntArray
from truepool.measures.decisions import decide
from truepool.measures.losses import cost
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

COSTS = Costs(fn=3, fp=1)
EXPLORED = 0.3
POPULATION = 2_000_000


def draw(rng: np.random.Generator, cases: int) -> tuple[FloatArray, IntArray]:
    """Return reports (T, 3) and outcomes of cases from the population."""
    outcomes = (rng.random(cases) < 0.2).astype(np.int64)
    shared = rng.normal(size=(cases, 1))
    signal = 1.5 * outcomes[:, None] - 2.5 + shared + rng.normal(size=(cases, 3))
    return 1 / (1 + np.exp(-signal)), outcomes


def review(
    rng: np.random.Generator, reports: FloatArray, explored: float
) -> tuple[BoolArray, FloatArray]:
    """Return which cases are reviewed, and the chance of each."""
    alarms = decide(reports.mean(axis=1), COSTS) == 1
    chance = np.where(alarms, 1.0, explored)
    return rng.random(len(reports)) < chance, chance


def estimates(
    seed: int, cases: int, explored: float = EXPLORED, resamples: int = 200
) -> tuple[Estimate, Estimate]:
    """Cost of the mean by `compare`, with and without propensities."""
    rng = np.random.default_rng([seed, cases])
    reports, outcomes = draw(rng, cases)
    known, chance = review(rng, reports, explored)
    both = (
        Panel(reports[known], outcomes[known], propensity=propensity)
        for propensity in (chance[known], None)
    )
    weighted, plain = (
        compare(panel, costs=COSTS, pools=["mean"], cv=2, resamples=resamples)["mean"]
        for panel in both
    )
    return weighted.loss, plain.loss


def true_cost(cases: int = POPULATION) -> float:
    """Cost per case of the mean in the population."""
    reports, outcomes = draw(np.random.default_rng(0), cases)
    return float(cost(reports.mean(axis=1), outcomes, COSTS).mean())


def coverage(runs: int, cases: int, explored: float) -> tuple[float, float]:
    """Share of intervals that hold the truth, with and without propensities."""
    truth = true_cost()
    found = [estimates(seed, cases, explored) for seed in range(runs)]
    held = [[e.low <= truth <= e.high for e in pair] for pair in found]
    weighted, plain = np.mean(held, axis=0).tolist()
    return weighted, plain


def main() -> None:
    """Print the coverage of 95 % intervals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=400)
    parser.add_argument("--cases", type=int, default=4_000)
    parser.add_argument("--explored", type=float, default=EXPLORED)
    given = parser.parse_args()
    weighted, plain = coverage(given.runs, given.cases, given.explored)
    print(f"{given.runs} runs of {given.cases:,} cases; the true cost is held in")
    print(f"{weighted:.1%} by 95 % intervals with propensities, {plain:.1%} without.")


if __name__ == "__main__":
    main()
