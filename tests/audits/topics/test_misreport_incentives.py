import numpy as np
from faults import COSTS, sound
from panels import random_panel

from truepool.audits import audit
from truepool.audits.topics import incentives as topic
from truepool.core.errors import SettingError
from truepool.games import incentives

QUICK = {"costs": COSTS, "resamples": 50}
PANEL = sound(cases=300)


def test_gains_are_those_of_the_games():
    finding = audit(PANEL, **QUICK, threshold=0.5)
    found = incentives(PANEL, "mean", COSTS, threshold=0.5)
    for one in finding.agent_summaries:
        assert one.gain == max(0.0, found[one.agent].best.gain)


def test_a_pool_named_after_a_score_is_taken_to_pay_it():
    finding = audit(PANEL, **QUICK, pool="brier")
    found = incentives(PANEL, "brier", COSTS, payment="brier")
    gains = [max(0.0, found[one.agent].best.gain) for one in finding.agent_summaries]
    assert [one.gain for one in finding.agent_summaries] == gains


def test_many_classes_and_models_have_no_gains():
    many = audit(random_panel(1, cases=60, classes=3), resamples=20)
    model = audit(PANEL, **QUICK, pool="stacked-lr")
    assert {one.gain for one in (*many.agent_summaries, *model.agent_summaries)} == {
        None
    }
    assert model.withheld == ()


def test_folds_that_cannot_be_made_leave_incentives_out(monkeypatch):
    def refuse(*args, **settings):
        raise SettingError("use fewer folds")

    monkeypatch.setattr(topic, "incentives", refuse)
    finding = audit(PANEL, **QUICK)
    assert finding.agent_summaries[0].gain is None
    assert np.isfinite(finding.agent_summaries[0].cost)
