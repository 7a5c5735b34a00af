"""What every agent of the zoo owes. A new model is tested by being in the folder."""

import pickle
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score
from training_data import SMALL, features, small_model

from truepool import agents
from truepool.core import distributions
from truepool.core.errors import FeatureError, OutcomeError, UnknownNameError

EVERY = list(agents.zoo.every())
each = pytest.mark.parametrize("name", EVERY)
of_classes = pytest.mark.parametrize("classes", [2, 3])


@cache
def trained(name, classes=2, gaps=0.1, seed=0):
    X, y = features(classes=classes, gaps=gaps)
    return agents.train(X, y, {name: small_model(name)}, seed=seed, cache=False)[name]


@each
@of_classes
def test_probabilities_lie_between_0_and_1_and_sum_to_1(name, classes):
    X, _ = features(seed=1, gaps=0.2)
    reports = trained(name, classes).predict_proba(X)
    assert reports.shape == (len(X), classes)
    assert reports.dtype == np.float64
    assert reports.min() >= 0
    assert_allclose(
        reports.sum(axis=1), 1, atol=1e-6
    )  # some compute in single precision


@each
def test_the_labels_are_those_of_training(name):
    X, y = features()
    words = np.array(["other", "fraud"])[y]
    team = {name: small_model(name)}
    agent = agents.train(X, words, team, positive="fraud", cache=False)[name]
    assert_array_equal(agent.classes_, ["other", "fraud"])
    assert agent.positive == "fraud"
    assert_allclose(
        agent.predict_proba(X), trained(name, gaps=0.0).predict_proba(X), atol=1e-12
    )


@each
def test_it_learns_something(name):
    X, y = features(600, seed=2)
    reports = trained(name).predict_proba(X)[:, 1]
    assert roc_auc_score(y, reports) > 0.7


@each
def test_the_same_seed_gives_the_same_numbers(name):
    X, _ = features(seed=1)
    again = trained.__wrapped__(name).predict_proba(X)
    assert_array_equal(again, trained(name).predict_proba(X))


@each
def test_rows_are_judged_one_by_one(name):
    X, _ = features(30, seed=1, gaps=0.1)
    agent = trained(name)
    alone = np.concatenate([agent.predict_proba(X[t : t + 1]) for t in range(len(X))])
    assert_allclose(
        alone, agent.predict_proba(X), atol=1e-5 if name == "tabnet" else 1e-12
    )


@each
def test_it_survives_pickling(name):
    X, _ = features(seed=1)
    copy = pickle.loads(pickle.dumps(trained(name)))
    assert_array_equal(copy.predict_proba(X), trained(name).predict_proba(X))


@each
def test_it_takes_missing_values_even_if_training_had_none(name):
    X, _ = features(seed=1)
    X[0] = np.nan
    assert np.isfinite(trained(name, gaps=0.0).predict_proba(X)).all()


@each
def test_it_refuses_rows_of_another_width(name):
    with pytest.raises(FeatureError, match="the 5 features of training; they have 3"):
        trained(name).predict_proba(np.zeros((2, 3)))


@each
def test_it_refuses_infinity(name):
    X, _ = features(3)
    X[1, 2] = np.inf
    with pytest.raises(FeatureError, match="'x2' is inf in zero-based row 1"):
        trained(name).predict_proba(X)


@each
def test_it_refuses_a_single_class(name):
    X, _ = features(20)
    with pytest.raises(
        OutcomeError, match=f"'{name}' would learn from 20 cases of class 1"
    ):
        agents.train(X, np.ones(20), {name: small_model(name)})


@each
def test_it_refuses_settings_it_does_not_have(name):
    with pytest.raises(
        UnknownNameError, match=f"no setting of {name} is called 'dpeth'"
    ):
        agents.zoo.make(name, dpeth=3).classifier(0)


@each
@of_classes
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_its_export_gives_the_same_probabilities(name, classes, gaps, tmp_path):
    agent = trained(name, classes, gaps)
    X, _ = features(300, seed=3, gaps=0.2)
    found = agents.export(agent, tmp_path / "agent.onnx", X)
    model = agents.zoo.every()[name]
    assert found.cases == 1300
    assert found.gap <= model.tolerance
    assert found.missing_gap <= model.tolerance
    copy = agents.load(tmp_path / "agent.onnx")
    assert_array_equal(copy.classes_, agent.classes_)
    assert_allclose(copy.predict_proba(X), agent.predict_proba(X), atol=model.tolerance)


@each
def test_it_is_asked_by_name_in_any_order(name):
    X, _ = features(seed=1)
    table = pa.table({f"x{i}": X[:, i] for i in range(5)})
    Xt, y = features()
    named = pa.table({f"x{i}": Xt[:, i] for i in range(5)})
    agent = agents.train(named, y, {name: small_model(name)}, cache=False)[name]
    shuffled = table.select(["x3", "x0", "x4", "x2", "x1"])
    assert_array_equal(agent.predict_proba(shuffled), agent.predict_proba(table))


def test_small_models_are_models_of_the_zoo():
    assert set(SMALL) <= {*EVERY, *distributions.names("model")}
