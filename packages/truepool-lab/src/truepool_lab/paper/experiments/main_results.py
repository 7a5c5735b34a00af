"""Which pool decides best and is best calibrated, on three real data sets."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, final

from truepool import Mean, Panel
from truepool.core.arrays import FloatArray
from truepool.core.engine import Cell, Row
from truepool.measures.diversity import correlation, mean_over_pairs
from truepool.measures.scores import ece
from truepool.pages.figures.style import house_style
from truepool.pools import Pool
from truepool.pools.bayes import Bayes
from truepool.pools.platt import Platt
from truepool_lab.paper.charts import (
    draw_diagonal,
    draw_lines,
    lines,
    side_by_side,
)
from truepool_lab.paper.curves import bin_counts, curve, points
from truepool_lab.paper.interface import Axes, Experiment, Reading, Size, row
from truepool_lab.paper.methods import (
    METHODS_READING,
    STACKING_READING,
    methods,
    platt_probabilities,
    pool_with,
    stack,
    tally,
    vcg,
)
from truepool_lab.paper.real_task import (
    FIFTH,
    NEURAL,
    PROTOCOL,
    ROWS,
    SOURCES,
    THRESHOLDS,
    Task,
    task,
)
from truepool_lab.paper.settings import COSTS, THRESHOLD, UNCLIPPED
from truepool_lab.paper.significance import by_seed, comparison_rows
from truepool_lab.pools.mlp_2 import MLP2

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLATT, PENALISED = "Platt-scaled mean", "Platt-scaled mean, penalised"
SIGNIFICANCE = "tab:significance"
FEWER = "NSL-KDD, 47,736 rows"
"""A second draw, not printed: the first fifth of the train file and the test file."""
CURVES, NSL_CURVES = "fig:reliability", "fig:reliability_nslkdd"
CURVE_METHODS = ("VCG", "Brier", "Log-Odds", "Stacking-MLP", PLATT)
PLATT_NOTE = (
    "the mean is scaled by a logistic regression on itself, without penalty as in "
    "Platt (1999); both that and, in an extra row, scikit-learn's default were tried, "
    "for the paper does not say"
)
UNSW = (
    "of UNSW-NB15 only the partition of 82,332 flows is at hand (55 % attacks), where "
    "the paper has 64 %"
)

FEWER_NOTE = (
    "of 47,736 rows takes the first fifth of the train file of NSL-KDD and all of its "
    "test file, where the other draws 50,000 of both"
)
REDUCED = "A reduced run has fewer rows, of which 8 % and not 0.98 % are fraud."


@final
class MainResults(Experiment):
    """The five agents of each data set, trained once for all tables."""

    name: ClassVar[str] = "main-results"
    axes: ClassVar[Axes] = {"data": (*SOURCES, FEWER)}
    by_size: ClassVar[bool] = True
    version: ClassVar[str] = "3"  # stacking as sec:experiments states it
    readings: ClassVar[Mapping[str, Reading]] = {
        "tab:main_results": Reading(
            f"{PROTOCOL}; {METHODS_READING}; {STACKING_READING}; "
            f"threshold 0.5, and 0.3 for Credit Card; {UNSW}; the "
            f"extra columns {FEWER_NOTE}.",
            "Of UNSW-NB15 only the partition of 82,332 flows is at hand (55 % "
            "attacks), where the paper has 64 %. On Credit Card vote and best agent "
            "miss least in print; here no agent alone misses as little, even if "
            "picked on the test rows, and a vote does only if two of five suffice (a "
            "share above the threshold of 0.3). Which rows of NSL-KDD were drawn is "
            "not said, and printed misses of most methods lie between those of the "
            "two draws shown.",
            reduced=REDUCED,
        ),
        "tab:ece_binary": Reading(
            f"{PROTOCOL}; {METHODS_READING}; {STACKING_READING}; "
            "15 bins; a vote says the mean report of its majority;"
            f" {PLATT_NOTE}; {UNSW}; the extra column {FEWER_NOTE}.",
            "Agents that learn from fewer rows are less calibrated, and how many the "
            "paper's learned from is not said: printed errors of NSL-KDD lie between "
            "ours with 4,000 rows and with 50,000, but for Externality (0.020) and "
            f"Conf-Weighted (0.019), which no draw tried gives; {UNSW}.",
            reduced=REDUCED,
        ),
        "tab:empirical_rho": Reading(
            f"{PROTOCOL}; Pearson's correlation of test reports, over all cases, mean "
            f"over pairs; {UNSW}; the extra row {FEWER_NOTE}.",
            "Agents that learn from more rows are more alike, and how many the "
            "paper's learned from is not said (0.973 with 4,000 rows of NSL-KDD, "
            "0.989 with 50,000).",
            reduced=REDUCED,
            methods="none",
            basis="stated",
        ),
        "tab:platt": Reading(
            f"{PROTOCOL}; threshold 0.5 throughout, as tab:hyperparams says where "
            f"nothing else is said; {PLATT_NOTE}; the extra rows decide as "
            "tab:main_results does.",
            f"Which rows of NSL-KDD were drawn is not said; {UNSW}.",
            reduced=REDUCED,
        ),
        SIGNIFICANCE: Reading(
            f"{PROTOCOL}; the runs of tab:main_results on NSL-KDD; {METHODS_READING}; "
            "the "
            "MLP aggregator is a network of two hidden layers of 64 on the reports.",
            "Methods that all miss at most 0.011, as here and in tab:main_results, "
            "cannot differ by 0.03: the printed differences must come from other "
            "runs, which the paper does not describe.",
            methods="none",
            basis="stated",
        ),
        CURVES: Reading(
            f"{PROTOCOL}; first seed, 15 bins as for the ECE; bins of fewer than ten "
            "cases are not drawn."
        ),
        NSL_CURVES: Reading(
            f"{PROTOCOL}; first seed, 10 bins; those of fewer than ten cases are not "
            "drawn."
        ),
    }
    needs: ClassVar[tuple[str, ...]] = tuple(SOURCES.values())
    packages: ClassVar[Mapping[str, str]] = NEURAL

    def cells(self, size: Size) -> list[Cell]:
        """Return the data sets; the second draw, which is not printed, in full only."""
        made = super().cells(size)
        return [c for c in made if size == "full" or c["data"] != FEWER]

    def effort(self, cell: Cell) -> float:
        """Mostly the training of the five agents, for stacking three times more."""
        return 200.0 if cell["size"] == "full" else 10.0

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Train, learn to pool, and test."""
        data = cell["data"]
        here = _task(cell)
        validation, test = here.panels()
        threshold = THRESHOLDS.get(data, THRESHOLD)
        outputs = _outputs(validation, test, threshold, here.seed)
        outputs |= stack(*here.cross_fitted(), here.seed)
        rho = mean_over_pairs(correlation(test))
        rows = [
            *_score_rows(data, outputs, test, threshold),
            row("tab:empirical_rho", [data], "mean rho", rho),
            *_platt_rows(data, validation, test, threshold),
        ]
        if data == "NSL-KDD":
            rows += _by_method(outputs, validation, test, here.seed)
        if data in SOURCES and not cell.repeat:
            rows += _curves(data, outputs, validation, test)
        return rows

    def derive(self, rows: Sequence[Row]) -> list[Row]:
        """Spread over the seeds, and paired tests."""
        ours = by_seed(rows, SIGNIFICANCE, "VCG", "FN")
        found = [
            comparison_rows(
                SIGNIFICANCE, rival, by_seed(rows, SIGNIFICANCE, rival, "FN"), ours
            )
            for rival in ("Conf-Weighted", "Brier", "MLP aggregator")
        ]
        table = "tab:empirical_rho"
        spread = []
        for data in (*SOURCES, FEWER):
            each = by_seed(rows, table, data, "mean rho")
            if len(each) > 1:
                spread.append(row(table, [data], "std", each.std(ddof=1)))
        return [*spread, *(found for tests in found for found in tests)]

    def figure(self, label: str, rows: Sequence[Row]) -> "Figure":
        """Draw the reliability curves."""
        if label == NSL_CURVES:
            return _with_histogram(rows)
        panels = {
            data: {m: points(rows, label, [data, m]) for m in CURVE_METHODS}
            for data in SOURCES
        }
        return lines(panels, "said", "happened", diagonal=True)


