"""What got better and worse since an earlier audit."""

import json
from dataclasses import asdict, replace
from inspect import signature

import numpy as np
import pytest
from faults import COSTS, flipped, sound
from simulated_faults import temperature

from truepool.audits import audit
from truepool.audits.progress import compare_audits
from truepool.audits.values import Fix, Segment
from truepool.comparison import Estimate
from truepool.core.errors import SourceError
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.render.verdict import DEFAULT_POOL, changes

QUICK = {"costs": COSTS, "resamples": 20}


@pytest.fixture(scope="module")
def faulty():
    finding = audit(flipped(cases=500), **QUICK, source="march.csv")
    return json.loads(json.dumps(finding.to_dict()))


def test_a_fault_that_was_fixed_is_better(faulty):
    finding = audit(sound(cases=500), **QUICK, since=faulty)
    assert ("reversed", "agent1") in finding.changes.better
    assert finding.changes.trust == "no"
    assert finding.changes.source == "march.csv"
    assert finding.changes.cost == faulty["recommendation"]["cost_in_use"]
    lines = changes(finding)
    assert lines[0] == f"Since the audit of {faulty['date']} (march.csv):"
    assert "it cost" in lines[1]
    assert "Better: agent1: reversal is resolved or less severe." in lines


def test_a_fault_that_is_new_is_worse(faulty):
    before = audit(sound(cases=500), **QUICK).to_dict()
    finding = audit(flipped(cases=500), **QUICK, since=before)
    assert finding.changes.worse[0].key == ("reversed", "agent1")
    assert ("reversed", "agent1") in finding.changes.new
    assert any(line.startswith("New: agent1 is reversed") for line in changes(finding))


def test_the_same_cases_have_no_change(faulty):
    finding = audit(flipped(cases=500), **QUICK, since=faulty)
    assert (finding.changes.worse, finding.changes.better) == ((), ())
    assert changes(finding)[-1] == "No errors or warnings were added or resolved."


@pytest.fixture(scope="module")
def extreme():
    """An audit with one over-confident agent, and how its finding was graded before."""
    result = audit(temperature(sound(cases=600), "agent1", 0.3), **QUICK)
    (finding,) = [f for f in result.findings if f.key == ("over-confident", "agent1")]
    assert finding.severity in ("error", "warning")
    return result, finding


def graded_before(result, slope):
    """The same audit, with a note on the agent, and another slope of its reports."""
    earlier = json.loads(json.dumps(result.to_dict()))
    for finding in earlier["findings"]:
        if (finding["code"], finding["who"]) == ("over-confident", ["agent1"]):
            finding["severity"] = "note"
    (row,) = [row for row in earlier["calibration"] if row["who"] == "agent1"]
    row["slope"] = {"value": slope, "low": slope - 0.05, "high": slope + 0.05}
    return earlier


def test_a_fault_that_is_only_more_certain_than_before_is_not_worse(extreme):
    result, finding = extreme
    now = next(row for row in result.calibration if row.who == "agent1").slope
    found = compare_audits(graded_before(result, now.value - 0.01), result)
    assert (found.worse, found.better, found.certain) == ((), (), (finding,))
    lines = changes(replace(result, changes=found))
    assert lines[-1].startswith(
        "Graded higher, but not significantly larger: agent1 is over-confident"
    )


def test_a_fault_that_is_only_less_certain_than_before_is_the_same(extreme):
    result, finding = extreme
    now = next(row for row in result.calibration if row.who == "agent1").slope
    earlier = graded_before(result, now.value - 0.01)
    for row in earlier["findings"]:
        if (row["code"], row["who"]) == ("over-confident", ["agent1"]):
            row["severity"] = "error"
    less = replace(finding, severity="warning")
    others = tuple(f for f in result.findings if f is not finding)
    found = compare_audits(earlier, replace(result, findings=(less, *others)))
    assert (found.worse, found.better, found.certain) == ((), (), ())


