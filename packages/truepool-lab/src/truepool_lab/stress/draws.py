"""Random draws by axis: a change on one axis leaves the draws of the others alone."""

from collections.abc import Sequence

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError

OUTCOMES, SHARED, OWN, NOISE, DIRECTIONS, CHOICE, JITTER = range(7)
"""Axes with independent draws under every seed."""


def generator(seed: int, *axis: int) -> np.random.Generator:
    """Return the generator of one axis; no two axes share their draws.

    >>> generator(0, OWN, 1).random() == generator(0, OWN, 2).random()
    False
    """
    if seed < 0:
        raise SettingError(f"a seed must be 0 or more; got {seed!r}")
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=axis))


def normals(
    seed: int, axis: int, agents: Sequence[int], shape: tuple[int, ...]
) -> FloatArray:
    """Standard normal numbers (T, N, ...), drawn separately for each agent."""
    noise = np.empty((shape[0], len(agents), *shape[1:]))
    for place, i in enumerate(agents):
        noise[:, place] = generator(seed, axis, i).normal(size=shape)
    return noise


def log_odds_noise(
    seed: int, axis: int, agents: Sequence[int], cases: int, classes: int
) -> FloatArray:
    """Noise in log-odds (T, N, K - 1) with standard deviation 1 for any two classes."""
    noise = normals(seed, axis, agents, (cases, classes))
    return np.asarray((noise[..., 1:] - noise[..., :1]) / np.sqrt(2.0))
