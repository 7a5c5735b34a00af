from types import SimpleNamespace

import numpy as np
import pytest
from checked import found_by, ill, treated
from faults import COSTS, copied, sound
from numpy.testing import assert_allclose
from simulated_faults import temperature

from truepool.audits import audit
from truepool.audits.checks import copies
from truepool.audits.evidence import Evidence
from truepool.comparison import Estimate
from truepool.measures.losses import Loss
from truepool.panel.panel import Panel

QUICK = {"costs": COSTS, "resamples": 50}


def findings_of(panel, check="copies"):
    return found_by(check, panel)


@pytest.mark.parametrize(("noise", "severity"), [(0.0, "error"), (0.08, "warning")])
def test_a_copy_is_found_even_if_it_hides(noise, severity):
    """The same numbers twice are a broken feed; a near copy is judged by its cost."""
    (finding,) = findings_of(copied(noise=noise))
    assert finding.severity == severity
    assert finding.number.value > 0.995
    assert finding.number.low <= finding.number.value <= finding.number.high <= 1


def test_a_copy_that_is_rescaled_is_still_a_copy():
    (finding,) = findings_of(temperature(copied(), "agent3", 0.6))
    assert finding.who == ("agent3", "agent0")


def rare(rate, seed, agents=3, cases=4000):
    """Calibrated agents, each of which sees its own part of the log-odds."""
    rng = np.random.default_rng(seed)
    parts = rng.normal(0, 1.2, (cases, agents))
    chance = 1 / (1 + np.exp(-np.log(rate / (1 - rate)) + 2 - parts.sum(axis=1)))
    reports = 1 / (1 + np.exp(-np.log(rate / (1 - rate)) + 0.7 - parts))
    return reports, (rng.random(cases) < chance).astype(int)


@pytest.mark.parametrize("decimals", [2, 3, 4])
def test_a_copy_that_is_rounded_is_still_a_copy(decimals):
    reports, outcomes = rare(0.05, seed=3)
    copy = reports[:, 1].round(decimals)
    if decimals < 4:
        assert (copy == 0).any()
    (finding,) = findings_of(Panel(np.c_[reports, copy], outcomes))
    assert finding.who == ("agent3", "agent1")
    assert finding.number.value > 0.999


