"""Verdict and advice in one voice, over many panels with planted faults."""

import io
import re
from functools import cache
from html import unescape

import numpy as np
import pytest
from faults import (
    COSTS,
    SKILLS,
    copied,
    drifted,
    flipped,
    over_confident,
    sound,
    timed,
)
from numpy.testing import assert_allclose
from panels import random_panel
from rich.console import Console
from simulated_faults import degradation, quality_panel, sleeper, temperature

from truepool.audits import audit
from truepool.audits.evidence import Evidence
from truepool.audits.priorities import first_fixes, in_order, later_fixes
from truepool.audits.recommendation import CHANGED, recommend
from truepool.audits.severity import BROKEN, CURED_BY_A_POOL, LABELS
from truepool.audits.values import Finding, Fix, Recommendation
from truepool.comparison import Estimate
from truepool.panel.panel import Panel
from truepool.pools import every
from truepool.pools.mean import Mean
from truepool.render.html.audit import html
from truepool.render.tables.audit import show

CASES = 500


def constant(seed):
    """Vendor 2 sends 0.05 in the second half."""
    panel = timed(sound(seed, CASES))
    reports = panel.reports.copy()
    reports[CASES // 2 :, 2] = 0.05
    return Panel(reports, panel.outcomes, times=panel.times)


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
    "few": (lambda seed: random_panel(seed, cases=12), {}),
    "noise": (lambda seed: random_panel(seed, cases=200, skill=0.0), {}),
}


@cache
def audited(name, seed):
    make, settings = PANELS[name]
    return audit(make(seed), costs=COSTS, resamples=30, **settings)


@pytest.fixture(params=[(name, seed) for name in PANELS for seed in range(2)], ids=str)
def result(request):
    return audited(*request.param)


def test_errors_come_before_any_pool_unless_it_saves_more_than_recalibration(result):
    errors = [f for f in result.findings if f.severity == "error"]
    recommendation = result.recommendation
    assert [(e.code, e.who) for e in recommendation.errors] == [
        (f.code, f.who) for f in errors
    ]
    later = {fix.who for fix in later_fixes(recommendation)}
    for finding in errors:
        if finding.who and finding.who not in later:
            first = re.split(r"Until then|Then keep|Too few cases", result.advice)[0]
            assert finding.who[0] in first
    steps = [
        e
        for e in errors
        if not (recommendation.change and e.code in CURED_BY_A_POOL)
        and e.who not in later
    ]
    for (who,) in later:
        assert who in result.advice.partition("Then ask whoever runs ")[2]
    assert result.advice.startswith("Before anything else, ") == bool(steps)


@pytest.mark.usefixtures("empty_figures")
def test_what_is_to_be_fixed_first_is_listed_first_everywhere(result):
    first = [(fix.code, *fix.who) for fix in first_fixes(result.recommendation)]
    if result.recommendation.outcome_in_doubt:
        first = [(LABELS,)]
    assert [finding.key for finding in result.findings][: len(first)] == first
    assert [root.key for root, _ in result.groups][: len(first)] == first
    plain = result.to_dict()
    for listed in (plain["findings"], plain["recommendation"]["fixes"]):
        assert [(f["code"], *f["who"]) for f in listed][: len(first)] == first
    sentences = [finding.sentence for finding in result.findings[: len(first)]]
    for page in (result.to_markdown(), html(result), terminal(result)):
        text = " ".join(unescape(page).split())
        places = [text.index(sentence) for sentence in sentences]
        others = [text.index(root.sentence) for root, _ in result.groups[len(first) :]]
        assert places == sorted(places)
        assert max(places, default=0) <= min(others, default=len(text))


def terminal(result):
    console = Console(width=10_000, file=io.StringIO())
    show(result, console)
    return console.file.getvalue()


