"""Agents for tables that name no data set: scikit-learn models on feature silos."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truepool import Panel
from truepool.agents import feature_silos
from truepool.core.arrays import Array, FloatArray, IntArray
from truepool_lab.paper.settings import SILO_SHARE, TEST_SHARE, VALIDATION_SHARE

FEATURES, POPULATION = 20, 20_000
FIXED = 42
"""The seed of sec:experiments for everything that is fixed across repeats."""


def forest(seed: int) -> Any:
    """Return a random forest as in tab:hyperparams."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=100, random_state=seed)


def boosting(seed: int) -> Any:
    """Return gradient boosting with 100 trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=100, random_state=seed)


def perceptron(seed: int) -> Any:
    """Return a perceptron as in tab:hyperparams, on standardised features.

    It stops when the loss on a tenth of its rows no longer falls.
    """
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    net = MLPClassifier((64, 32), max_iter=500, early_stopping=True, random_state=seed)
    return make_pipeline(StandardScaler(), net)


def logistic(seed: int) -> Any:
    """Return a logistic regression on standardised features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))


def tree(seed: int) -> Any:
    """Return a decision tree with leaves of ten rows: reports are not all 0 or 1."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_samples_leaf=10, random_state=seed)


MODELS = {
    "Random Forest": forest,
    "Gradient Boosting": boosting,
    "MLP": perceptron,
    "Logistic Regression": logistic,
    "Decision Tree": tree,
}
"""The five of tab:latency_breakdown, which fig:weight_trajectory names too."""


def task(rows: int, seed: int) -> tuple[FloatArray, IntArray]:
    """Return features and outcomes of a binary task with a strong, clean signal.

    This is all that the paper says about its synthetic data (apd:data_eff). Here
    it is scikit-learn's ``make_classification``: 20 features of which 10 inform, two
    clusters per class at twice the usual distance, 30 % of class 1, no label noise.
    As with real data, the seed draws rows from a fixed population; the population has
    the seed that the paper uses for its silos.
    """
    from sklearn.datasets import make_classification

    X, y = make_classification(
        POPULATION,
        FEATURES,
        n_informative=10,
        n_redundant=4,
        weights=[0.7],
        class_sep=2.0,
        flip_y=0.0,
        random_state=FIXED,
    )
    drawn = np.random.default_rng(seed).permutation(POPULATION)[:rows]
    return X[drawn], y[drawn]


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Fitted models, and the features that each of them sees."""

    names: tuple[str, ...]
    models: tuple[Any, ...]
    silos: tuple[IntArray, ...]

    def panel(self, X: Array, y: IntArray) -> Panel:
        """Return the agents' reports on these rows, and the outcomes."""
        values = [
            model.predict_proba(X[:, silo])
            for model, silo in zip(self.models, self.silos, strict=True)
        ]
        reports = np.stack(values, axis=1)  # (T, N, K)
        if reports.shape[2] == 2:
            return Panel(reports[:, :, 1], y, agents=self.names)
        return Panel(reports, y, agents=self.names)


def train_ensemble(
    X: Array,
    y: IntArray,
    seed: int,
    agents: int = 5,
    kinds_of_model: Mapping[str, Callable[[int], Any]] = MODELS,
) -> Ensemble:
    """Train agents on silos of 60 % of the features, cycling through the models."""
    silos = feature_silos(X.shape[1], agents, SILO_SHARE)
    kinds = [list(kinds_of_model)[i % len(kinds_of_model)] for i in range(agents)]
    models = tuple(
        kinds_of_model[kind](seed + i).fit(X[:, silo], y)
        for i, (kind, silo) in enumerate(zip(kinds, silos, strict=True))
    )
    names = tuple(
        kind
        if agents <= len(kinds_of_model)
        else f"{kind} {i // len(kinds_of_model) + 1}"
        for i, kind in enumerate(kinds)
    )
    return Ensemble(names, models, tuple(silos))


def three_way_split(
    y: IntArray,
    seed: int,
    test_share: float = TEST_SHARE,
    validation_share: float = VALIDATION_SHARE,
) -> tuple[IntArray, IntArray, IntArray]:
    """Return stratified rows to train agents, to fit weights and to test.

    ``test_share`` is a share of all rows, ``validation_share`` of the remaining ones.
    """
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(y))
    rest, test = train_test_split(
        rows, test_size=test_share, stratify=y, random_state=seed
    )
    train, validation = train_test_split(
        rest, test_size=validation_share, stratify=y[rest], random_state=seed
    )
    return train, validation, test


def panels(X: Array, y: IntArray, seed: int, agents: int = 5) -> Sequence[Panel]:
    """Train agents; return their reports on the validation and test rows."""
    train, validation, test = three_way_split(y, seed)
    team = train_ensemble(X[train], y[train], seed, agents)
    return team.panel(X[validation], y[validation]), team.panel(X[test], y[test])


def first_agents(panel: Panel, agents: int) -> Panel:
    """Return the panel with its first agents only."""
    names = panel.agents[:agents]
    return Panel(panel.reports[:, :agents], panel.outcomes, agents=names)
