"""What the docs of the audit state, and the seed that a failure is drawn by."""

import re
from pathlib import Path

import pytest
from faults import COSTS, sound
from numpy.testing import assert_allclose

from truepool.audits import audit
from truepool.audits.topics import comparison
from truepool.measures.losses import Loss
from truepool.stress.noise import RandomNoise


def test_the_documentation_lists_the_pools_that_an_audit_compares():
    docs = Path(__file__).parents[2] / "docs"
    listed = (docs / "audit.md").read_text().partition("compares the pool in use with")
    names = re.findall("`([a-z-]+)`", listed[2].partition(": one of each")[0])
    # The other tests of audits do without `auto`, which is slow.
    assert set(names) == {*comparison.POOLS, "auto"}


@pytest.mark.parametrize("seed", [0, 3])
def test_noise_of_a_failing_agent_is_drawn_by_the_seed_of_the_audit(seed):
    panel = sound(cases=300)
    study = audit(panel, costs=COSTS, resamples=20, seed=seed).robustness[1]
    assert study.what == "reports noise"
    noisy = RandomNoise()(panel, study.who, seed=seed)
    pooled = noisy.reports.mean(axis=1)[:, None]
    cost = Loss("cost", COSTS).evaluate(pooled, panel.outcomes).mean()
    assert_allclose(study.cost.value, cost)
