import numpy as np
import pytest
from faults import COSTS, sound
from numpy.testing import assert_allclose
from sklearn.metrics import brier_score_loss, roc_auc_score

from truepool.audits import audit
from truepool.audits.topics.feeds import dead_feeds
from truepool.core.arrays import from_log_scale, log_scale
from truepool.measures.credit import leave_one_out
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.render.html.audit import html

QUICK = {"costs": COSTS, "resamples": 50}


def noisy(cases=3000):
    base = sound(cases=cases)
    rng = np.random.default_rng(1)
    # Says 30 % on average, as often as it happens, but knows nothing.
    guess = rng.beta(1, 7 / 3, (cases, 1))
    return Panel(np.hstack([base.reports, guess]), base.outcomes)


def grave(result, who):
    """Findings about an agent that no other finding explains."""
    return [f for f in result.findings if f.who == (who,) and f.severity != "note"]


def test_an_agent_that_knows_nothing_and_harms_is_found_at_its_cost():
    panel = noisy()
    result = audit(panel, **QUICK)
    (one,) = grave(result, "agent5")
    assert (one.code, one.unit) == ("uninformative", "AUC")
    assert_allclose(
        one.number.value, roc_auc_score(panel.outcomes, panel.reports[:, 5])
    )
    assert one.number.low < 0.5 < one.number.high
    credit = leave_one_out(panel, loss="cost", costs=COSTS)
    assert_allclose(one.cost.value, -credit[5])


def test_an_agent_without_any_relation_is_to_be_left_out_and_not_recalibrated():
    """Reports spread over [0, 1] are not called over-confident, nor a column of shares."""
    base, rng = sound(), np.random.default_rng(1)
    for noise in (rng.random(2000), rng.choice([0.0, 0.05, 0.1, 0.2], 2000)):
        reports = np.column_stack([base.reports, noise])
        panel = Panel(reports, base.outcomes, agents=(*base.agents, "noise"))
        result = audit(panel, **QUICK)
        (one,) = grave(result, "noise")
        assert one.code == "uninformative"
        assert one.sentence.startswith("noise shows no relation to the outcome: its ")
        assert "--ignore noise`" in one.advice
        assert "noise to recalibrate" not in result.to_markdown()
        assert "noise is over-confident" not in result.to_markdown()


def test_an_agent_of_rare_events_that_claims_much_and_shows_nothing_is_named():
    rng = np.random.default_rng(3)
    y = (rng.random(2000) < 0.03).astype(int)
    signal = 3 * (y - 0.5) + rng.normal(size=(3, 2000)) - 2
    reports = np.vstack([1 / (1 + np.exp(-signal)), rng.random(2000)]).T
    found = audit(Panel(reports, y), **QUICK)
    assert [f.code for f in grave(found, "agent3")] == ["uninformative"]
    assert not [f for f in found.findings if f.code == "over-confident"]


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
    cases = int((~np.isnan(panel.reports[:, -1])).sum())
    (one,) = grave(audit(panel, **QUICK), "half")
    assert one.code == "uninformative"
    assert (
        one.sentence
        == f"half reports 50 % in all {cases:,} cases, whatever the outcome."
    )
    assert one.cost is not None
    assert "`--ignore half`" in one.advice
    (feed,) = dead_feeds(panel)
    assert one.sentence.startswith(feed.sentence[:-1])


def test_a_handful_of_equal_reports_is_not_judged():
    panel = always(0.5, 0.04)
    assert (~np.isnan(panel.reports[:, -1])).sum() < 30
    assert not grave(audit(panel, **QUICK), "half")
    assert dead_feeds(panel) == []


def test_an_agent_with_one_report_on_many_classes_is_named():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    odds = rng.normal(size=(400, 3, 3)) + 1.5 * np.eye(3)[y][:, None]
    reports = np.exp(odds) / np.exp(odds).sum(axis=2, keepdims=True)
    reports[:, 2] = [0.2, 0.3, 0.5]
    (one,) = grave(audit(Panel(reports, y), resamples=50), "agent2")
    assert one.code == "uninformative"
    assert one.sentence.startswith("agent2 reports 20 % for 0, 30 % for 1 and 50 % for")


