from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, kstest

from truepool.audits.miscalibration import bias_matters, matters, slope_matters
from truepool.audits.reliability import calibration, reliability, worst_group
from truepool.audits.values import Calibration, Reliability
from truepool.comparison import Estimate
from truepool.measures.groups import enough_cases
from truepool.measures.scores import ece, smooth_ece


def measured(seed=0, cases=2000, slope=1.0, shift=0.0, level=0.95):
    rng = np.random.default_rng(seed)
    z = rng.normal(-0.5, 1.3, cases)
    outcomes = (rng.random(cases) < 1 / (1 + np.exp(-(slope * z + shift)))).astype(int)
    p = 1 / (1 + np.exp(-z))
    return calibration("ada", p[:, None], outcomes, level), p, outcomes


def test_calibrated_reports_give_even_p_values():
    p_values = [measured(seed, 400)[0].p_value for seed in range(200)]
    assert kstest(p_values, "uniform").pvalue > 0.001


def test_intervals_cover_as_often_as_they_say():
    coverage = np.zeros(2)
    for seed in range(200):
        result = measured(seed, 300, level=0.9)[0]
        coverage += [result.bias.low <= 0 <= result.bias.high,
                 result.slope.low <= 1 <= result.slope.high]  # fmt: skip
    # 200 trials at 0.9: a standard error of 0.021.
    assert_allclose(coverage / 200, 0.9, atol=0.06)


def test_the_numbers_are_those_of_the_scores():
    result, p, outcomes = measured(3)
    assert_allclose(result.ece, max(0.0, ece(p, outcomes, debias=True)))
    assert_allclose(result.smooth_ece, smooth_ece(p, outcomes))
    assert_allclose(result.bias.value, p.mean() - outcomes.mean())
    assert result.cases == 2000


@pytest.mark.parametrize(
    ("slope", "shift", "faults"),
    [(1.0, 0.0, (False, False)), (0.5, 0.0, (True, False)), (1.0, 0.4, (False, True))],
)
def test_what_is_off_is_told_apart(slope, shift, faults):
    result = measured(1, 20_000, slope, shift)[0]
    assert (slope_matters(result), bias_matters(result)) == faults or (
        slope_matters(result),
        slope,
    ) == (
        True,
        0.5,
    )
    assert matters(result) == any(faults)


def test_silence_is_passed_over():
    result, p, outcomes = measured(2, 500)
    quiet = np.where(np.arange(500) % 5 == 0, np.nan, p)
    spoke = ~np.isnan(quiet)
    some = calibration("ada", quiet[:, None], outcomes, 0.95)
    assert some.cases == 400
    assert_allclose(some.bias.value, (p - outcomes)[spoke].mean())
    assert result.cases == 500


def test_classes_are_judged_by_the_likeliest():
    rng = np.random.default_rng(0)
    reports = rng.dirichlet([1, 1, 1], 600)
    outcomes = np.array([rng.choice(3, p=row) for row in reports])
    result = calibration("ada", reports, outcomes, 0.95)
    top, hit = reports.max(axis=1), reports.argmax(axis=1) == outcomes
    assert_allclose(result.bias.value, top.mean() - hit.mean())
    assert result.p_value > 0.001


def test_too_few_cases_have_numbers_but_no_interval():
    result = calibration("ada", np.full((20, 1), 0.5), np.arange(20) % 2, 0.95)
    assert result.ece == 0
    assert (result.bias, result.slope, result.p_value, result.reliability) == (
        None,
    ) * 4
    assert not matters(result)
    mute = calibration("bob", np.full((5, 1), np.nan), np.arange(5) % 2, 0.95)
    assert np.isnan([mute.ece, mute.smooth_ece]).all()


@pytest.mark.parametrize(
    ("cases", "ones", "enough"),
    [(30, 5, True), (29, 10, False), (100, 4, False), (100, 96, False), (0, 0, False)],
)
def test_what_supports_an_interval(cases, ones, enough):
    assert enough_cases((np.arange(cases) < ones).astype(int)) == enough


def test_calibrated_frequencies_stay_in_their_bands():
    outside = []
    for seed in range(60):
        shown = measured(seed, 800, level=0.9)[0].reliability
        assert shown.cases.sum() == 800
        outside.append((shown.frequency < shown.low) | (shown.frequency > shown.high))
    # Discrete bands hold at least their level; 600 groups have an error of 0.012.
    assert np.mean(outside) < 0.1 + 4 * 0.012
    over = measured(0, 800, slope=0.3)[0].reliability
    assert ((over.frequency < over.low) | (over.frequency > over.high)).sum() >= 5


