from types import SimpleNamespace

import numpy as np
import pytest
from faults import COSTS, SKILLS, over_confident, sound
from numpy.testing import assert_allclose
from scipy.special import expit
from simulated_faults import quality_panel, temperature

from truepool.audits import Calibration, audit
from truepool.audits.miscalibration import (
    describe,
    interval_width,
    keep_pool,
    mean_bias,
    measure,
)
from truepool.audits.topics import comparison
from truepool.audits.topics.calibration import calibration, name_stacking
from truepool.comparison import Estimate
from truepool.core.arrays import from_log_scale, log_scale
from truepool.measures.calibration import cox
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.auto import Auto
from truepool.pools.mean import Mean
from truepool.pools.stacked_lr import StackedLR
from truepool.render.tables.audit import details

QUICK = {"costs": COSTS, "resamples": 50}


def findings_of(panel, who, **settings):
    findings = audit(panel, **QUICK, **settings).findings
    return next(f for f in findings if f.who == (who,) and f.figure == "reliability")


def test_the_slope_of_an_over_confident_agent_is_its_temperature():
    finding = findings_of(over_confident(), "agent2")
    assert finding.unit == "calibration slope"
    assert finding.number.low < 0.4 < finding.number.high
    assert "is over-confident (too extreme): when it says" in finding.sentence


def test_an_under_confident_agent():
    panel = quality_panel(
        "none", before=SKILLS, after=SKILLS, cases=2000, base_rate=0.5,
        correlation=0.2, honest=True, seed=0,
    )  # fmt: skip
    finding = findings_of(temperature(panel, "agent2", 2.5), "agent2")
    assert (finding.code, finding.severity) == ("under-confident", "error")
    assert finding.number.low < 2.5 < finding.number.high


@pytest.mark.parametrize(("shift", "word"), [(0.7, "high"), (-0.7, "low")])
def test_a_biased_agent(shift, word):
    panel = sound()
    values = panel.values.copy()
    values[:, 2] = from_log_scale(log_scale(values[:, 2]) + shift)
    finding = findings_of(panel.with_reports(values), "agent2")
    assert (finding.code, finding.unit) == ("biased", "bias")
    assert f"reports too {word}" in finding.sentence
    assert np.sign(finding.number.value) == np.sign(shift)


def test_a_slight_slope_is_told_by_the_slope_and_is_no_error():
    panel = sound(cases=20_000)
    finding = findings_of(temperature(panel, "agent2", 0.87), "agent2")
    assert finding.code == "over-confident"
    assert finding.severity in ("warning", "note")


def test_the_cost_is_what_recalibrating_the_agent_saves():
    panel = over_confident()
    finding = findings_of(panel, "agent2")
    # Out of fold or not: two numbers from 2,000 cases hardly differ.
    fixed = panel.reports.copy()
    fixed[:, 2] = sound().reports[:, 2]
    loss = Loss("cost", COSTS)
    saved = [
        loss.evaluate(reports.mean(axis=1)[:, None], panel.outcomes).mean()
        for reports in (panel.reports, fixed)
    ]
    assert_allclose(finding.cost.value, saved[0] - saved[1], atol=0.01)


def test_an_agent_that_hardly_spoke_is_not_judged():
    panel = sound(cases=200)
    reports = panel.reports.copy()
    reports[20:, 4] = np.nan
    finding = audit(Panel(reports, panel.outcomes), **QUICK)
    assert finding.calibration[4].slope is None
    assert not any(
        f.who == ("agent4",) and f.figure == "reliability" for f in finding.findings
    )


# What is off is named by what is more clearly off


def interval(value, reach):
    return Estimate(value, value - reach, value + reach)


def found(slope, bias):
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
    assert describe(found(slope, bias))[0] == code
    assert (measure(found(slope, bias))[1] == "bias") == (code == "biased")


@pytest.mark.parametrize(("bias", "word"), [(0.1, "high"), (-0.1, "low")])
def test_a_bias_is_described_by_its_direction(bias, word):
    assert describe(found((1.2, 0.4), (bias, 0.01))) == (
        "biased",
        f"reports too {word}",
    )


