"""The paper's agents on real data; the report cache trains each agent only once."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from sklearn.model_selection import StratifiedKFold

from truepool import Features, Panel, agents, datasets
from truepool.core.arrays import FloatArray, IntArray
from truepool.core.engine import Cell
from truepool_lab.paper.interface import Size
from truepool_lab.paper.settings import SILO_SHARE, THRESHOLD
from truepool_lab.paper.synthetic_task import FIXED, three_way_split

SOURCES = {
    "NSL-KDD": "nsl-kdd",
    "Credit Card": "credit-card",
    "UNSW-NB15": "unsw-nb15",
}
"""Our name of each data set, by the paper's."""
ROWS: Mapping[Size, Mapping[str, int | None]] = {
    "full": {"NSL-KDD": 50_000, "Credit Card": 50_000, "UNSW-NB15": None},
    "quick": {"NSL-KDD": 4000, "Credit Card": 6000, "UNSW-NB15": 4000},
}
"""Rows drawn (tab:hyperparams); None for all available ones.

Those of Credit Card always include all 492 frauds.
"""
THRESHOLDS = {"NSL-KDD": THRESHOLD, "Credit Card": 0.3, "UNSW-NB15": THRESHOLD}
"""Thresholds of tab:main_results; other tables have 0.5, as in tab:hyperparams."""
FIFTH = 25_192
"""Rows of ``KDDTrain+_20Percent``: the first of NSL-KDD's train file."""
PACKAGES = dict.fromkeys(("lightgbm", "catboost", "xgboost"), "truepool[agents]")
NEURAL = {**PACKAGES, "torch": "truepool-lab[neural]"}

STACKING_FOLDS = 3
"""Folds by which agents report on the rows that they learn from (sec:experiments)."""

PROTOCOL = (
    "Agents LightGBM, CatBoost, XGBoost, random forest and MLP as in tab:hyperparams, "
    "each on its silo of 60 % of the features; rows drawn once, split 70/30 by seed, "
    "a fifth of the training rows kept for what a pool learns"
)


@dataclass(frozen=True, eq=False)
class Task:
    """Prepared rows, and which of them train agents, fit weights and test pools."""

    X: FloatArray
    y: IntArray
    train_rows: IntArray
    validation_rows: IntArray
    test_rows: IntArray
    seed: int

    def train_agents(
        self, team: Mapping[str, Any] | None = None, learn: IntArray | None = None
    ) -> "TaskAgents":
        """Train agents, the paper's five by default, in their silos of features.

        ``learn`` are the rows to train on (default: all training rows).
        """
        rows = self.train_rows if learn is None else learn
        found = agents.train(
            self.X[rows], self.y[rows], team, features=SILO_SHARE, seed=self.seed
        )
        return TaskAgents(self, found)

    def panels(self, team: Mapping[str, Any] | None = None) -> tuple[Panel, Panel]:
        """Return reports to learn weights from, and reports to test them on."""
        trained = self.train_agents(team)
        return trained.panel(self.validation_rows), trained.panel(self.test_rows)

    def cross_fitted(
        self, team: Mapping[str, Any] | None = None, labelled: IntArray | None = None
    ) -> tuple[Panel, Panel]:
        """Return reports to stack on, by 3-fold cross-validation, and on test rows.

        A report on a labelled row (default: all rows but those of the test) comes from
        agents trained on the two folds without it; those on test rows come from agents
        trained on all labelled rows.
        """
        if labelled is None:
            labelled = np.concatenate([self.train_rows, self.validation_rows])
        folds = StratifiedKFold(STACKING_FOLDS, shuffle=True, random_state=self.seed)
        parts = [
            self.train_agents(team, labelled[learn]).panel(labelled[rest])
            for learn, rest in folds.split(labelled, self.y[labelled])
        ]
        known = Panel(
            np.concatenate([part.reports for part in parts]),
            np.concatenate([part.outcomes for part in parts]),
            agents=parts[0].agents,
        )
        return known, self.train_agents(team, labelled).panel(self.test_rows)


@dataclass(frozen=True, eq=False)
class TaskAgents:
    """Trained agents of a task."""

    task: Task
    agents: Any

    def panel(self, rows: IntArray) -> Panel:
        """Return their reports on these rows, and the outcomes."""
        values = reports(self.agents, self.task.X[rows])
        return Panel(values, self.task.y[rows], agents=self.agents.agents)


def reports(found: Any, X: FloatArray) -> FloatArray:
    """Reports of agents; those that are not in the cache are trained first.

    A network that has not converged after 500 passes stops there: tab:hyperparams.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return cast(FloatArray, found.reports(X))


def task(name: str, rows: int | None, cell: Cell, **options: Any) -> Task:
    """Draw the rows of a data set, the same in all repeats; split them by repeat.

    As in sec:experiments, seeds control the splits. Medians and category codes are
    learned from the training rows.
    """
    drawn = datasets.load(name, rows=rows, seed=FIXED, **options)
    return prepare(cast(Features, drawn), cell)


def prepare(data: Features, cell: Cell, validate: bool = True) -> Task:
    """Split and encode rows; without ``validate`` agents are trained on all 70 %.

    Pools then learn their weights from the agents' training rows.
    """
    train, validation, test = three_way_split(data.outcomes, cell.seed("split"))
    if not validate:
        train = validation = np.concatenate([train, validation])
    values = data.encoder().fit(data.values[train]).transform(data.values)
    seed = cell.seed("agents") >> 1  # some libraries take seeds below 2**31 only
    return Task(values, data.outcomes, train, validation, test, seed)


def ten_agents(names: tuple[str, ...] = agents.zoo.PAPER) -> dict[str, Any]:
    """Ten agents: the paper's five kinds of model, in turn, each on its own silo.

    >>> len(ten_agents()), list(ten_agents())[5]
    (10, 'lightgbm 2')
    """
    return {
        name if turn == 1 else f"{name} {turn}": agents.zoo.make(name)
        for turn in (1, 2)
        for name in names
    }
