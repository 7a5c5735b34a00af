import numpy as np
import pytest
from checked import found_by, of
from faults import COSTS, sound
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from truepool.audits import audit
from truepool.audits.checks.threshold import best_threshold
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

PANEL = sound()


def findings_of(panel=PANEL, **settings):
    return found_by("threshold in use", panel, **settings)


def test_its_cost_is_the_difference_of_the_two_thresholds():
    (found,) = findings_of(threshold=0.5)
    pooled = PANEL.reports.mean(axis=1)[:, None]
    at, at_implied = (
        Loss("cost", COSTS, line).evaluate(pooled, PANEL.outcomes).mean()
        for line in (0.5, None)
    )
    assert (found.code, found.severity) == ("threshold", "error")
    assert_allclose(found.saving.value, 1000 * (at - at_implied))
    assert found.facts["ratio"] == 1.0, "what a missed case costs at 0.5"


def test_a_wrong_threshold_is_the_diagnosis_of_the_pool_and_is_moved():
    result = audit(PANEL, costs=COSTS, threshold=0.5, resamples=50)
    assert result.pool.code == "threshold"
    (step,) = result.plan.steps
    assert step.arguments["threshold"] == pytest.approx(COSTS.threshold)
    assert step.saving.low > 0


@pytest.mark.parametrize("line", [None, COSTS.threshold])
def test_the_costs_own_threshold_is_right(line):
    assert findings_of(threshold=line) == []


def test_zero_is_a_threshold_too():
    (found,) = findings_of(threshold=0.0)
    assert (found.facts["line"], found.facts["ratio"]) == (0.0, None)
    assert found.facts["implied"] == pytest.approx(1 / 6)


def test_a_threshold_that_does_better_than_the_implied_one_is_a_note():
    (found,) = findings_of(threshold=0.22)
    assert (found.code, found.severity) == ("implied-threshold", "note")
    assert found.saving.value < 0


def test_few_cases_make_it_a_note_without_an_interval():
    rng = np.random.default_rng(0)
    few = Panel(rng.uniform(0.2, 0.4, (12, 2)), np.arange(12) % 2)
    (found,) = findings_of(few, threshold=0.5)
    assert (found.severity, found.p_value, found.saving) == ("note", None, None)


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


def test_the_best_threshold_is_pointed_out_where_it_saves_for_sure():
    """All reports are too high: the pool is to be recalibrated."""
    panel = sound()
    odds = np.log(panel.reports / (1 - panel.reports)) + 2
    high = Panel(1 / (1 + np.exp(-odds)), panel.outcomes)
    (found,) = found_by("thresholds", high)
    assert (found.code, found.saving.low > 0) == ("other-threshold", True)
    assert found.facts["best"] > 0.3 > found.facts["line"]
    result = audit(high, costs=COSTS, resamples=50)
    assert result.pool.code == "biased-pool"
    assert of("other-threshold", result.pool.evidence)


def test_a_threshold_that_chance_picked_is_not_pointed_out():
    for seed in range(6):
        assert found_by("thresholds", sound(seed, 150), pool="platt") == []
