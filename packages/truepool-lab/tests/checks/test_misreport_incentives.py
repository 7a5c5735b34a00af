import numpy as np
from faults import COSTS, sound
from panels import random_panel

from truepool.audits import audit
from truepool.audits.evidence import Evidence
from truepool.core.errors import SettingError
from truepool.panel.costs import Costs
from truepool.pools import configure
from truepool_lab.checks import incentives as topic
from truepool_lab.games import incentives

PANEL = sound(cases=300)


def gains_of(panel=PANEL, pool="mean", threshold=None, costs=COSTS):
    """What each agent would gain, in the details of a finding, if there is one."""
    rule = configure(pool, costs=costs, threshold=threshold, seed=0)
    evidence = Evidence(panel, rule, costs, threshold, 0.95, 50, 0)
    found = [candidate.details for candidate in topic.check(evidence)]
    return {one.name: one.value.value for details in found for one in details}


def test_gains_are_those_of_the_games():
    found = incentives(PANEL, "mean", COSTS, threshold=0.5)
    assert gains_of(threshold=0.5) == {
        agent: found[agent].best.gain for agent in PANEL.agents
    }


def test_a_pool_named_after_a_score_is_taken_to_pay_it():
    found = incentives(PANEL, "brier", COSTS, payment="brier")
    assert gains_of(pool="brier") == {
        agent: found[agent].best.gain for agent in PANEL.agents
    }


def test_many_classes_and_models_have_no_gains():
    many = random_panel(1, cases=60, classes=3)
    assert gains_of(many, costs=Costs()) == {}
    assert gains_of(pool="stacked-lr") == {}
    assert audit(PANEL, costs=COSTS, resamples=50, pool="stacked-lr").withheld == ()


def test_of_many_cases_some_are_sampled_and_it_is_said(monkeypatch):
    monkeypatch.setattr(topic, "LINEAR_CASES", 200)
    sampled = audit(PANEL, costs=COSTS, resamples=50).sampled
    assert "Estimated from 200 random cases: incentives." in sampled


def test_folds_that_cannot_be_made_leave_incentives_out(monkeypatch):
    def refuse(*args, **settings):
        raise SettingError("use fewer folds")

    monkeypatch.setattr(topic, "incentives", refuse)
    assert gains_of() == {}
    finding = audit(PANEL, costs=COSTS, resamples=50)
    assert np.isfinite(finding.agent_summaries[0].cost)
