from types import SimpleNamespace

import numpy as np
from faults import COSTS, sound
from numpy.testing import assert_allclose
from simulated_faults import temperature

from truepool.audits import audit
from truepool.audits.topics.calibration import check
from truepool.core.arrays import from_log_scale, log_scale
from truepool.panel.panel import Panel

QUICK = {"costs": COSTS, "resamples": 50}


def pools(panel, **settings):
    finding = audit(panel, **QUICK, **settings)
    found = [
        f for f in finding.findings if f.code.endswith("pool") and f.p_value is not None
    ]
    return finding, {f.code: f for f in found}


def test_recalibrating_mends_the_mean_and_its_price_is_what_that_saves():
    finding, found = pools(sound())
    *_, pool, fixed = finding.calibration
    assert pool.p_value < 1e-6
    assert fixed.p_value > 0.01
    assert fixed.smooth_ece < pool.smooth_ece / 2
    saved = (
        finding.comparison["mean"].loss.value - finding.comparison["platt"].loss.value
    )
    assert_allclose(found["under-confident-pool"].cost.value, saved, atol=0.01)


def test_agents_that_are_off_are_not_called_calibrated():
    panel = sound()
    for agent in panel.agents:
        panel = temperature(panel, agent, 2.0)
    _, found = pools(panel)
    assert found["under-confident-pool"].sentence.startswith("The pool (mean) is")


def test_another_pool_is_called_by_its_name():
    _, found = pools(sound(), pool="median")
    assert "The pool (median) is under-confident" in next(iter(found.values())).sentence


def test_copies_of_one_over_confident_agent_make_an_over_confident_pool():
    one = temperature(sound(), "agent0", 0.4).reports[:, :1]
    rng = np.random.default_rng(0)
    jittered = from_log_scale(
        log_scale(one[..., None]) + 0.4 * rng.normal(size=(2000, 4, 1))
    )
    _, found = pools(Panel(jittered[..., 0], sound().outcomes))
    # Its agents explain it.
    assert found["over-confident-pool"].severity == "note"
    assert "may explain it: agent" in found["over-confident-pool"].sentence


def test_a_learned_pool_that_is_off_by_itself_is_an_error():
    rng = np.random.default_rng(0)
    z = rng.normal(-1, 1.2, (4000, 1))
    outcomes = (rng.random(4000) < 1 / (1 + np.exp(-z[:, 0]))).astype(int)
    reports = 1 / (1 + np.exp(-(z + 0.05 * rng.normal(size=(4000, 3)))))
    finding, found = pools(Panel(reports, outcomes), pool="bayes")
    assert found["over-confident-pool"].severity == "error"
    assert finding.worst() == "error"


def test_a_pool_whose_slope_is_below_0_is_reversed_and_not_over_confident():
    panel = sound()
    values = panel.reports.copy()
    values[:, 1:] = 1 - values[:, 1:]
    turned = Panel(values[:, :4], panel.outcomes)  # three of four: not the label
    _, found = pools(turned)
    assert set(found) == {"reversed-pool"}
    finding = found["reversed-pool"]
    assert finding.sentence.startswith(
        "The pool (mean) is reversed: the higher its probability, the less likely the "
        "event."
    )
    assert finding.unit == "calibration slope"
    assert finding.number.high < 0
    assert "Do not recalibrate the pool" in finding.advice


def test_a_biased_pool_of_biased_agents():
    panel = sound()
    shifted = from_log_scale(log_scale(panel.values) + 1.0)
    _, found = pools(panel.with_reports(shifted), pool="best-agent")
    assert found["biased-pool"].unit == "bias"
    assert found["biased-pool"].number.value > 0.05


def test_a_pool_that_cannot_be_judged_is_not():
    one = SimpleNamespace(p_value=None)
    panel = SimpleNamespace(agents=("ada",))
    unjudged = SimpleNamespace(panel=panel, compute=lambda quantity: (one, one))
    assert list(check(unjudged)) == []


def test_recalibrating_is_priced_apart_from_moving_the_threshold():
    _, right = pools(sound())
    _, wrong = pools(sound(), threshold=0.5)
    assert right["under-confident-pool"].cost == wrong["under-confident-pool"].cost
