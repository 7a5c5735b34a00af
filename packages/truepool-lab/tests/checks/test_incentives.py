from types import SimpleNamespace

import pytest
from faults import COSTS, sound

from truepool.audits import audit
from truepool_lab.checks.incentives import describe
from truepool_lab.games import incentives

QUICK = {"costs": COSTS, "resamples": 50}


def findings_of(**settings):
    findings = audit(sound(), **QUICK, **settings).findings
    return [f for f in findings if f.code == "misreport-gain"]


def test_a_wrong_threshold_tempts_agents_to_correct_it():
    (finding,) = findings_of(threshold=0.5)
    assert finding.severity == "note"
    assert finding.figure == "details"
    # The threshold is moved first, and what is gained then is what is left to gain.
    most = incentives(sound(), "mean", COSTS).rows[0]
    assert finding.who == (most.agent,)
    assert finding.number.value == most.best.gain
    assert dict(finding.details)[most.agent] == finding.number
    assert "decisions would cost less" in finding.sentence


def test_lying_that_costs_the_pool_is_a_warning_unless_explained():
    (finding,) = findings_of(pool="externality")
    assert "agreeing with the others" in finding.sentence
    assert "at the pool's cost" in finding.sentence


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
