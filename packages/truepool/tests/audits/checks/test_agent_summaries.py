import numpy as np
import pytest
from checked import evidence_of
from faults import COSTS, copied, sound
from numpy.testing import assert_allclose
from panels import random_panel

from truepool.audits import Note
from truepool.audits.checks import credit
from truepool.measures.credit import intervals, leave_one_out, shapley


def rows_of(panel, **settings):
    return credit.summarize_agents(evidence_of(panel, **settings))


def test_credit_under_the_mean_is_the_credit_room_s():
    panel = sound(cases=300)
    rows = rows_of(panel)
    loss = {"loss": "cost", "costs": COSTS}
    assert_allclose(
        [one.leave_one_out.value for one in rows], 1000 * leave_one_out(panel, **loss)
    )
    assert_allclose([one.shapley.value for one in rows], 1000 * shapley(panel, **loss))
    assert_allclose([one.earned_weight.value for one in rows], intervals(panel).weights)
    for one in rows:
        assert (
            one.leave_one_out.low <= one.leave_one_out.value <= one.leave_one_out.high
        )
        assert (
            one.earned_weight.low <= one.earned_weight.value <= one.earned_weight.high
        )


def test_standings_with_silence_are_over_what_was_said():
    panel = random_panel(1, cases=200, silent=0.2)
    found = rows_of(panel)
    for i, one in enumerate(found):
        spoke = ~np.isnan(panel.reports[:, i])
        gaps = panel.reports[spoke, i] - panel.outcomes[spoke]
        assert_allclose(one.brier, (gaps**2).mean())
        assert_allclose(one.report_rate, spoke.mean())


def test_left_alone_in_a_case_the_base_rate_stands_in():
    panel = random_panel(1, cases=100, agents=2, silent=0.4)
    rows = rows_of(panel)
    values = leave_one_out(panel, loss="cost", costs=COSTS)
    assert_allclose([one.leave_one_out.value for one in rows], 1000 * values)


def test_a_copy_is_worth_what_it_copies():
    found = rows_of(copied(cases=500))
    assert_allclose(found[0].shapley.value, found[3].shapley.value)
    assert found[0].earned_weight.value == pytest.approx(found[3].earned_weight.value)


def test_many_agents_are_credited_by_random_orders():
    skills = np.linspace(0.5, 1.5, 16)
    found = rows_of(sound(cases=300, skills=skills))
    values = [one.shapley.value for one in found]
    assert np.corrcoef(values, skills)[0, 1] > 0.5
    assert found[0].shapley.low <= values[0] <= found[0].shapley.high


@pytest.mark.parametrize(
    ("agents", "cases"), [(2, 5_000_000), (11, 9_765), (14, 2_000), (15, 3_333), (40, 2_000)]
)  # fmt: skip
def test_shapley_credit_looks_at_as_many_cases_as_its_work_allows(agents, cases):
    assert credit.shapley_cases(agents) == cases


def test_shapley_credit_says_when_it_looks_at_fewer_cases(monkeypatch):
    monkeypatch.setattr(credit, "FEWEST", 50)
    monkeypatch.setattr(credit, "WORK", 0)
    evidence = evidence_of(sound(cases=300))
    credit.summarize_agents(evidence)
    assert evidence.sampling.notes == [Note("sampled-shapley", {"cases": 50})]


def test_a_learned_pool_is_judged_by_the_weights_of_its_folds():
    panel = sound(cases=300)
    # Without an agent that is never chosen nothing changes.
    rows = rows_of(panel, pool="best-agent")
    assert 0.0 in [one.leave_one_out.value for one in rows]
