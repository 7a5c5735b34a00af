r"""Beliefs drawn given the outcome: what agents such as classifiers report.

The outcome comes first; beliefs given it are Beta with means m_0 and m_1 under a
Gaussian copula. An agent whose belief b is Beta(a, s - a) and calibrated has

.. math:: b \mid y = 1 \sim \mathrm{Beta}(a + 1, s - a), \qquad
          b \mid y = 0 \sim \mathrm{Beta}(a, s - a + 1),

so with means that are 1 / (s + 1) apart every agent is calibrated by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincc, betaln, expit, logit, ndtri

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import BeliefError
from truepool_lab.games.marginals import Beta, beta, copula_correlation, marginal

EDGE = 1e-12
"""How near to 0 and 1 a belief is told apart from them in a likelihood."""


@dataclass(frozen=True, eq=False)
class OutcomeSignals:
    """Beliefs (T, N) and the distributions, given 0 and given 1, they come from."""

    values: FloatArray
    base_rate: float
    marginals: tuple[Beta, Beta]
    copulas: tuple[float, float]

    def posterior(self, agents: Sequence[int]) -> FloatArray:
        """Probability of a positive outcome given these agents' beliefs, (T,)."""
        own = np.clip(self.values[:, list(agents)], EDGE, 1 - EDGE)
        negative, positive = (
            _log_density(own, shape, copula)
            for shape, copula in zip(self.marginals, self.copulas, strict=True)
        )
        return np.asarray(expit(positive - negative + logit(self.base_rate)))


def outcome_marginals(
    mean: float, offset: float, concentration: float, separation: float | None
) -> tuple[Beta, Beta]:
    """Distributions of a belief given 0 and given 1.

    >>> [round(shape.mean, 3) for shape in outcome_marginals(0.3, 0.0, 4.0, None)]
    [0.24, 0.44]
    """
    marginal("copula", mean, concentration)
    given = concentration + 1
    apart = 1 / given if separation is None else separation
    low = mean + offset - mean * apart
    for outcome, centre in ((0, low), (1, low + apart)):
        if not 0 < centre < 1:
            raise BeliefError(
                "the mean belief given each outcome must lie between 0 and 1; got "
                f"{centre:.4g} given {outcome}. Choose an offset and a separation "
                "nearer to 0."
            )
    return beta(low, given), beta(low + apart, given)


def outcome_copulas(
    marginals: tuple[Beta, Beta], correlation: float, agents: int
) -> tuple[float, float]:
    """Copulas with which beliefs have this correlation given each outcome."""
    negative, positive = (
        copula_correlation(shape, correlation, agents) for shape in marginals
    )
    return negative, positive


def draw_given_outcome(
    mean: float,
    marginals: tuple[Beta, Beta],
    copulas: tuple[float, float],
    agents: int,
    cases: int,
    rng: np.random.Generator,
) -> tuple[OutcomeSignals, IntArray]:
    """Draw outcomes, and beliefs given them."""
    outcomes = (rng.random(cases) < mean).astype(np.int64)
    factor = rng.standard_normal(cases)
    noise = rng.standard_normal((agents, cases)).T  # each agent's column contiguous
    values = np.empty((cases, agents), order="F")
    for outcome, (shape, r) in enumerate(zip(marginals, copulas, strict=True)):
        here = outcomes == outcome
        values[here] = shape.quantile(correlated(factor[here], noise[here], r))
    return OutcomeSignals(values, mean, marginals, copulas), outcomes


def correlated(factor: FloatArray, noise: FloatArray, r: float) -> FloatArray:
    """Signals (T, N) of equal correlation r from a factor (T,) and noise (T, N)."""
    if r >= 0:
        return np.asarray(np.sqrt(r) * factor[:, None] + np.sqrt(1 - r) * noise)
    # No shared factor gives a negative correlation: remove part of the mean noise.
    mean = noise.mean(axis=1, keepdims=True)
    keep = np.sqrt(max(1 + (noise.shape[1] - 1) * r, 0.0))
    return np.asarray(np.sqrt(1 - r) * (noise - mean) + keep * mean)


def _log_density(own: FloatArray, shape: Beta, r: float) -> FloatArray:
    """Log density (T,) of beliefs (T, n) under one outcome."""
    if r >= 1:
        own = own[:, :1]  # all agents say the same
    a, b = shape.mean * shape.concentration, (1 - shape.mean) * shape.concentration
    each = (a - 1) * np.log(own) + (b - 1) * np.log1p(-own) - betaln(a, b)
    total = each.sum(axis=1)
    n = own.shape[1]
    if n == 1 or r == 0:
        return np.asarray(total)
    below, above = betainc(a, b, own), betaincc(a, b, own)
    z = np.where(below < 0.5, ndtri(below), -ndtri(above))
    scale = max(1 + (n - 1) * r, EDGE)
    squares, whole = (z**2).sum(axis=1), z.sum(axis=1) ** 2
    form = (squares - r / scale * whole) / (1 - r)  # z' R^-1 z
    log_det = (n - 1) * np.log1p(-r) + np.log(scale)
    return np.asarray(total - 0.5 * (log_det + form - squares))
