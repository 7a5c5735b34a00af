"""Tables to train agents on: small, seeded, with signal, noise and missing cells."""

import numpy as np

from truepool.agents import zoo

# Small models learn the same way as large ones, and tests take seconds.
SMALL = {
    "catboost": {"iterations": 10, "depth": 3},
    "gradient-boosting": {"n_estimators": 5},
    "lightgbm": {"n_estimators": 10},
    "mlp": {"hidden_layer_sizes": (16,), "learning_rate_init": 0.05, "tol": 1.0},
    "random-forest": {"n_estimators": 10},
    "tabnet": {"max_epochs": 10, "batch_size": 64, "n_steps": 2},
    "xgboost": {"n_estimators": 10},
}


def small_model(name):
    return zoo.make(name, **SMALL.get(name, {}))


def features(cases=240, classes=2, gaps=0.0, seed=0):
    """Features (T, 5) and labels (T,); a share of the cells is missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(cases, 5))
    X[:, 4] = rng.integers(0, 4, cases)
    score = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=cases)
    y = np.digitize(score, [0.0, 1.0][: classes - 1])
    X[rng.random(X.shape) < gaps] = np.nan
    return X, y
