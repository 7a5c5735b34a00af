r"""The distribution of one agent's belief, and the correlation under a copula.

A belief is an increasing function :math:`b = q(z)` of a standard normal signal z. Two
agents' signals with correlation r have beliefs with Pearson correlation (Mehler)

.. math:: \rho(r) = \frac{1}{\mathrm{Var}\, b} \sum_{k \ge 1} c_k^2 r^k,

where c_k are the coefficients of q on the orthonormal Hermite polynomials. It is
inverted to find the copula with which beliefs have a given correlation.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, ndtr, ndtri, owens_t, roots_hermitenorm

from truepool.core.arrays import FloatArray
from truepool.core.errors import BeliefError, UnknownNameError

MAX_SIGNAL = 8.5
"""Standard deviations within which signals are tabulated; flat beyond."""


@dataclass(frozen=True)
class Beta:
    """Beta beliefs of this mean, with shapes mean * s and (1 - mean) * s.

    >>> Beta(0.3, 4.0).quantile(np.array([0.0])).round(4)
    array([0.2644])
    """

    kind: ClassVar[str] = "copula"
    mean: float
    concentration: float

    def quantile(self, signals: FloatArray) -> FloatArray:
        """Belief for each signal, interpolated in a table (to 1e-7)."""
        return interpolate(self._table, signals)

    @cached_property
    def _table(self) -> FloatArray:
        z = np.linspace(-MAX_SIGNAL, MAX_SIGNAL, 2**14 + 1)
        a, b = self.mean * self.concentration, (1 - self.mean) * self.concentration
        # The upper half from its own tail: 1 - Phi(z) keeps digits that Phi(z) loses.
        low = betaincinv(a, b, ndtr(np.minimum(z, 0)))
        high = 1 - betaincinv(b, a, ndtr(-np.maximum(z, 0)))
        return np.asarray(np.where(z < 0, low, high), dtype=np.float64)


@dataclass(frozen=True)
class Probit:
    r"""Beliefs of agents who observe the factor behind the outcome with noise.

    The outcome is 1 when :math:`\theta > c`, and an agent whose signal z has
    correlation a with :math:`\theta` believes
    :math:`\Phi((a z - c) / \sqrt{1 - a^2})`: it is calibrated by construction. The
    ``share`` a^2 is such that the variance is that of a Beta of the same
    concentration.
    """

    kind: ClassVar[str] = "factor"
    mean: float
    concentration: float

    @cached_property
    def share(self) -> float:
        """Share a^2 of the factor's variance that an agent observes."""
        wanted = variance(self.mean, self.concentration)
        return float(brentq(lambda s: self._spread(s) - wanted, 0.0, 1.0))

    @property
    def cut(self) -> float:
        """Value c of the factor above which the outcome is 1."""
        return -float(ndtri(self.mean))

    def quantile(self, signals: FloatArray) -> FloatArray:
        """Belief for each signal."""
        a = np.sqrt(self.share)
        return np.asarray(ndtr((a * signals - self.cut) / np.sqrt(1 - self.share)))

    def _spread(self, share: float) -> float:
        """Variance of the belief if this share is observed (Owen 1956)."""
        slope = np.sqrt((1 - share) / (1 + share))
        both = self.mean - 2 * owens_t(self.cut, slope)
        return float(both - self.mean**2)


Marginal: TypeAlias = Beta | Probit
"""A belief as a function of a standard normal signal."""


def marginal(kind: str, mean: float, concentration: float) -> Marginal:
    """Return the marginal of a belief model: ``copula`` (Beta) or ``factor``."""
    if not 0 < mean < 1:
        raise BeliefError(
            f"the mean of the beliefs must lie between 0 and 1; got {mean!r}"
        )
    if not 0 < concentration < np.inf:
        raise BeliefError(
            f"the concentration must be a positive number; got {concentration!r}"
        )
    return _cached_marginal(kind, float(mean), float(concentration))


@lru_cache(maxsize=256)  # with their tables
def beta(mean: float, concentration: float) -> Beta:
    """Return a Beta distribution of beliefs, made once."""
    return Beta(mean, concentration)


