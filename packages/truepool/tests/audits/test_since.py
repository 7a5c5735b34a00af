"""What got better and worse since an earlier audit: diagnoses, and agents' worth."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from faults import COSTS, flipped, sound
from simulated_faults import degradation, temperature

from truepool.audits import audit, kinds
from truepool.audits.since import check_earlier, compare_audits
from truepool.audits.values import DECISIVE, Audit, Diagnosis, Finding, plain_value
from truepool.comparison import Estimate
from truepool.core.errors import SourceError
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

QUICK = {"costs": COSTS, "resamples": 40}


def plain(result):
    return json.loads(json.dumps(result.to_dict(), allow_nan=False))


@pytest.fixture(scope="module")
def faulty():
    return plain(audit(flipped(cases=500), **QUICK, source="march.csv"))


@pytest.fixture(scope="module")
def healthy():
    return audit(sound(cases=500), **QUICK)


def moved(changes):
    """What happened to whom, but for worth."""
    return {
        (one.what, one.who, one.before, one.now)
        for one in changes.changes
        if one.what != "worth"
    }


def test_a_fault_that_was_fixed_is_gone(faulty):
    result = audit(sound(cases=500), **QUICK, since=faulty)
    assert ("gone", "agent1", "reversed", kinds.SOUND) in moved(result.changes)
    assert (result.changes.source, result.changes.date) == ("march.csv", faulty["date"])
    assert result.changes.cost.value == faulty["operations"][0]["cost"]["value"]
    assert result.changes.advised == faulty["plan"]["pool"]


def test_a_fault_that_was_not_there_is_new(healthy):
    result = audit(flipped(cases=500), **QUICK, since=plain(healthy))
    assert ("new", "agent1", kinds.SOUND, "reversed") in moved(result.changes)


def test_the_same_cases_have_no_change(faulty):
    result = audit(flipped(cases=500), **QUICK, since=faulty)
    assert result.changes.changes == ()
    assert result.changes.settings == ()
    assert result.changes.comparable


def test_the_outcome_has_a_diagnosis_that_may_change(faulty, healthy):
    panel = sound(cases=500)
    wrong = audit(Panel(panel.reports, 1 - panel.outcomes), **QUICK)
    found = compare_audits(plain(wrong), healthy)
    assert ("gone", "", "reversed-labels", kinds.SOUND) in moved(found)


def test_an_agent_that_is_not_audited_any_more_is_neither_better_nor_worse(faulty):
    panel = flipped(cases=500)
    kept = [name for name in panel.agents if name != "agent1"]
    result = audit(panel.select_agents(kept), **QUICK, since=faulty)
    assert result.changes.left_out == ("agent1",)
    assert "agent1" not in {one.who for one in result.changes.changes}
    assert result.changes.settings == ("agents",)


def test_an_agent_that_is_audited_for_the_first_time_has_not_changed(faulty):
    panel = flipped(cases=500)
    more = Panel(np.c_[panel.reports, 1 - panel.reports[:, 0]], panel.outcomes)
    result = audit(more, **QUICK, since=faulty)
    assert result.agents[5].code == "reversed"
    assert "agent5" not in {one.who for one in result.changes.changes}


def test_another_pool_in_use_is_not_compared_with_that_of_before(healthy):
    result = audit(sound(cases=500), **QUICK, pool="log-odds", since=plain(healthy))
    assert "pool" not in {one.subject for one in result.changes.changes}
    assert result.changes.settings == ("pool",)
    assert result.changes.pool == "mean"


# How a diagnosis moves


def one(code="over-confident", severity="warning", number=None, unit="slope"):
    """A diagnosis of agent1, by a finding with a number."""
    if code in (kinds.SOUND, kinds.UNTESTED):
        return Diagnosis("agent", "agent1", code)
    found = Finding(code, severity, ("agent1",), number=number, unit=unit)
    return Diagnosis("agent", "agent1", code, severity, found)


@pytest.fixture
def movement(healthy, monkeypatch):
    """What is said of agent1, whose diagnosis was one and is another."""
    same = plain(healthy)
    monkeypatch.setattr(Audit, "to_dict", lambda audit: same)  # without its sentences

    def compared(then, now):
        agents = [*same["agents"]]
        agents[1] = json.loads(json.dumps(plain_value(asdict(then))))
        audited = [*healthy.agents]
        audited[1] = now
        changes = compare_audits(
            same | {"agents": agents}, replace(healthy, agents=tuple(audited))
        ).changes
        assert {change.who for change in changes} <= {"agent1"}
        return [change.what for change in changes]

    return compared


def about(value, half=0.05):
    return Estimate(value, value - half, value + half)


@pytest.mark.parametrize(
    ("then", "now", "what"),
    [
        (one(number=about(0.5)), one(number=about(0.5)), []),
        (one(number=about(0.5)), one(number=about(0.52)), []),
        (one(number=about(0.5)), one(number=about(0.9)), ["better"]),
        (one(number=about(0.5)), one(number=about(0.2)), ["worse"]),
        (one("under-confident", number=about(2.0)),
         one("under-confident", number=about(1.2)), ["better"]),
        (one("biased", number=about(-0.1, 0.01), unit="bias"),
         one("biased", number=about(-0.2, 0.01), unit="bias"), ["worse"]),
        (one("copy", number=about(0.9999, 1e-6), unit="correlation"),
         one("copy", number=about(0.9998, 1e-6), unit="correlation"), []),
        (one("constant-feed", "error", about(90.0, np.nan), "identical-reports"),
         one("constant-feed", "error", about(190.0, np.nan), "identical-reports"), []),
        (one("no-reports"), one("no-reports"), []),
    ],
)  # fmt: skip
def test_a_fault_is_larger_only_if_its_number_left_the_interval_it_had(
    movement, then, now, what
):
    assert movement(then, now) == what


@pytest.mark.parametrize("severity", ["warning", "error"])
def test_a_fault_that_is_only_more_certain_than_before_is_not_worse(movement, severity):
    then = one(severity="warning", number=about(0.5, 0.2))
    now = one(severity=severity, number=about(0.5, 0.01))
    assert movement(then, now) == movement(now, then) == []


@pytest.mark.parametrize(
    ("then", "now", "what"),
    [
        (one(kinds.SOUND), one(kinds.SOUND), []),
        (one(kinds.SOUND), one("biased"), ["new"]),
        (one("biased"), one(kinds.SOUND), ["gone"]),
        (one("biased"), one(kinds.UNTESTED), []),
        (one(kinds.UNTESTED), one(kinds.SOUND), []),
        (one(kinds.UNTESTED), one("biased"), ["new"]),
        (one("biased"), one("constant-feed", "error"), ["worse"]),
        (one("constant-feed", "error"), one("biased"), ["better"]),
        (one("biased"), one("copy"), ["worse"]),
        (one("copy"), one("biased"), ["better"]),
    ],
)
def test_another_fault_is_worse_by_its_severity_and_then_by_the_order_of_diagnosis(
    movement, then, now, what
):
    assert movement(then, now) == what


def test_a_fault_that_cannot_be_judged_any_more_is_not_gone(faulty):
    panel = flipped(cases=500)
    few = audit(panel.take(np.arange(20)), **QUICK, since=faulty)
    assert "gone" not in {one.what for one in few.changes.changes}


@pytest.mark.parametrize("heat", [0.3, 0.9])
def test_an_over_confident_agent_that_is_cooled_is_better_by_its_slope(heat):
    strong = sound(cases=1500, skills=[2.0, 0.3, 0.3])
    before, now = (
        audit(temperature(strong, "agent0", T), **QUICK, pool="best-agent")
        for T in (0.3, heat)
    )
    found = moved(compare_audits(plain(before), now))
    own = [what for what, who, *_ in found if who == "agent0"]
    assert own == ([] if heat == 0.3 else ["gone"])


# Worth


def test_an_agent_that_became_noise_is_worth_less(healthy):
    """The interval of the change is that of a difference of two estimates."""
    panel = sound(cases=1500, skills=[2.0, 1.0, 0.8])
    before = audit(panel, **QUICK, pool="platt")
    noisy = degradation(panel, "agent0", at=0.0, seed=0)
    now = audit(noisy, **QUICK, pool="platt", since=plain(before))
    worth = {one.who: one.worth for one in now.changes.changes if one.what == "worth"}
    assert worth.keys() >= {"agent0"}
    gap = now.summaries[0].worth.value - before.summaries[0].worth.value
    assert worth["agent0"].value == pytest.approx(gap)
    assert worth["agent0"].high < 0
    half = [(w.high - w.low) / 2 for w in (
        now.summaries[0].worth, before.summaries[0].worth
    )]  # fmt: skip
    reach = (worth["agent0"].high - worth["agent0"].low) / 2
    assert reach == pytest.approx(np.hypot(*half))


def test_worth_in_another_pool_is_not_compared(healthy):
    then = plain(healthy)
    for summary in then["summaries"]:
        summary["worth"] = {"value": 999.0, "low": 998.0, "high": 1000.0}
    assert len(compare_audits(then, healthy).changes) == 5
    then["plan"]["pool"] = "vcg"
    assert compare_audits(then, healthy).changes == ()


def test_worth_that_was_not_known_has_not_changed(healthy):
    then = plain(healthy)
    for summary in then["summaries"]:
        summary["worth"] = None
    assert compare_audits(then, healthy).changes == ()


# Settings


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"costs": Costs(fn=50, fp=1)}, ("costs", "threshold")),
        ({"pool": "median"}, ("pool",)),
        ({"threshold": 0.4}, ("threshold",)),
        ({"capacity": "20%"}, ("capacity",)),
        ({"level": 0.9, "seed": 1}, ("confidence level", "seed")),
    ],
)
def test_settings_that_differ_are_named(faulty, settings, names):
    result = audit(flipped(cases=500), **QUICK | settings, since=faulty)
    assert result.changes.settings == names
    assert result.changes.comparable == (not {*names} & {*DECISIVE})


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"costs": {"currency": "EUR"}}, "currency"),
        ({"costs": {"fn": 50.0}}, "costs"),
        ({"threshold": 0.4}, "threshold"),
        ({"outcome_labels": {"positive": "no"}}, "positive label"),
        ({"capacity": {"capacity": "20 %"}}, "capacity"),
        ({"weighting": ["weight"]}, "weights"),
        ({"weighting": ["propensity"]}, "propensity"),
    ],
)
def test_audits_that_measure_different_things_are_not_compared(
    faulty, healthy, settings, why
):
    same = plain(healthy)
    before = faulty | {"costs": same["costs"], "threshold": same["threshold"]}
    for key, value in settings.items():
        own = before.get(key)
        before[key] = own | value if isinstance(own, dict) else value
    found = compare_audits(before, healthy)
    assert found.settings == (why,)
    assert (found.comparable, found.changes) == (False, ())
    assert moved(compare_audits(faulty, healthy)), "else they are"


def test_labels_weights_and_folds_that_differ_are_named(faulty):
    panel = flipped(cases=500)
    names = np.where(panel.outcomes == 1, "bad", "good")
    other = Panel(panel.reports, names, positive="bad", times=np.arange(500),
                  weights=np.arange(1.0, 501.0))  # fmt: skip
    result = audit(other, **QUICK, since=faulty)
    assert result.changes.settings == ("positive label", "weights", "validation")


def test_propensities_groups_and_segments_that_differ_are_named(faulty):
    panel = flipped(cases=500)
    other = Panel(
        panel.reports, panel.outcomes, propensity=np.full(500, 0.5),
        groups=np.arange(500) % 50, columns={"site": np.arange(500) % 2},
    )  # fmt: skip
    now = audit(other, **QUICK, by="site", since=faulty)
    assert now.weighting == ("propensity",)
    assert now.changes.settings == ("propensity", "groups", "segments")


# What is no audit


@pytest.mark.parametrize(
    "earlier",
    [{}, {"schema": 1}, {"schema": 5, "findings": []}, {"schema": 6, "plan": {}}],
)
def test_what_is_no_audit_is_refused_before_anything_is_computed(earlier, monkeypatch):
    monkeypatch.setattr("truepool.audits.auditor.find_suspects", None)
    with pytest.raises(SourceError):
        audit(sound(cases=40), since=earlier)


def test_the_json_form_of_an_audit_is_one(faulty):
    check_earlier(faulty)
    few = plain(audit(sound(cases=20), **QUICK))
    check_earlier(few)
    result = audit(sound(cases=500), **QUICK, since=few)
    assert result.changes.cost is None
