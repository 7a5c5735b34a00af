"""Which finding is the cause of which: near in time, and of fitting size."""

from functools import partial

import numpy as np
import pytest
from faults import COSTS, SKILLS, sound, timed
from numpy.testing import assert_allclose
from simulated_faults import degradation, quality_panel, sleeper, temperature

from truepool.audits import audit
from truepool.audits.attribution import (
    AGENT_FAULTS,
    BECAUSE,
    CAUSES,
    CRITICAL,
    DIRECTED,
    FITTING,
    NEAR,
    ONE,
    STOPPED,
    WAITING,
    dates,
    share_of_cost,
)
from truepool.audits.candidate import Candidate
from truepool.audits.findings import select_findings
from truepool.audits.severity import RUN
from truepool.cli.demo_panels import DEGRADED, HOSTILE, build
from truepool.comparison import Estimate
from truepool.online.alarms.change_point import change
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

QUICK = {"costs": COSTS, "resamples": 50}
SAVES = Estimate(0.2, 0.1, 0.3)
MAY = "Another finding may explain it: "


def candidate(
    code="biased", who=("ada",), p=1e-9, price=lambda: SAVES, advice="Fix it.", **more
):
    return Candidate(code, who, f"{code}.", advice, p_value=p, price=price, **more)


def findings_of(*candidates):
    return {(f.code, *f.who): f for f in select_findings(candidates)}


def test_nobody_is_told_to_use_an_agent_alone_whose_feed_is_broken():
    """Where events are rare, a feed stuck near the base rate has the lowest loss."""
    feed = candidate("constant-feed", advice="Take ada out.", since=100)
    best = candidate("worse-than-best", advice="Use ada alone.")
    found = findings_of(feed, best)["worse-than-best", "ada"]
    assert (found.severity, found.advice) == ("note", "Take ada out.")
    assert found.cause == ("constant-feed", "ada")
    assert found.sentence.endswith("Its feed must be fixed first: ada sends one and "
                                   "the same report.")  # fmt: skip


def selective(**more):
    """Outcomes that are missing where the pool says no: reports seem too low."""
    return candidate(
        "selective-labels",
        (),
        advice="Give the propensity.",
        price=None,
        most="warning",
        number=Estimate(0.3, float("nan"), float("nan")),
        unit=DIRECTED,
        **more,
    )


def biased(*who, code="biased", value=-0.1, **more):
    number = Estimate(value, value - 0.01, value + 0.01)
    return candidate(code, who, number=number, unit="bias", **more)


POOL = {"code": "biased-pool", "joint": True, "share": lambda causes: 0.5,
        "explained_by": ("biased", "uninformative")}  # fmt: skip
DOUBT = "This is doubtful: it may come from which cases have an outcome."


def test_no_fault_of_an_agent_removes_the_doubt_about_the_pool():
    unrelated = candidate("uninformative", ("bob",))
    found = findings_of(selective(), biased("ada"), unrelated, biased(**POOL))
    pool = found[("biased-pool",)]
    assert (pool.severity, pool.cause) == ("note", ("selective-labels",))
    assert pool.advice == "Give the propensity."
    assert pool.sentence.endswith(
        f"{DOUBT} Another finding may explain part of it: bob shows no relation to the "
        "outcome."
    )
    alone = findings_of(selective(), biased("ada"), biased(**POOL))[("biased-pool",)]
    assert alone.sentence.endswith(DOUBT)


def test_what_the_selection_of_outcomes_cannot_explain_is_explained_by_agents():
    high = biased("ada", value=0.1)
    pool = findings_of(selective(), high, biased(**POOL, value=0.1))[("biased-pool",)]
    assert pool.cause == ("biased", "ada")
    assert pool.sentence.endswith(f"{MAY}ada is biased.")


