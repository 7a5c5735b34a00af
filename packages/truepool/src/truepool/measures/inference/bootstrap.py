"""Intervals by resampling the cases (Efron 1979; BCa: Efron 1987)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.core.engine import one_blas_thread
from truepool.core.errors import SettingError
from truepool.core.seeds import check_seed

GROUPS = 4_000
"""Above this many cases, random groups of cases are resampled instead of single ones:
the variance of the mean is the same, and resampling a million cases stays fast."""
DRAWN_TOGETHER = 1_000
"""Resamples that are held in memory at a time, 32 MB of them at most; where there are
more, they are drawn again for every statistic."""


def bootstrap_means(by_case: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Means (B, M) of (T, M) over B bootstrap resamples of the cases (Efron 1979).

    >>> bootstrap_means(np.ones((5, 1)), resamples=2, seed=0)
    array([[1.],
           [1.]])
    """
    check_resamples(resamples)
    T = len(by_case)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    means = np.empty((resamples, by_case.shape[1]))
    for b in range(resamples):
        counts = np.bincount(rng.integers(0, T, T), minlength=T)
        means[b] = counts @ by_case / T
    return means


def independent_units(
    by_case: FloatArray, weights: FloatArray | None = None, groups: Array | None = None
) -> FloatArray:
    r"""Independent parts (U, M) of the weighted means of (T, M): cases, or groups.

    Their plain mean is the weighted mean m, and their spread is that of its error,
    to first order: :math:`m + \frac{U}{\sum w} \sum_{t \in u} w_t (x_t - m)`, the
    ratio estimator of survey sampling (Särndal et al. 1992). What is true of a mean of
    independent cases (intervals, tests) is then true of weighted and grouped ones.

    >>> by_case = np.array([[1.0], [3.0], [5.0]])
    >>> independent_units(by_case, np.array([1.0, 1.0, 2.0])).ravel()
    array([1.625, 3.125, 5.75 ])
    >>> independent_units(by_case, groups=np.array(["a", "b", "b"])).ravel()
    array([1.66666667, 4.33333333])
    """
    if weights is None and groups is None:
        return by_case
    w = np.ones(len(by_case)) if weights is None else weights
    mean = (w @ by_case) / w.sum()
    apart = w[:, None] * (by_case - mean)
    if groups is not None:
        unit = np.unique(groups.astype(str), return_inverse=True)[1]
        apart = np.stack([np.bincount(unit, column) for column in apart.T], axis=1)
    return np.asarray(mean + apart * (len(apart) / w.sum()))


