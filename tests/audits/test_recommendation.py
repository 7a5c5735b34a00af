"""Verdict and advice in one voice, over many panels with planted faults."""

import re
from functools import cache

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
from panels import random_panel

from truepool.audits import audit
from truepool.audits.recommendation import CHANGED, CURED_BY_A_POOL, recommend
from truepool.audits.severity import BROKEN
from truepool.audits.values import Finding
from truepool.data.panel import Panel
from truepool.pools import every
from truepool.stress.degradation import Degradation
from truepool.stress.drift import quality_panel
from truepool.stress.sleeper import Sleeper
from truepool.stress.temperature import Temperature

CASES = 500


def constant(seed):
    """Vendor 2 sends 0.05 in the second half."""
    panel = timed(sound(seed, CASES))
    reports = panel.reports.copy()
    reports[CASES // 2 :, 2] = 0.05
    return Panel(reports, panel.outcomes, times=panel.times)


def two(seed):
    noisy = Degradation(at=0.4)(timed(sound(seed, CASES)), "agent1", seed=seed)
    return Sleeper(at=0.7)(noisy, "agent3", seed=seed)


def harder(seed):
    later = [skill / 3 for skill in SKILLS]
    return timed(quality_panel(
        "sudden", before=SKILLS, after=later, cases=CASES, base_rate=0.3,
        correlation=0.2, honest=True, seed=seed,
    ))  # fmt: skip


def bold(seed):
    return Temperature(0.3)(sound(seed, CASES, skills=[2.0, 0.3, 0.3]), "agent0")


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
def told(request):
    return audited(*request.param)


def test_every_error_is_in_the_advice_before_any_pool(told):
    errors = [f for f in told.findings if f.severity == "error"]
    said = told.recommendation
    assert [(e.code, e.who) for e in said.errors] == [(f.code, f.who) for f in errors]
    for finding in errors:
        if finding.who:
            first = re.split(r"Until then|Then keep|Too few cases", told.advice)[0]
            assert finding.who[0] in first
    steps = [e for e in errors if not (said.change and e.code in CURED_BY_A_POOL)]
    assert told.advice.startswith("Before anything else, ") == bool(steps)


def test_the_verdict_says_no_exactly_where_there_is_an_error(told):
    no = told.verdict.startswith("Do not trust this pool")
    assert no == (told.worst() == "error") == (told.recommendation.trust == "no")
    care = told.verdict.startswith("Use this pool with care")
    assert care == (told.worst() == "warning")


def test_that_nothing_drifts_is_not_said_beside_a_finding_that_something_did(told):
    if any(finding.code in CHANGED for finding in told.findings):
        assert "no drift" not in told.recommendation.regime


def test_a_pool_at_fault_is_not_kept(told):
    pools = [e for e in told.recommendation.errors if not e.who]
    if pools:
        assert not re.search(r"\b[Kk]eep ", told.advice)
        assert "is fine" not in told.verdict


def test_a_pool_is_fine_only_where_it_is_kept(told):
    if "is fine" in told.verdict:
        assert f"Then keep {told.pool}" in told.advice
    if told.verdict.startswith("Nothing speaks against"):
        assert f"Keep {told.pool}: " in told.advice
    if re.search(r"\b[Kk]eep ", told.advice):
        assert "costs significantly less" not in told.verdict


def test_an_agent_at_fault_is_not_recommended_alone(told):
    said = told.recommendation
    assert said.agent not in {fix.who[0] for fix in said.errors if fix.who}


@pytest.mark.parametrize("name", PANELS)
def test_an_error_saves_money_or_is_a_broken_feed(name):
    panel, told = PANELS[name][0](0), audited(name, 0)
    for finding in told.findings:
        if finding.severity != "error" or finding.code in (*BROKEN, "copy"):
            continue
        if finding.code == "drifted" and not finding.cost.low > 0:
            late = panel.order[finding.since :]
            said = panel.reports[late, panel.agents.index(finding.who[0])]
            came = panel.outcomes[late]
            assert ((said - came) ** 2).mean() >= came.var(), "no use: broken"
        else:
            assert finding.cost.low > 0


def test_a_dead_feed_is_an_error_and_the_first_thing_to_fix():
    """Taking it out of a mean that is too timid would even cost something."""
    told = audited("constant", 0)
    first = told.findings[0]
    assert (first.severity, first.who) == ("error", ("agent2",))
    assert first.cost.high < 0
    assert told.advice.startswith("Before anything else, take agent2 out of the pool")
    assert told.verdict.startswith("Do not trust this pool until agent2 is fixed")


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
    said = recommend(evidence, ())
    assert (said.pool, said.alternative, said.agent) == ("auto", "best-agent", "ada")
    fault = Finding("drifted", "error", ("ada",), "ada got worse.", "Replace it.")
    beaten = Finding("worse-than-best", "warning", ("ada",), "It is.", "Use ada.")
    said = recommend(evidence, (fault, beaten))
    assert "best-agent" not in (said.pool, said.alternative)
    assert said.agent is None
    assert [fix.code for fix in said.fixes] == ["drifted"]


def test_costs_are_those_of_the_comparison(told):
    """Same quantity, same number."""
    said, table = told.recommendation, told.comparison
    if table is None:
        assert (said.cost, said.saving, said.auto_saving) == (None, None, None)
        return
    assert said.cost == table[said.pool].loss.value
    assert said.cost_in_use == table[said.in_use].loss.value
    assert said.tested == table.tested
    comparisons = {other.pool: other for other in told.significance}
    assert said.auto_saving == (
        comparisons["auto"].saved if "auto" in comparisons else None
    )
    if said.change:
        assert said.saving == comparisons[said.pool].saved
        assert said.p_value == comparisons[said.pool].holm < 0.05
        assert said.saving.value > 0
    else:
        assert not any(x.holm < 0.05 and x.saved.value > 0 for x in comparisons.values()
                       if x.pool != "best-agent")  # fmt: skip


def test_auto_is_recommended_wherever_it_costs_significantly_less(told):
    auto = [other for other in told.significance if other.pool == "auto"]
    better = any(other.holm < 0.05 and other.saved.value > 0 for other in auto)
    assert (told.recommendation.pool == "auto") == better


def test_the_alternative_is_the_simplest_pool_within_one_standard_error(told):
    said = told.recommendation
    if said.pool != "auto":
        assert said.alternative is None
        return
    by_case, known = told.comparison.by_case, every()
    gaps = {name: cost - by_case["auto"] for name, cost in by_case.items()}
    faulty = {fix.who[0] for fix in said.errors if fix.who}
    near = [
        (known[name].complexity, place, name)  # rows are in the order of their cost
        for place, name in enumerate(row.pool for row in told.comparison.rows)
        for gap in [gaps[name]]
        if name not in ("auto", said.in_use)
        and known[name].complexity < known["auto"].complexity
        and gap.mean() <= gap.std(ddof=1) / len(gap) ** 0.5
        and not (name == "best-agent" and faulty)
    ]
    if said.alternative != "best-agent":
        assert said.alternative == (min(near)[2] if near else None)


def test_the_pool_in_use_may_be_auto():
    panel = sound(0, CASES)
    said = audit(panel, costs=COSTS, resamples=30, pool="auto").recommendation
    assert (said.pool, said.change, said.auto_saving) == ("auto", False, None)
