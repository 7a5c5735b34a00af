"""One diagnosis each: the first that applies; the pool's drift names who explains it."""

import numpy as np
import pytest
from checked import candidates
from faults import COSTS, SKILLS, sound, timed
from simulated_faults import degradation, quality_panel, sleeper

from truepool.audits import audit, diagnosis, kinds
from truepool.audits.candidate import Candidate
from truepool.audits.diagnosis import (
    allow_for_selection,
    diagnose,
    explain_drift,
)
from truepool.audits.values import SEVERITIES, Finding
from truepool.cli.demo_panels import DEGRADED, HOSTILE, build
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

QUICK = {"costs": COSTS, "resamples": 50}
AGENT = [code for code in kinds.codes("agent") if kinds.every()[code].most != "note"]


def finding(code, severity="error", who=("ada",), **more):
    return Finding(code, severity, who, **more)


def test_the_first_in_the_order_of_kinds_is_the_diagnosis_and_the_rest_is_evidence():
    rng = np.random.default_rng(0)
    for _ in range(30):
        codes = rng.permutation(rng.choice(AGENT, 4, replace=False)).tolist()
        found = [finding(code, "warning") for code in codes]
        one = diagnose("agent", "ada", found)
        ordered = sorted(codes, key=AGENT.index)
        assert one.code == one.finding.code == ordered[0]
        assert [each.code for each in one.evidence] == ordered[1:]


def test_its_severity_is_that_of_the_worst_of_them():
    found = [finding("copy", "warning"), finding("biased"), finding("harmful", "note")]
    one = diagnose("agent", "ada", found)
    assert (one.code, one.severity) == ("copy", "error")


def test_a_note_is_evidence_and_no_diagnosis():
    gap, changed = finding("reporting-gap", "note"), finding("changed-feed", "note")
    one = diagnose("agent", "ada", [gap, changed])
    assert (one.code, one.severity, one.finding) == (kinds.SOUND, None, None)
    assert [each.code for each in one.evidence] == ["changed-feed", "reporting-gap"]
    better = diagnose("pool", "mean", [finding("better-pool", "note", ())])
    assert (better.code, better.severity) == ("better-pool", "note")


def test_each_finding_belongs_to_the_first_agent_that_it_names():
    copy = finding("copy", who=("bob", "ada"))
    assert diagnose("agent", "ada", [copy]).code == kinds.SOUND
    assert diagnose("agent", "bob", [copy]).code == "copy"


def test_agents_outcome_and_pool_have_their_own():
    found = [
        finding("outcome-rate", "warning", ()),
        finding("biased", "warning"),
        finding("biased-pool", "error", ()),
    ]
    codes = [diagnose(what, who, found).code for what, who in (
        ("outcome", ""), ("agent", "ada"), ("agent", "bob"), ("pool", "mean"),
    )]  # fmt: skip
    assert codes == ["outcome-rate", "biased", kinds.SOUND, "biased-pool"]


def test_with_too_few_outcomes_nobody_is_called_sound():
    assert diagnose("agent", "ada", [], untested=True).code == kinds.UNTESTED
    dead = finding("constant-feed", since=4, date="2026-01-05")
    one = diagnose("agent", "ada", [dead], untested=True)
    assert (one.code, one.since, one.date) == ("constant-feed", 4, "2026-01-05")


# Which outcomes are known


def selective(severity="warning"):
    return finding("selective-labels", severity, ())


def test_what_the_choice_of_outcomes_may_cause_alone_is_a_note():
    blamed = [finding("biased"), finding("over-confident-pool", who=()),
              finding("worse-than-best", "warning", ())]  # fmt: skip
    sure = [finding("constant-feed"), finding("fails-in-segment")]
    found = allow_for_selection([selective(), *blamed, *sure])
    assert [one.severity for one in found[1:]] == ["note"] * 3 + ["error"] * 2
    untouched = allow_for_selection([selective("note"), *blamed])
    assert [one.severity for one in untouched[1:]] == ["error", "error", "warning"]


# Who explains that the pool got worse


def decline(share=lambda since, who: 1.0, **more):
    one = Candidate("drifted-pool", since=500, between=(490, 510), share=share, **more)
    return one, finding("drifted-pool", "warning", (), since=500)


def drift(who, since, off=0, severity="warning"):
    between = since - off, since + off
    one = Candidate("drifted", (who,), since=since, between=between)
    return one, finding("drifted", severity, (who,), since=since)


def cause(*pairs):
    return explain_drift(pairs)[0].facts["agents"]


@pytest.mark.parametrize(
    ("since", "near"), [(489, False), (490, True), (510, True), (511, False)]
)
def test_a_cause_is_as_old_as_its_effect_up_to_what_the_dates_may_be_off(since, near):
    assert cause(decline(), drift("ada", since)) == (("ada",) if near else ())


def test_the_dates_of_both_may_be_off():
    assert cause(decline(), drift("ada", 485, off=5)) == ("ada",)


def test_a_cause_without_a_date_explains_no_change():
    undated = Candidate("drifted", ("ada",)), finding("drifted")
    assert cause(decline(), undated) == ()


@pytest.mark.parametrize(("share", "fits"), [(0.24, False), (0.25, True)])
def test_a_cause_explains_at_least_a_quarter(share, fits):
    found = cause(decline(lambda since, who: share), drift("ada", 500))
    assert found == (("ada",) if fits else ())


def test_among_the_near_ones_the_cause_is_who_explains_most():
    def share(since, who):
        assert since == {"ada": 500, "bob": 505}
        return {"ada": 0.3, "bob": 0.6}[who[0]]

    assert cause(decline(share), drift("ada", 500), drift("bob", 505)) == ("bob",)


