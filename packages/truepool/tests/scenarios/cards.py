"""Real card payments with six real models, one of which reports no probability.

Models learn from the earlier 40 % and score the later 60 %, of which .15 % are fraud. A
missed fraud costs its amount, a false alarm 5. Needs the data set ``credit-card``.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truepool as tp

START = np.datetime64("2026-03-02")
LEARNED = 0.4
"""Share of the payments, the earliest ones, that the models learn from."""
MODELS = ("lgbm", "logit", "forest", "nb", "mlp", "iso")


@dataclass(frozen=True, eq=False)
class Cards:
    """Reports (T, 6) on payments in the order of time, and what is true of them."""

    reports: np.ndarray
    fraud: np.ndarray
    amount: np.ndarray
    times: np.ndarray

    def panel(self, rows=slice(None)):
        """The panel of all payments, or of some."""
        columns = {"amount": self.amount[rows]}
        return tp.Panel(
            self.reports[rows], self.fraud[rows], MODELS, times=self.times[rows],
            columns=columns,
        )  # fmt: skip


@cache
def make(share=1.0):
    """Return the table; with a smaller share all frauds and so many other payments."""
    features = tp.datasets.load("credit-card", rows=None, seed=None)
    fraud = features.outcomes.astype(np.int64)
    rng = np.random.default_rng(0)
    rows = np.flatnonzero((fraud == 1) | (rng.random(len(fraud)) < share))
    x, fraud = features.values[rows], fraud[rows]
    half = int(LEARNED * len(rows))
    learn, known = x[:half], fraud[:half]
    reports = np.empty((len(rows) - half, len(MODELS)))
    for i, name in enumerate(MODELS):
        reports[:, i] = _scores(name, learn, known, x[half:])
    seconds = x[half:, 0].astype("timedelta64[s]")
    return Cards(reports.round(7), fraud[half:], x[half:, -1], START + seconds)


def _scores(name, x, y, new):
    """Learn a model from payments (T, 30) and score new ones."""
    rng = np.random.default_rng(0)
    legit = np.flatnonzero(y == 0)
    few = np.sort(rng.choice(legit, min(20_000, len(legit)), replace=False))
    few = np.r_[few, np.flatnonzero(y == 1)]
    columns = slice(1, 29)
    if name == "iso":
        sample = rng.choice(len(x), min(20_000, len(x)), replace=False)
        forest = IsolationForest(n_estimators=100, random_state=0)
        score = -forest.fit(x[sample, columns]).score_samples(new[:, columns])
        return (score - score.min()) / np.ptp(score)
    model, columns, rows = {
        "lgbm": (
            LGBMClassifier(n_estimators=150, num_leaves=15, learning_rate=0.05,
                           n_jobs=1, verbose=-1),
            columns, slice(None),
        ),
        "logit": (
            make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500)),
            slice(1, 21), slice(None),
        ),
        "forest": (
            RandomForestClassifier(150, min_samples_leaf=2, random_state=0),
            slice(1, 19), few,
        ),
        "nb": (GaussianNB(), slice(11, 29), slice(None)),
        "mlp": (
            make_pipeline(
                StandardScaler(), MLPClassifier((16,), max_iter=30, random_state=0)
            ),
            slice(6, 29), few,
        ),
    }[name]  # fmt: skip
    model.fit(x[rows, columns], y[rows])
    return model.predict_proba(new[:, columns])[:, 1]
