import re

import numpy as np
import pytest
from faults import COSTS, sound
from numpy.testing import assert_allclose

from truepool.audits import audit
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.measures.losses import Loss

PANEL = sound()


def findings_of(panel=PANEL, **settings):
    findings = audit(panel, costs=COSTS, resamples=50, **settings).findings
    return [f for f in findings if f.code in ("threshold", "implied-threshold")]


def test_its_cost_is_the_difference_of_the_two_thresholds():
    (finding,) = findings_of(threshold=0.5)
    pooled = PANEL.reports.mean(axis=1)[:, None]
    at, at_implied = (
        Loss("cost", COSTS, line).of(pooled, PANEL.outcomes).mean()
        for line in (0.5, None)
    )
    assert_allclose(finding.cost.value, at - at_implied)
    assert "a missed case at 1.00 false alarms" in finding.advice


@pytest.mark.parametrize("line", [None, COSTS.threshold])
def test_the_costs_own_threshold_is_right(line):
    assert findings_of(threshold=line) == []


def test_zero_is_a_threshold_too():
    (finding,) = findings_of(threshold=0.0)
    assert finding.advice == "Decide above 0.167."


def test_a_threshold_that_does_better_than_the_implied_one_is_a_note():
    (finding,) = findings_of(threshold=0.22)
    assert (finding.code, finding.severity) == ("implied-threshold", "note")
    assert finding.cost.value < 0


def test_few_cases_make_it_a_note_without_an_interval():
    rng = np.random.default_rng(0)
    few = Panel(rng.uniform(0.2, 0.4, (12, 2)), np.arange(12) % 2)
    (finding,) = findings_of(few, threshold=0.5)
    assert (finding.severity, finding.p_value, finding.cost) == ("note", None, None)


def test_large_costs_are_written_without_powers_of_ten():
    large = Costs(fn=3_000_000, fp=2500)
    finding = audit(PANEL, costs=large, threshold=0.5, resamples=50)
    words = " ".join(
        [f.sentence + f.advice for f in finding.findings] + [finding.advice]
    )
    assert re.search(r"costs \d{6} more per case", words)
    assert not re.search(r"\de[+-]\d", words)