@house_style
def _with_histogram(rows: Sequence[Row]) -> "Figure":
    page, (left, right) = side_by_side(2)
    draw_diagonal(left)
    draw_lines(left, {m: points(rows, NSL_CURVES, [m]) for m in _pools()})
    draw_lines(right, {m: bin_counts(rows, NSL_CURVES, [m]) for m in _pools()})
    left.set(title="NSL-KDD", xlabel="said", ylabel="happened")
    right.set(title="how often", xlabel="bin", ylabel="cases", yscale="log")
    right.legend()
    return page


def _task(cell: Cell) -> Task:
    rows = ROWS[cell["size"]]
    if cell["data"] == FEWER:
        drawn = None if cell["size"] == "full" else rows["NSL-KDD"]
        return task("nsl-kdd", drawn, cell, train=FIFTH)
    return task(SOURCES[cell["data"]], rows[cell["data"]], cell)


def _outputs(
    validation: Panel, test: Panel, threshold: float, seed: int
) -> dict[str, FloatArray]:
    pools = {
        **methods(threshold, seed),
        "Mean": Mean(),
        "Platt on log-odds": Platt(clip=UNCLIPPED),
    }
    outputs = {name: pool_with(pool, validation, test) for name, pool in pools.items()}
    scaled = {
        PLATT: platt_probabilities(validation, test),
        PENALISED: platt_probabilities(validation, test, penalty=1.0),
    }
    return {**outputs, **scaled}


