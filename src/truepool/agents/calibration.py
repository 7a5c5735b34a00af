"""Calibration: an agent whose 0.8 comes true in 80 % of cases."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from truepool.agents.interface import Agent
from truepool.core.arrays import SMALLEST, Array, FloatArray, IntArray, logit
from truepool.core.errors import SettingError, UnknownNameError

METHODS = {"platt": "sigmoid", "isotonic": "isotonic", "temperature": "temperature"}
"""Our names of the methods, and scikit-learn's."""

HELD_OUT = 0.2
"""Share of an agent's rows that only its calibration learns from."""


def calibrated(agent: Agent, X: Any, y: Any, method: str = "platt") -> Any:
    """Return the agent with its reports calibrated on rows that are new to it.

    Platt fits a line to its log-odds, isotonic any rising curve, temperature one
    factor for all classes. scikit-learn's `CalibratedClassifierCV` does the work.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bayes = GaussianNB().fit(X[:300], y[:300])
    >>> better = calibrated(bayes, X[300:], y[300:], "platt")
    >>> better.predict_proba(X[:1]).round(2)
    array([[0.98, 0.02]])
    """
    rows = np.arange(len(y))
    frozen = FrozenEstimator(LogOdds(agent))
    chosen = METHODS[check_method(method)]
    # One fold of everything: a frozen agent learns from none of it.
    pair = [(rows, rows)]
    return CalibratedClassifierCV(frozen, method=chosen, cv=pair, ensemble=True).fit(
        X, y
    )


def check_method(method: str) -> str:
    """Refuse a method that does not exist."""
    if method not in METHODS:
        raise UnknownNameError("calibration", method, METHODS)
    return method


def held_out(y: Array, seed: int, who: str) -> tuple[IntArray, IntArray]:
    """Rows to train on and rows to calibrate on, some of every class in both."""
    order = np.random.default_rng(seed).permutation(len(y))
    kept = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        members = order[y[order] == label]
        if len(members) < 2:
            raise SettingError(
                "calibration needs at least 2 rows of every class; "
                f"{who!r} has {len(members)} of class {label}"
            )
        kept[members[: max(1, round(HELD_OUT * len(members)))]] = True
    return np.flatnonzero(~kept), np.flatnonzero(kept)


class LogOdds(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An agent that speaks in log-odds.

    scikit-learn calibrates the probabilities themselves where it is given nothing
    else; a line through those could not even leave a calibrated agent as it is.
    """

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    @property
    def classes_(self) -> Any:
        """Labels of the agent in scikit-learn's order, sorted."""
        return np.sort(np.asarray(self.agent.classes_))

    def fit(self, X: Any, y: Any) -> Self:
        """Learn nothing; scikit-learn takes for an estimator only what has it."""
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Log-odds (T,) of two classes; logarithms (T, K) of more."""
        answer = np.asarray(self.agent.predict_proba(X), dtype=np.float64)
        answer = answer[:, np.argsort(np.asarray(self.agent.classes_))]
        if answer.shape[1] == 2:
            return logit(answer[:, 1])
        return np.log(np.clip(answer, SMALLEST, None))

    def __sklearn_is_fitted__(self) -> bool:
        return True
