"""The main job with no input: five models, a drift, an adversary.

Everything here uses public names only; it is what a user would write.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from truepool.agents.partition import feature_silos
from truepool.data.panel import Panel
from truepool.stress.degradation import Degradation
from truepool.stress.sleeper import Sleeper

FEATURES = 0.1
"""Share of the features that each model sees."""
TIRED, SPOILED = "forest", 0.4
TURNED, TURNS = "neighbours", 0.7
"""Who loses its skill and who turns against the others, after which share of cases."""


@dataclass(frozen=True, eq=False)
class Story:
    """What the models said, and what they said after things went wrong."""

    calm: Panel
    stormy: Panel

    @property
    def spoiled(self) -> int:
        """First case in which the tired agent has lost its skill."""
        return _first(self.calm, SPOILED)

    @property
    def turned(self) -> int:
        """First case in which the other has turned."""
        return _first(self.calm, TURNS)


def told(
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> Story:
    """Train five models on biopsies, then let one lose its skill and one turn.

    The data set is the Wisconsin diagnostic one that ships with scikit-learn; 1 is
    malignant. Every model sees a tenth of the features, and every report is on a case
    that the model did not learn from. The cases come in an order drawn by the seed.
    """
    reports, malignant = trained(seed, progress)
    order = np.random.default_rng(seed).permutation(len(malignant))
    said = np.stack([column[order] for column in reports.values()], axis=1)
    calm = Panel(said, malignant[order], tuple(reports), ids=order + 1)
    noisy = Degradation(at=SPOILED)(calm, TIRED, seed=seed)
    after = Sleeper(at=TURNS)(noisy, TURNED, seed=seed)
    stormy = Panel(
        after.reports.round(4),  # as it will stand in the file
        after.outcomes,
        after.agents,
        ids=after.ids,
        times=np.arange(1, len(order) + 1),
    )
    return Story(calm, stormy)


def trained(
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> tuple[dict[str, Any], Any]:
    """Return held-out reports (T,) of every model by its name, and what happened."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    X, benign = load_breast_cancer(return_X_y=True)
    malignant = 1 - benign
    folds = StratifiedKFold(10, shuffle=True, random_state=seed)
    team = models(seed)
    silos = feature_silos(X.shape[1], len(team), FEATURES)
    reports = {}
    for done, ((name, model), silo) in enumerate(zip(team.items(), silos, strict=True)):
        progress(name, done, len(team))
        said = cross_val_predict(
            model, X[:, silo], malignant, cv=folds, method="predict_proba"
        )
        reports[name] = said[:, 1].round(4)
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


def _first(panel: Panel, share: float) -> int:
    return int(np.ceil(share * len(panel) - 1e-9))