def test_agents_that_fit_only_together_are_named_together():
    both = drift("ada", 500), drift("bob", 505)
    assert cause(decline(lambda since, who: 0.2 * len(who)), *both) == ("ada", "bob")
    assert cause(decline(lambda since, who: 0.1), *both) == ()


def test_a_slight_drift_of_an_agent_may_explain_it():
    assert cause(decline(), drift("ada", 500, severity="note")) == ("ada",)


def test_a_feed_that_works_again_explains_nothing():
    run = Candidate("constant-run", ("ada",), since=500)
    assert cause(decline(), (run, finding("constant-run", "note"))) == ()


def harder():
    """All cases get harder for everybody half-way."""
    later = [skill / 3 for skill in SKILLS]
    return quality_panel(
        "sudden", before=SKILLS, after=later, cases=3000, base_rate=0.3,
        correlation=0.2, honest=True, seed=0,
    )  # fmt: skip


def test_with_a_small_share_whoever_changed_then_would_be_blamed(monkeypatch):
    (pool,) = candidates("drift of the pool", timed(harder()))
    declined = pool, finding("drifted-pool", "warning", (), since=pool.since)
    agents = [drift(f"agent{i}", pool.since) for i in range(5)]
    assert cause(declined, *agents) == ()
    monkeypatch.setattr(diagnosis, "FITTING", 0.005)
    assert cause(declined, *agents) != ()


def declines(result):
    return [one for one in result.findings if one.code == "drifted-pool"]


def test_a_decline_without_an_agents_fault_near_it_has_no_known_cause():
    base = harder()
    for panel in (base, degradation(base, "agent1", at=0.85, seed=0)):
        (found,) = declines(audit(timed(panel), **QUICK))
        assert abs(found.since - 1500) < 60
        assert (found.facts["agents"], found.severity) == ((), "warning")


# On panels


SPOILED, TURNS = 228, 399
"""Cases at which the two agents of the demo go wrong."""


@pytest.fixture(scope="module")
def demo():
    return audit(build().faulty, costs=Costs(fn=10), resamples=50)


def test_both_agents_of_the_demo_are_diagnosed_with_the_date_of_their_fault(demo):
    ill = {one.who: one for one in demo.agents if one.severity == "error"}
    assert ill.keys() == {DEGRADED, HOSTILE}
    assert abs(ill[DEGRADED].since - SPOILED) <= 0.02 * 569
    assert abs(ill[HOSTILE].since - TURNS) <= 0.02 * 569


def two_faults(noisy, turned, at, seed=0):
    """One agent sends noise from a case on, another says the opposite from another."""
    base = timed(sound(seed, cases=3000))
    panel = degradation(base, noisy, at=at[0], seed=seed)
    return sleeper(panel, turned, at=at[1])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("at", [(0.3, 0.7), (0.7, 0.3)], ids=["before", "after"])
def test_of_two_faults_each_agent_has_its_own_and_both_are_treated(at, seed):
    result = audit(two_faults("agent1", "agent3", at, seed), **QUICK)
    found = {one.who: one for one in result.agents if one.severity is not None}
    assert found.keys() == {"agent1", "agent3"}
    assert kinds.every()[found["agent3"].code].state == "reversed"
    for who, share in zip(("agent1", "agent3"), at, strict=True):
        assert abs(found[who].since - 3000 * share) < 0.04 * 3000
    treated = {who for step in result.plan.steps for who in step.agents}
    assert treated == {"agent1", "agent3"}


def test_the_pool_is_not_blamed_for_agents_that_the_plan_takes_out():
    """Its drift is gone with their reports; judged as it is, it would be the pool's."""
    result = audit(two_faults("agent1", "agent3", (0.3, 0.7)), **QUICK)
    assert declines(result) == []
    assert result.pool.code != "drifted-pool"


def test_the_order_and_names_of_the_agents_do_not_matter():
    panel = two_faults("agent1", "agent3", (0.3, 0.7))
    turned = Panel(
        panel.reports[:, ::-1], panel.outcomes, list("edcba"), times=panel.times
    )
    one, two = (audit(p, **QUICK) for p in (panel, turned))
    names = dict(zip(panel.agents[::-1], turned.agents, strict=True))
    renamed = {(names[a.who], a.code, a.severity, a.since) for a in one.agents}
    assert renamed == {(a.who, a.code, a.severity, a.since) for a in two.agents}
    steps = [(s.action, {names[w] for w in s.agents}) for s in one.plan.steps]
    assert steps == [(s.action, {*s.agents}) for s in two.plan.steps]


@pytest.mark.parametrize("seed", range(3))
def test_an_over_confident_agent_with_a_dead_feed_has_one_diagnosis_and_one_step(seed):
    panel = timed(sound(seed, cases=3000))
    odds = np.log(panel.reports[:, 1] / (1 - panel.reports[:, 1]))
    reports = panel.reports.copy()
    reports[:, 1] = 1 / (1 + np.exp(-5 * odds))
    reports[2700:, 1] = 0.3
    result = audit(Panel(reports, panel.outcomes, times=panel.times), **QUICK)
    own = result.agents[1]
    assert (own.code, own.since) == ("constant-feed", 2700)
    assert "over-confident" in {one.code for one in own.evidence}
    about = [step for step in result.plan.steps if "agent1" in step.agents]
    assert len(about) == 1
    assert about[0].action in ("leave-out", "repair")


def test_severities_are_in_order_of_gravity():
    assert SEVERITIES == ("error", "warning", "note")
