"""Paired tests of differences, and adjustment for multiple tests."""

import numpy as np
from scipy.special import ndtr, stdtr

from truepool.core.arrays import FloatArray


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


def signed_rank_p_value(differences: FloatArray) -> float:
    """Two-sided signed-rank test of differences (T,) (Wilcoxon 1945).

    Normal approximation, corrected for ties; zeros are left out. 1 if all are 0.

    >>> round(signed_rank_p_value(np.array([1.0, 2.0, 3.0, 4.0, 0.0])), 3)
    0.068
    """
    nonzero = differences[differences != 0]
    n = len(nonzero)
    if not n:
        return 1.0
    _, group, ties = np.unique(np.abs(nonzero), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[group]
    gap = ranks[nonzero > 0].sum() - n * (n + 1) / 4
    ties = ties.astype(np.float64)
    variance = n * (n + 1) * (2 * n + 1) / 24 - (ties**3 - ties).sum() / 48
    return float(2 * ndtr(-abs(gap) / np.sqrt(variance)))


def diebold_mariano(differences: FloatArray, horizon: int = 1) -> float:
    r"""Test of a mean loss difference (T,) in a stream (Diebold & Mariano 1995).

    The variance of the mean sums autocovariances,
    :math:`\gamma_0 + 2 \sum_{k \le m} (1 - \frac{k}{m + 1}) \gamma_k` with
    :math:`m = \max(h - 1, \lfloor T^{1/3} \rfloor)` (Newey & West 1987), the statistic
    is shrunk by :math:`\sqrt{(T + 1 - 2h + h(h-1)/T) / T}` and compared with
    Student's t (Harvey, Leybourne & Newbold 1997). 1 where nothing differs.

    >>> diebold_mariano(np.zeros(10))
    1.0
    """
    T = len(differences)
    mean = float(differences.mean())
    variance = long_run_variance(differences, max(horizon - 1, int(np.cbrt(T))))
    if variance <= 0:
        return 1.0 if mean == 0 else 0.0
    shrink = (T + 1 - 2 * horizon + horizon * (horizon - 1) / T) / T
    statistic = mean / np.sqrt(variance / T) * np.sqrt(max(shrink, 0.0))
    return float(2 * stdtr(T - 1, -abs(statistic)))


def long_run_variance(series: FloatArray, lags: int) -> float:
    """Variance of a series, autocovariances included (Newey & West 1987).

    >>> long_run_variance(np.array([1.0, -1.0, 1.0, -1.0]), lags=1)
    0.25
    """
    apart = series - series.mean()
    T = len(apart)
    total = float(apart @ apart)
    for k in range(1, min(lags, T - 1) + 1):
        total += 2 * (1 - k / (lags + 1)) * float(apart[k:] @ apart[:-k])
    return total / T


def holm(p_values: FloatArray) -> FloatArray:
    """Adjust p-values for the number of tests (Holm 1979).

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values)
    factors = np.arange(len(p_values), 0, -1)
    raised = np.maximum.accumulate(p_values[order] * factors)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted


def bonferroni(p_values: FloatArray) -> FloatArray:
    """Adjust p-values for the number of tests; `holm` is never less powerful.

    >>> bonferroni(np.array([0.01, 0.04, 0.5]))
    array([0.03, 0.12, 1.  ])
    """
    return np.minimum(p_values * len(p_values), 1.0)
