import numpy as np
import pytest
from faults import COSTS, copied, sound
from numpy.testing import assert_allclose
from panels import random_panel

from truepool.audits import audit
from truepool.audits.topics import credit as topic
from truepool.measures.credit import intervals, leave_one_out, shapley
from truepool.panel.panel import Panel

QUICK = {"costs": COSTS, "resamples": 50}


def test_credit_under_the_mean_is_the_credit_room_s():
    panel = sound(cases=300)
    rows = audit(panel, **QUICK).agent_summaries
    loss = {"loss": "cost", "costs": COSTS}
    assert_allclose(
        [one.leave_one_out.value for one in rows], leave_one_out(panel, **loss)
    )
    assert_allclose([one.shapley.value for one in rows], shapley(panel, **loss))
    assert_allclose([one.weight.value for one in rows], intervals(panel).weights)
    for one in rows:
        assert (
            one.leave_one_out.low <= one.leave_one_out.value <= one.leave_one_out.high
        )
        assert one.weight.low <= one.weight.value <= one.weight.high


def test_standings_with_silence_are_over_what_was_said():
    panel = random_panel(1, cases=200, silent=0.2)
    finding = audit(panel, **QUICK).agent_summaries
    for i, one in enumerate(finding):
        spoke = ~np.isnan(panel.reports[:, i])
        gaps = panel.reports[spoke, i] - panel.outcomes[spoke]
        assert_allclose(one.brier, (gaps**2).mean())
        assert_allclose(one.report_rate, spoke.mean())


def test_left_alone_in_a_case_the_base_rate_stands_in():
    panel = random_panel(1, cases=100, agents=2, silent=0.4)
    rows = audit(panel, **QUICK).agent_summaries
    credit = leave_one_out(panel, loss="cost", costs=COSTS)
    assert_allclose([one.leave_one_out.value for one in rows], credit)


def test_a_copy_is_worth_what_it_copies():
    finding = audit(copied(cases=500), **QUICK).agent_summaries
    assert_allclose(finding[0].shapley.value, finding[3].shapley.value)
    assert finding[0].weight.value == pytest.approx(finding[3].weight.value)


def test_many_agents_are_credited_by_random_orders():
    skills = np.linspace(0.5, 1.5, 16)
    finding = audit(sound(cases=300, skills=skills), **QUICK)
    values = [one.shapley.value for one in finding.agent_summaries]
    assert np.corrcoef(values, skills)[0, 1] > 0.5
    assert isinstance(finding.agent_summaries[0].shapley.low, float)


@pytest.mark.parametrize(
    ("agents", "cases"), [(2, 5_000_000), (11, 9_765), (14, 2_000), (15, 3_333), (40, 2_000)]
)  # fmt: skip
def test_shapley_credit_looks_at_as_many_cases_as_its_work_allows(agents, cases):
    assert topic.shapley_cases(agents) == cases


def test_shapley_credit_says_when_it_looks_at_fewer_cases(monkeypatch):
    monkeypatch.setattr(topic, "FEWEST", 50)
    monkeypatch.setattr(topic, "WORK", 0)
    finding = audit(sound(cases=300), **QUICK)
    assert "Estimated from 50 random cases: Shapley credit." in finding.sampled


def test_a_learned_pool_is_judged_by_the_weights_of_its_folds():
    panel = sound(cases=300)
    finding = audit(Panel(panel.reports, panel.outcomes), **QUICK, pool="best-agent")
    credit = [one.leave_one_out.value for one in finding.agent_summaries]
    # Without an agent that is never chosen nothing changes.
    assert 0.0 in credit