def test_a_cause_that_is_doubtful_is_named_with_the_doubt():
    harm = candidate("harmful", explained_by=("biased",))
    found = findings_of(selective(), biased("ada"), harm)["harmful", "ada"]
    assert found.cause == ("biased", "ada")
    assert found.sentence.endswith(
        f"{MAY}ada is biased. It is doubtful whether ada is biased: that may come from "
        "which cases have an outcome."
    )
    sure = findings_of(biased("ada"), harm)["harmful", "ada"]
    assert sure.sentence.endswith(f"{MAY}ada is biased.")


@pytest.mark.parametrize("least", ["note", "warning"])
def test_miscalibration_over_all_belongs_to_the_segments_where_the_agent_fails(least):
    """Also as a note, where recalibrating it would save nothing."""
    fails = candidate("fails-in-segment", advice="Fix it in the ward.")
    own = candidate("over-confident", price=None, least=least, advice="Leave it.")
    other = candidate("over-confident", ("bob",), price=None, least=least)
    found = findings_of(fails, own, other)
    mine = found["over-confident", "ada"]
    assert (mine.severity, mine.cause) == ("note", ("fails-in-segment", "ada"))
    assert mine.sentence.endswith(f"{MAY}ada fails in some segments.")
    assert found["over-confident", "bob"].cause == ()


def pools_decline(audited):
    return next(f for f in audited.findings if f.code == "drifted-pool")


# The rule


def test_a_feed_that_stopped_does_not_explain_what_was_reported_before():
    stopped = candidate("stopped-feed", since=900)
    best = candidate("worse-than-best")
    found = findings_of(stopped, candidate("uninformative"), candidate("biased"), best)
    for code in ("uninformative", "stopped-feed"):
        assert found[code, "ada"].severity == "error"
        assert found[code, "ada"].cause == ()
    assert found["biased", "ada"].cause == ("uninformative", "ada")
    assert found["worse-than-best", "ada"].cause == ("stopped-feed", "ada")


@pytest.mark.parametrize(
    "cause", [c for c in CAUSES if c not in ("biased", STOPPED, RUN)]
)
def test_one_cause_makes_one_finding(cause):
    findings = findings_of(
        candidate("biased"), candidate(cause), candidate("biased", ("bob",))
    )
    assert {key: f.severity for key, f in findings.items()} == {
        (cause, "ada"): "error",
        ("biased", "ada"): "note",
        ("biased", "bob"): "error",
    }
    because = BECAUSE[cause].format(who="ada", **ONE)
    assert findings["biased", "ada"].sentence == f"biased. {MAY}{because}."


def test_an_earlier_cause_explains_a_later_one_and_never_itself():
    findings = findings_of(candidate("drifted"), candidate("reversed"))
    assert findings["reversed", "ada"].severity == "error"
    assert findings["drifted", "ada"].severity == "note"


def test_who_is_copied_keeps_its_own_faults():
    copy = candidate("copy", ("bob", "ada"))
    findings = findings_of(
        copy, candidate("biased", ("ada",)), candidate("biased", ("bob",))
    )
    grades = sorted(f.severity for f in findings.values())
    assert grades == ["error", "error", "note"]


def test_no_fault_of_an_agent_explains_that_it_is_a_copy_or_the_best():
    best = candidate("worse-than-best", ("ada",))
    findings = findings_of(
        candidate("copy", ("ada", "bob")), candidate("reversed"), best
    )
    assert findings["copy", "ada", "bob"].severity == "error"
    assert findings["worse-than-best", "ada"].severity == "error"


def test_a_fault_of_the_pool_can_explain_an_agents():
    harmed = candidate("harmful", explained_by=("threshold",))
    findings = findings_of(harmed, candidate("threshold", ()))
    words = f"harmful. {MAY}the threshold is not the one that the costs imply."
    assert findings["harmful", "ada"].sentence == words
    assert findings_of(harmed)["harmful", "ada"].severity == "error"


def test_an_agents_own_fault_explains_better_than_the_pools():
    harmed = candidate("harmful", explained_by=("threshold",))
    findings = findings_of(harmed, candidate("threshold", ()), candidate("drifted"))
    assert findings["harmful", "ada"].sentence.endswith(f"{MAY}ada got worse.")


