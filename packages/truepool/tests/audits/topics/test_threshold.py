import re

import numpy as np
import pytest
from faults import COSTS, sound
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from truepool.audits import audit
from truepool.audits.topics.threshold import best_threshold
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

PANEL = sound()


def findings_of(panel=PANEL, **settings):
    findings = audit(panel, costs=COSTS, resamples=50, **settings).findings
    return [f for f in findings if f.code in ("threshold", "implied-threshold")]


def test_its_cost_is_the_difference_of_the_two_thresholds():
    (finding,) = findings_of(threshold=0.5)
    pooled = PANEL.reports.mean(axis=1)[:, None]
    at, at_implied = (
        Loss("cost", COSTS, line).evaluate(pooled, PANEL.outcomes).mean()
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


@given(st.integers(0, 200))
def test_no_threshold_costs_less_than_the_best_one(seed):
    rng = np.random.default_rng(seed)
    p, y = rng.integers(0, 8, 25) / 8, rng.integers(0, 2, 25)
    costs = Costs(fn=float(rng.integers(1, 9)), fp=1)
    best = best_threshold(p, y, costs, np.ones(25))

    def cost(line):
        return np.where(p > line, costs.fp * (1 - y), costs.fn * y).mean()

    tried = [cost(line) for line in np.linspace(0, 1, 401)]
    assert_allclose(cost(best), min(tried))


def other_thresholds(panel, **settings):
    findings = audit(panel, costs=COSTS, resamples=50, **settings).findings
    return [f for f in findings if f.code == "other-threshold"]


def shifted(cases, offset):
    """Agents whose log-odds are all off by as much; others calibrated."""
    panel = sound(cases=cases)
    odds = np.log(panel.reports / (1 - panel.reports)) + offset
    return Panel(1 / (1 + np.exp(-odds)), panel.outcomes)


def test_the_best_threshold_is_pointed_out_where_it_saves_for_sure():
    (told,) = other_thresholds(shifted(2000, 2.0))
    assert told.cost.low > 0
    words = re.match(r"Deciding above ([.\d]+) instead of 0.167 would", told.sentence)
    assert float(words[1]) > 0.3, "the reports are too high"
    assert told.cause, "the pool's miscalibration is the root"


@pytest.mark.no_cover
def test_a_threshold_that_chance_picked_is_not_pointed_out():
    flagged = [
        bool(other_thresholds(sound(seed, 150), pool="platt")) for seed in range(3)
    ]
    assert not any(flagged)
