"""The order of diagnosis: what is said and done wrongly when a row of it moves."""

from dataclasses import replace

import numpy as np
import pytest
from audit_corpus.faults import fault
from audits.following import STEPS, Case
from audits.test_plan import planted
from faults import COSTS, sound, timed
from numpy.testing import assert_allclose
from simulated_faults import degradation, sleeper
from sklearn.metrics import brier_score_loss, roc_auc_score

import truepool as tp
from truepool.audits import kinds
from truepool.audits.plan import CURES
from truepool.audits.treatment import REPORTS
from truepool.audits.values import Plan, Step


@pytest.fixture
def rows(monkeypatch):
    """Change the rows of the table, by a function of them."""

    def change(of_all):
        monkeypatch.setattr(kinds, "TABLE", tuple(of_all([*kinds.TABLE])))
        kinds.every.cache_clear()

    yield change
    kinds.every.cache_clear()


def first(code, than):
    """Move the row of a code before that of another."""

    def moved(table):
        (row,) = (one for one in table if one.code == code)
        rest = [one for one in table if one.code != code]
        place = [one.code for one in rest].index(than)
        return [*rest[:place], row, *rest[place:]]

    return moved


def changed(code, **fields):
    """Give the row of a code other values."""
    return lambda table: [
        replace(one, **fields) if one.code == code else one for one in table
    ]


def said(case, who="pool"):
    """The diagnosis of an agent or the pool, and the actions on it."""
    result = case.audit(resamples=100)
    one = result.pool if who == "pool" else result.agents[result.names.index(who)]
    return one, [s.action for s in result.plan.steps if who in s.agents]


def step(action, *agents, **arguments):
    return Plan("no", (Step(action, agents, arguments),), "mean")


def paid(case):
    """Cost per case of a pool of the reports as they are, out of fold."""
    costs = case.settings["costs"]
    return tp.compare(case.panel, costs=costs, pools=["platt"])["platt"].loss.value


def reports(case, agent):
    return case.panel.reports[:, case.panel.agents.index(agent)]


# The order


def blind():
    """Agent 1 knows something in the west only, a tenth of the cases."""
    faults = (fault("blind", 1, segment=name) for name in ("north", "south", "east"))
    return planted(*faults, by="region", cases=4000, agents=4, seed=2)


@pytest.mark.parametrize(
    ("code", "action"), [("over-confident", []), ("harmful", ["leave-out"])]
)
def test_an_agent_that_fails_in_segments_would_be_judged_as_a_whole(rows, code, action):
    case = blind()
    now, actions = said(case, "agent1")
    assert (now.code, actions) == ("fails-in-segment", ["leave-out-there"])
    assert set(now.finding.facts["failing"]) == {"north", "south", "east"}
    rows(changed("over-confident", at_least="note"))
    rows(first(code, "fails-in-segment"))
    wrong, actions = said(case, "agent1")
    assert (wrong.code, actions) == (code, action)
    west = case.panel.columns["region"] == "west"
    y, said_there = case.panel.outcomes[west], reports(case, "agent1")[west]
    assert roc_auc_score(y, said_there) > 0.75, "there it is worth having"
    spoilt = reports(case.follow(step("recalibrate", "agent1")), "agent1")[west]
    assert brier_score_loss(y, spoilt) > 1.1 * brier_score_loss(y, said_there)


def test_a_rescaled_feed_would_be_called_worse_and_left_out(rows):
    """It knows as much as before, and one factor brings every report about back."""
    case = planted(fault("rescaled", 2, 0.6, factor=0.01), costs=(1, 1))
    result = case.audit(resamples=100)
    assert result.agents[2].code == "rescaled-feed"
    restored = case.follow(replace(result.plan, steps=result.plan.steps[:1]))
    assert_allclose(restored.panel.values, case.sound.values, rtol=0.1)
    rows(first("drifted", "rescaled-feed"))
    wrong, actions = said(case, "agent2")
    assert (wrong.code, actions) == ("drifted", ["leave-out"])


