"""Calibration: of the cases with a report of 0.8, 80 % should be positive."""

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
"""Share of an agent's training cases that is held out for its calibration."""


def calibrate(agent: Agent, X: Any, y: Any, method: str = "platt") -> Any:
    """Return the agent with its reports calibrated on cases that are new to it.

    ``platt`` fits a line to its log-odds, ``isotonic`` any increasing curve,
    ``temperature`` one factor for all classes, all by scikit-learn's
    `CalibratedClassifierCV`.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bayes = GaussianNB().fit(X[:300], y[:300])
    >>> better = calibrate(bayes, X[300:], y[300:], "platt")
    >>> better.predict_proba(X[:1]).round(2)
    array([[0.98, 0.02]])
    """
    cases = np.arange(len(y))
    frozen = FrozenEstimator(LogOdds(agent))
    chosen = METHODS[check_method(method)]
    # One fold of everything: a frozen agent learns from none of it.
    pair = [(cases, cases)]
    return CalibratedClassifierCV(frozen, method=chosen, cv=pair, ensemble=True).fit(
        X, y
    )


def check_method(method: str) -> str:
    """Refuse a method that does not exist."""
    if method not in METHODS:
        raise UnknownNameError("calibration", method, METHODS)
    return method


def calibration_split(y: Array, seed: int, who: str) -> tuple[IntArray, IntArray]:
    """Return cases to train on and cases to calibrate on, each with every class."""
    order = np.random.default_rng(seed).permutation(len(y))
    held_out = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        members = order[y[order] == label]
        if len(members) < 2:
            raise SettingError(
                "calibration needs at least 2 cases of every class; "
                f"{who!r} has {len(members)} of class {label}"
            )
        held_out[members[: max(1, round(HELD_OUT * len(members)))]] = True
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


class LogOdds(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The reports of an agent as log-odds.

    Without these, scikit-learn calibrates the probabilities themselves. A line through
    probabilities could not even leave a calibrated agent unchanged.
    """

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    @property
    def classes_(self) -> Any:
        """Labels of the agent in scikit-learn's order, sorted."""
        return np.sort(np.asarray(self.agent.classes_))

    def fit(self, X: Any, y: Any) -> Self:
        """Learn nothing; scikit-learn expects the method of every estimator."""
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
