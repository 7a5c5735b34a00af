import numpy as np
from faults import COSTS, sound
from numpy.testing import assert_allclose

from truepool.audits import audit
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
