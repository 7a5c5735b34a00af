"""Make the bundled example panel from a data set that ships with scikit-learn.

Run: python scripts/make_example_panel.py. The same numbers come out every time.
"""

from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from truepool.agents.partition import feature_silos
from truepool.tables import write_table

OUT = Path(__file__).parents[1] / "src/truepool/datasets/example.csv"
SHARE_OF_FEATURES = 0.1
SHARE_SILENT = 0.075

AGENTS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "forest": RandomForestClassifier(200, random_state=0),
    "tree": DecisionTreeClassifier(min_samples_leaf=10, random_state=0),
    "bayes": GaussianNB(),
    "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
}


def main() -> None:
    """Train each agent on its own few features and write its held-out reports."""
    X, benign = load_breast_cancer(return_X_y=True)
    malignant = 1 - benign
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    silos = feature_silos(X.shape[1], len(AGENTS), SHARE_OF_FEATURES)
    columns = {"id": np.arange(1, len(X) + 1), "malignant": malignant}
    for (name, agent), silo in zip(AGENTS.items(), silos, strict=True):
        said = cross_val_predict(
            clone(agent), X[:, silo], malignant, cv=folds, method="predict_proba"
        )
        columns[name] = said[:, 1].round(4)
    silent = np.random.default_rng(0).random(len(X)) < SHARE_SILENT
    columns["neighbours"] = np.ma.filled(
        np.ma.masked_where(silent, columns["neighbours"]), np.nan
    )
    write_table(OUT, columns)


if __name__ == "__main__":
    main()