@pytest.mark.parametrize(
    ("slope", "bias", "code"),
    [(0.9, 0.1, "over-confident"), (1.1, -0.1, "under-confident")],
)
def test_who_is_too_sure_of_the_likeliest_of_many_classes_is_over_confident(
    slope, bias, code
):
    assert describe(found((slope, 0.05), (bias, 0.01)), classes=3)[0] == code
    assert describe(found((slope, 0.4), (bias, 0.01)), classes=3)[0] == "biased"


# The agents that made a pool biased


def shifted(**by):
    """A sound panel with some agents' log-odds moved."""
    panel = sound(cases=1000)
    values = panel.values.copy()
    for agent, shift in by.items():
        i = panel.agents.index(agent)
        values[:, i] = from_log_scale(log_scale(values[:, i]) + shift)
    return panel.with_reports(values)


def pools_bias(panel):
    findings = audit(panel, **QUICK).findings
    return next(f for f in findings if f.code == "biased-pool")


def test_the_cause_of_a_biased_pool_is_biased_the_same_way():
    """agent1 reports too low: whatever made the pool too high, it was not agent1."""
    finding = pools_bias(shifted(agent1=-1.0, agent3=3.0, agent4=3.0))
    assert "reports too high" in finding.sentence
    assert finding.cause == ()  # two share it, so it stands under neither
    assert "agent1" not in finding.sentence
    assert "agent3 " in finding.sentence
    assert "agent4 " in finding.sentence


def test_agents_that_explain_a_biased_pool_only_together_are_named_together():
    shifts = dict.fromkeys(sound(cases=10).agents, 0.9)
    finding = pools_bias(shifted(**shifts))
    assert all(agent in finding.sentence for agent in shifts)


def test_the_pool_named_as_a_cure_corrects_an_agent_by_itself():
    """stacked-lr is linear in log-odds, so whatever scale an agent uses is learned."""
    panel = sound(cases=1000)
    values = panel.values.copy()
    values[:, 2] = from_log_scale(0.3 * log_scale(values[:, 2]) + 1.0)
    panels = panel, panel.with_reports(values)
    learned, plain = (
        [((p - panel.outcomes) ** 2).mean() for p in pooled]
        for pooled in (
            [StackedLR().fit_panel(x).probabilities(x.values)[:, 1] for x in panels],
            [x.reports.mean(axis=1) for x in panels],
        )
    )
    # A penalty on the slopes is all that differs, next to nothing in 1,000 cases.
    assert_allclose(learned[0], learned[1], atol=0.0005)
    assert plain[1] - plain[0] > 0.005


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
    assert "separate nearly all positive from negative cases" in result.no_slope


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
    assert result.slope is None
    assert result.no_slope.startswith(
        "positive and negative cases have only one report"
    )


def test_the_same_report_throughout_and_too_few_cases_are_reasons_too():
    outcomes = np.arange(100) % 2
    same = calibration("ada", np.full((100, 1), 0.5), outcomes, 0.95)
    assert (same.slope, same.no_slope) == (None, "(nearly) all reports are the same")
    few = calibration("ada", np.full((9, 1), 0.5), outcomes[:9], 0.95)
    assert (few.slope, few.no_slope) == (None, "at least 30 outcomes are needed, got 9")


def drifting(shift, cases):
    """Three agents whose log-odds are 1.5 too low at first, then off by ``shift``."""
    rng = np.random.default_rng(0)
    z = rng.normal(-2, 1.3, cases)
    later = np.where(np.arange(cases) < 0.25 * cases, -1.5, shift)
    noise = rng.normal(0, 0.6, (3, cases))
    outcomes = (rng.random(cases) < expit(z)).astype(int)
    return Panel(expit(z + later + noise).T, outcomes, times=np.arange(cases))


def pool_finding(result):
    (found,) = (f for f in result.findings if f.figure == "reliability" and not f.who)
    return found


def test_recalibration_is_judged_by_later_cases_as_pools_are():
    """It was learned on random cases, and advised where `platt` costs more."""
    result = audit(drifting(0.9, 6000), costs=Costs(fn=5), resamples=200)
    finding = pool_finding(result)
    saved = {other.pool: other.saved for other in result.significance}
    assert saved["platt"].high < 0
    assert finding.cost.high < 0
    assert finding.advice.startswith("Recalibrating the pool would make decisions cost")
    assert finding.advice.endswith("does not hold for later ones.")
    stacking = any("--pool stacked-lr" in f.advice for f in result.findings)
    assert stacking == (saved["stacked-lr"].value >= 0)


