"""Misses and time of VCG with only k removals per case."""

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar, final

from truepool import VCG, Panel
from truepool.core.arrays import FloatArray
from truepool.core.engine import Cell, Row, cells
from truepool.measures.scores import confusion
from truepool_lab.datasets import nsl_kdd
from truepool_lab.paper.charts import Series, lines
from truepool_lab.paper.interface import Experiment, Reading, Size, row
from truepool_lab.paper.settings import COSTS, THRESHOLD
from truepool_lab.paper.synthetic_task import first_agents, panels
from truepool_lab.paper.verdicts import numbers, summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REMOVALS = {5: (1, 2, 5), 10: (1, 2, 5, 10), 20: (1, 2, 5, 10, 20)}
TABLE, FIGURE = "tab:approx_vcg", "fig:kloo_tradeoff"


@final
class ApproximateVCG(Experiment):
    """Twenty agents on NSL-KDD; smaller ensembles are the first of them."""

    name: ClassVar[str] = "approximate-vcg"
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            "NSL-KDD, scikit-learn agents (five kinds of model in turn) on silos of "
            "60 % of the features; VCG by the 0/1 cost loss at threshold 0.5, learned "
            "on a fifth of the training rows with k removals drawn for every case; "
            "latency is the time to learn the weights, a case, on the machine at hand.",
            "Exact credit is compiled here and shares one sum a case, so that drawing "
            "k removals is slower than trying all, and saves nothing. At k = 1 errors "
            "stay below 0.005, as the paper says.",
            methods="none",
            constructed=("5, 5 | FN error", "10, 10 | FN error", "20, 20 | FN error"),
            timed=("* | latency (ms)",),
        ),
        FIGURE: Reading(
            "The error of tab:approx_vcg as a share of the exact pool's misses, and "
            "the time to learn the weights, a case."
        ),
    }
    needs: ClassVar[tuple[str, ...]] = ("nsl-kdd",)
    alone: ClassVar[bool] = True

    def cells(self, size: Size) -> list[Cell]:
        """Return ten repeats of the paper's 50,000 rows, or two of a tenth."""
        if size == "full":
            return cells(self.name, 10, {"rows": [50_000]})
        return cells(self.name, 2, {"rows": [3000]})

    def effort(self, cell: Cell) -> float:
        """Mostly the training of twenty agents."""
        return float(cell["rows"]) / 750

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Train once and learn weights with every number of removals."""
        data = nsl_kdd(cell["rows"], seed=cell.seed("rows"))
        X = data.encoder().fit_transform(data.values)
        validation, test = panels(X, data.outcomes, cell.seed("agents"), 20)
        return [
            found
            for n, removal_counts in REMOVALS.items()
            for found in _rows_by_removals(
                first_agents(validation, n), first_agents(test, n), removal_counts, cell
            )
        ]

    def figure(self, label: str, rows: Sequence[Row]) -> "Figure":
        """Draw relative error and latency against k."""
        means = summarise(rows, FIGURE)
        panels = {
            column: {
                f"n = {n}": Series(
                    removal_counts,
                    numbers(means, [(n, k) for k in removal_counts], column),
                )
                for n, removal_counts in REMOVALS.items()
            }
            for column in ("relative FN error (%)", "latency (ms)")
        }
        return lines(panels, "removals k")


def _rows_by_removals(
    validation: Panel, test: Panel, removal_counts: Sequence[int], cell: Cell
) -> list[Row]:
    n = len(validation.agents)
    exact, _ = _fn_rate_and_time(validation, test, n, cell)
    rows = []
    for k in removal_counts:
        missed, milliseconds = _fn_rate_and_time(validation, test, k, cell)
        error = abs(missed - exact)
        share = 100 * error / exact if exact else None
        rows += [
            row(TABLE, [n, k], "FN error", error),
            row(TABLE, [n, k], "latency (ms)", milliseconds),
            row(FIGURE, [n, k], "relative FN error (%)", share),
            row(FIGURE, [n, k], "latency (ms)", milliseconds),
        ]
    return rows


def _fn_rate_and_time(
    validation: Panel, test: Panel, k: int, cell: Cell
) -> tuple[float, float]:
    """Return the FN rate with k removals per case, and the milliseconds per case."""
    removals = None if k == len(validation.agents) else k
    pool = VCG(
        loss="cost",
        costs=COSTS,
        threshold=THRESHOLD,
        removals=removals,
        seed=cell.seed("removals"),
    )
    start = perf_counter()
    pool.fit_panel(validation)
    milliseconds = 1000 * (perf_counter() - start) / len(validation)
    pooled: FloatArray = pool.combine(test.values)
    return confusion(pooled, test.outcomes, threshold=THRESHOLD).fn_rate, milliseconds