def test_notes_explain_nothing_and_need_no_explanation():
    note = candidate("reversed", matters=False, price=None)
    findings = findings_of(candidate("biased"), note)
    assert findings["biased", "ada"].severity == "error"
    assert findings["reversed", "ada"].sentence == "reversed."


def test_every_cause_has_words():
    from truepool.audits.topics.threshold import POOL_FAULTS

    pools = {*POOL_FAULTS, "reversed-pool", "threshold"}
    assert {*CAUSES, *AGENT_FAULTS} | pools == set(BECAUSE)


# Near in time


def decline(share=lambda causes: 1.0, **more):
    return candidate(
        "drifted-pool", (), price=None, since=500, between=(490, 510), share=share,
        explained_by=("drifted",), unexplained="The cause is unknown.", **more,
    )  # fmt: skip


def drift(who, since, off=0, **more):
    between = since - off, since + off
    return candidate("drifted", (who,), since=since, between=between, **more)


@pytest.mark.parametrize(
    ("since", "near"), [(489, False), (490, True), (510, True), (511, False)]
)
def test_a_cause_is_as_old_as_its_effect_up_to_what_the_dates_may_be_off(since, near):
    effect = findings_of(decline(), drift("ada", since))["drifted-pool",]
    words = f"{MAY}ada got worse." if near else "The cause is unknown."
    assert effect.sentence == f"drifted-pool. {words}"
    assert effect.severity == ("note" if near else "warning")


def test_the_dates_of_both_may_be_off():
    effect = findings_of(decline(), drift("ada", 485, off=5))["drifted-pool",]
    assert effect.sentence.endswith("ada got worse.")


def test_a_cause_without_a_date_explains_no_change():
    effect = findings_of(decline(), candidate("drifted"))["drifted-pool",]
    assert effect.sentence.endswith("The cause is unknown.")


def test_an_agents_drift_is_not_explained_by_what_broke_at_another_time():
    feed = partial(candidate, "constant-feed")
    far = findings_of(drift("ada", 100, off=20), feed(since=3500))
    assert far["drifted", "ada"].severity == "error"
    near = findings_of(drift("ada", 3490, off=20), feed(since=3500))
    assert near["drifted", "ada"].severity == "note"


# Of fitting size


@pytest.mark.parametrize(("share", "fits"), [(0.24, False), (0.25, True)])
def test_a_cause_explains_at_least_a_quarter(share, fits):
    effect = findings_of(decline(share=lambda causes: share), drift("ada", 500))
    assert (MAY in effect["drifted-pool",].sentence) == fits


def test_among_the_near_ones_the_cause_is_what_explains_most():
    def share(causes):
        return {"ada": 0.3, "bob": 0.6}[causes[0].who[0]]

    effect = findings_of(decline(share=share), drift("ada", 500), drift("bob", 505))
    assert effect["drifted-pool",].sentence.endswith(f"{MAY}bob got worse.")


def test_causes_that_fit_only_together_are_named_together():
    def share(causes):
        return 0.2 * len(causes)

    both = drift("ada", 500), drift("bob", 505)
    effect = findings_of(decline(share=share), *both)["drifted-pool",]
    assert effect.sentence.endswith(f"{MAY}ada and bob got worse.")
    effect = findings_of(decline(share=lambda causes: 0.1), *both)["drifted-pool",]
    assert effect.sentence.endswith("The cause is unknown.")


def test_what_several_agents_cause_together_names_all_and_stands_under_none():
    shares = {"ada": 0.3, "bob": 0.2, "cleo": 0.08, "dan": 0.07}
    pool = candidate(
        "biased-pool", (), explained_by=("biased",), joint=True,
        share=lambda causes: sum(shares[cause.who[0]] for cause in causes),
    )  # fmt: skip
    agents = [candidate("biased", (who,)) for who in shares]
    failing = candidate("fails-in-segment", ("ada",))
    found = findings_of(pool, failing, *agents)["biased-pool",]
    assert found.sentence == f"biased-pool. {MAY}ada, bob and cleo are biased."
    assert (found.severity, found.cause) == ("note", ())
    alone = findings_of(pool, agents[0], agents[3])["biased-pool",]
    assert alone.cause == ("biased", "ada")


