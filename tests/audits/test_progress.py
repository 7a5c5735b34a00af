"""What got better and worse since an earlier audit."""

import json

import pytest
from faults import COSTS, flipped, sound

from truepool.audits import audit
from truepool.audits.progress import compare_audits
from truepool.core.errors import SourceError
from truepool.render.verdict import changes

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
    assert "Better: `reversed` of agent1 is gone or less severe." in lines


def test_a_fault_that_is_new_is_worse(faulty):
    before = audit(sound(cases=500), **QUICK).to_dict()
    finding = audit(flipped(cases=500), **QUICK, since=before)
    assert finding.changes.worse[0].key == ("reversed", "agent1")
    assert any(
        line.startswith("Worse: agent1 is reversed") for line in changes(finding)
    )


def test_the_same_cases_have_no_change(faulty):
    finding = audit(flipped(cases=500), **QUICK, since=faulty)
    assert (finding.changes.worse, finding.changes.better) == ((), ())
    assert changes(finding)[-1] == "No error or warning came or went."


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
    with pytest.raises(SourceError, match=r"schema .*--json=FILE"):
        audit(sound(cases=40), since=earlier)
    with pytest.raises(SourceError, match="must be the JSON form"):
        compare_audits(earlier, ())
