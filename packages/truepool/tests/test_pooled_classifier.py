import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from truepool import PooledClassifier
from truepool.agents.partition import feature_silos
from truepool.core.errors import AgentError, OutcomeError, SettingError
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.pools.auto import Auto
from truepool.pools.mean import Mean
from truepool.pools.platt import Platt
from truepool.pools.vcg import VCG

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:200], Y[:200]


def agents():
    return [
        ("nb", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ]


def checked():
    return PooledClassifier(
        [("lr", LogisticRegression()), ("tree", DecisionTreeClassifier(random_state=0))]
    )


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(*pair, id=str(i))
        for i, pair in enumerate(estimator_checks_generator(checked()))
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_passes_scikit_learns_checks(estimator, check):
    check(estimator)


class Memory(ClassifierMixin, BaseEstimator):
    """Remembers every row it was trained on, and is certain about those."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen_ = {tuple(row): label for row, label in zip(X, y, strict=True)}
        return self

    def predict_proba(self, X):
        known = [self.seen_.get(tuple(row)) for row in X]
        p = np.array(
            [0.5 if k is None else float(k == self.classes_[1]) for k in known]
        )
        return np.stack([1 - p, p], axis=1)


@pytest.mark.parametrize("cv", [5, KFold(3), TimeSeriesSplit(4)])
def test_no_pool_learns_from_a_report_on_its_agents_own_training_rows(cv):
    # Out of fold the memory knows nothing, so it earns nothing.
    model = PooledClassifier([("memory", Memory()), ("nb", GaussianNB())], cv=cv)
    model.fit(X, Y)
    assert_allclose(model.pool_.weights_, [0, 1])


def test_reports_are_the_held_out_ones():
    pairs = list(KFold(3).split(X))

    class Listener(Mean.__mro__[1]):  # a LinearPool that keeps what it was shown
        name = "listener"
        complexity = 0

        def _weigh(self, panel, case_weights):
            self.panel_ = panel
            return np.array([0.5, 0.5])

    model = PooledClassifier(agents(), pool=Listener(), cv=KFold(3)).fit(X, Y)
    for learn, test in pairs:
        expected = GaussianNB().fit(X[learn], Y[learn]).predict_proba(X[test])[:, 1]
        assert_allclose(model.pool_.panel_.reports[test, 0], expected)


def test_time_ordered_folds_teach_the_pool_from_the_rows_they_test():
    model = PooledClassifier(agents(), cv=TimeSeriesSplit(4)).fit(X, Y)
    assert model.predict_proba(X).shape == (200, 2)


def test_fitted_models_are_taken_as_they_are():
    trained = GaussianNB().fit(X[:100], Y[:100])
    frozen = FrozenEstimator(trained)
    model = PooledClassifier([("old", frozen), ("tree", agents()[1][1])])
    model.fit(X[100:], Y[100:])
    reports = model.reports(X[100:])
    assert_allclose(reports[:, 0], trained.predict_proba(X[100:])[:, 1])
    assert model.estimators_[0] is frozen


def test_random_silos_are_the_papers():
    model = PooledClassifier(agents(), features=0.6).fit(X, Y)
    for found, drawn in zip(
        model.features_, feature_silos(30, 2, 0.6, 42), strict=True
    ):
        assert_array_equal(found, drawn)
    rng = np.random.RandomState(42)
    assert_array_equal(model.features_[0], np.sort(rng.choice(30, 18, replace=False)))
    assert model.estimators_[0].n_features_in_ == 18


def test_columns_may_be_given_by_name():
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(30)])
    model = PooledClassifier(agents(), features=[["x0", "x1"], ["x2"]]).fit(frame, Y)
    assert model.estimators_[0].feature_names_in_.tolist() == ["x0", "x1"]
    assert model.predict(frame).shape == (200,)


def test_labels_of_any_kind_and_number_come_back():
    wine = load_wine()
    names = wine.target_names[wine.target]
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    model = PooledClassifier([("lr", scaled), ("nb", GaussianNB())]).fit(
        wine.data, names
    )
    assert set(model.predict(wine.data)) <= set(names)
    assert model.predict_proba(wine.data).shape == (178, 3)
    assert model.score(wine.data, names) > 0.95


def test_a_class_an_agent_never_met_gets_no_chance_from_it():
    labels = Y.copy()
    labels[0] = 2  # one row: absent from the training rows of its own fold
    model = PooledClassifier(agents(), pool="mean").fit(X, labels)
    assert model.predict_proba(X).shape == (200, 3)


def test_costs_of_the_pool_decide():
    timid = PooledClassifier(agents(), pool=VCG(costs=Costs(fn=50, fp=1))).fit(X, Y)
    bold = PooledClassifier(agents(), pool=VCG(costs=Costs(fn=1, fp=50))).fit(X, Y)
    assert timid.predict(X).sum() > bold.predict(X).sum()


def test_settings_of_agents_can_be_searched():
    search = GridSearchCV(
        PooledClassifier(agents(), cv=3), {"tree__max_depth": [1, 3]}, cv=2
    )
    assert search.fit(X, Y).best_params_["tree__max_depth"] in (1, 3)


def test_sample_weight_reaches_agents_and_pool():
    weights = np.where(Y == 1, 5.0, 1.0)
    plain = PooledClassifier(agents()).fit(X, Y)
    weighed = PooledClassifier(agents()).fit(X, Y, sample_weight=weights)
    assert np.abs(plain.predict_proba(X) - weighed.predict_proba(X)).max() > 1e-3


def test_training_in_parallel_changes_nothing():
    one = PooledClassifier(agents()).fit(X, Y).predict_proba(X)
    two = clone(PooledClassifier(agents(), n_jobs=2)).fit(X, Y).predict_proba(X)
    assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("model", "kind", "match"),
    [
        (PooledClassifier([]), AgentError, "got 0"),
        (PooledClassifier(agents()[:1]), AgentError, "got 1"),
        (PooledClassifier([*agents(), ("svm", LinearSVC())]), AgentError, "'svm' .LinearSVC. has no predict_proba"),
        (PooledClassifier(agents(), features=np.float32(1.5)), SettingError, "got 1.5"),
        (PooledClassifier(agents(), features=[[0]]), SettingError, "got 1 lists"),
        (PooledClassifier([("a", GaussianNB()), ("a", GaussianNB())]), ValueError, "not unique"),
    ],
)  # fmt: skip
def test_what_cannot_be_pooled_is_refused(model, kind, match):
    with pytest.raises(kind, match=match):
        model.fit(X, Y)


def test_weights_for_an_agent_that_takes_none_are_refused():
    model = PooledClassifier([*agents(), ("knn", KNeighborsClassifier())])
    with pytest.raises(AgentError, match="'knn' .* does not"):
        model.fit(X, Y, sample_weight=np.ones(200))
    with pytest.raises(TypeError, match="sample_weight and groups"):
        model.fit(X, Y, colour=Y)


def test_weights_reach_pipelines_and_pass_by_fitted_models():
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    old = FrozenEstimator(GaussianNB().fit(X[:100], Y[:100]))
    model = PooledClassifier([("pipe", pipe), ("old", old)])
    weights = np.where(Y == 1, 9.0, 1.0)
    weighed = clone(model).fit(X, Y, sample_weight=weights).estimators_[0]
    plain = model.fit(X, Y).estimators_[0]
    assert not np.allclose(weighed.predict_proba(X), plain.predict_proba(X))


def test_groups_reach_the_splitter():
    model = PooledClassifier(agents(), cv=GroupKFold(4))
    assert model.fit(X, Y, groups=np.arange(200) // 10).predict(X).shape == (200,)


def test_repeated_folds_teach_each_row_once():
    model = PooledClassifier(
        agents(), pool="mean", cv=RepeatedKFold(n_splits=3, n_repeats=2)
    )
    assert_allclose(model.fit(X, Y).pool_.weights_, 0.5)
    assert PooledClassifier(agents(), cv=None).fit(X, Y).score(X, Y) > 0.8


def test_a_fitted_agent_that_knows_other_labels_is_refused():
    stranger = FrozenEstimator(GaussianNB().fit(X, Y + 7))
    model = PooledClassifier([("stranger", stranger), agents()[0]])
    with pytest.raises(AgentError, match=r"one knows \[7, 8\]"):
        model.fit(X, Y)


NAMES = np.array(["genuine", "fraud"])  # the positive one sorts first


def fraud(pool, **settings):
    return PooledClassifier(agents(), pool, **settings)


def test_a_missed_fraud_costs_what_it_costs_whatever_it_is_called():
    costs = Costs(fn=10, fp=1)
    plain = fraud(VCG(costs=costs)).fit(X, Y)
    named = fraud(VCG(costs=costs), positive="fraud").fit(X, NAMES[Y])
    assert_array_equal(named.predict(X) == "fraud", plain.predict(X) == 1)
    assert_array_equal(named.classes_, ["fraud", "genuine"])
    assert named.labels_.names == ("genuine", "fraud")
    assert_allclose(named.predict_proba(X)[:, 0], plain.predict_proba(X)[:, 1])
    assert_allclose(named.reports(X), plain.reports(X))


@pytest.mark.parametrize(
    "pool",
    [
        VCG(costs=Costs(fn=10)),
        VCG(costs=Costs(matrix=[[0, 1], [5, 0]])),
        VCG(threshold=0.3),
        VCG(loss=Loss("cost-brier", Costs(fn=10))),
        VCG(loss=Loss("cost", threshold=0.2)),
        Platt(base=VCG(costs=Costs(fn=10))),
        Auto(candidates=["mean", VCG(threshold=0.3)]),
    ],
    ids=[
        "costs",
        "matrix",
        "threshold",
        "loss",
        "loss' threshold",
        "inner",
        "candidate",
    ],
)
def test_where_the_classes_differ_the_positive_one_must_be_named(pool):
    with pytest.raises(OutcomeError, match="'fraud' is more likely"):
        fraud(pool).fit(X, NAMES[Y])


@pytest.mark.parametrize(
    "pool",
    [
        None,
        "mean",
        VCG(costs=Costs(fn=3, fp=3)),
        VCG(threshold=0.5),
        Auto(candidates=["mean", VCG()]),
    ],
    ids=["default", "name", "equal costs", "threshold", "candidates"],
)
def test_where_they_do_not_scikit_learns_order_is_kept(pool):
    model = fraud(pool).fit(X, NAMES[Y])
    assert model.labels_.positive == "genuine"
    assert model.score(X, NAMES[Y]) > 0.8


def test_of_many_labels_none_is_positive():
    wine = load_wine(return_X_y=True)
    with pytest.raises(OutcomeError, match="requires two labels; there are 3: 0, 1, 2"):
        fraud(None, positive=1).fit(*wine)