def test_a_fix_that_comes_first_is_listed_before_what_a_pool_cures_and_costs_more():
    def fix(code, grade, saving, *who):
        return Fix(code, who, grade, Estimate(saving, saving / 2, saving * 2))

    fixes = (
        fix("over-confident-pool", "error", 0.5),
        fix("harmful", "error", 0.1, "ada"),
        fix("needs-recalibration", "warning", 0.2, "bob"),
        fix("constant-feed", "warning", 0.01, "cy"),
    )
    plan = Recommendation("no", fixes, "mean", "auto", saving=Estimate(0.1, 0.05, 0.2))
    ordered = in_order(fixes, plan)
    assert [f.who for f in ordered] == [("bob",), ("ada",), (), ("cy",)]
    doubt = (*fixes, Fix(LABELS, (), "warning"))
    unsure = Recommendation("no", doubt, "mean", None, outcome_in_doubt=True)
    assert in_order(doubt, unsure)[0].code == LABELS


def test_the_verdict_says_no_exactly_where_there_is_an_error(result):
    no = result.verdict.startswith("Do not trust this pool")
    assert no == (result.worst() == "error") == (result.recommendation.trust == "no")
    care = result.verdict.startswith("Use this pool with care")
    assert care == (result.worst() == "warning")


def test_that_nothing_drifts_is_not_said_beside_a_finding_that_something_did(result):
    if any(finding.code in CHANGED for finding in result.findings):
        assert "no drift" not in result.recommendation.regime


def test_a_pool_at_fault_is_not_kept(result):
    pools = [e for e in result.recommendation.errors if not e.who]
    if pools:
        assert not re.search(r"\b[Kk]eep ", result.advice)
        assert "is fine" not in result.verdict


def test_a_pool_is_fine_only_where_it_is_kept(result):
    if "is fine" in result.verdict:
        assert f"Then keep {result.pool}" in result.advice
    if result.verdict.startswith("No problems found"):
        assert f"Keep {result.pool}: " in result.advice
    if re.search(r"\b[Kk]eep ", result.advice):
        assert "costs significantly less" not in result.verdict


def test_an_agent_at_fault_is_not_recommended_alone(result):
    plan = result.recommendation
    faulty = {fix.who[0] for fix in plan.errors if fix.who}
    if plan.change or plan.alternative:  # the best agent may be what is in use
        assert plan.agent not in faulty


@pytest.mark.parametrize("name", PANELS)
def test_an_error_saves_money_or_is_a_broken_feed(name):
    panel, result = PANELS[name][0](0), audited(name, 0)
    for finding in result.findings:
        if finding.severity != "error" or finding.code in (*BROKEN, "copy"):
            continue
        if finding.code == "drifted" and not finding.cost.low > 0:
            late = panel.order[finding.since :]
            reports = panel.reports[late, panel.agents.index(finding.who[0])]
            outcomes = panel.outcomes[late]
            assert ((reports - outcomes) ** 2).mean() >= outcomes.var(), (
                "no use: broken"
            )
        else:
            assert finding.cost.low > 0


def test_a_dead_feed_is_an_error_and_the_first_thing_to_fix():
    """Taking it out of a mean that is too timid would cost more: it is to be fixed."""
    result = audited("constant", 0)
    first = result.findings[0]
    assert (first.severity, first.who) == ("error", ("agent2",))
    assert first.cost.value < 0
    assert result.advice.startswith("Before anything else, have the feed of agent2 fix")
    assert result.verdict.startswith("Do not trust this pool until agent2 is fixed")


def test_the_panels_cover_every_verdict():
    seen = {audited(name, 0).recommendation.trust for name in PANELS}
    assert seen == {"no", "with care", "yes", "unknown"}
    ends = {audited(name, 0).recommendation.change for name in PANELS}
    assert ends == {True, False}


def test_the_best_agent_is_passed_over_where_it_is_at_fault():
    from truepool.audits.evidence import Evidence
    from truepool.pools.mean import Mean

    noise = np.random.default_rng(0).random((800, 4))
    good = sound(cases=800, skills=[4.0, 1.0])
    panel = Panel(np.c_[good.reports[:, :1], noise], good.outcomes, ["ada", *"bcde"])
    evidence = Evidence(panel, Mean(), COSTS, None, 0.95, 30, 0)
    recommendation = recommend(evidence, ())
    assert (recommendation.pool, recommendation.alternative, recommendation.agent) == (
        "auto",
        "best-agent",
        "ada",
    )
    fault = Finding("drifted", "error", ("ada",), "ada got worse.", "Replace it.")
    beaten = Finding("worse-than-best", "warning", ("ada",), "It is.", "Use ada.")
    recommendation = recommend(evidence, (fault, beaten))
    assert "best-agent" not in (recommendation.pool, recommendation.alternative)
    assert recommendation.agent is None
    assert [fix.code for fix in recommendation.fixes] == ["drifted"]


