"""What a capacity costs, and what to do about it."""

import numpy as np
from faults import COSTS, sound
from numpy.testing import assert_allclose

from truepool.audits.evidence import Evidence
from truepool.audits.topics.capacity import check
from truepool.core.arrays import from_log_scale, log_scale
from truepool.measures.capacity import Capacity
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean


def found(panel, share):
    limit = Capacity.parse(share)
    evidence = Evidence(
        panel, Mean(costs=COSTS), COSTS, None, 0.95, 50, 0, capacity=limit
    )
    (finding,) = check(evidence)
    return finding


def test_a_limit_that_costs_something_may_be_worth_raising():
    finding = found(sound(cases=400), "5%")
    assert finding.number.value > 0
    assert "weigh more capacity against what the limit costs" in finding.advice


def test_more_capacity_is_not_advised_where_the_limit_saves():
    """Reports far too high: most of the positive decisions cost more than they save."""
    panel = sound(cases=400)
    high = from_log_scale(log_scale(panel.values) + 6.0)
    finding = found(panel.with_reports(high), "40%")
    assert finding.number.value < 0
    assert finding.advice.startswith("More capacity would not have paid")


def test_a_saving_that_may_be_chance_is_no_reason_against_more_capacity():
    panel = sound(cases=400)
    high = from_log_scale(log_scale(panel.values) + 0.5)
    finding = found(panel.with_reports(high), "90%")
    assert finding.number.low <= 0 <= finding.number.high
    assert "would not have made a significant difference" in finding.advice


def test_the_share_of_positives_counts_cases_by_their_weights():
    panel = sound(cases=100)
    weights = np.where(panel.outcomes == 1, 1.0, 3.0)
    weighted = Panel(panel.reports, panel.outcomes, weights=weights)
    evidence = Evidence(weighted, Mean(), COSTS, None, 0.95, 50, 0)
    ones, zeros = panel.outcomes.sum(), (1 - panel.outcomes).sum()
    assert_allclose(evidence.weighted_share, ones / (ones + 3 * zeros))
    assert Evidence(panel, Mean(), COSTS, None, 0.95, 50, 0).weighted_share is None
