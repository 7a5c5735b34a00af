"""The paper's agents on real data; nobody trains twice, for the cache keeps reports."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from truepool import Features, Panel, agents, datasets
from truepool.core.arrays import FloatArray, IntArray
from truepool.core.engine import Cell
from truepool_paper.interface import Size
from truepool_paper.settings import SILO_SHARE, THRESHOLD
from truepool_paper.synthetic_task import FIXED, three_ways

SOURCES = {
    "NSL-KDD": "nsl-kdd",
    "Credit Card": "credit-card",
    "UNSW-NB15": "unsw-nb15",
}
"""What the paper's columns call a data set, and what we do."""
ROWS: Mapping[Size, Mapping[str, int | None]] = {
    "full": {"NSL-KDD": 50_000, "Credit Card": 50_000, "UNSW-NB15": None},
    "quick": {"NSL-KDD": 4000, "Credit Card": 6000, "UNSW-NB15": 4000},
}
"""Rows drawn (tab:hyperparams); None for all that are at hand.

All 492 frauds are always among those of Credit Card.
"""
THRESHOLDS = {"NSL-KDD": THRESHOLD, "Credit Card": 0.3, "UNSW-NB15": THRESHOLD}
"""Those of tab:main_results; all other tables have 0.5, as tab:hyperparams says."""
FIFTH = 25_192
"""Rows of ``KDDTrain+_20Percent``: the first of NSL-KDD's train file."""
PACKAGES = dict.fromkeys(("lightgbm", "catboost", "xgboost"), "agents")
NEURAL = {**PACKAGES, "torch": "neural"}

PROTOCOL = (
    "Agents LightGBM, CatBoost, XGBoost, random forest and MLP as in tab:hyperparams, "
    "each on its silo of 60 % of the features; rows drawn once, split 70/30 by seed, "
    "a fifth of the training rows kept for what a pool learns"
)


@dataclass(frozen=True, eq=False)
class Task:
    """Rows made ready by those that agents learn from, and which serve for what."""

    X: FloatArray
    y: IntArray
    trained: IntArray
    weighed: IntArray
    tested: IntArray
    seed: int

    def asked(
        self, team: Mapping[str, Any] | None = None, learn: IntArray | None = None
    ) -> "Asked":
        """Train agents, the paper's five by default, in their silos of features.

        ``learn`` are the rows they learn from, if not all that are there for it.
        """
        rows = self.trained if learn is None else learn
        found = agents.train(
            self.X[rows], self.y[rows], team, features=SILO_SHARE, seed=self.seed
        )
        return Asked(self, found)

    def panels(self, team: Mapping[str, Any] | None = None) -> tuple[Panel, Panel]:
        """Return reports to learn weights from, and reports to test them on."""
        asked = self.asked(team)
        return asked.on(self.weighed), asked.on(self.tested)


@dataclass(frozen=True, eq=False)
class Asked:
    """Agents of a task, to be asked about its rows."""

    task: Task
    agents: Any

    def on(self, rows: IntArray) -> Panel:
        """Return what they say about rows, and what happened."""
        said = reports(self.agents, self.task.X[rows])
        return Panel(said, self.task.y[rows], agents=self.agents.agents)


def reports(found: Any, X: FloatArray) -> FloatArray:
    """Ask agents, which trains those whose answer is not known.

    A network that is not done after 500 passes is left there: tab:hyperparams.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return cast(FloatArray, found.reports(X))


def task(name: str, rows: int | None, cell: Cell, **options: Any) -> Task:
    """Draw the rows of a data set, the same in all repeats; split them by repeat.

    As sec:experiments says: seeds control the splits. Medians and the numbers of
    categories are learned from the rows that agents learn from.
    """
    drawn = datasets.load(name, rows=rows, seed=FIXED, **options)
    return ready(cast(Features, drawn), cell)


def ready(data: Features, cell: Cell, held: bool = True) -> Task:
    """Split rows and prepare them; without ``held`` agents learn from all of the 70 %.

    What is weighed then is what was trained on.
    """
    trained, weighed, tested = three_ways(data.outcomes, cell.seed("split"))
    if not held:
        trained = weighed = np.concatenate([trained, weighed])
    values = data.encoder().fit(data.values[trained]).transform(data.values)
    seed = cell.seed("agents") >> 1  # some of the libraries count to 2**31 only
    return Task(values, data.outcomes, trained, weighed, tested, seed)


def twice(names: tuple[str, ...] = agents.zoo.PAPER) -> dict[str, Any]:
    """Ten agents: the paper's five kinds of model, in turn, on silos of their own.

    >>> len(twice()), list(twice())[5]
    (10, 'lightgbm 2')
    """
    return {
        name if turn == 1 else f"{name} {turn}": agents.zoo.make(name)
        for turn in (1, 2)
        for name in names
    }
