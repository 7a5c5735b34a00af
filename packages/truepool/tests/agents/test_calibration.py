"""Calibration: what is calibrated stays, what is not is mended."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from training_data import features

from truepool import agents
from truepool.agents.calibration import METHODS, LogOdds, calibration_split
from truepool.core.arrays import logit
from truepool.core.errors import SettingError, UnknownNameError

each = pytest.mark.parametrize("method", list(METHODS))


class LogOddsAgent:
    """An agent whose log-odds are its first features, times a factor."""

    def __init__(self, factor=1.0, classes=2):
        self.factor, self.classes_ = factor, np.arange(classes)

    def predict_proba(self, X):
        scores = self.factor * np.asarray(X)[:, : len(self.classes_)]
        if len(self.classes_) == 2:
            scores = np.stack([np.zeros(len(X)), scores[:, 0]], axis=1)
        power = np.exp(scores - scores.max(axis=1, keepdims=True))
        return power / power.sum(axis=1, keepdims=True)


def drawn(classes, seed=0, rows=40_000):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, classes))
    chance = LogOddsAgent(1.0, classes).predict_proba(X).cumsum(axis=1)
    return X, (rng.random((rows, 1)) > chance).sum(axis=1)


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_an_overconfident_agent_is_recalibrated(method, classes):
    X, y = drawn(classes)
    calibrated_agent = agents.calibrate(LogOddsAgent(3.0, classes), X, y, method)
    truth = LogOddsAgent(1.0, classes).predict_proba(X)
    loud = np.abs(LogOddsAgent(3.0, classes).predict_proba(X) - truth).mean()
    assert np.abs(calibrated_agent.predict_proba(X) - truth).mean() < 0.15 * loud


@pytest.mark.parametrize("method", ["platt", "temperature"])
def test_a_calibrated_agent_stays_as_it_is(method):
    X, y = drawn(2)
    same = agents.calibrate(LogOddsAgent(), X, y, method).predict_proba(X)[:, 1]
    # A line through 40,000 log-odds has an error of about 0.01 in slope and height.
    assert_allclose(logit(same), X[:, 0], atol=0.15)


@each
def test_agents_are_calibrated_on_held_out_cases(method):
    X, y = features(400)
    trained = agents.train(X, y, ["logistic"], calibration=method, cache=False)
    agent = trained["logistic"]
    assert agent.calibration == method
    assert f"calibrated by {method}" in repr(agent)
    learn, rest = calibration_split(y, 0, "logistic")
    alone = agents.train(X[learn], y[learn], ["logistic"], cache=False)["logistic"]
    expected = agents.calibrate(alone, X[rest], y[rest], method)
    assert_allclose(agent.predict_proba(X), expected.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_calibration_does_not_depend_on_the_labels(method):
    X, y = features()
    words = np.array(["genuine", "fraud"])[y]  # the positive one sorts first
    plain = agents.train(X, y, ["tree"], cache=False)["tree"]
    named = agents.train(X, words, ["tree"], positive="fraud", cache=False)["tree"]
    expected = agents.calibrate(plain, X, y, method).predict_proba(X)
    calibrated_agent = agents.calibrate(named, X, words, method)
    assert calibrated_agent.classes_.tolist() == ["fraud", "genuine"]
    assert_allclose(calibrated_agent.predict_proba(X)[:, 0], expected[:, 1], atol=1e-6)


def test_held_out_cases_are_a_fifth_of_every_class():
    y = np.array([0] * 80 + [1] * 20 + [2] * 2)
    learn, rest = calibration_split(y, 3, "ada")
    assert np.bincount(y[rest]).tolist() == [16, 4, 1]
    assert sorted([*learn, *rest]) == list(range(102))
    with pytest.raises(SettingError, match="'ada' has 1 of class 1"):
        calibration_split(np.array([0, 0, 1]), 0, "ada")


def test_log_odds_are_those_of_the_agent():
    X, y = drawn(3, rows=20)
    spoken = LogOdds(LogOddsAgent(1.0, 3)).fit(X, 2 - y)
    power = np.exp(spoken.decision_function(X))
    assert_allclose(power, LogOddsAgent(1.0, 3).predict_proba(X), rtol=1e-12)
    assert_allclose(LogOdds(LogOddsAgent()).decision_function(X), X[:, 0], rtol=1e-9)


def test_an_unknown_method_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'platt'"):
        agents.calibrate(LogOddsAgent(), *drawn(2, rows=10), "plat")
