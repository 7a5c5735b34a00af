import numpy as np
from faults import COSTS, sound
from numpy.testing import assert_allclose
from sklearn.metrics import brier_score_loss, roc_auc_score

from truepool.audits import audit
from truepool.core.arrays import from_log_scale, log_scale
from truepool.data.panel import Panel
from truepool.measures.credit import leave_one_out

QUICK = {"costs": COSTS, "resamples": 50}


def noisy(cases=3000):
    base = sound(cases=cases)
    rng = np.random.default_rng(1)
    # Says 30 % on average, as often as it happens, but knows nothing.
    guess = rng.beta(1, 7 / 3, (cases, 1))
    return Panel(np.hstack([base.reports, guess]), base.outcomes)


def test_an_agent_that_knows_nothing_and_harms_is_found_at_its_cost():
    panel = noisy()
    finding = audit(panel, **QUICK)
    found = {f.who: f for f in finding.findings if f.code == "harmful"}
    one = found["agent5",]
    assert "knows less than the base rate" in one.sentence
    credit = leave_one_out(panel, loss="cost", costs=COSTS)
    assert_allclose(one.cost.value, -credit[5])


def test_skilled_agents_in_a_timid_mean_are_excused():
    finding = audit(sound(1), **QUICK)
    found = [f for f in finding.findings if f.code == "harmful"]
    assert all(f.severity == "note" for f in found)
    assert all("under-confident-pool" in f.sentence for f in found)


def too_high():
    """The last agent ranks cases well, but its log-odds are 3 too high."""
    panel = sound(cases=3000)
    values = panel.values.copy()
    values[:, 4] = from_log_scale(log_scale(values[:, 4]) + 3)
    return panel.with_reports(values)


def test_a_good_agent_that_is_off_in_level_is_to_be_recalibrated_and_kept():
    panel = too_high()
    result = audit(panel, **QUICK)
    about = [f for f in result.findings if f.who == ("agent4",)]
    one = next(f for f in about if f.code == "needs-recalibration")
    area = roc_auc_score(panel.outcomes, panel.reports[:, 4])
    own = brier_score_loss(panel.outcomes, panel.reports[:, 4])
    base = panel.outcomes.mean() * (1 - panel.outcomes.mean())
    assert own > base
    assert f"ranks cases well (AUC {area:.3f})" in one.sentence
    assert f"({own:.3f}) is worse than the base rate's ({base:.3f})" in one.sentence
    assert not any(f.code == "harmful" for f in about)
    assert "knows less" not in result.to_markdown()
    assert "take agent4 out" not in result.advice
    assert "Leave agent4 out" not in result.to_markdown()
