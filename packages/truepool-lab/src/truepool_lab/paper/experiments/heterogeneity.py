"""Whether five kinds of model do better than five models of one kind."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

from truepool import Panel
from truepool.agents import zoo
from truepool.core.engine import Cell, Row
from truepool.measures.diversity import disagreement, mean_over_pairs
from truepool_lab.paper.charts import Series, lines
from truepool_lab.paper.interface import Axes, Experiment, Reading, Size, row
from truepool_lab.paper.methods import pool_with, tally, vcg
from truepool_lab.paper.real_task import PACKAGES, ROWS, SOURCES, THRESHOLDS, task
from truepool_lab.paper.settings import THRESHOLD
from truepool_lab.paper.verdicts import numbers, summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA = ("NSL-KDD", "Credit Card")
QUICK = {"NSL-KDD": 1500, "Credit Card": 3000}
COMPOSITIONS = {
    "5x RF": ("random-forest",) * 5,
    "5x LightGBM": ("lightgbm",) * 5,
    "5x MLP": ("mlp",) * 5,
    "3xRF+2xLGB": ("random-forest",) * 3 + ("lightgbm",) * 2,
    "Heterogeneous": zoo.PAPER,
}
TABLE, FIGURE = "tab:heterogeneity", "fig:heterogeneity_scatter"
READING = (
    "Five agents on the paper's five silos of 60 % of the features, models as in "
    "tab:hyperparams; the heterogeneous five are those of tab:main_results; weights by "
    "VCG with the 0/1 cost loss, learned on a fifth of the training rows; threshold "
    "0.5, as tab:hyperparams says where nothing else is said (the extra columns have "
    "0.3 for Credit Card); disagreement is the share of test cases that two agents "
    "decide differently, mean over pairs."
)


@final
class Heterogeneity(Experiment):
    """Ensembles of several kinds; an agent in several of them is trained once."""

    name: ClassVar[str] = "heterogeneity"
    axes: ClassVar[Axes] = {"data": tuple(DATA)}
    by_size: ClassVar[bool] = True
    repeats: ClassVar[Mapping[Size, int]] = {"quick": 1, "full": 10}
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            READING,
            "These are other runs than those of tab:main_results, where VCG misses "
            "0.009 with the same five agents (0.0118 here; ours is the same in both): "
            "the 0.013 printed for 5x RF is what forests miss that learn from about "
            "10,000 rows of NSL-KDD, not from 50,000; how the printed disagreement is "
            "counted is not said.",
            reduced="A reduced run keeps all frauds among 3,000 rows, so that 16 % and "
            "not 0.98 % are fraud.",
        ),
        FIGURE: Reading("The cells of tab:heterogeneity."),
    }
    needs: ClassVar[tuple[str, ...]] = tuple(SOURCES[data] for data in DATA)
    packages: ClassVar[Mapping[str, str]] = PACKAGES

    def effort(self, cell: Cell) -> float:
        """Mostly the five networks."""
        return 150.0 if cell["size"] == "full" else 10.0

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Train every ensemble and pool it."""
        data, full = cell["data"], cell["size"] == "full"
        rows = ROWS["full"][data] if full else QUICK[data]
        here = task(SOURCES[data], rows, cell)
        found = []
        for name, kinds in COMPOSITIONS.items():
            validation, test = here.panels(team(kinds))
            found += _pool_rows(data, name, validation, test)
        return found

    def figure(self, label: str, rows: Sequence[Row]) -> "Figure":
        """Draw misses against disagreement."""
        means = summarise(rows, TABLE)
        panels = {
            data: {
                name: Series(
                    numbers(means, [(name,)], f"{data}/disagreement"),
                    numbers(means, [(name,)], f"{data}/FN"),
                )
                for name in COMPOSITIONS
            }
            for data in DATA
        }
        return lines(panels, "disagreement", "FN", from_zero=False)


def team(kinds: Sequence[str]) -> dict[str, Any]:
    """Return untrained models of these kinds, each with a name of its own."""
    return {f"{kind} {i}": zoo.make(kind) for i, kind in enumerate(kinds)}


def _pool_rows(data: str, name: str, validation: Panel, test: Panel) -> list[Row]:
    rows = []
    thresholds = {"": THRESHOLD, " at 0.3": THRESHOLDS[data]}
    for suffix, threshold in thresholds.items():
        if suffix and threshold == THRESHOLD:
            continue
        counts = tally(pool_with(vcg(threshold), validation, test), test, threshold)
        disagreement_rate = mean_over_pairs(disagreement(test, threshold=threshold))
        rows += [
            row(TABLE, [name], f"{data}{suffix}/FN", counts.fn_rate),
            row(TABLE, [name], f"{data}{suffix}/F1", counts.f1),
            row(TABLE, [name], f"{data}{suffix}/disagreement", disagreement_rate),
        ]
    return rows