@lru_cache(maxsize=256)
def _cached_marginal(kind: str, mean: float, concentration: float) -> Marginal:
    if kind == "copula":
        return beta(mean, concentration)
    if kind == "factor":
        return Probit(mean, concentration)
    raise UnknownNameError("model of beliefs", kind, ("copula", "factor"))


def variance(mean: float, concentration: float) -> float:
    """Variance of a Beta of this mean and concentration.

    >>> round(variance(0.3, 4.0), 6)
    0.042
    """
    return mean * (1 - mean) / (concentration + 1)


def smooth(shape: Marginal, centres: FloatArray, spread: float) -> FloatArray:
    """Expected belief when the signal is normal about each centre."""
    return interpolate(_smooth_table(shape, float(spread)), centres)


@lru_cache(maxsize=256)
def _smooth_table(shape: Marginal, spread: float) -> FloatArray:
    nodes, weights = _hermite()
    z = np.linspace(-MAX_SIGNAL, MAX_SIGNAL, 2**12 + 1)
    return np.asarray(shape.quantile(z[:, None] + spread * nodes) @ weights)


def interpolate(table: FloatArray, signals: FloatArray) -> FloatArray:
    """Interpolate a table with equal steps from -MAX_SIGNAL to MAX_SIGNAL.

    >>> interpolate(np.array([0.0, 1.0]), np.array([-20.0, 0.0, 20.0]))
    array([0. , 0.5, 1. ])
    """
    steps = len(table) - 1
    inside = np.clip(signals, -MAX_SIGNAL, MAX_SIGNAL)
    place = (inside + MAX_SIGNAL) * (steps / (2 * MAX_SIGNAL))
    low = np.minimum(place.astype(np.int64), steps - 1)
    left = table[low]
    return np.asarray(left + (place - low) * (table[low + 1] - left))


@lru_cache(maxsize=1)
def _hermite() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights that integrate against the standard normal density."""
    nodes, weights = roots_hermitenorm(160)
    return nodes, weights / weights.sum()


@lru_cache(maxsize=256)
def _powers(shape: Marginal) -> FloatArray:
    """Squared Hermite coefficients of the quantile, from the first on."""
    nodes, weights = _hermite()
    values = shape.quantile(nodes) * weights
    before, now = np.zeros_like(nodes), np.ones_like(nodes)
    found = []
    for k in range(1, 100):
        before, now = now, (nodes * now - np.sqrt(k - 1) * before) / np.sqrt(k)
        found.append(float(values @ now) ** 2)
    return np.array(found)


def belief_correlation(shape: Marginal, copula: float) -> float:
    """Pearson correlation of two beliefs whose signals have this correlation.

    >>> round(belief_correlation(Beta(0.3, 4.0), 0.5), 4)
    0.4856
    """
    powers = _powers(shape)
    total = max(float(powers.sum()), variance(shape.mean, shape.concentration))
    # The truncated rest of the series belongs to high powers; it matters near r = 1.
    series = powers @ copula ** np.arange(1, len(powers) + 1)
    left = total - float(powers.sum())
    return float((series + left * copula ** (len(powers) + 1)) / total)


@lru_cache(maxsize=4096)
def copula_correlation(shape: Marginal, correlation: float, agents: int) -> float:
    """Correlation of the signals for a given Pearson correlation of the beliefs.

    >>> round(copula_correlation(Beta(0.3, 4.0), 0.5, agents=5), 4)
    0.5144
    """
    lowest = 0.0 if shape.kind == "factor" else -1.0 / (agents - 1)
    least = belief_correlation(shape, lowest)
    if not least - 1e-12 <= correlation <= 1:
        raise BeliefError(
            f"the correlation of {agents} agents' beliefs with these marginals must "
            f"lie in [{least:.4f}, 1]; got {correlation!r}"
        )
    if correlation >= 1 or correlation <= least:
        return 1.0 if correlation >= 1 else lowest
    if correlation == 0:
        return 0.0
    low, high = (0.0, 1.0) if correlation > 0 else (lowest, 0.0)
    return float(
        brentq(lambda r: belief_correlation(shape, r) - correlation, low, high)
    )
