"""The plan: at most three steps, each measured after those before it, over many panels."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from audit_corpus.faults import fault
from audit_corpus.tables import Table
from audits.following import Case
from faults import COSTS, SKILLS, copied, drifted, flipped, over_confident, sound, timed
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from panels import random_panel
from simulated_faults import degradation, quality_panel, sleeper, temperature

import truepool as tp
from truepool.audits import comparison, kinds
from truepool.audits.comparison import significantly_cheaper
from truepool.audits.evidence import Evidence
from truepool.audits.plan import cures, treat_agents
from truepool.audits.values import Diagnosis, Finding, PairedComparison
from truepool.comparison import Estimate
from truepool.core.errors import SettingError
from truepool.measures.inference import Resamples, holm, paired_p_values
from truepool.panel.panel import Panel
from truepool.pools import every, make
from truepool.pools.mean import Mean

CASES = 500
QUESTIONS = {"name-outcome", "name-positive", "empty-late", "give-propensity",
             "ask-leak", "ask-meaning"}  # fmt: skip
OF_THE_POOL = {"use", "refit", "decide-at", "keep", "collect"}


def constant(seed):
    """Agent 2 sends 0.05 in the second half."""
    return spoilt(timed(sound(seed, CASES)), 2, lambda own: 0.05, CASES // 2)


def spoilt(panel, agent, change, since=0):
    reports = panel.reports.copy()
    reports[since:, agent] = change(reports[since:, agent])
    return panel.with_reports(reports.reshape(panel.values.shape))


def two(seed):
    noisy = degradation(timed(sound(seed, CASES)), "agent1", at=0.4, seed=seed)
    return sleeper(noisy, "agent3", at=0.7)


def harder(seed):
    later = [skill / 3 for skill in SKILLS]
    return timed(quality_panel(
        "sudden", before=SKILLS, after=later, cases=CASES, base_rate=0.3,
        correlation=0.2, honest=True, seed=seed,
    ))  # fmt: skip


def bold(seed):
    return temperature(sound(seed, CASES, skills=[2.0, 0.3, 0.3]), "agent0", 0.3)


def alike(seed):
    """One opinion, many times over: what multiplies odds is over-confident."""
    rng = np.random.default_rng(seed)
    z = rng.normal(-1, 1.2, (2000, 1))
    outcomes = (rng.random(2000) < 1 / (1 + np.exp(-z[:, 0]))).astype(int)
    reports = 1 / (1 + np.exp(-(z + 0.05 * rng.normal(size=(2000, 3)))))
    return Panel(reports, outcomes)


PANELS = {
    "sound": (lambda seed: sound(seed, CASES), {}),
    "sound in time": (lambda seed: timed(sound(seed, CASES)), {}),
    "recalibrated": (lambda seed: timed(sound(seed, CASES)), {"pool": "platt"}),
    "reversed": (lambda seed: flipped(seed, CASES), {}),
    "reversed, weighed": (lambda seed: flipped(seed, CASES), {"pool": "vcg"}),
    "drifted": (lambda seed: drifted(seed, CASES), {}),
    "constant": (constant, {}),
    "two faults": (two, {}),
    "harder cases": (harder, {}),
    "copy": (lambda seed: copied(seed, CASES), {}),
    "near copy": (lambda seed: copied(seed, CASES, noise=0.08), {}),
    "over-confident": (lambda seed: over_confident(seed, CASES), {}),
    "over-confident, relied on": (bold, {"pool": "best-agent"}),
    "over-confident pool": (alike, {"pool": "bayes"}),
    "threshold": (lambda seed: sound(seed, CASES), {"threshold": 0.6}),
    "threshold, reversed": (lambda seed: flipped(seed, CASES), {"threshold": 0.5}),
    "few": (lambda seed: random_panel(seed, cases=12), {}),
    "noise": (lambda seed: random_panel(seed, cases=200, skill=0.0), {}),
}


@cache
def audited(name, seed):
    make, settings = PANELS[name]
    return tp.audit(make(seed), costs=COSTS, resamples=60, **settings)


@pytest.fixture(params=[(name, seed) for name in PANELS for seed in range(2)], ids=str)
def result(request):
    return audited(*request.param)


# What holds of every plan


def place(step):
    return 0 if step.action in QUESTIONS else 2 if step.action in OF_THE_POOL else 1


def test_it_has_at_most_three_steps_questions_first_then_agents_then_the_pool(result):
    steps = result.plan.steps
    assert 1 <= len(steps) <= 3
    assert [*map(place, steps)] == sorted(map(place, steps))
    assert sum(place(step) == 2 for step in steps) <= 1
    assert all(bool(step.agents) == (place(step) == 1) for step in steps)


def test_what_its_steps_save_adds_up_to_what_it_saves(result):
    savings = [step.saving for step in result.plan.steps if step.saving is not None]
    if not savings:
        assert result.plan.saving is None
        return
    total = sum(one.value for one in savings)
    assert_allclose(result.plan.saving.value, total, atol=1e-9)
    assert result.plan.saving.low <= total <= result.plan.saving.high


def test_the_pool_is_trusted_unless_a_diagnosis_is_an_error_or_a_warning(result):
    trust = {"error": "no", "warning": "with care", None: "yes"}[result.worst()]
    blind = result.comparison is None
    assert result.plan.trust == ("unknown" if blind and trust == "yes" else trust)


def test_nothing_is_kept_as_it_is_where_something_is_an_error(result):
    if result.worst() == "error":
        assert [step.action for step in result.plan.steps] != ["keep"]


def test_nobody_sound_is_acted_on_and_nobody_twice(result):
    ill = {one.who for one in result.agents if one.severity is not None}
    who = [agent for step in result.plan.steps for agent in step.agents]
    assert set(who) <= ill
    assert len(who) == len(set(who))


def test_nobody_is_left_out_who_would_be_missed_and_two_are_left(result):
    for step in result.plan.steps:
        if step.action == "leave-out" and step.saving is not None:
            assert step.saving.high >= 0
    assert len(result.agents) - len(result.plan.without) >= 2


def test_a_step_of_the_pool_surely_saves_and_the_pool_is_the_one_that_is_learned(
    result,
):
    last = result.plan.steps[-1]
    if last.action == "use":
        assert last.certain
        assert last.p_value < 0.05
        assert result.plan.change
        assert last.arguments["pool"] == result.plan.pool
    else:
        assert not result.plan.change
    assert result.plan.pool in (None, result.plan.in_use, "platt", "best-agent")


def test_an_error_saves_money_or_is_a_broken_feed(result):
    every = kinds.every()
    for found in result.findings:
        if found.severity != "error" or every[found.code].broken:
            continue
        # A copy to the last digit and an agent that knows nothing since then are broken.
        if found.code not in ("copy", "drifted", "rescaled-feed"):
            assert found.saving.low > 0


def test_an_agent_at_fault_is_not_recommended_alone(result):
    plan = result.plan
    faulty = {one.who for one in result.agents if one.severity == "error"}
    if plan.change and plan.pool == "best-agent":
        assert plan.agent not in faulty
    assert plan.alternative != "best-agent" or plan.agent not in faulty


def test_the_alternative_is_the_simplest_pool_within_one_standard_error(result):
    plan, table = result.plan, result.comparison
    if table is None or plan.alternative is None:
        return
    by_case, known = table.by_case, every()
    own = known[plan.pool].complexity
    near = [
        (known[row.pool].complexity, place, row.pool)  # rows are in order of cost
        for place, row in enumerate(table.rows)
        for gap in [by_case[row.pool] - by_case[plan.pool]]
        if row.pool != plan.in_use
        and known[row.pool].complexity < own
        and gap.mean() <= gap.std(ddof=1) / len(gap) ** 0.5
    ]
    assert plan.alternative == min(near)[2]


def test_the_panels_cover_every_verdict_and_most_actions():
    seen = [audited(name, 0).plan for name in PANELS]
    assert {plan.trust for plan in seen} == {"no", "with care", "yes", "unknown"}
    assert {plan.change for plan in seen} == {True, False}
    actions = {step.action for plan in seen for step in plan.steps}
    assert actions >= {"reverse", "leave-out", "repair", "use", "keep", "collect"}


# Each step is measured after those before it


@pytest.mark.parametrize("threshold", [None, 0.1, 0.9])
def test_every_saving_is_that_of_the_reports_as_the_steps_before_leave_them(threshold):
    """The oracle: the mean, and `platt` out of fold, of reports changed by hand."""
    panel = two_broken()
    plan = tp.audit(panel, costs=COSTS, resamples=60, threshold=threshold).plan
    *about_agents, use = plan.steps
    line = COSTS.threshold if threshold is None else threshold
    paid = [mean_cost(panel, line, plan.tested)]
    for step in about_agents:
        if step.action == "reverse":
            panel = spoilt(panel, 1, lambda own: 1 - own)
        else:
            assert (step.action, step.agents) == ("leave-out", ("agent4",))
            panel = panel.with_reports(np.where(dead(panel), np.nan, panel.values))
        paid.append(mean_cost(panel, line, plan.tested))
    kept = [a for a in panel.agents if a not in plan.without]
    then = use.arguments.get("threshold", threshold)
    assert (then is threshold) == (threshold != 0.9), "at 0.9 it finds nothing"
    after = tp.compare(
        panel.select_agents(kept), costs=COSTS, pools=["platt"], threshold=then
    )
    paid.append(1000 * after["platt"].loss.value)
    assert use.action == "use"
    assert_allclose(
        [step.saving.value for step in plan.steps], -np.diff(paid), atol=1e-9
    )
    assert_allclose(plan.saving.value, paid[0] - paid[-1], atol=1e-9)


def two_broken(cases=1200):
    """Agent 1 is reversed, and agent 4 reports nothing but 0.97 in the last third."""
    panel = timed(sound(2, cases, skills=[1.6, 1.4, 1.5, 1.3, 1.2]))
    panel = spoilt(panel, 1, lambda own: 1 - own)
    return spoilt(panel, 4, lambda own: 0.97, 2 * cases // 3)


def dead(panel):
    """Which reports (T, N, 1) are those of agent 4 since its feed broke."""
    mask = np.zeros(panel.values.shape, dtype=bool)
    mask[2 * len(panel) // 3 :, 4] = True
    return mask


def mean_cost(panel, line, tested):
    """Cost per 1,000 of the last cases, by the mean of those who reported."""
    decided = (np.nanmean(panel.values[:, :, 0], axis=1) > line).astype(int)
    return 1000 * COSTS.cost_per_case(panel.outcomes, decided, 2)[-tested:].mean()


def test_a_threshold_that_is_not_that_of_the_costs_is_a_step_and_what_it_saves():
    panel = sound(3, 800)
    plan = tp.audit(panel, costs=COSTS, resamples=60, threshold=0.6, pool="platt").plan
    (step,) = plan.steps
    assert step.action == "decide-at"
    assert_allclose(step.arguments["threshold"], COSTS.threshold)
    pools = {
        line: make("platt", costs=COSTS, threshold=line) for line in (0.6, None)
    }  # fmt: skip
    costs = [
        tp.compare(panel, costs=COSTS, threshold=line, pools=[pool])["platt"].loss.value
        for line, pool in pools.items()
    ]
    assert_allclose(step.saving.value, 1000 * (costs[0] - costs[1]), atol=1e-9)
    assert plan.saving == step.saving
    assert step.certain


# Following it


def planted(*faults, seed=0, **more):
    """A table of the corpus with these faults, and how it would be without them."""
    table = Table("", "", seed, faults, **{"cases": 1500, "agents": 5} | more)
    settings = {"costs": table._costs, "pool": table.pool, "resamples": 200,
                "threshold": table.threshold, "by": table.by}  # fmt: skip
    return Case(table.panel, replace(table, faults=()).panel, settings)


FOLLOWED = {
    "dead": lambda: planted(fault("constant", 2, 0.6)),
    "stopped": lambda: planted(fault("stopped", 1, 0.7)),
    "repeated": lambda: planted(fault("repeated", 2, 0.6, lag=100)),
    "reversed": lambda: planted(fault("reversed", 1)),
    "reversed since": lambda: planted(fault("reversed since", 2, 0.6)),
    "another unit": lambda: planted(
        fault("rescaled", 2, 0.6, factor=0.01), costs=(1, 1)
    ),
    "swapped": lambda: planted(
        fault("swapped", 1, classes=(0, 1)), classes=3, costs=(1, 1), agents=4
    ),
    "copy": lambda: planted(fault("copied", 2, source=0)),
    "uninformative": lambda: planted(fault("uninformative", 2), agents=4),
    "fails in a segment": lambda: planted(
        fault("blind", 1, segment="south"), by="region", cases=3000, agents=4, seed=1
    ),
    "leak": lambda: planted(fault("leak", 1)),
    "labels": lambda: planted(fault("other label")),
    "threshold": lambda: planted(threshold=0.5),
    "two broken": lambda: planted(fault("constant", 1, 0.6), fault("reversed", 3)),
}
FIRST = {
    "dead": "leave-out", "stopped": "restore", "repeated": "leave-out",
    "reversed": "reverse", "reversed since": "leave-out", "another unit": "rescale",
    "swapped": "swap", "copy": "leave-out", "uninformative": "leave-out",
    "fails in a segment": "leave-out-there", "leak": "ask-leak",
    "labels": "name-positive", "threshold": "use", "two broken": "reverse",
}  # fmt: skip
TRUST = ("asked", "no", "with care", "yes")


@pytest.mark.parametrize("name", FOLLOWED)
def test_who_follows_it_ends_with_a_pool_to_trust_and_to_keep(name):
    case = FOLLOWED[name]()
    before = case.audit().plan
    assert before.steps[0].action == FIRST[name]
    for _ in range(2):
        case = case.follow(before)
        after = case.audit().plan
        assert TRUST.index(after.trust) >= TRUST.index(before.trust)
        before = after
    assert [step.action for step in after.steps] == ["keep"]
    assert (after.trust, after.pool, after.saving) == ("yes", after.in_use, None)


def test_what_a_step_of_the_pool_promises_is_what_is_paid_less_once_it_is_taken():
    case = planted(seed=4)
    plan = case.audit().plan
    (step,) = plan.steps
    assert step.action == "use"
    costs = [one.audit().operations[0] for one in (case, case.follow(plan))]
    tested = mean_cost_of_tested(case, plan.tested)
    assert_allclose(tested - costs[1].cost.value, step.saving.value, atol=1e-6)


def mean_cost_of_tested(case, tested):
    costs = case.settings["costs"]
    decided = (case.panel.reports.mean(axis=1) > costs.threshold).astype(int)
    paid = costs.cost_per_case(case.panel.outcomes, decided, 2)
    return 1000 * paid[-tested:].mean()


@pytest.mark.parametrize("seed", range(6))
def test_of_sound_agents_nobody_is_acted_on(seed):
    plan = planted(seed=100 + seed, cases=900, agents=4).audit().plan
    assert [step.action for step in plan.steps] in (["keep"], ["use"])
    assert plan.trust in ("yes", "with care")


SPOIL = {
    "dead": lambda own, rng: np.r_[own[:300], np.full(len(own) - 300, 0.2)],
    "reversed": lambda own, rng: 1 - own,
    "another unit": lambda own, rng: np.r_[own[:300], own[300:] / 100],
    "noise": lambda own, rng: rng.permutation(own),
}


@settings(max_examples=12)
@given(
    seed=st.integers(0, 50),
    planted=st.dictionaries(st.integers(0, 4), st.sampled_from([*SPOIL]), max_size=3),
    threshold=st.sampled_from([None, 0.5]),
)
def test_whatever_is_planted_it_adds_up_and_blames_few(seed, planted, threshold):
    panel, rng = timed(sound(seed, 500)), np.random.default_rng(seed)
    for agent, what in planted.items():
        panel = spoilt(panel, agent, lambda own, what=what: SPOIL[what](own, rng))
    found = tp.audit(panel, costs=COSTS, resamples=20, threshold=threshold)
    for check in (
        test_it_has_at_most_three_steps_questions_first_then_agents_then_the_pool,
        test_what_its_steps_save_adds_up_to_what_it_saves,
        test_nothing_is_kept_as_it_is_where_something_is_an_error,
        test_nobody_sound_is_acted_on_and_nobody_twice,
        test_nobody_is_left_out_who_would_be_missed_and_two_are_left,
    ):
        check(found)


# Who is left out, and who is to be repaired


def diagnosis(code, who, severity="error", saving=None, evidence=(), **more):
    found = Finding(code, severity, (who,), saving=saving, **more)
    return Diagnosis("agent", who, code, severity, found, tuple(evidence))


def healthy(who):
    return Diagnosis("agent", who, kinds.SOUND)


SAVES, MAY, COSTLY = (
    Estimate(5.0, 1.0, 9.0), Estimate(1.0, -3.0, 5.0), Estimate(-5.0, -9.0, -1.0)
)  # fmt: skip


def actions(*diagnoses):
    return set(cures(diagnoses))


def test_two_broken_feeds_are_one_step():
    broken = (diagnosis("constant-feed", who, saving=SAVES) for who in "ab")
    assert actions(*broken, *map(healthy, "cd")) == {("leave-out", ("a", "b"))}


@pytest.mark.parametrize(
    ("code", "action"),
    [
        ("reversed", "reverse"),
        ("swapped-classes", "swap"),
        ("rescaled-feed", "ask-unit"),
    ],
)
def test_what_is_surely_wrong_is_put_right_whatever_the_pool_makes_of_it(code, action):
    one = diagnosis(code, "a", saving=COSTLY, facts={"factor": 0.01})
    assert actions(one, *map(healthy, "bcd")) == {(action, ("a",))}


def test_who_would_be_missed_is_to_be_repaired():
    one = diagnosis("constant-feed", "a", saving=COSTLY)
    assert actions(one, *map(healthy, "bcd")) == {("repair", ("a",))}


@pytest.mark.parametrize(
    ("broken", "left"), [("a", 2), ("a", 1), ("ab", 2), ("ab", 1), ("ab", 0)]
)
def test_with_fewer_than_two_agents_left_they_are_to_be_repaired(broken, left):
    ill = [diagnosis("constant-feed", who, saving=SAVES) for who in broken]
    action = "leave-out" if left >= 2 else "repair"
    found = actions(*ill, *map(healthy, "cde"[:left]))
    assert found == {(action, tuple(broken))}


@pytest.mark.parametrize("gone", ["stopped-feed", "no-reports"])
def test_who_does_not_report_any_more_is_not_one_of_those_who_are_left(gone):
    ill = [diagnosis("constant-feed", "a", saving=SAVES), diagnosis(gone, "b")]
    found = actions(*ill, healthy("c"))
    assert found == {("repair", ("a",)), ("restore", ("b",))}


@given(st.lists(st.sampled_from(["constant-feed", "stopped-feed", "copy", "reversed",
                                 "drifted", "harmful", ""]), min_size=1, max_size=9))  # fmt: skip
def test_two_agents_are_always_left_and_nobody_is_named_twice(codes):
    every = [
        diagnosis(code, f"a{i}", saving=SAVES) if code else healthy(f"a{i}")
        for i, code in enumerate(codes)
    ]
    found = cures(every)
    named = [who for _, own in found for who in own]
    assert len(named) == len(set(named)) == sum(map(bool, codes))
    out = {who for action, own in found if action == "leave-out" for who in own}
    silent = sum(code == "stopped-feed" for code in codes)
    assert not out or len(codes) - len(out) - silent >= 2


@pytest.mark.parametrize(
    ("saving", "severity", "acted"),
    [(SAVES, "warning", True), (MAY, "warning", False), (MAY, "error", True)],
)
def test_what_is_no_error_is_acted_on_only_where_that_surely_saves(
    saving, severity, acted
):
    one = diagnosis("drifted", "a", severity, saving)
    assert bool(actions(one, *map(healthy, "bc"))) == acted


def test_an_agent_that_turned_round_is_left_out_since_then_and_not_reversed():
    """Reversing all its reports would spoil the sound ones."""
    before, since = (
        diagnosis("reversed", "a", saving=SAVES, since=when) for when in (None, 400)
    )
    assert actions(before, *map(healthy, "bc")) == {("reverse", ("a",))}
    assert actions(since, *map(healthy, "bc")) == {("leave-out", ("a",))}


def test_a_unit_without_a_known_factor_is_asked_for():
    known, unknown = (
        diagnosis("rescaled-feed", "a", saving=SAVES, facts={"factor": factor})
        for factor in (0.01, None)
    )
    assert actions(known, *map(healthy, "bc")) == {("rescale", ("a",))}
    assert actions(unknown, *map(healthy, "bc")) == {("ask-unit", ("a",))}


def test_agents_in_other_units_are_a_step_each():
    ill = [
        diagnosis("rescaled-feed", who, saving=SAVES, facts={"factor": factor})
        for who, factor in (("a", 0.01), ("b", 0.1))
    ]
    assert actions(*ill, *map(healthy, "cd")) == {
        ("rescale", ("a",)), ("rescale", ("b",)),
    }  # fmt: skip


def test_two_who_are_missed_only_together_are_not_left_out_together():
    """Each is a copy of the other's opinion, and nobody else knows anything."""
    rng = np.random.default_rng(0)
    good = sound(1, 800, skills=[2.5, 1.0])
    twin = np.clip(good.reports[:, 0] + rng.normal(0, 0.01, 800), 0.001, 0.999)
    weak = 0.3 + 0.01 * rng.random((800, 2))
    panel = Panel(np.c_[good.reports[:, 0], twin, weak], good.outcomes, [*"abcd"])
    evidence = Evidence(panel, Mean(costs=COSTS), COSTS, None, 0.95, 200, 0)
    ill = [diagnosis("constant-feed", who, saving=MAY, since=0) for who in "ab"]
    found = treat_agents(evidence, cures([*ill, *map(healthy, "cd")]), most=2)
    assert [(step.action, step.agents) for step in found.steps] == [
        ("repair", ("a", "b"))
    ]
    assert found.without == ()
    assert found.evidence is evidence


