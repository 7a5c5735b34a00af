import numpy as np
import pytest
from checked import evidence_of, found_by, of
from faults import COSTS, SKILLS, over_confident, sound
from numpy.testing import assert_allclose
from scipy.special import expit
from simulated_faults import quality_panel, temperature

from truepool.audits import Calibration, audit
from truepool.audits.checks.calibration import agent_calibrations
from truepool.audits.miscalibration import (
    NO_OVERLAP,
    ONE_SHARED,
    SAME,
    code_of,
    interval_width,
    is_high,
    mean_bias,
    measure,
)
from truepool.audits.reliability import calibration
from truepool.comparison import Estimate
from truepool.core.arrays import from_log_scale, log_scale
from truepool.measures.calibration import cox
from truepool.measures.groups import describe_shortage
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel


def finding_of(panel, who="agent2", costs=COSTS):
    (found,) = (
        f for f in found_by("calibration", panel, costs=costs) if f.who == (who,)
    )
    return found


def test_the_slope_of_an_over_confident_agent_is_its_temperature():
    found = finding_of(over_confident())
    assert (found.code, found.unit) == ("over-confident", "slope")
    assert found.number.low < 0.4 < found.number.high
    assert abs(found.facts["happened"] - 0.5) < abs(found.facts["said"] - 0.5)


def test_an_under_confident_agent():
    panel = quality_panel(
        "none", before=SKILLS, after=SKILLS, cases=2000, base_rate=0.5,
        correlation=0.2, honest=True, seed=0,
    )  # fmt: skip
    found = finding_of(temperature(panel, "agent2", 2.5))
    assert (found.code, found.severity) == ("under-confident", "error")
    assert found.number.low < 2.5 < found.number.high


@pytest.mark.parametrize("shift", [0.7, -0.7])
def test_a_biased_agent(shift):
    panel = sound()
    values = panel.values.copy()
    values[:, 2] = from_log_scale(log_scale(values[:, 2]) + shift)
    found = finding_of(panel.with_reports(values))
    assert (found.code, found.unit) == ("biased", "bias")
    assert np.sign(found.number.value) == np.sign(shift)
    assert found.facts["high"] == (found.facts["said"] > found.facts["happened"])
    assert found.facts["high"] == (shift > 0)


def test_a_slight_slope_is_no_error():
    found = finding_of(temperature(sound(cases=20_000), "agent2", 0.87))
    assert (found.code, found.unit) == ("over-confident", "slope")
    assert found.severity in ("warning", "note")


def test_the_saving_is_what_recalibrating_the_agent_saves():
    panel = over_confident()
    found = finding_of(panel)
    # Out of fold or not: two numbers from 2,000 cases hardly differ.
    fixed = panel.reports.copy()
    fixed[:, 2] = sound().reports[:, 2]
    loss = Loss("cost", COSTS)
    saved = [
        loss.evaluate(reports.mean(axis=1)[:, None], panel.outcomes).mean()
        for reports in (panel.reports, fixed)
    ]
    assert_allclose(found.saving.value, 1000 * (saved[0] - saved[1]), atol=10)


def test_an_agent_that_hardly_spoke_is_not_judged():
    panel = sound(cases=200)
    reports = panel.reports.copy()
    reports[20:, 4] = np.nan
    short = Panel(reports, panel.outcomes)
    assert evidence_of(short).compute(agent_calibrations)[4].slope is None
    assert ("agent4",) not in {f.who for f in found_by("calibration", short)}


# What is off is named by what is more clearly off


def interval(value, reach):
    return Estimate(value, value - reach, value + reach)


def measured(slope, bias):
    return Calibration(
        "ada", 500, 0.1, 0.1, interval(*bias), interval(*slope), 1e-9, None
    )


@pytest.mark.parametrize(
    ("slope", "bias", "code"),
    [
        ((1.4, 0.5), (0.08, 0.01), "biased"),
        ((1.4, 0.5), (0.0, 0.01), "biased"),  # the slope may well be 1
        ((1.4, 0.3), (0.08, 0.01), "biased"),
        ((1.4, 0.1), (0.01, 0.01), "under-confident"),
        ((0.6, 0.5), (0.08, 0.01), "biased"),
        ((0.6, 0.3), (0.08, 0.01), "biased"),
        ((0.6, 0.1), (-0.01, 0.01), "over-confident"),
    ],
)
def test_a_slope_names_the_fault_only_where_it_is_surely_off_and_leads(
    slope, bias, code
):
    found = measured(slope, bias)
    assert code_of(found) == code
    assert (measure(found)[1] == "bias") == (code == "biased")
    assert is_high(found) == (bias[0] > 0)