def test_bands_are_binomial_and_empty_groups_are_left_out():
    p = np.repeat([0.1, 0.5], [90, 10])
    outcomes = (np.arange(100) % 10 == 0).astype(int)
    shown = reliability(p, outcomes, 0.8)
    assert_allclose(shown.mean_report, [0.1, 0.5])
    assert_allclose(shown.cases, [90, 10])
    assert_allclose(shown.low, binom.ppf(0.1, [90, 10], [0.1, 0.5]) / [90, 10])
    assert_allclose(shown.high, binom.ppf(0.9, [90, 10], [0.1, 0.5]) / [90, 10])


def test_groups_have_equal_shares_of_cases_and_of_uncertainty():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    outcomes = (rng.random(1000) < p).astype(int)
    shown = reliability(p, outcomes, 0.95)
    doubt = shown.cases * shown.mean_report * (1 - shown.mean_report)
    share = (shown.cases / 1000 + doubt / (p * (1 - p)).sum()) / 2
    assert_allclose(share, 0.1, atol=0.003)  # the spread within a group is left out
    sure = reliability((p > 0.5) * 1.0, outcomes, 0.95)
    assert_array_equal(sure.mean_report, [0, 1])
    rare = reliability(p**4 / 100, outcomes, 0.95)
    assert rare.cases.sum() == 1000
    assert rare.cases[-1] < 60 < 150 < rare.cases[0], "most of the doubt is at the top"
    p[:400] = 1.0
    shown = reliability(p, outcomes, 0.95)
    assert (shown.mean_report[-1], shown.cases[-1]) == (1.0, 400)
    alone = reliability(np.full(50, 0.3), np.arange(50) % 2, 0.95)
    assert alone.cases.tolist() == [50]


def grouped(reports, frequencies, cases):
    """Groups whose bands are as narrow as the reports."""
    columns = [np.array(x, dtype=float) for x in (reports, frequencies, cases)]
    groups = Reliability(*columns, columns[0], columns[0])
    return Calibration("ada", 100, 0.0, 0.0, None, None, None, groups)


def quoted(found, *settings):
    shown = worst_group(found, *settings)
    return shown["said"], shown["happened"]


def test_the_group_nearest_to_the_threshold_is_quoted():
    found = grouped([0.02, 0.15, 0.90], [0.04, 0.05, 0.60], [500, 300, 200])
    assert quoted(found) == (0.9, 0.6)
    assert quoted(found, 2, 0.1) == (0.15, 0.05)
    assert quoted(found, 3, 0.1) == (0.9, 0.6)


def test_an_example_of_over_confidence_is_one_of_it_where_events_are_rare():
    """Of 2 %, too extreme is above where reports are high, and below where low."""
    found = grouped([0.004, 0.02, 0.30], [0.009, 0.02, 0.15], [900, 90, 10])
    over = replace(
        found,
        slope=Estimate(0.6, 0.5, 0.7),
        bias=Estimate(0.0, -0.01, 0.01),
        intercept=0.4 * np.log(0.02 / 0.98),
    )
    assert quoted(over, 2, 0.2) == (0.3, 0.15)
    assert quoted(over, 2, 0.001) == (0.004, 0.009)


def test_the_group_that_is_quoted_shows_what_is_said():
    """Too high on the whole: the group that is too low by more is not the example."""
    found = grouped([0.2, 0.66], [0.05, 1.0], [900, 100])
    high = replace(found, bias=Estimate(0.1, 0.08, 0.12))
    assert quoted(high) == (0.2, 0.05)
    low = replace(found, bias=Estimate(-0.1, -0.12, -0.08))
    assert quoted(low) == (0.66, 1.0)
    steep = replace(high, slope=Estimate(2.0, 1.9, 2.1), bias=Estimate(0.0, -1.0, 1.0))
    assert quoted(steep) == (0.66, 1.0)
    flat = replace(steep, slope=Estimate(0.5, 0.4, 0.6))
    assert quoted(flat) == (0.66, 1.0), "no group is too extreme: the largest gap"
