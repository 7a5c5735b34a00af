from functools import cache

import pytest
from faults import COSTS, sound
from numpy.testing import assert_allclose
from panels import random_panel

from truepool.audits import audit
from truepool.audits.evidence import Evidence
from truepool.measures.losses import Loss
from truepool.panel.labels import Labels
from truepool.pools import configure
from truepool_lab.checks.robustness import robustness
from truepool_lab.stress.label_flip import LabelFlip
from truepool_lab.stress.noise import RandomNoise

PANEL = sound(cases=500)


@cache
def audited():
    return audit(PANEL, costs=COSTS, resamples=50)


def fragile(audited):
    """The finding: who was made to fail, and in its details by how much costs rise."""
    (found,) = (one for one in audited.findings if one.code == "fragile")
    return found


def test_the_best_agent_is_the_one_that_changes():
    brier = ((PANEL.reports - PANEL.outcomes[:, None]) ** 2).mean(axis=0)
    best = f"agent{brier.argmin()}"
    found = fragile(audited())
    assert found.who == (best,)
    assert [failure.name for failure in found.details] == [
        "stops reporting",
        "reports noise",
        "always reports near 0",
        "reports the opposite",
    ]


def test_among_three_classes_it_is_said_which_one_a_constant_report_is_for():
    panel = random_panel(1, cases=120, classes=3)
    named = panel.with_labels(Labels(("sepsis", "flu", "none")))
    found = fragile(audit(named, resamples=20))
    said = [failure.name for failure in found.details]
    assert "is always nearly sure of sepsis" in said
    assert not [what for what in said if "near 0" in what]


def test_costs_are_those_of_the_stressed_panel():
    found = fragile(audited())
    rise = found.details[-1].value
    flipped = LabelFlip()(PANEL, found.who[0])
    loss = Loss("cost", COSTS)
    before, after = (
        loss.evaluate(p.reports.mean(axis=1)[:, None], PANEL.outcomes).mean()
        for p in (PANEL, flipped)
    )
    assert_allclose(audited().recommendation.cost_in_use + rise.value, after)
    assert_allclose(rise.value, after - before)
    assert rise.low <= rise.value <= rise.high


def test_the_pool_costs_now_what_each_failure_costs_without_its_rise():
    evidence = Evidence(PANEL, configure("mean", costs=COSTS), COSTS, None, 0.95, 50, 0)
    details = fragile(audited()).details
    for failure, detail in zip(robustness(evidence), details, strict=True):
        assert failure.rise == detail.value
        now = failure.cost.value - failure.rise.value
        assert_allclose(now, audited().recommendation.cost_in_use)


@pytest.mark.parametrize("seed", [0, 3])
def test_noise_of_a_failing_agent_is_drawn_by_the_seed_of_the_audit(seed):
    panel = sound(cases=300)
    result = audit(panel, costs=COSTS, resamples=20, seed=seed)
    found = fragile(result)
    name, rise = found.details[1]
    assert name == "reports noise"
    noisy = RandomNoise()(panel, found.who[0], seed=seed)
    pooled = noisy.reports.mean(axis=1)[:, None]
    cost = Loss("cost", COSTS).evaluate(pooled, panel.outcomes).mean()
    assert_allclose(result.recommendation.cost_in_use + rise.value, cost)


def test_silence_costs_what_leave_one_out_credit_says():
    found = fragile(audited())
    own = next(one for one in audited().agent_summaries if one.agent == found.who[0])
    assert_allclose(found.details[0].value.value, own.leave_one_out.value)


def test_a_learned_pool_keeps_the_weights_it_had():
    worst = fragile(audit(PANEL, costs=COSTS, resamples=50, pool="best-agent"))
    # The pool is one agent: when that turns, the pool does.
    assert worst.details[-1].value.value > fragile(audited()).details[-1].value.value