@pytest.mark.parametrize(
    ("slope", "bias", "code"),
    [(0.9, 0.1, "over-confident"), (1.1, -0.1, "under-confident")],
)
def test_who_is_too_sure_of_the_likeliest_of_many_classes_is_over_confident(
    slope, bias, code
):
    assert code_of(measured((slope, 0.05), (bias, 0.01)), classes=3) == code
    assert code_of(measured((slope, 0.4), (bias, 0.01)), classes=3) == "biased"


def test_a_class_is_named_where_the_slope_does_not_show_over_confidence():
    """With K classes, a mean that is too high was always called over-confidence."""
    rng = np.random.default_rng(0)
    shares = [0.1, 0.7, 0.1, 0.1]
    outcomes = rng.choice(4, 2000, p=shares)
    z = rng.normal(size=(2000, 2, 4))
    z[np.arange(2000), :, outcomes] += 0.8
    p = shares * np.exp(0.8 * z)
    p[:, 1, 1] *= 2  # nearly always the likeliest class: a shift of its log-odds
    p /= p.sum(axis=2, keepdims=True)
    found = finding_of(Panel(p, outcomes, agents=("ada", "bob")), "bob", Costs())
    assert (found.code, found.facts["form"], found.facts["name"]) == (
        "biased",
        "class",
        "1",
    )
    assert_allclose(found.facts["said"], p[:, 1, 1].mean())
    assert_allclose(found.facts["happened"], (outcomes == 1).mean())


# A slope that cannot be estimated


@pytest.mark.parametrize("wrong", [0, 1], ids=["all", "all but one"])
def test_where_nearly_all_cases_are_separated_there_is_a_reason_and_no_slope(wrong):
    outcomes = np.r_[np.zeros(400, int), np.ones(40, int)]
    rng = np.random.default_rng(0)
    p = np.where(outcomes, rng.uniform(0.3, 0.6, 440), rng.uniform(0.01, 0.25, 440))
    highest = np.argsort(np.where(outcomes, 0.0, p))[-1]
    p[highest] = np.sort(p[outcomes == 1])[1] if wrong else p[highest]
    result = calibration("ada", p[:, None], outcomes, 0.95)
    assert result.slope is None
    assert result.no_slope == NO_OVERLAP


def test_a_few_surprises_among_many_cases_leave_a_slope():
    outcomes = np.r_[np.zeros(400, int), np.ones(40, int)]
    p = np.where(outcomes, 0.4, 0.1) + np.random.default_rng(0).uniform(0, 0.1, 440)
    p[-2:] = 0.11  # two positive cases among the negative ones
    result = calibration("ada", p[:, None], outcomes, 0.95)
    assert result.slope is not None
    assert result.no_slope == ""


def test_two_reports_of_which_one_always_meets_the_same_outcome_have_no_slope():
    p = np.repeat([0.02, 0.98], [27, 22])[:, None]
    outcomes = np.r_[np.ones(22, int), np.zeros(27, int)]  # none at the higher report
    result = calibration("ada", p, outcomes, 0.95)
    assert (result.slope, result.no_slope) == (None, ONE_SHARED)


def test_the_same_report_throughout_and_too_few_cases_are_reasons_too():
    outcomes = np.arange(100) % 2
    same = calibration("ada", np.full((100, 1), 0.5), outcomes, 0.95)
    assert (same.slope, same.no_slope) == (None, SAME)
    few = calibration("ada", np.full((9, 1), 0.5), outcomes[:9], 0.95)
    assert (few.slope, few.no_slope) == (None, describe_shortage(outcomes[:9]))


# The pool


def drifting(shift, cases):
    """Three agents whose log-odds are 1.5 too low at first, then off by ``shift``."""
    rng = np.random.default_rng(0)
    z = rng.normal(-2, 1.3, cases)
    later = np.where(np.arange(cases) < 0.25 * cases, -1.5, shift)
    noise = rng.normal(0, 0.6, (3, cases))
    outcomes = (rng.random(cases) < expit(z)).astype(int)
    return Panel(expit(z + later + noise).T, outcomes, times=np.arange(cases))