def test_the_most_urgent_steps_come_first_and_the_others_wait():
    evidence = Evidence(sound(0, 300), Mean(costs=COSTS), COSTS, None, 0.95, 20, 0)
    ill = [
        diagnosis("copy", "agent0", "warning", SAVES),
        diagnosis("stopped-feed", "agent1"),
        diagnosis("reversed", "agent2", saving=SAVES),
    ]
    found = cures([*ill, healthy("agent3"), healthy("agent4")])
    for most in range(4):
        steps = treat_agents(evidence, found, most=most, measured=False).steps
        order = ["reverse", "restore", "leave-out"]
        assert [step.action for step in steps] == order[:most]


def test_a_dead_feed_that_would_be_missed_is_an_error_and_to_be_repaired():
    """Taking it out of a mean that is too timid would cost more."""
    found = audited("constant", 0)
    assert (found.agents[2].code, found.agents[2].severity) == (
        "constant-feed",
        "error",
    )
    assert found.agents[2].finding.saving.high < 0
    first = found.plan.steps[0]
    assert (first.action, first.agents, first.saving) == ("repair", ("agent2",), None)
    assert found.plan.trust == "no"


def test_what_is_recommended_without_an_agent_is_measured_without_it():
    """The oracle: a comparison of the panel that never had the agent."""
    case = FOLLOWED["dead"]()
    result = case.audit()
    first, last = result.plan.steps
    assert result.plan.without == first.agents == ("agent2",)
    assert last.arguments["without"] == ("agent2",)
    alone = case.without(("agent2",)).audit()
    used = next(one for one in result.operations[1:] if one.pool == result.plan.pool)
    paid = 1000 * alone.comparison["platt"].loss.value
    assert_allclose(used.cost.value, paid, rtol=1e-9)


