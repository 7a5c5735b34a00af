import numpy as np
from numpy.testing import assert_allclose
from panels import random_panel
from sklearn.linear_model import LogisticRegression

from truepool import scores
from truepool.measures.folds import splits
from truepool.pools.stacked_lr import StackedLR
from truepool.pools.stacked_mlp import StackedMLP


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


def test_a_network_learns_what_no_weights_can():
    # The second agent tells when the first one lies.
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 3000)
    lies = rng.integers(0, 2, 3000)
    first = np.where(outcomes ^ lies, 0.9, 0.1)
    reports = np.stack([first, np.where(lies, 0.9, 0.1)], axis=1)
    pool = StackedMLP().fit(reports[:2000], outcomes[:2000])
    line = StackedLR().fit(reports[:2000], outcomes[:2000])
    assert scores.loss(pool.predict_proba(reports[2000:]), outcomes[2000:]) < 0.02
    assert scores.loss(line.predict_proba(reports[2000:]), outcomes[2000:]) > 0.2