def test_recalibration_is_judged_by_later_cases_as_pools_are():
    """It was learned on random cases, and advised where `platt` costs more."""
    result = audit(drifting(0.9, 4000), costs=Costs(fn=5), resamples=50)
    saved = {other.pool: other.saved for other in result.significance}
    assert saved["platt"].high < 0
    (found,) = of("biased-pool", result.findings)
    assert (found.severity, found.saving.high < 0) == ("note", True)
    assert result.plan.pool == result.plan.in_use == "mean"
    assert "recalibrate-pool" not in {step.action for step in result.plan.steps}


@pytest.mark.parametrize("pool", ["mean", "vcg"])
def test_a_bias_that_lasts_is_corrected_by_earlier_cases(pool):
    panel = drifting(-1.5, 3000)
    result = audit(panel, costs=Costs(fn=5), pool=pool, resamples=50)
    found = result.pool.finding
    (platt,) = (p for p in result.significance if p.pool == "platt")
    assert found.saving.low > 0
    assert_allclose(found.saving.value, 1000 * platt.saved.value, rtol=0.1)
    after = result.calibration[-1]
    assert after.bias.low < 0 < after.bias.high


# Coverage


def covered(found, error, width, truth):
    return abs(found - truth) < width * error


def test_intervals_allow_for_what_heavy_cases_have_not_shown():
    """Coverage of 95 % with 2 % reviewed: slope 75 % before and 93 % after (400 draws).

    A calibrated agent had p < 0.05 in 38 % of draws, and has in 11 %.
    """
    rng = np.random.default_rng(0)
    width, _ = interval_width(0.95, 4000, None)
    slopes, biases, wrong = [], [], []
    for _ in range(100):
        p = expit(rng.normal(-3.5, 1.2, 4000))
        y = (rng.random(4000) < p).astype(int)
        chance = np.where(p > 0.1, 1.0, 0.02)
        known = rng.random(4000) < chance
        p, y, w = p[known], y[known], 1 / chance[known]
        fit = cox(p, y, w)
        slopes.append(covered(fit.slope, fit.slope_error, width, 1.0))
        biases.append(covered(*mean_bias(p, y, w, None), width, 0.0))
        wrong.append(fit.p_value < 0.05)
    assert np.mean(slopes) > 0.87
    assert np.mean(biases) > 0.92
    assert np.mean(wrong) < 0.2


@pytest.mark.parametrize("number", [5, 12])
def test_intervals_of_few_groups_are_students(number):
    """Coverage of 95 %, 1,000 draws: slope 87 and 92 % before, 95 % after."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(number), 60)
    of_mean, of_slope = interval_width(0.95, len(group), group)
    slopes, biases = [], []
    for _ in range(200):
        z = rng.normal(-1, 1.2, len(group))
        shifted = z + rng.normal(0, 0.4, number)[group]
        y = (rng.random(len(group)) < expit(shifted)).astype(int)
        fit = cox(expit(z), y, None, group)
        # Averaged over the shifts (quadrature), slope .9702 and bias -.0034.
        slopes.append(covered(fit.slope, fit.slope_error, of_slope, 0.9702))
        biases.append(covered(*mean_bias(expit(z), y, None, group), of_mean, -0.0034))
    assert np.mean(slopes) > 0.91
    assert np.mean(biases) > 0.9


@pytest.mark.parametrize(
    ("cases", "middle", "spread"), [(3000, -4.5, 1.5), (20_000, -6.0, 2.0)]
)
def test_calibrated_reports_are_rarely_called_wrong_where_few_cases_are_reviewed(
    cases, middle, spread
):
    """One in 50 of those not flagged: about one of them is positive, or three."""
    rng, draws, found = np.random.default_rng(0), 200, 0
    for _ in range(draws):
        log_odds = rng.normal(middle, spread, cases)
        p = 1 / (1 + np.exp(-log_odds))
        outcomes = (rng.random(cases) < p).astype(int)
        propensity = np.where(p > np.quantile(p, 0.97), 1.0, 0.02)
        known = rng.random(cases) < propensity
        result = calibration(
            "ada", p[known, None], outcomes[known], 0.95, 1 / propensity[known],
            propensity=propensity[known],
        )  # fmt: skip
        found += result.p_value is not None and result.p_value < 0.05
    assert found / draws <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / draws)


def test_even_propensities_leave_the_test_of_calibration_as_it_is():
    rng = np.random.default_rng(0)
    p = rng.random(400)
    outcomes = (rng.random(400) < p).astype(int)
    even = np.full(400, 0.02)
    known = calibration("ada", p[:, None], outcomes, 0.95, 1 / even, propensity=even)
    assert (
        known.p_value
        == calibration("ada", p[:, None], outcomes, 0.95, 1 / even).p_value
    )
