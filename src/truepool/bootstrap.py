"""How much a mean over cases would move had other cases come (Efron 1979)."""

import numpy as np

from truepool.arrays import FloatArray
from truepool.errors import SettingError


def resampled_means(by_case: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Means (B, M) of (T, M) over B resamples of the cases, columns kept together.

    >>> resampled_means(np.ones((5, 1)), resamples=2, seed=0)
    array([[1.],
           [1.]])
    """
    if resamples < 2:
        raise SettingError(f"at least 2 resamples are needed; {resamples} were asked")
    T = len(by_case)
    rng = np.random.default_rng(seed)
    means = np.empty((resamples, by_case.shape[1]))
    for b in range(resamples):
        counts = np.bincount(rng.integers(0, T, T), minlength=T)
        means[b] = counts @ by_case / T
    return means


def middle(draws: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Lower and upper end of the middle share of the draws, column by column.

    >>> low, high = middle(np.arange(101.0)[:, None], level=0.9)
    >>> low, high
    (array([5.]), array([95.]))
    """
    if not 0 < level < 1:
        raise SettingError(f"a level must lie between 0 and 1; it is {level!r}")
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high
