"""Reports at a level that no probability has, and what is none of that."""

import numpy as np
import pytest
from scipy.special import expit

from truepool.audits import audit
from truepool.audits.evidence import Evidence
from truepool.audits.topics.score_levels import scores
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean

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
    costs = Costs(fn=20, fp=1)
    return scores(Evidence(panel, Mean(costs=costs), costs, None, 0.95, 20, 0))


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


def test_it_is_said_instead_of_drift_or_a_stuck_feed():
    result = audit(panel_of(lambda odds: odds + 6), costs=Costs(fn=20), resamples=20)
    own = {f.code for f in result.findings if f.who == ("agent2",)}
    assert "not-a-probability" in own
    assert not own & {"drifted", "constant-feed", "constant-run", "rescaled-feed"}
