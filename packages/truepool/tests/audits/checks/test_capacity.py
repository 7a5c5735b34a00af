"""What a capacity costs."""

import numpy as np
import pytest
from checked import evidence_of, found_by
from faults import sound
from numpy.testing import assert_allclose

from truepool.core.arrays import from_log_scale, log_scale
from truepool.panel.panel import Panel


@pytest.mark.parametrize(
    ("shift", "share", "sign"), [(0.0, "5%", 1), (6.0, "40%", -1), (0.5, "90%", 0)]
)
def test_its_number_is_what_the_limit_costs(shift, share, sign):
    """Reports far too high: most of the positive decisions cost more than they save."""
    panel = sound(cases=400)
    panel = panel.with_reports(from_log_scale(log_scale(panel.values) + shift))
    (found,) = found_by("capacity", panel, capacity=share)
    assert (found.severity, found.facts["form"]) == ("note", "cut")
    assert found.facts["decided"] < found.facts["wanted"]
    if sign:
        assert found.number.value * sign > 0
    else:
        assert found.number.low <= 0 <= found.number.high


def test_a_limit_that_all_decisions_fit_into_costs_nothing():
    (found,) = found_by("capacity", sound(cases=400), capacity="100%")
    assert (found.facts["form"], found.number) == ("fits", None)
    assert found.facts["decided"] == found.facts["wanted"]


def test_the_share_of_positives_counts_cases_by_their_weights():
    panel = sound(cases=100)
    weights = np.where(panel.outcomes == 1, 1.0, 3.0)
    weighted = Panel(panel.reports, panel.outcomes, weights=weights)
    ones, zeros = panel.outcomes.sum(), (1 - panel.outcomes).sum()
    assert_allclose(evidence_of(weighted).weighted_share, ones / (ones + 3 * zeros))
    assert evidence_of(panel).weighted_share is None
