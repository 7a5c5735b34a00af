import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from truepool import Panel
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.methods import (
    ON_LOG_ODDS,
    methods,
    platt_probabilities,
    pool_with,
    stack,
    tally,
)


def some_panel(seed, cases=4000):
    rng = np.random.default_rng(seed)
    p = rng.random(cases)
    y = (rng.random(cases) < p).astype(int)
    reports = np.clip(p[:, None] + rng.normal(0, 0.05, (cases, 5)), 0.001, 0.999)
    return Panel(reports, y)


def test_they_are_the_methods_of_the_main_table():
    keys = {key for (key,) in paper_tables()["tab:main_results"].keys}
    panel = some_panel(0, cases=60)
    assert set(methods()) - set(ON_LOG_ODDS.values()) | set(stack(panel, panel)) == keys


def test_a_second_level_regression_learns_from_probabilities_and_not_log_odds():
    known, new = some_panel(0, cases=500), some_panel(1, cases=200)
    model = LogisticRegression(max_iter=1000).fit(known.reports, known.outcomes)
    expected = model.predict_proba(new.reports)[:, 1:]
    np.testing.assert_allclose(stack(known, new)["Stacking-LR"], expected)
    ours = pool_with(methods()[ON_LOG_ODDS["Stacking-LR"]], known, new)
    assert np.abs(ours - expected).max() > 0.01


@pytest.mark.parametrize("threshold", [0.3, 0.5])
def test_the_vote_decides_as_most_agents_do_at_the_threshold(threshold):
    panel = some_panel(0)
    pooled = pool_with(methods(threshold)["Majority Vote"], panel, panel)[:, 0]
    most = (panel.reports > threshold).sum(axis=1) >= 3
    assert ((pooled > threshold) == most).all()


def test_platt_scaling_finds_the_logistic_curve_the_mean_follows():
    rng = np.random.default_rng(0)
    mean = rng.random(200_000)
    y = (rng.random(mean.size) < expit(6 * mean - 2)).astype(int)
    panel = Panel(np.stack([mean, mean], axis=1), y)
    found = platt_probabilities(panel, panel)[:, 0]
    assert np.abs(found - expit(6 * mean - 2)).max() < 0.01


def test_a_penalty_holds_the_slope_back():
    panel = some_panel(1, cases=300)
    free, penalised = (
        platt_probabilities(panel, panel, penalty) for penalty in (0.0, 10.0)
    )
    assert np.ptp(penalised) < np.ptp(free)


def test_a_scaled_mean_that_was_calibrated_is_no_longer():
    # No logistic curve of p is p itself: that is what apd:platt's recipe costs.
    from truepool.measures.scores import ece

    rng = np.random.default_rng(0)
    mean = rng.beta(0.2, 0.2, 100_000)
    y = (rng.random(mean.size) < mean).astype(int)
    panel = Panel(np.stack([mean, mean], axis=1), y)
    assert ece(mean, y) < 0.005 < 0.02 < ece(platt_probabilities(panel, panel), y)


def test_what_is_decided_is_counted_at_the_threshold():
    panel = Panel([[0.4, 0.4], [0.6, 0.6], [0.1, 0.1]], [1, 1, 0])
    pooled = panel.reports[:, :1]
    assert tally(pooled, panel).fn_rate == 0.5
    assert tally(pooled, panel, 0.3).fn_rate == 0.0