@pytest.mark.parametrize("seed", range(4))
def test_a_weak_agent_that_claims_no_more_than_it_knows_is_not_called_noise(seed):
    panel = sound(seed, cases=400, skills=[1.2, 1.0, 0.3])
    found = audit(panel, **QUICK).findings
    assert not [f for f in found if f.code == "uninformative"]


def test_without_a_second_agent_to_pool_with_the_other_one_is_named():
    base, rng = sound(skills=[1.2, 1.1]), np.random.default_rng(1)
    reports = np.column_stack([base.reports[:, 0], rng.random(2000)])
    panel = Panel(reports, base.outcomes)
    (one,) = [f for f in audit(panel, **QUICK).findings if f.code == "uninformative"]
    assert one.advice.startswith("Use agent0 alone, or check whether it is ")
    assert "--ignore" not in one.advice


def test_where_leaving_noise_out_would_cost_more_a_pool_that_learns_is_advised():
    """Every missed case costs much, and noise keeps the mean above the threshold."""
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.3).astype(int)
    timid = 0.02 + 0.02 * y[:, None] + rng.uniform(0, 0.03, (2000, 2))
    panel = Panel(np.column_stack([timid, 0.5 + 0.5 * rng.random(2000)]), y)
    found = audit(panel, costs=Costs(fn=9, fp=1), resamples=50).findings
    (one,) = [f for f in found if f.code == "uninformative"]
    assert one.cost.high < 0
    assert "Do not just take it out" in one.advice
    assert "`truepool fit --pool auto --ignore agent2`" in one.advice


def test_skilled_agents_in_a_timid_mean_are_excused():
    finding = audit(sound(1), **QUICK)
    found = [f for f in finding.findings if f.code == "harmful"]
    assert all(f.severity == "note" for f in found)
    assert all("under-confident-pool" in f.sentence for f in found)


def too_high():
    """The last agent ranks cases well, but its log-odds are 3 too high."""
    panel = sound(cases=3000)
    values = panel.values.copy()
    values[:, 4] = from_log_scale(log_scale(values[:, 4]) + 3)
    return panel.with_reports(values)


def test_a_good_agent_that_is_off_in_level_is_to_be_recalibrated_and_kept():
    panel = too_high()
    result = audit(panel, **QUICK)
    about = [f for f in result.findings if f.who == ("agent4",)]
    one = next(f for f in about if f.code == "needs-recalibration")
    area = roc_auc_score(panel.outcomes, panel.reports[:, 4])
    own = brier_score_loss(panel.outcomes, panel.reports[:, 4])
    base = panel.outcomes.mean() * (1 - panel.outcomes.mean())
    assert own > base
    assert f"ranks cases well (AUC {area:.3f})" in one.sentence
    assert f"({own:.3f}) is worse than the base rate's ({base:.3f})" in one.sentence
    assert not any(f.code == "harmful" for f in about)
    assert "knows less" not in result.to_markdown()
    assert "take agent4 out" not in result.advice
    assert "Leave agent4 out" not in result.to_markdown()


def test_without_an_agent_means_without_its_reports_in_the_pool_as_fitted():
    """Of a pool that learns, what one fitted again would cost is another matter."""
    panel = sound(cases=400)
    found = audit(panel, costs=COSTS, pool="stacked-lr", resamples=50)
    best = max(found.agent_summaries, key=lambda one: one.leave_one_out.value)
    cost = found.comparison["stacked-lr"].loss.value + best.leave_one_out.value
    rest = panel.select_agents([name for name in panel.agents if name != best.agent])
    again = audit(rest, costs=COSTS, pool="stacked-lr", resamples=50)
    fitted = again.comparison["stacked-lr"].loss.value
    assert abs(fitted - cost) > 1e-6
    words = "if it stopped reporting and the pool were not fitted again"
    assert words in found.to_markdown()
    assert words.replace("it", "an agent", 1) in html(found)
