"""The log-odds pool shrunk by empirical Bayes, against the study's values and scipy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel
from scipy.optimize import minimize
from scipy.special import expit, logit

from truepool.core.errors import SettingError
from truepool.panel.panel import Panel
from truepool.pools import shrunk
from truepool.pools.shrunk import Shrunk

REPORTS = np.array(
    [[.9, .6, .5], [.2, .4, .5], [.7, .9, .5], [.3, .1, .5],
     [.8, .3, .6], [.1, .6, .4], [1, .7, .5], [0, .2, .6]]
)  # fmt: skip
OUTCOMES = np.array([1, 0] * 4)


def mode(reports, outcomes, widths, clip=0.02):
    values = np.asarray(reports)[:, :, None]
    design = shrunk._design(values, clip)
    ones = np.ones(len(outcomes))
    (fit,), (score,) = shrunk.fit_settings(design, outcomes, ones, [widths])
    return fit, score + shrunk._complexity(widths)


def test_the_mode_at_fixed_widths_is_the_one_of_the_study():
    theta, _ = mode(REPORTS, OUTCOMES, (0.5, 0.3, 0.2))
    assert_allclose(theta, [0.00892, 0.13957, 0.07238, -0.01932, -0.05305], atol=5e-6)
    x = logit(np.clip(REPORTS[0], 0.02, 0.98))
    z0 = x.mean()
    assert_allclose(
        expit(z0 + theta[0] + theta[1] * z0 + theta[2:] @ (x - z0)), 0.75928, atol=5e-6
    )


def test_the_average_over_the_grid_is_the_one_of_the_study():
    pool = Shrunk().fit(REPORTS, OUTCOMES)
    assert_allclose(pool.predict_proba(REPORTS)[0, 1], 0.77902, atol=5e-6)


def test_the_mode_is_where_a_general_optimiser_finds_it():
    panel = random_panel(4, cases=80, agents=5)
    widths = (1.5, 0.3, 1.0)
    x = logit(np.clip(panel.reports, 0.02, 0.98))
    z0 = x.mean(axis=1)
    scale = np.array([1.5, 0.3, *[1.0] * 5])

    def price(theta):
        eta = z0 * (1 + theta[1]) + theta[0] + (x - z0[:, None]) @ theta[2:]
        chance = np.where(panel.outcomes == 1, expit(eta), expit(-eta))
        return -np.log(chance).sum() + ((theta / scale) ** 2).sum() / 2

    best = minimize(price, np.zeros(7), method="BFGS", options={"gtol": 1e-9})
    theta, _ = mode(panel.reports, panel.outcomes, widths)
    assert_allclose(theta, best.x, atol=1e-5)


def test_the_evidence_is_the_integral_over_a_single_coefficient():
    # Two agents that always agree have no tilt, and a width near 0 leaves no stretch:
    # one shift is left, and its Laplace evidence is near the integral.
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.8, 60)
    y = (rng.random(60) < p).astype(int)
    _, evidence = mode(np.column_stack([p, p]), y, (0.5, 0.0, 0.0))
    b = np.linspace(-4, 4, 8001)
    eta = logit(p)[:, None] + b
    chance = np.where(y[:, None] == 1, expit(eta), expit(-eta))
    prior = np.exp(-((b / 0.5) ** 2) / 2) / (0.5 * np.sqrt(2 * np.pi))
    exact = np.log(np.trapezoid(np.exp(np.log(chance).sum(axis=0)) * prior, b))
    assert_allclose(evidence, exact, atol=0.02)


def test_with_next_to_nothing_to_learn_from_it_is_the_mean_of_the_log_odds():
    pool = Shrunk().fit([[0.6, 0.6, 0.6], [0.4, 0.4, 0.4]], [1, 0])
    pooled = pool.predict_proba([[0.9, 0.6, 0.5]])[0, 1]
    anchor = expit(logit([0.9, 0.6, 0.5]).mean())
    assert abs(pooled - anchor) < 0.05


def test_an_agent_with_few_reports_stays_near_the_crowd():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    reports = expit(1.5 * (2 * y - 1)[:, None] + rng.normal(0, 1.5, (400, 4)))
    reports[:, 3] = 1 - reports[:, 3]  # reversed
    seldom = reports.copy()
    seldom[5:, 3] = np.nan
    often, rare = Shrunk().fit(reports, y), Shrunk().fit(seldom, y)
    tilt = [float(pool.shares_ @ pool.fits_[:, -1]) for pool in (often, rare)]
    assert tilt[0] < -0.3
    assert abs(tilt[1]) < abs(tilt[0]) / 2


def test_classes_are_treated_alike_whatever_their_numbers():
    panel = random_panel(2, cases=120, classes=3)
    order = np.array([2, 0, 1])
    place = np.argsort(order)
    other = Panel(panel.reports[:, :, order], place[panel.outcomes])
    pooled = Shrunk().fit_panel(panel).predict_proba(panel.reports)
    swapped = Shrunk().fit_panel(other).predict_proba(other.reports)
    assert_allclose(swapped, pooled[:, order], atol=1e-6)


def test_rare_events_lower_the_clip():
    rng = np.random.default_rng(3)
    y = (np.arange(1000) % 100 == 0).astype(int)
    pool = Shrunk().fit(rng.uniform(0, 0.1, (1000, 3)), y)
    assert_allclose(pool.clip_, 0.001)
    assert Shrunk(clip=0.01).fit(rng.uniform(0, 0.1, (1000, 3)), y).clip_ == 0.01


def test_case_weights_count_as_repeated_cases():
    panel = random_panel(5, cases=40)
    counts = np.random.default_rng(0).integers(1, 4, 40)
    rows = np.repeat(np.arange(40), counts)
    weighted = Shrunk().fit(panel.reports, panel.outcomes, counts)
    repeated = Shrunk().fit(panel.reports[rows], panel.outcomes[rows])
    assert_allclose(
        weighted.predict_proba(panel.reports),
        repeated.predict_proba(panel.reports),
        atol=1e-7,
    )


@pytest.mark.parametrize("clip", [0.0, 0.5, -1.0])
def test_a_clip_lies_between_0_and_a_half(clip):
    with pytest.raises(SettingError, match=f"between 0 and 0.5; got {clip}"):
        Shrunk(clip=clip).fit(REPORTS, OUTCOMES)


def test_the_grid_and_its_penalties_are_those_that_were_judged():
    assert shrunk.SHIFTS == (0.0, 0.5, 1.5)
    assert shrunk.STRETCHES == (0.0, 0.3, 1.0)
    assert shrunk.TILTS == (0.0, 0.1, 0.3, 1.0)
    assert shrunk._complexity((1.5, 0.0, 0.3)) == 2.5


@pytest.mark.parametrize("classes", [2, 3])
def test_with_more_agents_than_cases_the_smaller_problem_has_the_same_answer(
    classes, monkeypatch
):
    panel = random_panel(3, cases=7, agents=40, classes=classes, silent=0.2)
    cases = np.linspace(0.5, 2.0, 7)
    smaller = Shrunk().fit(panel.reports, panel.outcomes, cases)
    monkeypatch.setattr(shrunk, "_reduce", lambda design: (design, None))
    whole = Shrunk().fit(panel.reports, panel.outcomes, cases)
    assert_allclose(smaller.shares_, whole.shares_, atol=1e-10)
    assert_allclose(smaller.fits_, whole.fits_, atol=1e-10)
    assert_allclose(
        smaller.predict_proba(panel.reports),
        whole.predict_proba(panel.reports),
        atol=1e-10,
    )


def test_agents_and_cases_beyond_the_limit_are_refused(monkeypatch):
    monkeypatch.setattr(shrunk, "MOST_TILTS", 6)
    for cases, agents in ((40, 6), (6, 40)):
        panel = random_panel(3, cases=cases, agents=agents)
        Shrunk().fit(panel.reports, panel.outcomes)
    panel = random_panel(3, cases=7, agents=8)
    with pytest.raises(SettingError, match="at most 6 agents.*got 8 agents and 7 case"):
        Shrunk().fit(panel.reports, panel.outcomes)


def test_settings_that_some_cases_rule_out_would_not_have_counted(monkeypatch):
    rng, limits = np.random.default_rng(0), (np.inf, shrunk.RULED_OUT, 0.0)
    apart = np.zeros(len(limits))
    for draw in range(9):
        T, N = 6_000, int(rng.integers(2, 7))
        y = (rng.random(T) < [0.5, 0.1, 0.03][draw % 3]).astype(int)
        pull = rng.choice([0.2, 1.0]) * rng.normal(0.5, 0.5, N)
        reports = expit(np.outer(2 * y - 1, pull) + rng.normal(0, 1, (T, N)))
        answers = []
        for limit in limits:
            monkeypatch.setattr(shrunk, "RULED_OUT", limit)
            answers.append(Shrunk().fit(reports, y).predict_proba(reports))
        apart = np.maximum(apart, [np.abs(a - answers[0]).max() for a in answers])
    assert apart[1] < 1e-3
    assert apart[2] > 1e-3  # without a margin some would have counted
