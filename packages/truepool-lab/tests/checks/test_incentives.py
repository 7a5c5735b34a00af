from types import SimpleNamespace

import numpy as np
import pytest
from checked import candidates, evidence_of, found_by
from faults import COSTS, sound
from panels import random_panel

from truepool.audits import Note, audit
from truepool.core.errors import SettingError
from truepool.core.sentences import say
from truepool.panel.costs import Costs
from truepool_lab.checks import incentives as module
from truepool_lab.checks.incentives import describe, misreport_incentives
from truepool_lab.games import incentives

PANEL = sound(cases=300)


def gains_of(panel=PANEL, **settings):
    """What each agent would gain, in the details of a finding, if there is one."""
    found = [one.details for one in candidates("incentives", panel, **settings)]
    return {one.name: one.value.value for details in found for one in details}


def test_what_is_gained_is_what_is_left_once_the_threshold_is_moved():
    result = audit(sound(), costs=COSTS, threshold=0.5, resamples=20)
    (found,) = [f for f in result.findings if f.code == "misreport-gain"]
    assert (found.severity, found.unit) == ("note", "gain-in-costs")
    most = incentives(sound(), "mean", COSTS).rows[0]
    assert (found.facts["agent"], found.number.value) == (most.agent, most.best.gain)
    assert dict(found.details)[most.agent] == found.number


@pytest.mark.parametrize(
    ("pool", "form", "severity"), [("externality", "externality", "warning"), ("mean", "vcg", "note")]
)  # fmt: skip
def test_lying_that_costs_the_pool_is_a_warning(pool, form, severity):
    (found,) = found_by("incentives", sound(), pool=pool)
    assert (found.facts["form"], found.severity) == (form, severity)
    assert (found.facts["harm"] > 0) == (severity == "warning")
    assert found.facts["agent"] in say("finding", found.code, found.facts)


@pytest.mark.parametrize(
    ("family", "deviation", "words"),
    [
        ("shift", (0.2,), "all its reports shifted by +0.20"),
        ("affine", (-0.5, 2.0), "its log-odds times 2 -0.5"),
        ("threshold", (0.3,), "1 above 0.30, else 0"),
        ("threshold", (0.999,), "always 0"),
        ("threshold", (0.0,), "always 1"),
        ("truth", (), "in some folds"),
    ],
)
def test_lies_are_told_in_words(family, deviation, words):
    assert describe(SimpleNamespace(family=family, deviation=deviation)) == words


def test_gains_are_those_of_the_games():
    found = incentives(PANEL, "mean", COSTS, threshold=0.5)
    gains = {agent: found[agent].best.gain for agent in PANEL.agents}
    assert gains_of(threshold=0.5) == gains


def test_a_pool_named_after_a_score_is_taken_to_pay_it():
    found = incentives(PANEL, "brier", COSTS, payment="brier")
    gains = {agent: found[agent].best.gain for agent in PANEL.agents}
    assert gains_of(pool="brier") == gains


def test_many_classes_and_models_have_no_gains(monkeypatch):
    many = random_panel(1, cases=60, classes=3)
    assert gains_of(many, costs=Costs()) == {}
    assert gains_of(pool="stacked-lr") == {}

    def refuse(*args, **settings):
        raise SettingError("use fewer folds")

    monkeypatch.setattr(module, "incentives", refuse)
    assert gains_of() == {}
    result = audit(PANEL, costs=COSTS, resamples=20)
    assert np.isfinite(result.summaries[0].cost)
    assert result.withheld == ()


def test_of_many_cases_some_are_sampled_and_it_is_noted(monkeypatch):
    monkeypatch.setattr(module, "LINEAR_CASES", 200)
    evidence = evidence_of(PANEL)
    assert evidence.compute(misreport_incentives) is not None
    (note,) = evidence.sampling.notes
    assert note == Note("sampled-incentives", {"cases": 200})
    assert "200" in say("note", note.code, note.facts)
