"""Draws by axis: asking for more of one thing leaves the draws of the rest alone."""

from collections.abc import Sequence

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError

OUTCOMES, SHARED, OWN, BABBLE, WAYS, CHOICE, JITTER = range(7)
"""Axes that are drawn apart from each other, whatever the seed."""


def drawn(seed: int, *axis: int) -> np.random.Generator:
    """Return the generator of one axis: no two of them share their draws.

    >>> drawn(0, OWN, 1).random() == drawn(0, OWN, 2).random()
    False
    """
    if seed < 0:
        raise SettingError(f"a seed must not be negative; it is {seed}")
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=axis))


def normals(
    seed: int, axis: int, agents: Sequence[int], shape: tuple[int, ...]
) -> FloatArray:
    """Standard normal numbers (T, N, ...), drawn for each agent apart."""
    noise = np.empty((shape[0], len(agents), *shape[1:]))
    for place, i in enumerate(agents):
        noise[:, place] = drawn(seed, axis, i).normal(size=shape)
    return noise


def log_odds(
    seed: int, axis: int, agents: Sequence[int], cases: int, classes: int
) -> FloatArray:
    """Noise in log-odds (T, N, K - 1) whose sd is 1 between any two classes."""
    noise = normals(seed, axis, agents, (cases, classes))
    return np.asarray((noise[..., 1:] - noise[..., :1]) / np.sqrt(2.0))