@pytest.mark.parametrize("code", ["uninformative", "over-confident", "harmful"])
def test_a_fault_as_a_whole_is_explained_by_where_the_agent_fails(code):
    whole, local = candidate(code, ("ada",)), candidate("fails-in-segment", ("ada",))
    found = findings_of(whole, local)
    assert found["fails-in-segment", "ada"].cause == ()
    assert found[code, "ada"].cause == ("fails-in-segment", "ada")


def test_a_slight_drift_explains_a_slight_decline_without_hiding_a_warning():
    small = drift("ada", 500, matters=False, price=None)
    effect = findings_of(decline(), small)["drifted-pool",]
    assert effect.sentence.endswith("ada got worse.")
    assert effect.severity == "warning", "nothing graver stands for it"
    note = findings_of(decline(matters=False), drift("ada", 500))["drifted-pool",]
    assert note.sentence.endswith("ada got worse.")


def test_a_cost_is_explained_by_what_saves_a_fitting_part_of_it():
    dear, cheap = (candidate("threshold", (), price=lambda c=c: c) for c in (
        Estimate(0.05, 0.04, 0.06), Estimate(0.02, 0.01, 0.03)
    ))  # fmt: skip
    harm = candidate(
        "harmful", explained_by=("threshold",), share=partial(share_of_cost, 0.1)
    )
    assert MAY in findings_of(harm, dear)["harmful", "ada"].sentence
    assert MAY not in findings_of(harm, cheap)["harmful", "ada"].sentence
    assert share_of_cost(0.0, [select_findings([dear])[0]]) == 0.0


def test_the_policy_of_attribution_is_what_the_docs_say():
    assert (FITTING, NEAR) == (0.25, 0.02)


def test_the_critical_value_is_the_limiting_quantile():
    """Hansen (2000), Theorem 2: P(LR <= c) = (1 - exp(-c / 2))^2."""
    assert_allclose((1 - np.exp(-CRITICAL / 2)) ** 2, 0.95, atol=1e-4)


def test_a_change_lies_between_its_dates():
    rng = np.random.default_rng(0)
    coverage, widths = [], []
    for _ in range(200):
        series = rng.normal(0, 1, 2000) + 0.5 * (np.arange(2000) >= 1200)
        first, last = dates(series, change(series).place)
        coverage.append(first <= 1200 <= last)
        widths.append(last - first)
    # 200 trials at 0.95: a standard error of 0.015.
    assert np.mean(coverage) > 0.95 - 3 * 0.015
    assert np.median(widths) < 300


def test_of_two_rises_one_lies_between_the_dates_wherever_the_cusum_peaks():
    rng = np.random.default_rng(0)
    coverage = []
    for _ in range(200):
        series = rng.normal(0, 1, 3000) + np.repeat([0.0, 0.5, 1.0], 1000)
        first, last = dates(series, change(series).place)
        coverage.append(first <= 1000 <= last or first <= 2000 <= last)
    # 200 trials at 0.95: a standard error of 0.015.
    assert np.mean(coverage) > 0.95 - 3 * 0.015


def test_the_dates_are_never_sharper_than_a_share_of_the_cases():
    step = np.repeat([0.0, 1.0], 500)
    assert dates(step, 500) == (480, 520)
    assert dates(np.repeat([0.0, 1.0], [3, 997]), 3) == (0, 23)
    assert dates(np.repeat([0.0, 1.0], [997, 3]), 997) == (977, 999)


# On panels


SPOILED, TURNS = 228, 399
"""Cases at which the two agents of the demo go wrong."""


