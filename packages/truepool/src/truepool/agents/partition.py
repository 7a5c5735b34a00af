"""Silos: which agent sees which features, or learns from which cases."""

from collections.abc import Sequence
from itertools import combinations
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import IntArray
from truepool.core.errors import SettingError
from truepool.core.seeds import short_seed
from truepool.measures.folds import stratify


def feature_silos(
    features: int, agents: int, share: float, seed: int = 42
) -> list[IntArray]:
    """Draw for each agent in turn ceil(share * features) columns without replacement.

    As in sec:experiments of the paper, which draws 60 % with ``RandomState(42)``, the
    same for every experimental seed; silos may overlap.

    >>> [silo.tolist() for silo in feature_silos(5, 2, 0.6)]
    [[1, 2, 4], [1, 2, 3]]
    """
    if not 0 < share <= 1:
        raise SettingError(
            f"the share of features an agent sees must lie in (0, 1]; got {share!r}"
        )
    # The legacy generator on purpose: it is the one that drew the paper's silos.
    rng = np.random.RandomState(short_seed(seed))
    size = ceil(share * features)
    return [np.sort(rng.choice(features, size, replace=False)) for _ in range(agents)]


def overlap(silos: Sequence[ArrayLike]) -> float:
    r"""Mean Jaccard similarity of two silos, :math:`|A \cap B| / |A \cup B|`.

    >>> overlap([[0, 1, 2], [1, 2, 3]])
    0.5
    """
    if len(silos) < 2:
        raise SettingError(f"an overlap needs at least 2 silos; got {len(silos)}")
    sets = [frozenset(np.asarray(silo).tolist()) for silo in silos]
    pairs = [len(a & b) / len(a | b) for a, b in combinations(sets, 2)]
    return float(np.mean(pairs))


def case_silos(outcomes: ArrayLike, agents: int, seed: int = 0) -> list[IntArray]:
    """Split the cases between the agents, class by class.

    >>> [silo.tolist() for silo in case_silos([0, 0, 1, 1, 0, 1], 2)]
    [[0, 3, 5], [1, 2, 4]]
    """
    labels = np.asarray(outcomes)
    if agents < 1:
        raise SettingError(f"there must be at least 1 silo; got {agents}")
    part = stratify(labels, agents, seed)
    silos = [np.flatnonzero(part == i) for i in range(agents)]
    for i, silo in enumerate(silos):
        if len(np.unique(labels[silo])) < 2:
            kinds, counts = np.unique(labels, return_counts=True)
            counted = ", ".join(
                f"{count} x {kind}"
                for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)
            )
            raise SettingError(
                "every silo must hold at least two classes; splitting cases of "
                f"{counted} into {agents} silos leaves silo {i} with fewer. Use "
                "fewer silos."
            )
    return silos