@pytest.mark.parametrize(
    ("code", "action"), [("shifted-feed", ["ask-unit"]), ("biased", [])]
)
def test_a_dead_feed_would_stay_in_the_pool_as_something_milder(rows, code, action):
    case = planted(fault("constant", 2, 0.4))
    now, actions = said(case, "agent2")
    assert (now.code, now.since, actions) == ("constant-feed", 600, ["leave-out"])
    rows(changed("biased", at_least="note"))
    rows(first(code, "constant-feed"))
    wrong, actions = said(case, "agent2")
    assert (wrong.code, actions) == (code, action)
    assert set(reports(case, "agent2")[600:]) == {reports(case, "agent2")[-1]}


@pytest.mark.parametrize(
    ("code", "action"), [("over-confident", []), ("harmful", ["leave-out"])]
)
def test_a_reversed_agent_would_be_kept_as_it_is_or_thrown_away(rows, code, action):
    case = planted(fault("reversed", 0), skills=(1.6, 0.9, 0.9))
    now, actions = said(case, "agent0")
    assert (now.code, actions) == ("reversed", ["reverse"])
    rows(first(code, "reversed"))
    wrong, actions = said(case, "agent0")
    assert (wrong.code, actions) == (code, action)
    turned = paid(case.follow(step("reverse", "agent0")))
    assert turned < 0.8 * paid(case.without(("agent0",)))


@pytest.mark.parametrize("code", ["rescaled-feed", "shifted-feed"])
def test_one_that_turned_round_would_be_asked_for_its_unit(rows, code):
    """One minus the reports has another level, unless half of all cases happen."""
    case = planted(fault("reversed since", 2, 0.6))
    now, actions = said(case, "agent2")
    assert kinds.every()[now.code].state == "reversed"
    assert actions == ["leave-out"]
    assert abs(now.since - 900) < 50
    if code in {one.code for one in now.evidence}:
        rows(first(code, "reversed"))
        wrong, actions = said(case, "agent2")
        assert (wrong.code, actions) == (code, ["ask-unit"])


def test_who_got_worse_would_be_asked_for_its_unit(rows):
    """Noise has another level, too; the date is that of the fault."""
    case = Case(*two_faults(), {"costs": COSTS})
    now, actions = said(case, "agent3")
    assert (now.code, actions) == ("drifted", ["leave-out"])
    rows(first("shifted-feed", "drifted"))
    wrong, actions = said(case, "agent3")
    assert (wrong.code, actions) == ("shifted-feed", ["ask-unit"])


def two_faults():
    """Of 500 cases agent 1 reports noise from 200 on, agent 3 the opposite from 350."""
    panel = timed(sound(0, 500))
    noisy = degradation(panel, "agent1", at=0.4, seed=0)
    return sleeper(noisy, "agent3", at=0.7), panel


def test_a_copy_would_be_recalibrated_into_a_better_copy(rows):
    case = planted(
        fault("copied", 2, source=0), fault("under-confident", 2, T=2),
        skills=(1.2,) * 4, pool="log-odds",
    )  # fmt: skip
    now, actions = said(case, "agent2")
    assert (now.code, actions) == ("copy", ["leave-out"])
    rows(first("under-confident", "copy"))
    wrong, _ = said(case, "agent2")
    assert wrong.code == "under-confident"
    alike = reports(case.follow(step("recalibrate", "agent2")), "agent2")
    gaps = np.abs(np.c_[reports(case, "agent2"), alike].T - reports(case, "agent0"))
    assert gaps[1].mean() < 0.3 * gaps[0].mean()


def test_the_threshold_would_hide_behind_calibration_that_saves_less(rows):
    case = planted(threshold=0.5)
    now, _ = said(case)
    rows(first("under-confident-pool", "threshold"))
    wrong, _ = said(case)
    assert (now.code, wrong.code) == ("threshold", "under-confident-pool")
    assert now.finding.saving.low > wrong.finding.saving.high


# What else the table says of a code


