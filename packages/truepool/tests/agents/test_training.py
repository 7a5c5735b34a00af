"""Training: silos, labels, foreign agents, parallel runs, and bad input."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from training_data import features, small_model

from truepool import agents
from truepool.agents.fitted_agent import clone_with_seed
from truepool.core.errors import (
    AgentError,
    FeatureError,
    OutcomeError,
    SettingError,
    UnknownNameError,
)

X, Y = features(300)
NEW, NEW_Y = features(80, seed=1)


def train(team=("tree", "logistic"), X=X, y=Y, **options):
    return agents.train(X, y, team, cache=False, **options)


def test_an_outcome_of_which_hardly_any_repeats_is_refused():
    message = "would learn from 20 classes in 30 cases. Name another outcome"
    with pytest.raises(OutcomeError, match=message):
        train(X=X[:30], y=np.arange(30) % 20)


def test_that_a_model_stops_at_its_number_of_passes_is_no_warning():
    own = {"mlp": agents.zoo.make("mlp", max_iter=1)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(own, X=X[:60], y=Y[:60], n_jobs=1)["mlp"]


def test_an_ensemble_makes_a_panel():
    trained = train()
    panel = trained.panel(NEW, NEW_Y, ids=np.arange(80))
    assert panel.agents == ("tree", "logistic")
    assert_array_equal(panel.outcomes, NEW_Y)
    assert panel.ids[3] == 3
    assert repr(trained) == "Ensemble(tree, logistic)"


def test_an_agent_is_the_scikit_learn_model_of_its_silo():
    silos = [[0, 1, 4], [2, 3]]
    reports = train(
        {"a": GaussianNB(), "b": LogisticRegression()}, features=silos
    ).reports(NEW)
    for i, agent in enumerate((GaussianNB(), LogisticRegression())):
        alone = clone(agent).fit(X[:, silos[i]], Y)
        assert_allclose(reports[:, i], alone.predict_proba(NEW[:, silos[i]])[:, 1], rtol=1e-12)  # fmt: skip


def test_a_share_draws_the_papers_silos():
    drawn = agents.feature_silos(5, 2, 0.6)
    for seed in (0, 1):
        trained = train(features=0.6, seed=seed)
        assert [silo.tolist() for silo in trained.silos] == [s.tolist() for s in drawn]
    assert_array_equal(train(features=0.6)["tree"].encoder.places_, drawn[0])


def test_disjoint_rows_are_learned_from_apart():
    reports = train({"a": GaussianNB(), "b": GaussianNB()}, cases="disjoint").reports(
        NEW
    )
    for i, share in enumerate(agents.case_silos(Y, 2, 42)):
        alone = GaussianNB().fit(X[share], Y[share])
        assert_allclose(reports[:, i], alone.predict_proba(NEW)[:, 1], rtol=1e-12)


def test_rows_may_be_a_mask():
    mask = np.arange(300) % 2 == 0
    by_mask = train(cases=[mask, ~mask]).reports(NEW)
    by_number = train(cases=[np.flatnonzero(mask), np.flatnonzero(~mask)]).reports(NEW)
    assert_array_equal(by_mask, by_number)


def test_a_class_unknown_to_an_agent_gets_probability_0():
    X3, y3 = features(300, classes=3)
    some = [np.flatnonzero(y3 != 1), np.arange(300)]
    team = {"xgboost": small_model("xgboost"), "bayes": GaussianNB()}
    reports = train(team, X3, y3, cases=some).reports(X3)
    assert reports.shape == (300, 2, 3)
    assert (reports[:, 0, 1] == 0).all()
    assert (reports[:, 1, 1] > 0).all()


def test_the_user_names_the_positive_one_of_two_text_labels():
    words, new = np.where(Y == 1, "bad", "good"), np.where(NEW_Y == 1, "bad", "good")
    trained = train(y=words, positive="bad")
    panel = trained.panel(NEW, new)
    assert_array_equal(panel.outcomes, NEW_Y)
    assert panel.labels.names == tuple(trained.classes_) == ("good", "bad")
    assert trained["tree"].positive == "bad"
    assert_array_equal(panel.reports, train().reports(NEW))
    turned = train(y=words, positive="good").panel(NEW, new, positive="good")
    assert_array_equal(turned.outcomes, 1 - NEW_Y)
    assert_allclose(turned.reports, 1 - panel.reports)
    with pytest.raises(
        OutcomeError, match="must be 'good' or 'bad'; got 'ugly' in case 0"
    ):
        trained.panel(NEW[:2], ["ugly", "bad"])
    with pytest.raises(OutcomeError, match="positive label here is 'bad'; got 'good'"):
        trained.panel(NEW, new, positive="good")


def test_more_than_two_labels_of_text_are_sorted():
    words = np.where(X[:, 0] > 1, "worse", np.where(Y == 1, "bad", "good"))
    trained = train(y=words)
    assert trained.classes_.tolist() == ["bad", "good", "worse"]
    assert trained["tree"].positive is None
    with pytest.raises(OutcomeError, match="requires two labels; there are 3"):
        train(y=words, positive="worse")


def test_frames_of_numbers_and_text_train_like_arrays_of_codes():
    text = np.array(["a", "b", "c", "d"])
    frame = pd.DataFrame(X, columns=list("vwxyz")).assign(z=text[X[:, 4].astype(int)])
    new = pd.DataFrame(NEW, columns=list("vwxyz")).assign(z=text[NEW[:, 4].astype(int)])
    assert_array_equal(train(X=frame).reports(new), train().reports(NEW))
    by_name = train(X=frame, features=[["z", "v"], ["w"]])
    assert by_name["tree"].encoder.names_ == ("z", "v")
    new.loc[7, "z"] = "e"
    with pytest.raises(FeatureError, match="column 'z' says 'e' in zero-based row 7"):
        train(X=frame).reports(new)
    lenient = train(X=frame, unseen="missing").reports(new)
    assert np.isfinite(lenient).all()


def test_fitted_agents_are_taken_as_they_are(tmp_path):
    known = train(features=[[0, 1], [2, 3]])
    agents.export(known["tree"], tmp_path / "tree.onnx")

    class Half:
        classes_ = np.arange(2)

        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    bayes = GaussianNB().fit(X, Y)
    team = {
        "frozen": FrozenEstimator(bayes),
        "saved": known["logistic"],
        "onnx": agents.load(tmp_path / "tree.onnx"),
        "half": Half(),
        "new": "tree",
    }
    trained = train(team)
    reports = trained.reports(NEW)
    assert_array_equal(reports[:, 0], bayes.predict_proba(NEW)[:, 1])
    assert_array_equal(reports[:, 1], known.reports(NEW)[:, 1])
    assert_allclose(reports[:, 2], known.reports(NEW)[:, 0], atol=1e-6)
    assert (reports[:, 3] == 0.5).all()
    assert trained["half"] is team["half"]


def test_agents_trained_in_parallel_are_the_same_and_progress_is_reported():
    steps = []
    team = {
        "forest": RandomForestClassifier(5),
        "tree": "tree",
        "mlp": small_model("mlp"),
    }
    both = train(team, n_jobs=2, progress=lambda *step: steps.append(step))
    assert_array_equal(both.reports(NEW), train(team).reports(NEW))
    assert [step[1:] for step in steps] == [(1, 3), (2, 3), (3, 3)]
    assert {step[0] for step in steps} == set(team)


def test_the_slowest_models_are_started_first():
    steps = []
    team = {name: small_model(name) for name in ("tree", "mlp", "random-forest")}
    train(team, progress=lambda name, *_: steps.append(name))
    assert steps == ["mlp", "random-forest", "tree"]


def test_the_five_of_the_paper_are_the_default():
    five = ("lightgbm", "catboost", "xgboost", "random-forest", "mlp")
    assert agents.train(X, Y).agents == agents.zoo.PAPER == five


def test_classifiers_of_your_own_get_the_seed():
    forest = RandomForestClassifier(5)
    assert clone_with_seed(forest, 7).random_state == 7
    assert clone_with_seed(RandomForestClassifier(random_state=3), 7).random_state == 3
    one, same, other = (train({"f": forest}, seed=s).reports(NEW) for s in (1, 1, 2))
    assert_array_equal(one, same)
    assert (one != other).any()
    assert forest.random_state is None


def test_the_representation_of_a_fitted_agent():
    agent = train()["tree"]
    assert (
        repr(agent)
        == "FittedAgent('tree', Tree(min_samples_leaf=20), 5 features, 2 classes)"
    )
    own = train({"b": GaussianNB()})["b"]
    assert repr(own) == "FittedAgent('b', GaussianNB, 5 features, 2 classes)"


def test_a_column_without_a_value_does_no_harm():
    gone = X.copy()
    gone[:, 2] = np.nan
    assert np.isfinite(train(X=gone).reports(NEW)).all()


BAD = {
    "no predict_proba": (lambda: train({"svm": LinearSVC()}), AgentError, "'svm' (LinearSVC) has no predict_proba"),
    "a word": (lambda: train("tree"), AgentError, "a list or a mapping"),
    "unknown model": (lambda: train(["lightgmb"]), UnknownNameError, "did you mean 'lightgbm'"),
    "labels": (lambda: train(y=Y[:10]), OutcomeError, "got labels of shape (10,) for 300 cases"),
    "one class": (lambda: train(cases=[np.arange(300), np.flatnonzero(Y == 0)]), OutcomeError, "'logistic' would learn from"),
    "no rows": (lambda: train(cases=[np.arange(300), []]), OutcomeError, "'logistic' would learn from no cases"),
    "rows short": (lambda: train(cases=[[1]]), SettingError, "each of the 2 agents; got 1 lists"),
    "rows word": (lambda: train(cases="mine"), SettingError, "'disjoint' or one list per agent; got 'mine'"),
    "columns short": (lambda: train(features=[[1]]), SettingError, "each of the 2 agents; got 1 lists"),
    "rows beyond": (lambda: train(cases=[[1, 300], [2]]), SettingError, "numbers in 0..299 or a mask of that length; got [  1 300]"),
    "rows of words": (lambda: train(cases=[["a"], [2]]), SettingError, "numbers in 0..299"),
    "no columns": (lambda: train(features=[[1], []]), SettingError, "agent 1 sees none"),
    "column": (lambda: train(features=[[1], [5]]), SettingError, "numbered 0..4; got 5"),
    "column name": (lambda: train(features=[["x1"], ["xx1"]]), SettingError, "no feature 'xx1' (did you mean 'x1'?)"),
    "calibration": (lambda: train(calibration="plat"), UnknownNameError, "did you mean 'platt'"),
    "calibrated who": (lambda: train(calibration={"trees": "platt"}), SettingError, "no agent 'trees' to calibrate (did you mean 'tree'?)"),
    "calibrated twice": (lambda: train({"f": FrozenEstimator(GaussianNB().fit(X, Y))}, calibration="platt"), SettingError, "'f' is fitted already"),
    "who": (lambda: train()["forest"], UnknownNameError, "no agent is called 'forest'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    run, kind, expected = BAD[case]
    with pytest.raises(kind) as stop:
        run()
    assert expected in str(stop.value)
    assert "\n" not in str(stop.value)


def test_calibration_may_differ_by_agent():
    trained = train(calibration={"tree": "isotonic"})
    assert trained["tree"].calibration == "isotonic"
    assert trained["logistic"].calibration is None


def test_an_arrow_table_is_a_table():
    table = pa.table({f"x{i}": X[:, i] for i in range(5)})
    assert_array_equal(train(X=table).reports(NEW), train().reports(NEW))