# Questions come first


def test_while_labels_are_in_doubt_there_is_one_question_and_no_figure():
    result = FOLLOWED["labels"]().audit()
    plan = result.plan
    assert (plan.trust, plan.in_doubt, plan.pool) == ("asked", True, None)
    assert [step.action for step in plan.steps] == ["name-positive"]
    assert (plan.saving, plan.constant_saving) == (None, None)
    assert result.operations == ()
    assert result.tradeoff is result.best_set is None
    assert all(one.worth is None for one in result.summaries)


def test_a_dead_feed_is_left_out_while_labels_are_in_doubt_and_nobody_says_for_what():
    panel = timed(sound(2, 1200, skills=[1.6, 1.4, 1.5, 1.3, 1.2]))
    reports = spoilt(panel, 4, lambda own: 0.97, 800).reports
    wrong = Panel(reports, 1 - panel.outcomes, times=panel.times)
    plan = tp.audit(wrong, costs=COSTS, resamples=60).plan
    assert [step.action for step in plan.steps] == ["name-positive", "leave-out"]
    assert [step.saving for step in plan.steps] == [None, None]


def test_a_leak_is_asked_about_first_and_figures_are_without_it():
    case = FOLLOWED["leak"]()
    result = case.audit()
    plan = result.plan
    assert (plan.steps[0].action, plan.steps[0].agents) == ("ask-leak", ("agent1",))
    assert plan.in_doubt is False
    less = case.without(("agent1",)).audit()
    assert plan.saving == less.plan.saving
    assert result.operations == less.operations