def test_calibrated_agents_would_be_blamed_for_which_outcomes_are_known(rows):
    """Where the pool says no, outcomes are missing; over all cases nobody is off."""
    case = planted(fault("selective", above=0.2, reviewed=0.05), cases=3000, agents=4)
    result = case.audit(resamples=100)
    assert (result.outcome.code, result.outcome.severity) == (
        "selective-labels", "warning",
    )  # fmt: skip
    assert {one.severity for one in result.agents} == {None}
    rows(changed("selective-labels", selects=False))
    wrong = case.audit(resamples=100)
    assert {one.severity for one in wrong.agents} == {"warning"}
    everyone = planted(cases=3000, agents=4).audit(resamples=100)
    assert {one.severity for one in everyone.agents} == {None}


def test_a_dead_feed_that_costs_nothing_yet_would_be_a_note(rows):
    """The mean is too timid, and what is stuck low happens to help it."""
    case = planted(fault("constant", 2, 0.4, value=0.05))
    now, actions = said(case, "agent2")
    assert (now.code, now.severity, actions) == ("constant-feed", "error", ["repair"])
    rows(changed("constant-feed", broken=False))
    wrong, _ = said(case, "agent2")
    assert wrong.code != "constant-feed"
    grades = {one.code: one.severity for one in wrong.evidence}
    assert grades["constant-feed"] == "note"


def test_agents_would_be_turned_round_because_the_labels_are(rows):
    case = planted(fault("other label"))
    result = case.audit(resamples=100)
    assert [s.action for s in result.plan.steps] == ["name-positive"]
    assert {one.code for one in result.agents} == {kinds.UNTESTED}
    rows(changed("reversed-labels", doubts=False))
    wrong = case.audit(resamples=100)
    assert {one.code for one in wrong.agents} == {"reversed"}
    assert "reverse" in {s.action for s in wrong.plan.steps}


def test_a_fault_of_the_agents_would_be_named_while_the_labels_are_in_doubt(rows):
    case = planted(fault("other label"))
    rows(changed("reversed", needs_outcomes=False))
    wrong, actions = said(case, "agent1")
    assert (wrong.code, actions) == ("reversed", ["reverse"])


def test_a_leak_would_be_left_out_without_a_question(rows):
    case = planted(fault("leak", 1))
    now, actions = said(case, "agent1")
    assert (now.code, actions) == ("leaked-outcome", ["ask-leak"])
    rows(changed("leaked-outcome", asked=False))
    wrong, actions = said(case, "agent1")
    assert (wrong.code, actions) == ("leaked-outcome", [])


def test_a_gap_that_is_over_would_be_a_fault_of_today(rows):
    case = planted(fault("gap, over", 1, 0.3, until=0.5))
    now, _ = said(case, "agent1")
    assert (now.code, [one.code for one in now.evidence]) == (
        kinds.SOUND, ["reporting-gap"],
    )  # fmt: skip
    rows(changed("reporting-gap", at_least="note"))
    wrong, _ = said(case, "agent1")
    assert wrong.code == "reporting-gap"


def test_a_feed_that_turned_round_after_the_last_outcome_would_not_be_acted_on(rows):
    """No outcome tells what that costs, and none will until it has cost it."""
    case = planted(fault("reversed since", 2, 0.85), pending=0.2, cases=3000)
    now, actions = said(case, "agent2")
    assert (now.code, actions) == ("opposed-feed", ["leave-out"])
    rows(changed("opposed-feed", unpriced=False))
    wrong, actions = said(case, "agent2")
    assert (wrong.code, actions) == ("opposed-feed", [])


# The table as a whole


def test_every_code_has_one_row_and_every_action_a_way_to_take_it():
    codes = [one.code for one in kinds.TABLE]
    assert len(codes) == len(set(codes))
    asked = {"name-outcome", "empty-late", "give-propensity", "ask-meaning"}
    of_pools = {*CURES}
    known = {*STEPS} | asked | of_pools | {""}
    assert {one.action for one in kinds.TABLE} <= known
    assert {action for action in REPORTS if action not in STEPS} == set()


def test_a_code_belongs_to_the_subject_that_it_is_asked_of():
    for one in kinds.TABLE:
        assert kinds.rank(one.code) == [*kinds.every()].index(one.code)
        assert one.code in kinds.codes(one.subject)
