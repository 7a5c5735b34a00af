import numpy as np
import pytest
from checked import candidates, found_by, ill, of, treated
from faults import COSTS, sound
from numpy.testing import assert_allclose
from sklearn.metrics import brier_score_loss, roc_auc_score

from truepool.audits import audit
from truepool.audits.checks.feeds import dead_feeds
from truepool.core.arrays import from_log_scale, log_scale
from truepool.measures.credit import leave_one_out
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

QUICK = {"costs": COSTS, "resamples": 50}


def test_an_agent_that_knows_nothing_and_harms_is_found_at_its_cost():
    base = sound(cases=3000)
    # Says 30 % on average, as often as it happens, but knows nothing.
    guess = np.random.default_rng(1).beta(1, 7 / 3, (3000, 1))
    panel = Panel(np.hstack([base.reports, guess]), base.outcomes)
    (found,) = found_by("harm", panel)
    assert (found.code, found.who, found.unit) == ("uninformative", ("agent5",), "auc")
    area = roc_auc_score(panel.outcomes, panel.reports[:, 5])
    assert_allclose([found.number.value, found.facts["area"]], area)
    assert found.number.low < 0.5 < found.number.high
    credit = leave_one_out(panel, loss="cost", costs=COSTS)
    assert_allclose(found.saving.value, -1000 * credit[5])


@pytest.mark.parametrize("values", [None, (0.0, 0.05, 0.1, 0.2)])
def test_an_agent_without_any_relation_is_left_out_and_not_recalibrated(values):
    """Reports spread over [0, 1] are not called over-confident, nor a column of shares."""
    base, rng = sound(), np.random.default_rng(1)
    noise = rng.random(2000) if values is None else rng.choice(values, 2000)
    reports = np.column_stack([base.reports, noise])
    panel = Panel(reports, base.outcomes, agents=(*base.agents, "noise"))
    result = audit(panel, **QUICK)
    assert {who: code for who, (code, _) in ill(result).items()} == {
        "noise": "uninformative"
    }
    saves = result.agents[-1].finding.saving.low > 0
    assert treated(result) == ({("leave-out", ("noise",))} if saves else set())


def test_an_agent_of_rare_events_that_claims_much_and_shows_nothing_is_named():
    rng = np.random.default_rng(3)
    y = (rng.random(2000) < 0.03).astype(int)
    signal = 3 * (y - 0.5) + rng.normal(size=(3, 2000)) - 2
    reports = np.vstack([1 / (1 + np.exp(-signal)), rng.random(2000)]).T
    panel = Panel(reports, y)
    assert [f.who for f in of("uninformative", found_by("harm", panel))] == [
        ("agent3",)
    ]
    assert not of("over-confident", found_by("calibration", panel))


def always(report, filled, seed=0):
    """Sound agents and one with a single report, each on this share of the cases."""
    base, rng = sound(seed, cases=600), np.random.default_rng(seed)
    reports = np.column_stack([base.reports, np.full(600, report)])
    reports[rng.random(reports.shape) > filled] = np.nan
    heard = ~np.isnan(reports).all(axis=1)
    return Panel(reports[heard], base.outcomes[heard], (*base.agents, "half"))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("filled", [1.0, 0.35, 0.12])
def test_an_agent_with_one_report_in_all_its_cases_is_named_as_fit_does(filled, seed):
    panel = always(0.5, filled, seed)
    (found,) = of("uninformative", found_by("harm", panel))
    assert found.who == ("half",)
    assert found.facts == {"form": "single", "report": 0.5}
    assert found.saving is not None
    (feed,) = dead_feeds(panel)
    assert (feed.agent, feed.code) == ("half", "single-report")


def test_a_handful_of_equal_reports_is_not_judged():
    panel = always(0.5, 0.04)
    assert (~np.isnan(panel.reports[:, -1])).sum() < 30
    assert not of("uninformative", found_by("harm", panel))
    assert dead_feeds(panel) == []