def test_with_two_questions_no_agent_is_treated_without_being_named():
    """It would be in the figures and not among the steps."""
    late = planted(fault("reversed", 3), fault("late", at=0.8, near=0.2), cases=4000)
    apart = np.where(late.panel.outcomes == 1, 5.0, -8.0)
    knows = 1 / (1 + np.exp(-apart - np.random.default_rng(0).normal(size=4000)))
    plan = late.put(("agent1",), knows[:, None, None]).audit().plan
    assert [step.action for step in plan.steps] == ["empty-late", "ask-leak", "reverse"]
    assert_allclose(plan.saving.value, plan.steps[2].saving.value, atol=1e-9)
    assert (plan.pool, plan.change) == (plan.in_use, False)


# The pool


def test_the_pool_in_use_may_be_recommended():
    plan = tp.audit(sound(0, CASES), costs=COSTS, resamples=60, pool="platt").plan
    assert (plan.pool, plan.change, plan.saving) == ("platt", False, None)


def test_auto_is_what_is_recommended(monkeypatch):
    monkeypatch.setattr(comparison, "POOLS", (*comparison.POOLS, "auto"))
    monkeypatch.setattr(comparison, "RECOMMENDED", "auto")
    plan = tp.audit(sound(0, CASES), costs=COSTS, resamples=60).plan
    assert [(step.action, step.arguments["pool"]) for step in plan.steps] == [
        ("use", "auto")
    ]


def test_the_level_of_another_pool_is_for_all_that_are_tried_together(monkeypatch):
    """Ten pools as good as the one in use: at a looser level chance replaces it."""
    rng = np.random.default_rng(0)
    drawn = Resamples(300, 100, 0)

    def chosen():
        saved = rng.normal(size=(300, 10)) + rng.normal(size=(300, 1))
        p = paired_p_values(saved)
        others = zip(saved.T, p, holm(p), strict=True)
        return significantly_cheaper(
            PairedComparison(
                str(m), Estimate(own.mean(), *drawn.interval(own, 0.95)), one, adjusted,
                1.0, 1.0, None,
            )
            for m, (own, one, adjusted) in enumerate(others)
        )  # fmt: skip

    assert np.mean([bool(chosen()) for _ in range(100)]) <= 0.06
    monkeypatch.setattr(comparison, "SIGNIFICANT", 1.1)
    assert np.mean([bool(chosen()) for _ in range(100)]) >= 0.1


def rare(cases=900):
    """Events in 4 % of the cases, which weak agents hardly tell from the others."""
    rng = np.random.default_rng(0)
    log_odds = rng.normal(-3.4, 0.6, cases)
    outcomes = (rng.random(cases) < 1 / (1 + np.exp(-log_odds))).astype(int)
    said = log_odds[:, None] + rng.normal(0, 0.5, (cases, 3))
    return Panel(1 / (1 + np.exp(-said)), outcomes)


def test_a_pool_is_compared_with_the_best_decision_that_is_always_the_same():
    panel = rare()
    plan = tp.audit(panel, resamples=60).plan
    assert plan.constant == "0"
    decided = panel.reports.mean(axis=1) > 0.5
    saved = panel.outcomes.mean() - (decided != panel.outcomes).mean()
    assert_allclose(plan.constant_saving.value, 1000 * saved, atol=1e-9)
    assert not plan.constant_saving.low > 0
    good = tp.audit(sound(cases=400), costs=COSTS, resamples=60).plan
    assert good.constant_saving.low > 0
    within = tp.audit(sound(cases=400), costs=COSTS, resamples=60, capacity="20%").plan
    assert within.constant is None


def alone(*faults):
    return Table(
        "", "", 1, faults, skills=(2.6, 0.4, 0.3, 0.4), cases=1500, pool="platt"
    )


def test_the_best_agent_alone_is_used_where_it_costs_least_and_is_not_at_fault():
    plan = alone().audit().plan
    (step,) = plan.steps
    assert (plan.pool, plan.agent, step.action) == ("best-agent", "agent0", "use")
    assert step.arguments["agent"] == "agent0"
    result = alone(fault("over-confident", 0, T=0.3)).audit()
    assert result.pool.code == "worse-than-best"
    assert (result.agents[0].severity, result.plan.pool) == ("error", "platt")
    assert [s.action for s in result.plan.steps] == ["recalibrate"]


def test_folds_that_cannot_be_made_leave_no_pool_to_recommend(monkeypatch):
    def refuse(*args, **settings):
        raise SettingError("fold 0 of 5 would learn from one class only")

    monkeypatch.setattr(comparison, "cross_validate", refuse)
    result = tp.audit(flipped(cases=300), costs=COSTS, resamples=20)
    assert "comparison" in {note.code for note in result.withheld}
    assert result.comparison is None
    assert [step.action for step in result.plan.steps] == ["reverse", "collect"]
    assert result.plan.pool is None


def test_by_month_a_step_saves_as_many_times_more_as_there_are_thousands_of_cases():
    table = Table("", "", 3, (fault("reversed", 1),), cases=1200)
    result = table.audit()
    assert result.cases_per_month == pytest.approx(24 * 365.25 / 12, rel=1e-2)
    for one in (*result.plan.steps, result.plan):
        if one.saving is None:
            continue
        expected = one.saving.value * result.cases_per_month / 1000
        assert one.saving_per_month.value == pytest.approx(expected)
    undated = tp.audit(flipped(cases=400), costs=COSTS, resamples=20).plan
    assert {step.saving_per_month for step in undated.steps} == {None}


def test_within_a_capacity_steps_about_agents_are_not_measured_but_their_findings():
    found = tp.audit(flipped(cases=600), costs=COSTS, resamples=60, capacity="20%")
    (step,) = (step for step in found.plan.steps if step.action == "reverse")
    assert step.saving == found.agents[1].finding.saving


@pytest.mark.parametrize("pool", ["mean", "platt", "stacked-lr", "best-agent"])
@pytest.mark.parametrize("span", [(240, 400), (480, 800)], ids=["over", "dead"])
def test_where_only_a_broken_feed_reported_the_base_rate_decides(span, pool):
    panel = timed(sound(0, 800))
    reports = panel.reports.copy()
    reports[slice(*span), 2] = 0.4
    alone = np.random.default_rng(0).random(800) < 0.15
    reports[np.ix_(alone, [0, 1, 3, 4])] = np.nan
    broken = Panel(reports, panel.outcomes, times=panel.times)
    result = tp.audit(broken, costs=COSTS, resamples=40, pool=pool)
    test_what_its_steps_save_adds_up_to_what_it_saves(result)
    dead = result.agents[2].code == "constant-feed"
    assert dead == (span[1] == 800)
    assert ("leave-out" in {step.action for step in result.plan.steps}) == dead