def test_a_pool_is_kept_where_platt_costs_more():
    """The advice was to leave `auto` for a pool that costs more."""
    assert keep_pool(Mean(), platt_costs_more=False) == ""
    kept = " On these cases `platt` costs more: keep {} for decisions."
    assert keep_pool(Mean(), platt_costs_more=True) == kept.format("mean")
    said = keep_pool(Auto(), platt_costs_more=True)
    assert said.startswith(kept.format("auto"))
    assert said.endswith(
        "fitted to some of the cases; one fitted to all may be closer."
    )


@pytest.mark.parametrize(
    ("in_use", "stacked", "auto", "named"),
    [
        ("mean", 0.0, 0.2, "stacked-lr"),
        ("mean", -0.1, 0.2, "auto"),
        ("mean", -0.1, 0.0, None),
        ("mean", None, None, None),
        ("mean", None, 0.2, "auto"),
        ("auto", 0.1, None, None),
        ("stacked-lr", None, 0.1, None),
    ],
)
def test_a_pool_named_as_a_cure_costs_no_more_than_the_one_in_use(
    in_use, stacked, auto, named, monkeypatch
):
    """It was named unless it cost significantly more, also beside `auto` itself."""
    monkeypatch.setattr(comparison, "RECOMMENDED", "auto")
    compared = tuple(
        SimpleNamespace(pool=pool, saved=Estimate(value, value - 9, value + 9))
        for pool, value in (("stacked-lr", stacked), ("auto", auto))
        if value is not None
    )
    evidence = SimpleNamespace(
        pool=SimpleNamespace(name=in_use),
        compute=lambda quantity: compared,
        validation=SimpleNamespace(saved=False),
    )
    text = name_stacking(evidence, None)
    words = f" `truepool fit --pool {named}` learns to correct all agents at once."
    assert text == (words if named else "")


@pytest.mark.parametrize("pool", ["mean", "vcg"])
def test_a_bias_that_lasts_is_corrected_by_earlier_cases(pool):
    result = audit(drifting(-1.5, 3000), costs=Costs(fn=5), pool=pool, resamples=200)
    finding = pool_finding(result)
    (platt,) = (p for p in result.significance if p.pool == "platt")
    assert finding.cost.low > 0
    assert_allclose(finding.cost.value, platt.saved.value, rtol=0.1)
    assert "truepool fit --pool platt" in finding.advice
    after = result.calibration[-1]
    assert after.bias.low < 0 < after.bias.high


def test_a_class_is_named_where_the_slope_does_not_show_over_confidence(tmp_path):
    """With K classes, a mean that is too high was always called over-confidence."""
    rng = np.random.default_rng(0)
    shares = [0.1, 0.7, 0.1, 0.1]
    outcomes = rng.choice(4, 2000, p=shares)
    z = rng.normal(size=(2000, 2, 4))
    z[np.arange(2000), :, outcomes] += 0.8
    p = shares * np.exp(0.8 * z)
    p[:, 1, 1] *= 2  # nearly always the likeliest class: a shift of its log-odds
    p /= p.sum(axis=2, keepdims=True)
    result = audit(Panel(p, outcomes, agents=("ada", "bob")), resamples=50)
    _, bob, *_ = result.calibration
    assert bob.slope.low < 1 < bob.slope.high
    (finding,) = (
        f for f in result.findings if f.who == ("bob",) and f.figure == "reliability"
    )
    assert finding.code == "biased"
    assert finding.sentence.startswith("bob is biased towards 1: it gives 1 ")
    shown = next(details(finding, result))
    assert shown.startswith("bias of the class found likeliest: 0.")
    result.to_html(tmp_path / "audit.html")
    page = (tmp_path / "audit.html").read_text()
    assert "bias of the class found likeliest" in page


@pytest.mark.parametrize("sign", [1, -1])
def test_what_no_class_explains_is_said_of_the_likeliest(sign):
    found = Calibration(
        "ada", 900, 0.1, 0.1, Estimate(0.1 * sign, 0.05, 0.15), Estimate(1, 0.9, 1.1),
        0.001, None, "",
    )  # fmt: skip
    code, words = describe(found, classes=4)
    assert code == "biased"
    assert words.startswith("is too sure" if sign > 0 else "is not sure enough")


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