@pytest.fixture(scope="module")
def demo():
    return audit(build().faulty, costs=Costs(fn=10), resamples=50)


def test_the_demos_decline_is_laid_to_who_broke_then_and_not_to_who_turned_later(demo):
    """In the user's cost the pool got worse when one agent began to report noise."""
    effect = pools_decline(demo)
    assert abs(effect.since - SPOILED) <= 0.05 * 569
    assert effect.sentence.endswith(f"{MAY}the feed of {DEGRADED} changed.")
    since = {f.who[0]: f.since for f in demo.findings if f.code == "changed-feed"}
    assert since.keys() == {DEGRADED, HOSTILE}
    assert abs(since[DEGRADED] - SPOILED) <= 0.02 * 569
    assert abs(since[HOSTILE] - TURNS) <= 0.02 * 569


def two_faults(noisy, turned, at, seed=0):
    """One agent sends noise from a case on, another says the opposite from another."""
    base = timed(sound(seed, cases=3000))
    panel = degradation(base, noisy, at=at[0], seed=seed)
    return sleeper(panel, turned, at=at[1])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("at", [(0.3, 0.7), (0.7, 0.3)], ids=["before", "after"])
def test_of_two_faults_the_one_at_the_time_of_the_decline_is_the_cause(at, seed):
    panel = two_faults("agent1", "agent3", at, seed)
    audited = audit(panel, **QUICK)
    effect = pools_decline(audited)
    drifted = {f.who[0] for f in audited.findings if f.code == "drifted"}
    assert drifted >= {"agent1", "agent3"}
    _, _, cause = effect.sentence.partition(MAY)
    first, later = ("agent1", "agent3") if at[0] < at[1] else ("agent3", "agent1")
    # The decline is dated near the first fault: 30 % of the cases.
    assert abs(effect.since - 900) < abs(effect.since - 2100)
    assert later not in cause
    if first == "agent3":  # to say the opposite harms the pool more than noise does
        assert cause == "the feed of agent3 changed."
    else:
        assert cause in ("", "the feed of agent1 changed.", "agent1 got worse.")


def test_the_order_and_names_of_the_agents_do_not_matter():
    panel = two_faults("agent1", "agent3", (0.3, 0.7))
    turned = Panel(
        panel.reports[:, ::-1], panel.outcomes, list("edcba"), times=panel.times
    )
    one, two = (audit(p, **QUICK) for p in (panel, turned))
    names = dict(zip(panel.agents[::-1], turned.agents, strict=True))

    def renamed(sentence):
        for old, new in names.items():
            sentence = sentence.replace(old, new)
        return sentence

    dated = {(f.severity, renamed(f.sentence)) for f in one.findings if f.since}
    assert dated == {(f.severity, f.sentence) for f in two.findings if f.since}


def test_a_decline_without_an_agents_fault_near_it_has_no_known_cause():
    later = [skill / 3 for skill in SKILLS]
    harder = quality_panel(
        "sudden", before=SKILLS, after=later, cases=3000, base_rate=0.3,
        correlation=0.2, honest=True, seed=0,
    )  # fmt: skip
    for panel in (harder, degradation(harder, "agent1", at=0.85, seed=0)):
        effect = pools_decline(audit(timed(panel), **QUICK))
        assert abs(effect.since - 1500) < 60
        assert effect.sentence.endswith("the cause is unknown.")
        assert effect.severity == "warning"


def test_over_confidence_that_was_there_before_is_not_laid_to_drift():
    def over(panel):
        found = audit(panel, **QUICK).findings
        return next(
            f for f in found if (f.code, f.who) == ("over-confident", ("agent1",))
        )

    always = temperature(timed(sound(cases=3000)), "agent1", 0.2)
    late = degradation(always, "agent1", at=0.95, seed=0)
    assert MAY not in over(late).sentence


# A broken feed comes before the agent's other faults


def feed(**more):
    return candidate("constant-feed", advice="Fix the feed.", since=300, **more)