@dataclass(frozen=True, eq=False)
class Resamples:
    """Bootstrap resamples of T cases, drawn once and used for every statistic.

    Differences of two statistics are therefore paired.

    >>> draws = Resamples(100, resamples=50).means(np.ones((100, 2)))
    >>> draws.shape, bool((draws == 1).all())
    ((50, 2), True)
    """

    cases: int
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_resamples(self.resamples)
        check_seed(self.seed)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as three numbers: a process draws them again, once, and keeps them."""
        return _drawn_once, (self.cases, self.resamples, self.seed)

    @cached_property
    def one_more(self) -> "Resamples":
        """Resamples of one more case, with the same seed."""
        return replace(self, cases=self.cases + 1)

    @property
    def groups(self) -> int:
        """Number of units that are drawn: cases, or groups of them."""
        return min(self.cases, GROUPS)

    @cached_property
    def _group(self) -> IntArray:
        """Group of each case, (T,): sizes differ by at most one case."""
        group = np.arange(self.cases) % self.groups
        if self.groups == self.cases:
            return group
        return np.random.default_rng([self.seed, 1]).permutation(group)

    def _blocks(self) -> Iterator[FloatArray]:
        """How often each group is drawn in some of the resamples, (b, G)."""
        if self.resamples <= DRAWN_TOGETHER:
            yield self._counts
            return
        rng = np.random.default_rng(self.seed)
        for start in range(0, self.resamples, DRAWN_TOGETHER):
            yield self._draw(rng, min(DRAWN_TOGETHER, self.resamples - start))

    @cached_property
    def _counts(self) -> FloatArray:
        return self._draw(np.random.default_rng(self.seed), self.resamples)

    def _draw(self, rng: np.random.Generator, resamples: int) -> FloatArray:
        G = self.groups
        drawn = (rng.integers(0, G, G) for _ in range(resamples))
        counts = [np.bincount(these, minlength=G) for these in drawn]
        return np.array(counts, dtype=np.float64)

    def add(self, sums: FloatArray, units: IntArray, by_unit: FloatArray) -> None:
        """Add the values (U, M) of some units to the sums over their groups, (G, M).

        They are added one after another, so that blocks of units change no bit.
        """
        group = self._group[units]
        if len(group) < self.groups:
            np.add.at(sums, group, by_unit)
            return
        every = np.append(np.arange(self.groups), group)
        for before, column in zip(sums.T, by_unit.T, strict=True):
            before[:] = np.bincount(every, np.append(before, column), self.groups)

    def sums(self, by_case: FloatArray) -> FloatArray:
        """Sums over each group, (G, M)."""
        if self.groups == self.cases:
            return by_case
        columns = [
            np.bincount(self._group, column, self.groups) for column in by_case.T
        ]
        return np.stack(columns, axis=1)

    @property
    def sizes(self) -> IntArray:
        """Number of units in each group, (G,)."""
        return np.bincount(self._group, minlength=self.groups)

    @cached_property
    def _drawn_sizes(self) -> list[FloatArray]:
        """Number of units in each resample, in blocks of (b,)."""
        size = self.sizes
        return [counts @ size for counts in self._blocks()]

    def means(self, by_case: FloatArray) -> FloatArray:
        """Means (B, M) of (T, M) over the resamples."""
        return self.means_of_sums(self.sums(by_case))

    def means_of_sums(self, sums: FloatArray) -> FloatArray:
        """Means (B, M) over the resamples, from sums over each group, (G, M)."""
        with one_blas_thread():  # the same bits in any process
            blocks = zip(self._blocks(), self._drawn_sizes, strict=True)
            means = [(counts @ sums) / size[:, None] for counts, size in blocks]
        return np.concatenate(means) if len(means) > 1 else means[0]

    def interval(self, by_case: FloatArray, level: float) -> tuple[float, float]:
        """BCa interval of the mean of (T,)."""
        return self.interval_of_sums(self.sums(by_case[:, None])[:, 0], level)

    def interval_of_sums(self, sums: FloatArray, level: float) -> tuple[float, float]:
        """BCa interval of the mean, from sums over each group, (G,)."""
        draws = self.means_of_sums(np.ascontiguousarray(sums)[:, None])
        units = sums * (self.groups / self.cases)
        return bca_interval(units, draws[:, 0], level)


@lru_cache(maxsize=4)
def _drawn_once(cases: int, resamples: int, seed: int) -> Resamples:
    return Resamples(cases, resamples, seed)


def bca_interval(
    units: FloatArray, draws: FloatArray, level: float
) -> tuple[float, float]:
    r"""Bias-corrected and accelerated interval of a mean (Efron 1987).

    With :math:`z_0` the normal quantile of the share of draws below the mean, and
    :math:`a = \sum d^3 / 6 (\sum d^2)^{3/2}` of the deviations d, the quantiles
    :math:`\Phi(z_0 + (z_0 + z) / (1 - a (z_0 + z)))` of the draws are taken instead of
    those at :math:`\Phi(z)`, which allows for bias and skewness.

    >>> bca_interval(np.ones(9), np.ones(50), 0.95)
    (1.0, 1.0)
    """
    check_level(level)
    mean = units.mean()
    apart = units - mean
    spread = float(np.square(apart).sum())
    if spread <= 1e-30 * len(units) * max(mean**2, 1e-300):
        return float(mean), float(mean)
    share = ((draws < mean).mean() + (draws <= mean).mean()) / 2
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if 0 < share < 1:
        # Scaled first: the powers of very small and large deviations are no numbers.
        a = float(((apart / np.sqrt(spread)) ** 3).sum()) / 6
        z = ndtri(share) + ndtri(tails)
        # Beyond the pole of the correction, and at infinity, lie the ends.
        inner = np.isfinite(z) & (a * np.nan_to_num(z) < 1)
        step = np.divide(z, 1 - a * np.nan_to_num(z), where=inner, out=np.zeros(2))
        tails = np.where(inner, ndtr(ndtri(share) + step), z > 0)
    low, high = np.quantile(draws, tails)
    return float(low), float(high)


def percentile_interval(
    draws: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Percentile interval of the draws, column by column.

    >>> low, high = percentile_interval(np.arange(101.0)[:, None], level=0.9)
    >>> low, high
    (array([5.]), array([95.]))
    """
    check_level(level)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def standard_errors(level: float) -> float:
    """Half the width of a normal interval, in standard errors.

    >>> round(standard_errors(0.95), 2), round(standard_errors(1 - 1e-16), 2)
    (1.96, 8.29)
    """
    return -float(ndtri((1 - level) / 2))  # (1 + level) / 2 may round to 1


def check_resamples(resamples: int) -> None:
    """Refuse fewer resamples than an interval needs."""
    if resamples < 2:
        raise SettingError(f"at least 2 resamples are needed; got {resamples}")


def check_level(level: float) -> None:
    """Refuse a level of an interval that is no probability."""
    if not 0 < level < 1:
        raise SettingError(
            f"a level must lie between 0 and 1, such as 0.95; got {level!r}"
        )