def test_costs_are_those_of_the_comparison(result):
    """Same quantity, same number."""
    recommendation, table = result.recommendation, result.comparison
    if table is None:
        assert (
            recommendation.cost,
            recommendation.saving,
            recommendation.auto_saving,
        ) == (None, None, None)
        return
    assert recommendation.cost == table[recommendation.pool].loss.value
    assert recommendation.cost_in_use == table[recommendation.in_use].loss.value
    assert recommendation.tested == table.tested
    comparisons = {other.pool: other for other in result.significance}
    assert recommendation.auto_saving == (
        comparisons["auto"].saved if "auto" in comparisons else None
    )
    if recommendation.change:
        assert recommendation.saving == comparisons[recommendation.pool].saved
        assert recommendation.p_value == comparisons["auto"].holm < 0.05
        assert recommendation.saving.low > 0
    elif recommendation.in_use != "auto":
        auto = comparisons["auto"]
        assert not (auto.holm < 0.05 and auto.saved.low > 0)


def test_what_is_recommended_without_an_agent_is_measured_without_it():
    """The oracle: a comparison of the panel that never had the agent."""
    panel = constant(3)
    result = audit(panel, costs=COSTS, resamples=50)
    plan = result.recommendation
    assert plan.without == ("agent2",)
    assert "fitted without agent2 (`--ignore agent2`): it costs" in result.advice
    assert f" With all agents, {plan.pool} finds " in result.to_markdown()
    rest = [0, 1, 3, 4]
    names = tuple(panel.agents[i] for i in rest)
    less = Panel(panel.reports[:, rest], panel.outcomes, names, times=panel.times)
    alone = audit(less, costs=COSTS, resamples=50)
    # The candidates and their weights are those of the pool of all agents.
    assert_allclose(
        plan.without_cost, alone.comparison[plan.pool].loss.value, rtol=0.05
    )
    in_use = result.comparison[plan.in_use].loss.value
    assert_allclose(plan.without_saving.value, in_use - plan.without_cost)
    low, high = plan.without_saving.low, plan.without_saving.high
    assert low < plan.without_saving.value < high


def test_one_pool_may_be_recommended_and_it_is_the_one_that_fit_learns(result):
    plan = result.recommendation
    assert plan.pool in (None, plan.in_use, "auto")


def test_no_advice_costs_more_and_none_is_about_an_agent_that_is_taken_out(result):
    for fix in result.recommendation.fixes:
        if fix.severity != "error":
            assert fix.saving is None or fix.saving.value >= 0
    for who in re.findall(r"take (\w+) out of the pool", result.advice):
        assert f"runs {who} to recalibrate" not in result.advice


def test_the_alternative_is_the_simplest_pool_within_one_standard_error(result):
    recommendation = result.recommendation
    if recommendation.pool != "auto":
        assert recommendation.alternative is None
        return
    by_case, known = result.comparison.by_case, every()
    gaps = {name: cost - by_case["auto"] for name, cost in by_case.items()}
    faulty = {fix.who[0] for fix in recommendation.errors if fix.who}
    near = [
        (known[name].complexity, place, name)  # rows are in the order of their cost
        for place, name in enumerate(row.pool for row in result.comparison.rows)
        for gap in [gaps[name]]
        if name not in ("auto", recommendation.in_use)
        and known[name].complexity < known["auto"].complexity
        and gap.mean() <= gap.std(ddof=1) / len(gap) ** 0.5
        and not (name == "best-agent" and faulty)
    ]
    if recommendation.alternative != "best-agent":
        assert recommendation.alternative == (min(near)[2] if near else None)


