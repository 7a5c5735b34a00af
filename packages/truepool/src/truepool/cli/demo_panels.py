"""The panels of the demo: five models, one that degrades, one that turns hostile.

Everything here uses public names only; it is what a user would write.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from truepool.agents.partition import feature_silos
from truepool.core.arrays import FloatArray
from truepool.core.seeds import short_seed
from truepool.panel.panel import Panel

FEATURES = 0.1
"""Share of the features that each model sees."""
DEGRADED, DEGRADED_AFTER = "forest", 0.4
HOSTILE, HOSTILE_AFTER = "neighbours", 0.7
"""Who starts to output noise, who inverts its reports, after which share of cases."""


@dataclass(frozen=True, eq=False)
class DemoPanels:
    """The reports as the models gave them, and the same with two failures."""

    clean: Panel
    faulty: Panel

    @property
    def degraded_from(self) -> int:
        """First case in which the degraded agent outputs noise."""
        return _first(self.clean, DEGRADED_AFTER)

    @property
    def hostile_from(self) -> int:
        """First case in which the hostile agent inverts its report."""
        return _first(self.clean, HOSTILE_AFTER)


def build(
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> DemoPanels:
    """Train five models on biopsies, then degrade one and turn one hostile.

    The data set is the Wisconsin diagnostic one that ships with scikit-learn; 1 is
    malignant. Every model sees a tenth of the features, and every report is on a case
    that the model did not learn from. The cases come in an order drawn by the seed.
    """
    reports, malignant = collect_reports(seed, progress)
    order = np.random.default_rng(seed).permutation(len(malignant))
    columns = np.stack([column[order] for column in reports.values()], axis=1)
    clean = Panel(columns, malignant[order], tuple(reports), ids=order + 1)
    reports_after = columns.copy()
    noisy, hostile = clean.agents.index(DEGRADED), clean.agents.index(HOSTILE)
    start = _first(clean, DEGRADED_AFTER)
    reports_after[start:, noisy] = _noise(seed, noisy, len(order))[start:]
    start = _first(clean, HOSTILE_AFTER)
    reports_after[start:, hostile] = 1.0 - reports_after[start:, hostile]
    faulty = Panel(
        reports_after.round(4),  # as written to the file
        clean.outcomes,
        clean.agents,
        ids=clean.ids,
        times=np.arange(1, len(order) + 1),
    )
    return DemoPanels(clean, faulty)


def collect_reports(
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> tuple[dict[str, Any], Any]:
    """Return held-out reports (T,) of every model by name, and the outcomes."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    X, benign = load_breast_cancer(return_X_y=True)
    malignant = 1 - benign
    short = short_seed(seed)
    folds = StratifiedKFold(10, shuffle=True, random_state=short)
    named = models(short)
    silos = feature_silos(X.shape[1], len(named), FEATURES)
    reports = {}
    for done, ((name, model), silo) in enumerate(
        zip(named.items(), silos, strict=True)
    ):
        progress(name, done, len(named))
        held_out = cross_val_predict(
            model, X[:, silo], malignant, cv=folds, method="predict_proba"
        )
        reports[name] = held_out[:, 1].round(4)
    return reports, malignant


def models(seed: int = 0) -> dict[str, Any]:
    """Return five models of scikit-learn, not yet trained."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    return {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "forest": RandomForestClassifier(200, random_state=seed),
        "tree": DecisionTreeClassifier(min_samples_leaf=10, random_state=seed),
        "bayes": GaussianNB(),
        "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
    }


def _noise(seed: int, agent: int, cases: int) -> FloatArray:
    """Reports (T,) whose log-odds are standard normal, drawn for one agent."""
    axis = np.random.SeedSequence(seed, spawn_key=(3, agent))
    draws = np.random.default_rng(axis).normal(size=(cases, 2))
    return np.asarray(expit((draws[:, 1] - draws[:, 0]) / np.sqrt(2.0)))


def _first(panel: Panel, share: float) -> int:
    return int(np.ceil(share * len(panel) - 1e-9))
