import numpy as np
import pytest
from checked import candidates, found_by, of
from faults import COSTS, sound
from numpy.testing import assert_allclose
from simulated_faults import temperature

from truepool.audits import audit
from truepool.core.arrays import from_log_scale, log_scale
from truepool.panel.panel import Panel

QUICK = {"costs": COSTS, "resamples": 50}


def finding_of(panel, **settings):
    (found,) = found_by("calibration of the pool", panel, **settings)
    return found


def test_recalibrating_mends_the_mean_and_saves_what_platt_saves():
    result = audit(sound(), **QUICK)
    *_, pool, fixed = result.calibration
    assert pool.p_value < 1e-6
    assert fixed.p_value > 0.01
    assert fixed.smooth_ece < pool.smooth_ece / 2
    (found,) = of("under-confident-pool", result.findings)
    rows = result.comparison
    saved = rows["mean"].loss.value - rows["platt"].loss.value
    assert_allclose(found.saving.value, 1000 * saved, atol=10)
    # Moving the threshold is another finding: the two savings add up.
    (moved,) = of(
        "under-confident-pool", audit(sound(), threshold=0.5, **QUICK).findings
    )
    assert moved.saving == found.saving


def test_copies_of_one_over_confident_agent_make_an_over_confident_pool():
    one = temperature(sound(), "agent0", 0.4).reports[:, :1]
    rng = np.random.default_rng(0)
    jittered = from_log_scale(
        log_scale(one[..., None]) + 0.4 * rng.normal(size=(2000, 4, 1))
    )
    found = finding_of(Panel(jittered[..., 0], sound().outcomes), pool="median")
    assert (found.code, found.facts["pool"]) == ("over-confident-pool", "median")
    assert found.number.high < 1


def test_a_learned_pool_that_is_off_by_itself_is_an_error():
    rng = np.random.default_rng(0)
    z = rng.normal(-1, 1.2, (4000, 1))
    outcomes = (rng.random(4000) < 1 / (1 + np.exp(-z[:, 0]))).astype(int)
    reports = 1 / (1 + np.exp(-(z + 0.05 * rng.normal(size=(4000, 3)))))
    found = finding_of(Panel(reports, outcomes), pool="bayes")
    assert (found.code, found.severity) == ("over-confident-pool", "error")


def test_a_pool_whose_slope_is_below_0_is_reversed_and_not_over_confident():
    panel = sound()
    values = panel.reports.copy()
    values[:, 1:] = 1 - values[:, 1:]
    turned = Panel(values[:, :4], panel.outcomes)  # three of four: not the label
    found = finding_of(turned)
    assert (found.code, found.severity, found.unit) == (
        "reversed-pool",
        "error",
        "slope",
    )
    assert found.number.high < 0


@pytest.mark.parametrize("shift", [1.0, -1.0])
def test_a_biased_pool_of_biased_agents(shift):
    panel = sound()
    shifted = from_log_scale(log_scale(panel.values) + shift)
    found = finding_of(panel.with_reports(shifted), pool="best-agent")
    assert (found.code, found.unit) == ("biased-pool", "bias")
    assert found.number.value * shift > 0.05
    assert found.facts["high"] == (shift > 0)


def test_a_pool_that_cannot_be_judged_is_not():
    assert candidates("calibration of the pool", sound(cases=20)) == []