@pytest.mark.parametrize(("shortage", "better"), [("too few cases", 0), (None, 1)])
def test_a_fault_of_a_segment_is_gone_only_if_the_segment_is_judged(
    extreme, shortage, better
):
    result, _ = extreme
    earlier = json.loads(json.dumps(result.to_dict()))
    fault = {**earlier["findings"][0], "code": "biased-segment", "who": []}
    earlier["findings"].append({**fault, "severity": "error", "unit": "in ward a"})
    wards = {"group": "a", "cases": 90, "positives": 9, "shortage": None}
    earlier["segments"] = [wards]
    now = Segment("a", 90, 9, shortage=shortage)
    found = compare_audits(earlier, replace(result, segments=(now,)))
    assert len(found.better) == better


def test_a_fault_that_shrank_but_is_graded_higher_is_not_better(extreme):
    result, finding = extreme
    found = compare_audits(graded_before(result, 0.05), result)
    assert (found.worse, found.better, found.certain) == ((), (), (finding,))


def test_a_fault_that_shrank_and_is_graded_lower_is_better(extreme):
    result, finding = extreme
    earlier = graded_before(result, 0.05)
    for row in earlier["findings"]:
        if (row["code"], row["who"]) == ("over-confident", ["agent1"]):
            row["severity"] = "error"
    less = replace(finding, severity="note")
    others = tuple(f for f in result.findings if f is not finding)
    found = compare_audits(earlier, replace(result, findings=(less, *others)))
    assert (found.worse, found.better, found.certain) == ((), (finding.key,), ())


def same_fault(result, then, now, *, pool="mean"):
    """A fault in two audits, the earlier one of this pool, and what changed."""
    finding = replace(result.findings[0], cause=(), **now)
    earlier = json.loads(json.dumps(replace(result, findings=(finding,)).to_dict()))
    earlier["findings"][0] |= then
    return finding, compare_audits(
        earlier | {"pool": pool}, replace(result, findings=(finding,))
    )


def close(value):
    return Estimate(value, value - 1e-6, value + 1e-6)


@pytest.mark.parametrize(
    ("then", "now", "certain"), [("note", "warning", 1), ("warning", "note", 0)]
)
@pytest.mark.parametrize("step", [-5e-6, 5e-6])
def test_a_duplicate_that_is_found_again_is_the_same(extreme, then, now, certain, step):
    """However precisely the correlation is known, and whatever its grade."""
    finding, found = same_fault(
        extreme[0],
        {"severity": then, "number": asdict(close(0.99994))},
        {
            "code": "copy",
            "who": ("agent2", "agent1"),
            "severity": now,
            "number": close(0.99994 + step),
            "unit": "correlation",
        },
        pool="auto",
    )
    assert (found.worse, found.better) == ((), ())
    assert found.certain == (finding,) * certain


@pytest.mark.parametrize(("pool", "moved"), [("auto", 0), ("mean", 1)])
@pytest.mark.parametrize(
    ("then", "now"),
    [
        ({"number": None}, {"number": None, "unit": ""}),
        (
            {"number": asdict(close(9.0))},
            {"number": close(1.0), "unit": "rise in the cost per case (EUR)"},
        ),
    ],
)
def test_costs_of_two_pools_do_not_make_a_fault_better(extreme, then, now, pool, moved):
    what = {"code": "drifted", "who": ("agent1",), "severity": "warning"}
    finding, found = same_fault(
        extreme[0], then | {"severity": "error"}, now | what, pool=pool
    )
    assert found.better == (finding.key,) * moved
    assert (found.worse, found.certain) == ((), ())


def test_a_fault_that_grew_is_worse(extreme):
    result, finding = extreme
    found = compare_audits(graded_before(result, 0.9), result)
    assert (found.worse, found.better, found.certain) == ((finding,), (), ())
    assert found.new == ()


def test_a_fault_that_was_not_found_before_is_never_better(extreme):
    """Bias may have been named then, and over-confidence now that it is smaller."""
    result, finding = extreme
    earlier = graded_before(result, 0.05)
    for other in earlier["findings"]:
        if (other["code"], other["who"]) == ("over-confident", ["agent1"]):
            other["code"] = "biased"
    found = compare_audits(earlier, result)
    assert finding in found.worse
    assert finding.key in found.new
    assert finding.key not in found.better


