"""The regret of the printed algorithm does not stay below the bound that is claimed."""

import numpy as np
import pytest
from panels import stationary

from truepool import Panel, replay

pytestmark = pytest.mark.no_cover


def test_the_printed_algorithm_exceeds_the_growth_that_the_paper_claims():
    def rate(name, cases):
        trace = replay(name, stationary(cases), path=False)
        return trace.regret[-1] / np.sqrt(cases)

    # alg:vcg: regret / sqrt(T) keeps growing; exponentiated gradient's does not.
    assert rate("marginal", 100_000) > 3 * rate("marginal", 1_000)
    assert rate("gradient", 100_000) < 1.5 * max(rate("gradient", 1_000), 0.1)


def test_the_printed_algorithm_collapses_with_few_agents_and_freezes_with_many():
    few = replay("marginal", stationary(100_000), rate=0.1, path=False)
    assert few.effective_agents < 1.5
    rng = np.random.default_rng(0)
    truth = rng.uniform(0, 1, 20_000)
    outcomes = (rng.random(20_000) < truth).astype(int)
    noise = rng.normal(size=(20_000, 500)) * np.linspace(0.05, 0.6, 500)
    crowd = Panel(np.clip(truth[:, None] + noise, 0, 1), outcomes)
    frozen = replay("marginal", crowd, rate=0.5, path=False)
    corrected = replay("marginal", crowd, rate=0.5, uniform=True, path=False)
    assert frozen.effective_agents > 480
    assert 1.5 < corrected.effective_agents < 400


def test_the_printed_algorithm_stays_finite_for_a_million_cases():
    # With log loss and eta = .1 the printed formulas are NaN after about 11,500 cases.
    panel = stationary(1_000_000)
    clipped = Panel(np.clip(panel.reports, 1e-6, 1 - 1e-6), panel.outcomes)
    trace = replay("marginal", clipped, loss="log", rate=0.1, path=False)
    assert np.isfinite(trace.losses).all()
    assert np.isfinite(trace.state.weights).all()
