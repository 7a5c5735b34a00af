from functools import cache
from types import SimpleNamespace

import pytest
from checked import evidence_of, found_by
from faults import COSTS, sound
from numpy.testing import assert_allclose
from panels import random_panel

from truepool.audits import audit
from truepool.core.sentences import say
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.labels import Labels
from truepool_lab.checks.robustness import check, robustness
from truepool_lab.stress.label_flip import LabelFlip
from truepool_lab.stress.noise import RandomNoise

PANEL = sound(cases=500)


@cache
def fragile(panel=PANEL, **settings):
    """The finding: in its details, by how much each failure raises the cost."""
    (found,) = found_by("robustness", panel, **settings)
    return found


def cost_of(panel, costs=COSTS):
    """Cost of 1,000 cases by the mean."""
    pooled = panel.reports.mean(axis=1)[:, None]
    return 1000 * Loss("cost", costs).evaluate(pooled, panel.outcomes).mean()


def test_the_best_agent_is_the_one_that_changes():
    brier = ((PANEL.reports - PANEL.outcomes[:, None]) ** 2).mean(axis=0)
    found = fragile()
    assert (found.severity, found.facts["agent"]) == ("note", f"agent{brier.argmin()}")
    assert [failure.name for failure in found.details] == [
        "stops reporting",
        "reports noise",
        "always reports near 0",
        "reports the opposite",
    ]


def test_the_worst_that_the_best_agent_could_do_is_noted():
    found = fragile()
    worst = max(found.details, key=lambda failure: failure.value.value)
    assert (found.number, found.facts["what"]) == (worst.value, worst.name)
    assert found.facts["form"] == "costs"
    assert_allclose(found.facts["now"], cost_of(PANEL))
    assert_allclose(found.facts["cost"], cost_of(PANEL) + worst.value.value)
    assert worst.name in say("finding", found.code, found.facts)


def test_where_nothing_was_tried_nothing_is_noted():
    assert list(check.run(SimpleNamespace(compute=lambda study: ()))) == []


def test_a_pool_whose_cost_no_agent_can_raise_is_noted():
    # With misses this costly the mean decides 1 whatever the reports.
    found = fragile(costs=Costs(fn=1000))
    assert max(failure.value.value for failure in found.details) == 0
    assert found.facts["form"] == "none"


def test_among_three_classes_it_is_said_which_one_a_constant_report_is_for():
    panel = random_panel(1, cases=120, classes=3)
    named = panel.with_labels(Labels(("sepsis", "flu", "none")))
    said = [failure.name for failure in fragile(named, costs=Costs()).details]
    assert "is always nearly sure of sepsis" in said
    assert not [what for what in said if "near 0" in what]


def test_costs_are_those_of_the_stressed_panel():
    found = fragile()
    rise = found.details[-1].value
    assert_allclose(rise.value, cost_of(LabelFlip()(PANEL, found.facts["agent"])) - cost_of(PANEL))  # fmt: skip
    assert rise.low <= rise.value <= rise.high
    for failure, detail in zip(robustness(evidence_of(PANEL)), found.details, strict=True):  # fmt: skip
        assert_allclose(1000 * failure.rise.value, detail.value.value)
        assert_allclose(
            1000 * (failure.cost.value - failure.rise.value), cost_of(PANEL)
        )


@pytest.mark.parametrize("seed", [0, 3])
def test_noise_of_a_failing_agent_is_drawn_by_the_seed_of_the_audit(seed):
    found = fragile(seed=seed)
    name, rise = found.details[1]
    assert name == "reports noise"
    noisy = RandomNoise()(PANEL, found.facts["agent"], seed=seed)
    assert_allclose(cost_of(PANEL) + rise.value, cost_of(noisy))


def test_silence_costs_what_leave_one_out_credit_says():
    found = fragile()
    rows = audit(PANEL, costs=COSTS, resamples=20).summaries
    own = next(one for one in rows if one.agent == found.facts["agent"])
    assert_allclose(found.details[0].value.value, own.leave_one_out.value)


def test_a_learned_pool_keeps_the_weights_it_had():
    # The pool is one agent: when that turns, the pool does.
    alone = fragile(pool="best-agent")
    assert alone.details[-1].value.value > fragile().details[-1].value.value