def test_a_copy_that_differs_in_the_third_decimal_is_still_a_copy():
    """Two and three classes; where reports are near 0 their log-odds differ much."""
    rng = np.random.default_rng(5)
    odds = np.exp(rng.normal([1.5, 0, -0.5], 1.2, (3000, 3, 3)))
    reports = odds / odds.sum(axis=2, keepdims=True)
    shaken = np.clip(reports[:, :1] + rng.normal(0, 0.002, (3000, 1, 3)), 1e-4, 1)
    shaken /= shaken.sum(axis=2, keepdims=True)
    both = np.concatenate([reports, shaken], axis=1)
    outcomes = np.arange(3000) % 3
    for panel in (Panel(both, outcomes), Panel(both[:, :, 2], outcomes // 2)):
        alike = copies.log_odds_correlation(panel)
        assert alike[3, 0] > copies.COPY
        assert (np.abs(alike[3, 1:3]) < 0.1).all()


@pytest.mark.parametrize("decimals", [2, 3, 12])
@pytest.mark.parametrize("rate", [0.002, 0.05, 0.5])
def test_independent_agents_are_no_copies_however_they_round(rate, decimals):
    for seed in range(5):
        reports, outcomes = rare(rate, seed)
        alike = copies.log_odds_correlation(Panel(reports.round(decimals), outcomes))
        assert (np.abs(alike[np.triu_indices(3, 1)]) < 0.2).all()


@pytest.mark.parametrize("decimals", [2, 3, 12])
@pytest.mark.parametrize("sure", [4, 6, 8])
def test_agents_that_are_all_sure_and_right_are_no_copies(sure, decimals):
    """They agree in every case; how sure they are has nothing in common."""
    rng = np.random.default_rng(sure)
    outcomes = (rng.random(3000) < 0.3).astype(int)
    odds = sure * (2 * outcomes[:, None] - 1) + rng.normal(0, 1, (3000, 2))
    reports = 1 / (1 + np.exp(-odds))
    reports[:, 0] = reports[:, 0].round(decimals)
    assert copies.log_odds_correlation(Panel(reports, outcomes))[0, 1] < copies.DISTINCT


def test_a_copy_is_found_where_rounding_leaves_one_number():
    rng = np.random.default_rng(8)
    one = rng.uniform(0.0011, 0.0014, 500)
    panel = Panel(np.c_[one, one], np.arange(500) % 2)
    assert copies.log_odds_correlation(panel)[0, 1] > copies.COPY


def test_its_saving_is_what_leaving_it_out_saves():
    panel = copied()
    (finding,) = findings_of(panel)
    loss = Loss("cost", COSTS)
    remaining = np.delete(panel.reports, 3, axis=1)
    as_is, without = (
        loss.evaluate(reports.mean(axis=1)[:, None], panel.outcomes).mean()
        for reports in (panel.reports, remaining)
    )
    assert_allclose(finding.saving.value, 1000 * (as_is - without))


def test_agents_that_agree_much_are_no_copies():
    assert findings_of(sound(correlation=0.95)) == []
    (finding,) = findings_of(sound(correlation=0.95), "diversity")
    assert finding.severity == "note"
    assert 1 < finding.number.value < 2


@pytest.mark.parametrize(("cases", "found"), [(29, 0), (30, 1)])
def test_a_handful_of_cases_does_not_say_how_many_agents_are_independent(cases, found):
    panel = sound(correlation=0.95).take(np.arange(cases))
    assert len(findings_of(panel, "diversity")) == found


def test_an_agent_with_two_reports_hides_no_copy():
    """Two shared cases always correlate by 1 or -1."""
    panel = copied(noise=0.05)
    first = panel.reports[:, :1].copy()
    first[2:] = np.nan
    first[:2] = panel.reports[:2, 3:4]
    rare = Panel(np.c_[first, panel.reports], panel.outcomes, ("rare", *panel.agents))
    (finding,) = findings_of(rare)
    assert finding.who == ("agent3", "agent0")


def test_correlations_of_few_shared_cases_are_not_shown():
    panel = sound(cases=200)
    reports = panel.reports.copy()
    reports[29:, 0] = np.nan
    found = audit(Panel(reports, panel.outcomes), **QUICK)
    assert np.isnan(found.correlation[0, 1:]).all()
    assert not np.isnan(found.correlation[1:, 1:]).any()
    assert np.isfinite(found.effective_agents)


def test_agents_that_never_spoke_together_cannot_be_copies():
    panel = sound(cases=200)
    reports = panel.reports[:, [0, 0]].copy()
    reports[::2, 0] = np.nan
    reports[1::2, 1] = np.nan
    assert findings_of(Panel(reports, panel.outcomes)) == []


def test_the_interval_of_the_correlation_is_fishers():
    from scipy.stats import pearsonr

    panel = copied(noise=0.08)
    (finding,) = findings_of(panel)
    odds = np.log(panel.reports / (1 - panel.reports))
    oracle = pearsonr(odds[:, 3], odds[:, 0])
    # The order of the reports shows the same correlation, and the larger one counts.
    assert_allclose(finding.number.value, oracle.statistic, rtol=1e-4)
    value = max(copies.rank_correlation(panel)[0][3, 0], oracle.statistic)
    assert_allclose(finding.number.value, value)
    reach = 1.959964 / np.sqrt(len(panel) - 3)
    interval = np.tanh(np.arctanh(value) + np.array([-reach, reach]))
    assert_allclose((finding.number.low, finding.number.high), interval)


def test_opposite_reports_correlate_at_minus_one():
    evidence = SimpleNamespace(shortage=None, level=0.95)
    assert copies._interval(evidence, -1.0, 100) == Estimate(-1.0, -1.0, -1.0)


@pytest.mark.parametrize(
    ("price", "action"),
    [
        (Estimate(-0.01, -0.03, 0.01), "leave-out"),
        (Estimate(-0.02, -0.03, -0.01), "repair"),
    ],
)
def test_a_copy_that_would_surely_be_missed_is_not_left_out(price, action, monkeypatch):
    monkeypatch.setattr(Evidence, "saving_without", lambda *_: price)
    result = audit(copied(cases=600), **QUICK)
    assert ill(result) == {"agent3": ("copy", "error")}
    assert treated(result) == {(action, ("agent3",))}


def test_a_copy_and_a_reversed_agent_are_a_step_each():
    result = audit(copied(0).with_reports(flipped_too(copied(0))), **QUICK)
    assert ill(result) == {"agent1": ("reversed", "error"), "agent3": ("copy", "error")}
    assert treated(result) == {("reverse", ("agent1",)), ("leave-out", ("agent3",))}


def flipped_too(panel):
    values = panel.values.copy()
    values[:, 1] = 1 - values[:, 1]
    return values
