import numpy as np
from numpy.testing import assert_allclose
from panels import random_panel
from sklearn.linear_model import LogisticRegression

from truepool.measures.folds import splits
from truepool.pools.stacked_lr import StackedLR
from truepool.pools.training.logistic import LogisticData, solve, some


def test_stacking_is_the_mean_of_the_models_of_each_fold():
    panel = random_panel(1, cases=200)
    z = np.clip(np.log(panel.reports / (1 - panel.reports)), -7, 7)
    models = [
        LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(
            z[learn], panel.outcomes[learn]
        )
        for learn, _ in splits(panel.outcomes, 3)
    ]
    expected = np.mean([model.predict_proba(z) for model in models], axis=0)
    pool = StackedLR().fit(panel.reports, panel.outcomes)
    assert_allclose(pool.predict_proba(panel.reports), expected)


def test_a_class_missing_from_a_fold_is_given_no_chance_by_its_model():
    panel = random_panel(1, cases=60, classes=3)
    outcomes = np.where(panel.outcomes == 2, 0, panel.outcomes)
    outcomes[0] = 2
    pooled = StackedLR().fit(panel.reports, outcomes).predict_proba(panel.reports)
    assert pooled.shape == (60, 3)
    assert_allclose(pooled.sum(axis=1), 1.0)


def test_where_some_of_many_cases_lack_a_class_the_search_does_not_begin_at_their_answer():
    """Found by 10,000 cases with 50 positives: two of a hundred fits ended anywhere."""
    rng, T = np.random.default_rng(0), 10_000
    outcomes = np.zeros(T, dtype=np.int64)
    outcomes[rng.choice(np.setdiff1d(np.arange(T), some(T)), 40, replace=False)] = 1
    features = rng.normal(size=(T, 3)) + 2.0 * outcomes[:, None] - 1
    data = LogisticData.build(features, outcomes, 2, np.ones(T))
    assert data.take(some(T)).fewest == 0
    cold = solve(data, 1.0, np.zeros((1, 4)))
    assert_allclose(solve(data, 1.0), cold, atol=1e-6)
    model = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000)
    model.fit(features, outcomes)
    assert_allclose(data.expand(cold)[0, :-1], model.coef_[0], rtol=1e-3)
