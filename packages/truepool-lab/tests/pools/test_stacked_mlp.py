import numpy as np

from truepool import scores
from truepool.pools.stacked_lr import StackedLR
from truepool_lab.pools.stacked_mlp import StackedMLP


def test_a_network_learns_what_no_weights_can():
    # The second agent tells when the first one lies.
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 3000)
    lies = rng.integers(0, 2, 3000)
    first = np.where(outcomes ^ lies, 0.9, 0.1)
    reports = np.stack([first, np.where(lies, 0.9, 0.1)], axis=1)
    pool = StackedMLP().fit(reports[:2000], outcomes[:2000])
    line = StackedLR().fit(reports[:2000], outcomes[:2000])
    assert scores.loss(pool.predict_proba(reports[2000:]), outcomes[2000:]) < 0.02
    assert scores.loss(line.predict_proba(reports[2000:]), outcomes[2000:]) > 0.2
