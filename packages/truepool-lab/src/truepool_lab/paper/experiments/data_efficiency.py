"""How many rows linear weights and a network need, on synthetic data."""

from collections.abc import Mapping
from typing import ClassVar, final

from truepool import VCG, Panel
from truepool.core.engine import Cell, Row
from truepool.measures.scores import confusion
from truepool.pools import Pool
from truepool_lab.paper.interface import Axes, Experiment, Reading, row
from truepool_lab.paper.settings import COSTS, THRESHOLD
from truepool_lab.paper.synthetic_task import task, train_ensemble
from truepool_lab.pools.mlp_2 import MLP2
from truepool_lab.pools.mlp_4 import MLP4

TRAIN_SIZES = (25, 50, 100, 200, 500, 1000)
TEST_ROWS = 2000
TABLE = "tab:data_eff_fine"


@final
class DataEfficiency(Experiment):
    """The same test rows for every number of training rows."""

    name: ClassVar[str] = "data-efficiency"
    axes: ClassVar[Axes] = {"rows": TRAIN_SIZES}
    seconds: ClassVar[float] = 1.5
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            "Clean synthetic task; five scikit-learn agents on silos of 60 % of the "
            "features, trained on the n rows; VCG (0/1 cost loss) and the networks "
            "learn from the agents' raw outputs on these rows, not cross-validated, as "
            f"the paper says; {TEST_ROWS:,} test rows, threshold 0.5.",
            "The task is not stated: more is missed in ours with the least data and "
            "less with the most; the network of two layers has the lower mean at "
            "every size, and the gap closes, as printed (X26).",
            methods="columns",
        )
    }
    packages: ClassVar[Mapping[str, str]] = {"torch": "truepool-lab[neural]"}

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Train on the first rows, test on the last."""
        n, seed = cell["rows"], cell.seed("agents")
        X, y = task(max(TRAIN_SIZES) + TEST_ROWS, cell.seed("task"))
        team = train_ensemble(X[:n], y[:n], seed)
        known = team.panel(X[:n], y[:n])
        test = team.panel(X[-TEST_ROWS:], y[-TEST_ROWS:])
        return rows_by_pool(TABLE, n, known, test, seed)


def rows_by_pool(table: str, n: int, known: Panel, test: Panel, seed: int) -> list[Row]:
    """Misses of weights and networks that learn from the same reports."""
    methods: dict[str, Pool] = {
        "VCG (5 agents)": VCG(loss="cost", costs=COSTS, threshold=THRESHOLD),
        "MLP (2-layer)": MLP2(seed=seed),
        "MLP (4-layer)": MLP4(seed=seed),
    }
    rows = []
    for method, pool in methods.items():
        pooled = pool.fit_panel(known).combine(test.values)
        counts = confusion(pooled, test.outcomes, threshold=THRESHOLD)
        rows.append(row(table, [n], method, counts.fn_rate))
    return rows
