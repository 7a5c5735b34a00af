"""Measure what a jury claims, on the panels of the study and on fresh ones.

Run: python scripts/measure_jury.py [PART...] [--draws 100] [--pool-draws 20] [--own].
Prints the tables of docs/jury.md. Parts: rates (how often the interval of the rate
covers the share of positive items), costs (the same for the decisions), bound (how
often more than 10 % of the items decided without a person are wrong), pools (Brier loss
minus that of the mean verdict) and crowd. A draw labels items at random; simulated
juries are new in each draw, tables of classifiers are five that take turns. --own takes
three recipes that were made up after everything was set.

A panel is used with so many labels only if it has twice as many items.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from fresh_juries import OWN, Table

import truepool as tp
from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import TruepoolError
from truepool.datasets.location import folders
from truepool_jury.juries.learned_pool import learn_pool
from truepool_jury.juries.rates import event_rate
from truepool_jury.juries.verdicts import Verdicts
from truepool_jury.measures.automation import certify

sys.path.insert(0, str(Path(__file__).parents[1] / "packages/truepool-jury/tests"))
from simulated_juries import (  # type: ignore[import-not-found]
    RECIPES,
    simulate,
    with_labels,
)

TABULAR = ("kdd", "unsw", "credit2", "pima", "breast", "digits", "phish")
TABULAR_DRAWS = 5
LEVEL, MAX_ERROR = 0.95, 0.1
RATE_LABELS = (20, 50, 200)
BOUND_LABELS = (50, 100, 200, 500)
POOL_LABELS = (10, 20, 50, 100, 200)
COSTS = (tp.Costs(1, 1), tp.Costs(10, 1), tp.Costs(50, 1))


@dataclass(frozen=True)
class Cell:
    """What was seen of a panel with so many labels: one value per draw."""

    panel: str
    labels: int
    values: FloatArray

    @property
    def mean(self) -> float:
        """Mean over the draws."""
        return float(np.mean(self.values))


def study_panels() -> dict[str, Callable[[int], Table]]:
    """Return the panels of the study, each a function of the draw."""
    panels: dict[str, Callable[[int], Table]] = {}
    for name in RECIPES:
        panels[name] = simulated(name)
    panels["judgebench"] = lambda _: _judgebench()
    panels["duck-crowd"] = lambda _: _table(tp.datasets.duck_crowd())
    panels["product-crowd"] = lambda _: _table(tp.datasets.product_crowd())
    for name in TABULAR:
        panels[name] = _tabular(name)
    return panels


def measure(
    panels: dict[str, Callable[[int], Table]],
    labels: tuple[int, ...],
    draws: int,
    value: Callable[[Verdicts, IntArray], float | FloatArray],
    *,
    by_votes: bool = False,
) -> Iterator[Cell]:
    """Measure a value of every panel and number of labels, draw by draw."""
    for name, make in panels.items():
        found: dict[int, list[float | FloatArray]] = {n: [] for n in labels}
        for draw in range(draws):
            reports, truth = make(draw)
            order = np.random.default_rng([draw, 7]).permutation(len(truth))
            for n in labels:
                if 2 * n <= len(truth):
                    mixed, y = reports[order], truth[order]
                    panel = with_labels(mixed, y, n)
                    found[n].append(
                        value(Verdicts.from_panel(panel, by_votes=by_votes), y)
                    )
        yield from (Cell(name, n, np.array(v)) for n, v in found.items() if v)


def rate_covers(verdicts: Verdicts, truth: IntArray) -> float:
    """Whether the interval covers the share of positive items in the table."""
    rate = event_rate(verdicts, verdicts.labels, verdicts.anchor, LEVEL)
    return float(rate.low <= truth.mean() <= rate.high)


def bound_broken(verdicts: Verdicts, truth: IntArray) -> FloatArray:
    """Whether too many automatic decisions are wrong, and the share certified."""
    found = certify(verdicts.anchor, verdicts.labelled, verdicts.labels)
    rest = verdicts.unlabelled
    sure = rest[found.automatic[rest]]
    wrong = found.decisions[sure] != truth[sure]
    broken = len(sure) > 0 and wrong.mean() > MAX_ERROR
    return np.array([float(broken), found.share])


def cost_covers(verdicts: Verdicts, truth: IntArray) -> FloatArray:
    """Whether the intervals of the cost cover what the decisions cost, by costs."""
    panel = with_labels(verdicts.reports, truth, len(verdicts.labels))
    covered = []
    for costs in COSTS:
        jury = tp.jury(panel, costs=costs)
        rest = jury.decided_by != "label"
        decided, y = jury.decisions[rest], truth[rest]
        spent = np.where(y == 1, costs.fn * (decided == 0), costs.fp * (decided == 1))
        value = jury.cost.value if jury.cost else None
        covered.append(
            float(value is not None and value.low <= spent.mean() <= value.high)
        )
    return np.array(covered)


def pool_gains(verdicts: Verdicts, truth: IntArray) -> FloatArray:
    """Brier loss x 1000 minus the mean's: log-odds, shrunk and stacked-lr."""
    n, reports = len(verdicts.labels), verdicts.reports
    later = truth[n:]
    known = tp.Panel(reports[:n], truth[:n])
    pooled = [np.nanmean(reports[n:], axis=1), verdicts.anchor[n:]]
    for pool in (tp.Shrunk(), tp.StackedLR()):
        try:
            pooled.append(pool.fit_panel(known).predict_proba(reports[n:])[:, 1])
        except TruepoolError:  # a single class, or an agent without a report
            pooled.append(np.full(len(later), np.nan))
    losses = np.array([np.square(p - later).mean() for p in pooled])
    return np.asarray(1000 * (losses[1:] - losses[0]))


