import numpy as np

from truepool import Features
from truepool_lab.paper.experiments.rare_attacks import RARE, subsample

LABELS = ("Normal Traffic", "DDoS", *RARE)


def test_fewer_rows_keep_every_rare_one():
    outcomes = np.repeat(np.arange(5), [500, 100, 3, 4, 5])
    rows = np.random.default_rng(0).permutation(len(outcomes))
    data = Features(
        np.arange(len(outcomes))[:, None].astype(float), outcomes, labels=LABELS
    ).take(rows)
    some = subsample(data, 200)
    assert len(some) == 200
    assert np.bincount(some.outcomes)[2:].tolist() == [3, 4, 5]
    assert len(np.unique(some.values)) == 200
