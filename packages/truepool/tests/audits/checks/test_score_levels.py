"""Reports at a level that no probability has, and what is none of that."""

import numpy as np
import pytest
from checked import evidence_of, found_by, ill
from scipy.special import expit

from truepool.audits import audit
from truepool.audits.checks.score_levels import scores
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

CASES, RATE = 8000, 0.02


def panel_of(level=lambda odds: odds, outcomes=None, weights=None, seed=0):
    """Two calibrated agents, and one whose log-odds are moved to another level."""
    rng = np.random.default_rng(seed)
    y = (rng.random(CASES) < RATE).astype(int)
    own = (
        np.log(RATE / (1 - RATE)) + 2 * rng.normal(size=(CASES, 3)) + 4 * y[:, None] - 2
    )
    own[:, 2] = level(own[:, 2])
    return Panel(expit(own), y, times=np.arange(CASES), weights=weights)


def found(panel):
    return scores(evidence_of(panel, costs=Costs(fn=20)))


@pytest.mark.parametrize(
    ("shift", "expected"), [(0.0, ()), (2.0, ()), (5.0, (2,)), (7.0, (2,))]
)
def test_half_of_the_reports_must_be_ten_times_the_rate_or_more(shift, expected):
    """Log-odds that are 2 too high are a bias; 5 too high, nobody means a probability."""
    assert found(panel_of(lambda odds: odds + shift)) == expected


def test_a_level_that_changes_at_some_date_is_another_fault():
    late = np.arange(CASES) >= CASES // 2
    assert found(panel_of(lambda odds: np.where(late, odds + 6, odds))) == ()


def test_noise_at_a_high_level_is_no_score():
    rng = np.random.default_rng(5)
    assert found(panel_of(lambda odds: rng.permutation(odds) + 6)) == ()


def test_the_rate_is_that_of_the_weights():
    """Kept negatives stand for twenty each: at .1 % positive, a median of 7 % is far."""
    plain = panel_of(lambda odds: odds + 3.2)
    weights = np.where(plain.outcomes == 1, 1.0, 20.0)
    assert found(plain) == ()
    assert 2 in found(panel_of(lambda odds: odds + 3.2, weights=weights))


def test_it_is_the_diagnosis_instead_of_drift_or_a_stuck_feed():
    panel = panel_of(lambda odds: odds + 6)
    result = audit(panel, costs=Costs(fn=20), resamples=20)
    assert {who: code for who, (code, _) in ill(result).items()} == {
        "agent2": "not-a-probability"
    }
    own = {finding.code for finding in result.agents[2].evidence}
    assert not own & {"drifted", "constant-feed", "constant-run", "rescaled-feed"}


def test_its_facts_are_the_median_and_the_rate():
    panel = panel_of(lambda odds: odds + 6)
    (found,) = found_by("levels", panel, costs=Costs(fn=20))
    middle, rate = np.median(panel.reports[:, 2]), panel.outcomes.mean()
    assert found.facts == pytest.approx({"median": middle, "rate": rate}, abs=0.001)