@pytest.mark.parametrize("code", WAITING)
def test_a_fault_that_a_broken_feed_does_not_explain_still_waits_for_it(code):
    own = candidate(code, share=lambda causes: 0.0)
    findings = findings_of(own, feed())
    waits = findings[code, "ada"]
    assert (waits.severity, waits.cause) == ("note", ("constant-feed", "ada"))
    assert waits.sentence.endswith(
        "Its feed must be fixed first: ada sends one and the same report."
    )
    assert MAY not in waits.sentence
    assert {f.advice for f in findings.values()} == {"Fix the feed."}
    assert waits.cost == SAVES, "what it would save is still said"


def test_a_note_about_an_agent_waits_for_its_feed_too():
    note = candidate("biased", matters=False, price=None)
    assert findings_of(note, feed())["biased", "ada"].cause == ("constant-feed", "ada")


def test_only_an_error_of_the_same_agents_feed_is_waited_for():
    own = candidate("biased", share=lambda causes: 0.0)
    for other in (candidate("constant-feed", ("bob",)), feed(p=0.03), drift("ada", 9)):
        assert findings_of(own, other)["biased", "ada"].severity == "error"


def test_what_an_agent_gains_by_misreporting_does_not_wait_for_its_feed():
    gain = candidate("misreport-gain", share=lambda causes: 0.0)
    assert findings_of(gain, feed())["misreport-gain", "ada"].severity == "error"


@pytest.mark.parametrize("seed", range(3))
def test_an_over_confident_agent_with_a_dead_feed_has_one_error_and_one_advice(seed):
    panel = temperature(timed(sound(seed, cases=3000)), "agent1", 0.2)
    reports = panel.reports.copy()
    reports[2700:, 1] = 0.3
    dead = Panel(reports, panel.outcomes, times=panel.times)
    result = audit(dead, **QUICK)
    own = [f for f in result.findings if f.who[:1] == ("agent1",)]
    assert {"constant-feed", "over-confident"} <= {f.code for f in own}
    assert [f.code for f in own if f.severity == "error"] == ["constant-feed"]
    about = [f for f in own if f.code in (*WAITING, "constant-feed")]
    assert len({f.advice for f in about}) == 1
    assert "recalibrate agent1" not in result.advice
    root, explained = next(g for g in result.groups if g[0].code == "constant-feed")
    assert {f.code for f in about} <= {root.code, *(f.code for f in explained)}


# A feed that works again


def past(code="constant-run"):
    return candidate(code, advice="Empty the cells.", since=300, most="warning")


@pytest.mark.parametrize(("share", "explained"), [(0.49, False), (0.51, True)])
def test_a_run_that_is_over_explains_what_is_mostly_gone_without_it(share, explained):
    own = candidate("biased", share=lambda causes: share)
    pool = candidate("biased-pool", (), explained_by=AGENT_FAULTS, joint=True,
                     share=lambda causes: share)  # fmt: skip
    for effect in (own, pool):
        found = findings_of(effect, past())[(effect.code, *effect.who)]
        if explained:
            assert (found.severity, found.cause) == ("note", ("constant-run", "ada"))
            because = f"{MAY}ada sent one and the same report for a while."
            assert found.sentence.endswith(because)
        else:
            assert (found.severity, found.cause) == ("error", ())
            assert found.sentence == f"{effect.code}."


@pytest.mark.parametrize("code", WAITING)
@pytest.mark.parametrize("before", ["constant-run", "reporting-gap"])
def test_no_fault_waits_for_a_feed_that_works_again(code, before):
    found = findings_of(candidate(code), past(before))[code, "ada"]
    assert (found.severity, found.cause) == ("error", ())


def test_what_follows_from_a_run_that_is_over_has_its_advice_and_no_saving():
    own = candidate("biased", share=lambda causes: 0.9)
    found = findings_of(own, past())["biased", "ada"]
    assert (found.advice, found.cost) == ("Empty the cells.", None)