def test_a_fault_of_an_agent_that_is_new_is_worse(extreme):
    result, finding = extreme
    earlier = graded_before(result, 0.05)
    place = earlier["agents"].index("agent1")
    for rows in (earlier["agents"], earlier["calibration"]):
        del rows[place]
    kept = [f for f in earlier["findings"] if "agent1" not in f["who"]]
    found = compare_audits(earlier | {"findings": kept}, result)
    assert finding in found.worse
    assert found.better == ()


def test_a_fault_that_is_as_large_as_before_is_not_resolved(extreme):
    """Whether few cases show it is another question."""
    result, finding = extreme
    earlier = json.loads(json.dumps(result.to_dict()))
    others = tuple(f for f in result.findings if f != finding)
    assert compare_audits(earlier, replace(result, findings=others)).better == ()


def test_changes_reach_every_output(faulty):
    finding = audit(sound(cases=500), **QUICK, since=faulty)
    assert "Since the audit of" in finding.to_markdown()
    assert finding.to_dict()["changes"]["trust"] == "no"


def test_too_few_cases_then_or_now_leave_the_cost_out(faulty):
    few = faulty | {"recommendation": faulty["recommendation"] | {"cost_in_use": None}}
    finding = audit(sound(cases=500), **QUICK, since=few)
    assert not any("it cost" in line for line in changes(finding))


@pytest.mark.parametrize("earlier", [{}, {"schema": 1}, {"schema": 4, "findings": []}])
def test_what_is_no_audit_is_refused_before_anything_is_computed(earlier):
    with pytest.raises(SourceError, match=r"schema .*--json FILE"):
        audit(sound(cases=40), since=earlier)


def test_a_fault_of_an_agent_that_was_left_out_is_not_gone(faulty):
    panel = flipped(cases=500)
    kept = [0, 2, 3, 4]
    rest = Panel(
        panel.reports[:, kept], panel.outcomes, [panel.agents[i] for i in kept]
    )
    finding = audit(rest, **QUICK, since=faulty)
    assert finding.changes.left_out == ("agent1",)
    assert not any("agent1" in key for key in finding.changes.better)
    lines = changes(finding)
    assert "Findings about agent1, left out this time, do not count as gone." in lines
    assert any(line.startswith("The two audits differ in agents, so") for line in lines)


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
    finding = audit(flipped(cases=500), **QUICK | settings, since=faulty)
    assert finding.changes.settings == names
    assert any(line.startswith("The two audits differ in") for line in changes(finding))


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"currency": "EUR"}, "currency"),
        ({"costs": {"fn": 50.0}}, "costs"),
        ({"threshold": 0.4}, "threshold"),
        ({"outcome_labels": {"positive": "no"}}, "positive label"),
        ({"capacity": {"capacity": "20 %"}}, "capacity"),
        ({"weighting": ["weight"]}, "weights"),
        ({"weighting": ["propensity"]}, "propensity"),
    ],
)
def test_audits_that_measure_different_things_are_not_compared(faulty, settings, why):
    now = audit(sound(cases=120), **QUICK)
    settings = dict(settings)
    before = faulty | {"costs": now.to_dict()["costs"], "threshold": now.threshold}
    if "currency" in settings:
        settings["costs"] = {"currency": settings.pop("currency")}
    if "costs" in settings:
        settings["costs"] = before["costs"] | settings["costs"]
    found = replace(now, changes=compare_audits(before | settings, now))
    assert found.changes.better != ()
    assert changes(found)[1:] == [
        f"The two audits differ in {why}, so their costs and findings are not compared."
    ]


def test_the_earlier_cost_keeps_its_currency(faulty):
    costs = {"costs": faulty["costs"] | {"currency": "EUR"}}
    now = audit(sound(cases=120), **QUICK)
    assert compare_audits(faulty | costs, now).currency == "EUR"
    assert compare_audits(faulty, now).currency == ""


def test_labels_weights_and_folds_that_differ_are_named(faulty):
    panel = flipped(cases=500)
    names = np.where(panel.outcomes == 1, "bad", "good")
    other = Panel(panel.reports, names, positive="bad", times=np.arange(500),
                  weights=np.arange(1.0, 501.0))  # fmt: skip
    finding = audit(other, **QUICK, since=faulty)
    assert finding.changes.settings == ("positive label", "weights", "validation")


