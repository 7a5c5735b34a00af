from functools import cache

from faults import COSTS, sound
from numpy.testing import assert_allclose
from panels import random_panel

from truepool.audits import audit
from truepool.data.labels import Labels
from truepool.measures.losses import Loss
from truepool.stress.label_flip import LabelFlip

PANEL = sound(cases=500)


@cache
def audited():
    return audit(PANEL, costs=COSTS, resamples=50)


def test_the_best_agent_is_the_one_that_changes():
    brier = ((PANEL.reports - PANEL.outcomes[:, None]) ** 2).mean(axis=0)
    assert {study.who for study in audited().robustness} == {f"agent{brier.argmin()}"}
    assert [study.what for study in audited().robustness] == [
        "stops reporting",
        "reports noise",
        "always reports near 0",
        "reports the opposite",
    ]


def test_among_three_classes_it_is_said_which_one_a_constant_report_is_for():
    panel = random_panel(1, cases=120, classes=3)
    named = panel.with_labels(Labels(("sepsis", "flu", "none")))
    said = [study.what for study in audit(named, resamples=20).robustness]
    assert "is always nearly sure of sepsis" in said
    assert not [what for what in said if "near 0" in what]


def test_costs_are_those_of_the_stressed_panel():
    study = audited().robustness[-1]
    flipped = LabelFlip()(PANEL, study.who)
    loss = Loss("cost", COSTS)
    before, after = (
        loss.evaluate(p.reports.mean(axis=1)[:, None], PANEL.outcomes).mean()
        for p in (PANEL, flipped)
    )
    assert_allclose(study.cost.value, after)
    assert_allclose(study.rise.value, after - before)
    assert study.rise.low <= study.rise.value <= study.rise.high


def test_silence_costs_what_leave_one_out_credit_says():
    study = audited().robustness[0]
    own = next(one for one in audited().agent_summaries if one.agent == study.who)
    assert_allclose(study.rise.value, own.leave_one_out.value)


def test_a_learned_pool_keeps_the_weights_it_had():
    finding = audit(PANEL, costs=COSTS, resamples=50, pool="best-agent")
    worst = finding.robustness[-1]
    # All hangs on one agent: when it turns, the pool does.
    assert worst.rise.value > audited().robustness[-1].rise.value