def test_an_agent_with_one_report_on_many_classes_is_named():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    odds = rng.normal(size=(400, 3, 3)) + 1.5 * np.eye(3)[y][:, None]
    reports = np.exp(odds) / np.exp(odds).sum(axis=2, keepdims=True)
    reports[:, 2] = [0.2, 0.3, 0.5]
    (found,) = found_by("harm", Panel(reports, y), costs=Costs())
    assert (found.code, found.who) == ("uninformative", ("agent2",))
    assert found.facts["report"] == {"0": 0.2, "1": 0.3, "2": 0.5}


@pytest.mark.parametrize("seed", range(4))
def test_a_weak_agent_that_claims_no_more_than_it_knows_is_not_called_noise(seed):
    panel = sound(seed, cases=400, skills=[1.2, 1.0, 0.3])
    assert not of("uninformative", found_by("harm", panel))


def test_without_a_second_agent_to_pool_with_nobody_is_left_out():
    base, rng = sound(skills=[1.2, 1.1]), np.random.default_rng(1)
    reports = np.column_stack([base.reports[:, 0], rng.random(2000)])
    result = audit(Panel(reports, base.outcomes), **QUICK)
    assert ill(result) == {"agent1": ("uninformative", "error")}
    assert treated(result) == {("repair", ("agent1",))}
    assert result.plan.without == ()


def test_noise_that_would_be_missed_is_not_left_out():
    """Every missed case costs much, and noise keeps the mean above the threshold."""
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.3).astype(int)
    timid = 0.02 + 0.02 * y[:, None] + rng.uniform(0, 0.03, (2000, 2))
    panel = Panel(np.column_stack([timid, 0.5 + 0.5 * rng.random(2000)]), y)
    result = audit(panel, costs=Costs(fn=9, fp=1), resamples=50)
    own = result.agents[2]
    assert (own.code, own.finding.saving.high < 0) == ("uninformative", True)
    assert not [step for step in result.plan.steps if step.action == "leave-out"]
    assert result.plan.without == ()


def test_who_knows_more_than_the_base_rate_is_no_harm():
    """In a mean that is too timid the pool is at fault, and not who is in it."""
    tests = candidates("harm", sound(1))
    assert {(one.p_value, one.matters) for one in tests} == {(1.0, False)}
    assert found_by("harm", sound(1)) == []


def test_a_good_agent_that_is_off_in_level_is_to_be_recalibrated_and_kept():
    """It ranks cases well, but its log-odds are 3 too high."""
    panel = sound(cases=3000)
    values = panel.values.copy()
    values[:, 4] = from_log_scale(log_scale(values[:, 4]) + 3)
    panel = panel.with_reports(values)
    (found,) = found_by("harm", panel)
    assert (found.code, found.who) == ("needs-recalibration", ("agent4",))
    own = brier_score_loss(panel.outcomes, panel.reports[:, 4])
    base = panel.outcomes.mean() * (1 - panel.outcomes.mean())
    assert own > base
    assert_allclose(
        [found.facts[name] for name in ("area", "brier", "base")],
        [roc_auc_score(panel.outcomes, panel.reports[:, 4]), own, base],
    )
    result = audit(panel, **QUICK)
    assert ill(result) == {"agent4": ("biased", "error")}
    assert {action for action, _ in treated(result)} <= {"recalibrate"}


def test_without_an_agent_means_without_its_reports_in_the_pool_as_fitted():
    """Of a pool that learns, what one fitted again would cost is another matter."""
    panel = sound(cases=400)
    result = audit(panel, pool="stacked-lr", **QUICK)
    best = max(result.summaries, key=lambda one: one.leave_one_out.value)
    cost = result.comparison["stacked-lr"].loss.value + best.leave_one_out.value / 1000
    rest = panel.select_agents([name for name in panel.agents if name != best.agent])
    again = audit(rest, pool="stacked-lr", **QUICK)
    fitted = again.comparison["stacked-lr"].loss.value
    assert abs(fitted - cost) > 1e-6