def crowd_losses(draws: int) -> dict[int, float]:
    """Brier loss of the product crowd: votes weighed by errors, then with labels."""
    reports, truth = _table(tp.datasets.product_crowd())
    losses: dict[int, list[float]] = {0: [], 50: [], 200: []}
    for draw in range(draws):
        order = np.random.default_rng([draw, 7]).permutation(len(truth))
        mixed, y = reports[order], truth[order]
        for n, found in losses.items():
            verdicts = Verdicts.from_panel(
                with_labels(mixed, y, max(n, 2)), by_votes=True
            )
            pooled = learn_pool(verdicts, draw, scores=False)[1]
            found.append(float(np.square(pooled - y)[n:].mean()))
    return {n: float(np.mean(found)) for n, found in losses.items()}


def show(title: str, cells: list[Cell], columns: tuple[str, ...], scale: float) -> None:
    """Print a Markdown table: panels by rows, numbers of labels by columns."""
    labels = sorted({cell.labels for cell in cells})
    for place, column in enumerate(columns):
        print(f"\n{title}: {column}\n")
        print("| panel |" + "".join(f" {n} |" for n in labels))
        print("|---|" + "---|" * len(labels))
        rows: dict[str, dict[int, float]] = {}
        for cell in cells:
            values = cell.values if cell.values.ndim == 1 else cell.values[:, place]
            rows.setdefault(cell.panel, {})[cell.labels] = scale * float(values.mean())
        table = np.array(
            [[row.get(n, np.nan) for n in labels] for row in rows.values()]
        )
        for name, line in zip(rows, table, strict=True):
            print(f"| {name} | {' | '.join(f'{value:.1f}' for value in line)} |")
        summary = (("mean", np.nanmean), ("lowest", np.nanmin), ("highest", np.nanmax))
        for name, function in summary:
            line = function(table, axis=0)
            print(f"| *{name}* | {' | '.join(f'{value:.1f}' for value in line)} |")


def simulated(name: str) -> Callable[[int], Table]:
    """Return a simulated jury of the study."""

    def make(draw: int) -> Table:
        reports, truth = simulate(np.random.default_rng([draw, 5]), **RECIPES[name])
        return reports, truth

    return make


def _tabular(name: str) -> Callable[[int], Table]:
    @cache
    def tables() -> list[Table]:
        file = Path("jury") / f"tabular_{name}.npz"
        path = next(f / file for f in folders().values() if (f / file).is_file())
        with np.load(path) as arrays:
            return [(arrays[f"R_{s}"], arrays[f"y_{s}"]) for s in range(TABULAR_DRAWS)]

    return lambda draw: tables()[draw % TABULAR_DRAWS]


def _table(panel: tp.Panel) -> Table:
    return panel.reports, panel.outcomes


def _judgebench() -> Table:
    """Both orders of the language model are one judge."""
    panel = tp.datasets.judgebench()
    merged = Verdicts.from_panel(panel).merge([panel.agents[5:7]])
    return merged.reports, panel.outcomes


def main() -> None:
    """Print the tables."""
    parts = ("rates", "costs", "bound", "pools", "crowd")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="*", choices=[*parts, []], default=[])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--pool-draws", type=int, default=20)
    parser.add_argument("--own", action="store_true")
    given = parser.parse_args()
    chosen = given.part or parts
    panels = OWN if given.own else study_panels()
    warnings.simplefilter("ignore")
    if "rates" in chosen:
        cells = [*measure(panels, RATE_LABELS, given.draws, rate_covers)]
        show("Rate", cells, ("covered, %",), 100)
    if "bound" in chosen:
        cells = [*measure(panels, BOUND_LABELS, given.draws, bound_broken)]
        show("Bound of 10 % errors", cells, ("broken, %", "decided, %"), 100)
    if "pools" in chosen:
        cells = [*measure(panels, POOL_LABELS, given.pool_draws, pool_gains)]
        show(
            "Brier x 1000 minus the mean's",
            cells,
            ("log-odds", "shrunk", "stacked-lr"),
            1,
        )
    if "costs" in chosen:
        small = {k: v for k, v in panels.items() if k != "product-crowd"}
        cells = [*measure(small, RATE_LABELS, given.pool_draws, cost_covers)]
        names = tuple(f"covered at {c.fn:g} to {c.fp:g}, %" for c in COSTS)
        show("Cost", cells, names, 100)
    if "crowd" in chosen and not given.own:
        print("\nProduct crowd, Brier loss:", crowd_losses(3))


if __name__ == "__main__":
    main()