def test_propensities_groups_and_segments_that_differ_are_named(faulty):
    panel = flipped(cases=500)
    other = Panel(
        panel.reports,
        panel.outcomes,
        propensity=np.full(500, 0.5),
        groups=np.arange(500) % 50,
        columns={"site": np.arange(500) % 2},
    )
    now = audit(other, **QUICK, by="site", since=faulty)
    assert now.weighting == ("propensity",)
    assert now.changes.settings == ("propensity", "groups", "segments")


def test_audits_from_before_weights_and_propensities_were_told_apart(faulty):
    old = {key: value for key, value in faulty.items() if key != "weighting"}
    now = replace(audit(flipped(cases=500), **QUICK), weighting=("propensity",))
    assert compare_audits(old, now).settings == ()
    assert compare_audits(old, replace(now, weighted_share=0.3)).settings == (
        "weights",
    )


@pytest.mark.parametrize("pool", ["mean", "median"])
def test_figures_of_two_pools_are_those_of_pools_that_are_named(extreme, pool):
    result, _ = extreme
    earlier = json.loads(json.dumps(result.to_dict()))
    fault = {**earlier["findings"][0], "code": "biased-pool", "who": []}
    earlier["findings"].append({**fault, "severity": "error", "unit": "then"})
    earlier["pool"] = pool
    found = compare_audits(earlier, result)
    text = " ".join(changes(replace(result, changes=found)))
    other = pool != result.pool
    assert f"{pool}, in use then, cost" in text or not other
    assert (f"less severe (then {pool}, now {result.pool})" in text) is other
    assert ("The pool in use costs" in text) is not other


HINT = "If you use auto by now, pass --pool auto."


@pytest.mark.parametrize(
    ("then", "advised", "audited", "now", "line"),
    [
        ("mean", "auto", "mean", "mean",
         f"The earlier audit advised auto; now: keep mean. {HINT}"),
        ("mean", "auto", "mean", "platt",
         f"The earlier audit advised auto; now: use platt. {HINT}"),
        ("mean", "auto", "mean", "auto", f"The earlier audit advised auto. {HINT}"),
        ("mean", "auto", "mean", None, f"The earlier audit advised auto. {HINT}"),
        ("auto", "auto", "mean", "mean",
         f"The earlier audit advised auto; now: keep mean. {HINT}"),
        ("mean", "auto", "auto", "auto", ""),
        ("mean", "auto", "auto", "platt",
         "The earlier audit advised auto; now: use platt."),
        ("mean", "mean", "auto", "auto",
         "The earlier audit advised mean; now: keep auto."),
        ("mean", "mean", "mean", "mean", ""),
        ("mean", None, "mean", "mean", ""),
    ],
)  # fmt: skip
def test_advice_that_changed_or_may_have_been_followed_is_said(
    extreme, then, advised, audited, now, line
):
    """An audit judges `mean` unless told that its advice was followed."""
    result, _ = extreme
    earlier = json.loads(json.dumps(result.to_dict()))
    earlier["pool"], earlier["recommendation"]["pool"] = then, advised
    plan = replace(result.recommendation, in_use=audited, pool=now, fixes=())
    current = replace(result, pool=audited, recommendation=plan)
    found = compare_audits(earlier, current)
    assert found.advised == advised
    lines = changes(replace(current, changes=found))
    assert [one for one in lines if "earlier audit" in one] == ([line] if line else [])


def test_a_pool_at_fault_is_not_said_to_be_kept(extreme):
    result, _ = extreme
    earlier = json.loads(json.dumps(result.to_dict()))
    earlier["recommendation"]["pool"] = "auto"
    fault = Fix("biased-pool", (), "error")
    plan = replace(result.recommendation, pool=result.pool, fixes=(fault,))
    current = replace(result, recommendation=plan)
    text = " ".join(changes(replace(current, changes=compare_audits(earlier, current))))
    assert "advised auto; now no pool costs significantly less than mean." in text
    assert "keep" not in text


def test_the_pool_that_is_audited_by_default():
    assert signature(audit).parameters["pool"].default == DEFAULT_POOL