def _score_rows(
    data: str, outputs: Mapping[str, FloatArray], test: Panel, threshold: float
) -> list[Row]:
    rows = []
    for method, pooled in outputs.items():
        counts = tally(pooled, test, threshold)
        scores = {
            "recall": counts.recall,
            "F1": counts.f1,
            "FN": counts.fn_rate,
            "cost": counts.cost(COSTS),
        }
        rows += [
            row("tab:main_results", [method], f"{data}/{score}", value)
            for score, value in scores.items()
        ]
        error = ece(pooled, test.outcomes)
        rows.append(row("tab:ece_binary", [method], data, error))
    return rows


def _platt_rows(data: str, validation: Panel, test: Panel, main: float) -> list[Row]:
    scaled = {
        PLATT: platt_probabilities(validation, test),
        PENALISED: platt_probabilities(validation, test, penalty=1.0),
    }
    rows = []
    for threshold, suffix in ((THRESHOLD, ""), (main, ", main threshold")):
        pools = {"VCG": pool_with(vcg(threshold), validation, test), **scaled}
        for method, pooled in pools.items():
            missed = tally(pooled, test, threshold).fn_rate
            rows.append(row("tab:platt", [method + suffix], f"{data} FN", missed))
    return rows


def _by_method(
    outputs: Mapping[str, FloatArray], validation: Panel, test: Panel, seed: int
) -> list[Row]:
    """Return the misses of every seed, for the paired tests."""
    network = pool_with(MLP2(seed=seed), validation, test)
    rivals = {**outputs, "MLP aggregator": network}
    return [
        row(SIGNIFICANCE, [method], "FN", tally(rivals[method], test).fn_rate)
        for method in ("VCG", "Conf-Weighted", "Brier", "MLP aggregator")
    ]


def _pools() -> dict[str, Pool]:
    return {
        "VCG": vcg(),
        "Bayesian log-odds": Bayes(clip=UNCLIPPED),
        "Simple average": Mean(),
    }


def _curves(
    data: str, outputs: Mapping[str, FloatArray], validation: Panel, test: Panel
) -> list[Row]:
    outcomes = test.outcomes
    rows = [
        found
        for method in CURVE_METHODS
        for found in curve(CURVES, [data, method], outputs[method], outcomes, 15)
    ]
    three = _pools() if data == "NSL-KDD" else {}
    for method, pool in three.items():
        rows += curve(
            NSL_CURVES, [method], pool_with(pool, validation, test), outcomes, 10
        )
    return rows