def test_the_pool_in_use_may_be_auto():
    panel = sound(0, CASES)
    recommendation = audit(panel, costs=COSTS, resamples=30, pool="auto").recommendation
    assert (recommendation.pool, recommendation.change, recommendation.auto_saving) == (
        "auto",
        False,
        None,
    )


def rare(cases=900):
    """Events in 4 % of the cases, which weak agents hardly tell from the others."""
    rng = np.random.default_rng(0)
    log_odds = rng.normal(-3.4, 0.6, cases)
    outcomes = (rng.random(cases) < 1 / (1 + np.exp(-log_odds))).astype(int)
    said = log_odds[:, None] + rng.normal(0, 0.5, (cases, 3))
    return Panel(1 / (1 + np.exp(-said)), outcomes)


def test_a_pool_that_does_no_better_than_one_decision_for_all_is_told_so():
    panel = rare()
    result = audit(panel, resamples=50)
    plan = result.recommendation
    assert plan.constant == "0"
    assert_allclose(plan.constant_cost, panel.outcomes.mean())
    decided = panel.reports.mean(axis=1) > 0.5
    saved = panel.outcomes.mean() - (decided != panel.outcomes).mean()
    assert_allclose(plan.constant_saving.value, saved, atol=1e-12)
    assert "Deciding 0 in every case would cost" in result.advice
    assert "mean does not cost significantly less" in result.advice


def test_a_pool_that_is_worth_having_is_not_held_against_one_decision_for_all():
    result = audit(sound(cases=400), costs=COSTS, resamples=50)
    assert result.recommendation.constant_saving.low > 0
    assert "in every case" not in result.advice
    within = audit(sound(cases=400), costs=COSTS, resamples=50, capacity="20%")
    assert within.recommendation.constant is None


def stuck_and_reversed(seed=0, cases=3000, share=0.05):
    """Of five agents bob is stuck in the last fifth, and dan reports 1 - p."""
    rng = np.random.default_rng(seed)
    outcomes = (rng.random(cases) < share).astype(int)
    skill = np.array([1.6, 1.4, 1.5, 1.3, 1.7])
    seen = rng.normal(size=(cases, 5)) + skill * outcomes[:, None]
    log_odds = np.log(share / (1 - share)) + skill * seen - skill**2 / 2
    reports = 1 / (1 + np.exp(-log_odds))
    reports[int(0.8 * cases) :, 1] = 0.031
    reports[:, 3] = 1 - reports[:, 3]
    names = ("ada", "bob", "cyd", "dan", "eve")
    return Panel(reports, outcomes, names, times=np.arange(cases))


def test_a_reversed_agent_that_costs_more_comes_before_a_stuck_feed():
    result = audit(stuck_and_reversed(), costs=COSTS, resamples=50)
    first, second = result.findings[:2]
    assert (first.code, first.who) == ("reversed", ("dan",))
    assert (second.code, second.who) == ("constant-feed", ("bob",))
    assert first.cost.low > second.cost.high
    assert result.verdict.startswith(
        "Do not trust this pool until dan and bob are fixed or left out: 2 errors"
    )
    assert "To take dan and bob out right away, pass `--ignore dan --ignore bob`" in (
        result.advice
    )
    assert result.recommendation.without == ("dan", "bob")


@pytest.mark.parametrize(
    "nothing", [Estimate(0.0, -0.01, 0.01), Estimate(1e-5, -0.001, 0.001)]
)
def test_recalibration_that_saves_nothing_is_no_step_and_a_feed_is_one(nothing):
    """A broken feed that has cost nothing yet may cost something in the next case."""
    faults = ("biased", "changed-feed")
    found = tuple(
        Finding(code, "warning", ("ada",), "It is so.", "Do it.", cost=nothing)
        for code in faults
    )
    evidence = Evidence(sound(cases=300), Mean(costs=COSTS), COSTS, None, 0.95, 50, 0)
    plan = recommend(evidence, found)
    assert [fix.code for fix in plan.fixes] == ["changed-feed"]
