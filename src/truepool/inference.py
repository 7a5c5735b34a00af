"""How much of a mean, or of a difference of means, is the luck of the cases."""

import numpy as np
from scipy.special import stdtr

from truepool.arrays import FloatArray
from truepool.errors import SettingError


def resampled_means(by_case: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Means (B, M) of (T, M) over B bootstrap resamples of the cases (Efron 1979).

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


def paired_p_values(differences: FloatArray) -> FloatArray:
    """Two-sided paired t-tests (M,) of differences (T, M); 1 where all are 0.

    >>> paired_p_values(np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])).round(3)
    array([0.074, 1.   ])
    """
    T = len(differences)
    mean = differences.mean(axis=0)
    error = differences.std(axis=0, ddof=1) / np.sqrt(T)
    t = np.abs(mean) / np.where(error > 0, error, 1.0)
    certain = np.where(mean == 0, 1.0, 0.0)
    return np.where(error > 0, 2 * stdtr(T - 1, -t), certain)


def holm(p_values: FloatArray) -> FloatArray:
    """Adjust p-values for how many questions were asked (Holm 1979).

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values)
    factors = np.arange(len(p_values), 0, -1)
    raised = np.maximum.accumulate(p_values[order] * factors)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted
