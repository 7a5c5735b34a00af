"""Reports that are found again, and only if nothing they hang on has changed."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import AdaBoostClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from training_data import features

from truepool import agents
from truepool.agents import ensemble as trained
from truepool.agents import report_cache as cache


@pytest.fixture
def fits(monkeypatch):
    """Names of the agents that were trained."""
    names = []

    def counted(name, *args, **options):
        names.append(name)
        return fit(name, *args, **options)

    fit = trained.fit
    monkeypatch.setattr(trained, "fit", counted)
    return names


def train(place, X, y, team=("tree", "logistic"), **options):
    return agents.train(X, y, team, cache=place, **options)


def test_the_same_question_is_answered_without_training(tmp_path, fits):
    X, y = features()
    first = train(tmp_path, X, y).reports(X[:50])
    again = train(tmp_path, X, y).reports(X[:50])
    assert fits == ["tree", "logistic"]
    assert_array_equal(first, again)


def test_no_agent_is_trained_before_it_is_needed(tmp_path, fits):
    X, y = features()
    found = train(tmp_path, X, y)
    assert fits == []
    assert found["tree"].name == "tree"
    assert fits == ["tree"]
    found.reports(X)
    assert fits == ["tree", "logistic"]


def test_cached_reports_equal_uncached_ones(tmp_path):
    X, y = features()
    for _ in range(2):
        cached = train(tmp_path, X, y).reports(X)
    assert_array_equal(
        cached, agents.train(X, y, ["tree", "logistic"], cache=False).reports(X)
    )


CHANGES = {
    "a row": lambda X, y: (np.vstack([X[1:], X[:1]]), np.append(y[1:], y[0]), {}),
    "a label": lambda X, y: (X, np.append(1 - y[:1], y[1:]), {}),
    "a seed": lambda X, y: (X, y, {"seed": 1}),
    "silos": lambda X, y: (X, y, {"features": 0.6}),
    "cases": lambda X, y: (X, y, {"cases": "disjoint"}),
    "calibration": lambda X, y: (X, y, {"calibration": "platt"}),
    "settings": lambda X, y: (X, y, {"team": {"tree": agents.zoo.make("tree", max_depth=2), "logistic": agents.zoo.make("logistic", C=0.5)}}),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_trains_again(tmp_path, fits, change):
    X, y = features()
    train(tmp_path, X, y).reports(X[:50])
    rows, labels, options = CHANGES[change](X, y)
    train(tmp_path, rows, labels, **options).reports(X[:50])
    assert sorted(fits) == ["logistic", "logistic", "tree", "tree"]


def test_other_versions_and_other_code_train_again(tmp_path, fits, monkeypatch):
    X, y = features()
    train(tmp_path, X, y, ["tree"]).reports(X)
    for name in ("_code", "_platform"):
        monkeypatch.setattr(cache, name, lambda: "another")
        train(tmp_path, X, y, ["tree"]).reports(X)
    monkeypatch.setattr(cache, "version_of", lambda library: "0.0")
    train(tmp_path, X, y, ["tree"]).reports(X)
    assert fits == ["tree"] * 4


def test_an_agent_more_trains_only_that(tmp_path, fits):
    X, y = features()
    train(tmp_path, X, y, ["tree"]).reports(X)
    train(tmp_path, X, y, ["tree", "logistic"]).reports(X)
    assert fits == ["tree", "logistic"]


@pytest.mark.parametrize(
    "damage",
    [lambda b: b"", lambda b: b[:20], lambda b: b[:-1], lambda b: b[:99] + bytes([b[99] ^ 1]) + b[100:]],
    ids=["empty", "no digest", "cut", "one bit"],
)  # fmt: skip
def test_damaged_entries_are_detected_and_rebuilt(tmp_path, fits, damage):
    X, y = features()
    first = train(tmp_path, X, y, ["tree"]).reports(X)
    (entry,) = tmp_path.iterdir()
    sound = entry.read_bytes()
    entry.write_bytes(damage(sound))
    assert_array_equal(train(tmp_path, X, y, ["tree"]).reports(X), first)
    assert fits == ["tree", "tree"]
    assert entry.read_bytes() == sound


def test_a_write_that_fails_leaves_nothing_and_costs_a_warning(tmp_path, monkeypatch):
    X, y = features()
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError(28, "No space left on device")))  # fmt: skip
    with pytest.warns(
        UserWarning, match="No space left on device. Set the environment"
    ):
        reports = train(tmp_path, X, y, ["tree"]).reports(X)
    assert reports.shape == (240, 1)
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("TRUEPOOL_CACHE", str(tmp_path))
    assert cache.folder() == tmp_path / "reports"


class Mine(ClassifierMixin, BaseEstimator):
    """A class of the user's: its code may change, and has no version to tell by."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


def test_code_without_a_version_is_never_cached(tmp_path, fits):
    X, y = features()
    team = {"mine": Mine(), "bayes": GaussianNB()}
    for _ in range(2):
        train(tmp_path, X, y, team).reports(X)
    assert fits == ["mine", "bayes", "mine"]


@pytest.mark.parametrize(
    "agent",
    [
        make_pipeline(FunctionTransformer(abs), GaussianNB()),
        agents.zoo.make("tree", random_state=np.random.RandomState(0)),
        object(),
    ],
)
def test_settings_without_a_fingerprint_are_not_cached(agent):
    assert cache.fingerprint(agent) is None
    assert cache.key(agent) is None


def test_the_fingerprint_of_an_estimator_includes_nested_ones():
    one, two = (AdaBoostClassifier(GaussianNB(var_smoothing=s)) for s in (1e-9, 1e-8))
    assert cache.fingerprint(one) == cache.fingerprint(AdaBoostClassifier(GaussianNB()))
    assert cache.fingerprint(one) != cache.fingerprint(two)
    nested = make_pipeline(GaussianNB())
    assert cache.fingerprint(nested) is not None


def test_text_labels_and_absent_libraries_have_fingerprints_too():
    words = np.array(["a", "b"], dtype=object)
    assert cache.digest(words) == cache.digest(words.copy())
    assert cache.digest(words) != cache.digest(words[::-1])
    assert cache.version_of("no-such-library") == "no-such-library absent"
