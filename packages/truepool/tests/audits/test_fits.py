"""The audited pool is cross-validated once, and every check shares what it said.

Incentives, where truepool-lab is installed, are left out: they are a game of their own,
on fewer cases, in which the pool learns anew from every misreport.
"""

from collections import Counter

import numpy as np
import pytest

from truepool.audits import audit, checks, kinds
from truepool.audits.cross_validation import FOLDS
from truepool.datasets import example
from truepool.measures.folds import splits
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.interface import Pool

TIMED = Panel(example().reports, example().outcomes, times=np.arange(len(example())))


def key(panel):
    return panel.reports.tobytes(), panel.outcomes.tobytes()


@pytest.fixture
def training_sets(monkeypatch):
    """Count what pools of a name learn from."""
    learned = Counter()
    fit = Pool.learn

    def counted(self, panel, case_weights=None):
        learned[self.name, *key(panel)] += 1
        return fit(self, panel, case_weights)

    kinds.every()  # knows those of all checks
    every = {name: one for name, one in checks.every().items() if name != "incentives"}
    monkeypatch.setattr(checks, "every", lambda: every)
    monkeypatch.setattr(Pool, "learn", counted)
    return learned


@pytest.mark.parametrize("panel", [example(), TIMED], ids=["folds", "time"])
def test_each_fold_is_learned_once_by_the_audited_pool(training_sets, panel):
    finding = audit(panel, costs=Costs(fn=10, fp=1), pool="vcg", resamples=20)
    assert finding.comparison is not None
    pairs = splits(panel.outcomes, FOLDS, 0, times=panel.times)
    assert len(pairs) == FOLDS
    fits = [training_sets["vcg", *key(panel.take(learn))] for learn, _ in pairs]
    assert fits == [1] * FOLDS


def test_a_pool_that_learns_nothing_is_fitted_once_for_all_checks(training_sets):
    panel = example()
    audit(panel, pool="median", resamples=20)
    assert training_sets["median", *key(panel)] == 1
    for learn, _ in splits(panel.outcomes, FOLDS, 0):
        assert training_sets["median", *key(panel.take(learn))] == 0
