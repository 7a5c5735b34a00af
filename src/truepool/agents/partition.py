"""Silos: which agent sees which features."""

from math import ceil

import numpy as np

from truepool.arrays import IntArray
from truepool.errors import SettingError


def feature_silos(
    features: int, agents: int, share: float, seed: int = 42
) -> list[IntArray]:
    """Draw for each agent in turn ceil(share * features) columns without replacement.

    As in sec:experiments of the paper, which draws 60 % with ``RandomState(42)``;
    silos may overlap.

    >>> [silo.tolist() for silo in feature_silos(5, 2, 0.6)]
    [[1, 2, 4], [1, 2, 3]]
    """
    if not 0 < share <= 1:
        raise SettingError(
            f"the share of features an agent sees must lie in (0, 1]; it is {share!r}"
        )
    # The legacy generator on purpose: it is the one that drew the paper's silos.
    rng = np.random.RandomState(seed)
    size = ceil(share * features)
    return [np.sort(rng.choice(features, size, replace=False)) for _ in range(agents)]
