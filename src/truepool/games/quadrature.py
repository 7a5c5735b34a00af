r"""Miss rates of the Gaussian-copula model without sampling.

Given the shared factor f, the reports are independent and identically distributed.
By symmetry

.. math:: \Pr(\text{missed}, y = 1) = E_f\, E_{b_1 | f}\bigl[ b_1
          \Pr(g(b_2) + \dots + g(b_n) \le n\tau - g(b_1) \mid f) \bigr]

for reports g(b). The inner probability is an (n-1)-fold convolution, done by FFT on a
fine grid; f and b_1 are integrated against the normal density.
"""

from collections.abc import Callable

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from truepool.core.arrays import FloatArray
from truepool.games.marginals import copula_correlation, marginal, smooth

MAX_SIGNAL = 7.0
"""Standard deviations within which factor and noise are integrated."""


def miss_rates(
    agents: int,
    correlation: float,
    mean: float,
    concentration: float,
    threshold: float,
    shrinkage: float | None,
) -> tuple[float, float]:
    """Share of positive cases missed with Brier-best and with truthful reports.

    Brier-best is E[y | b_i] of the copula, or linear with the ``shrinkage`` given.
    """
    shape = marginal("copula", mean, concentration)
    r = copula_correlation(shape, correlation, agents)

    def strategic(z: FloatArray) -> FloatArray:
        own = shape.quantile(z)
        if shrinkage is not None:
            return mean + shrinkage * (own - mean)
        others = smooth(shape, r * z, np.sqrt(1 - r * r))
        return (own + (agents - 1) * others) / agents

    def rate(reports: Callable[[FloatArray], FloatArray]) -> float:
        return _missed(shape.quantile, reports, agents, r, threshold) / mean

    return rate(strategic), rate(shape.quantile)


def _missed(
    belief: Callable[[FloatArray], FloatArray],
    report: Callable[[FloatArray], FloatArray],
    agents: int,
    copula: float,
    threshold: float,
) -> float:
    """Probability of a positive outcome with a mean report up to the threshold."""
    noise, mass = _normal(2001)
    total = 0.0
    for f, weight in zip(*_normal(301), strict=True):
        signals = np.sqrt(copula) * f + np.sqrt(1 - copula) * noise
        reports = report(signals)
        below = _distribution(reports, mass, agents - 1)
        left = agents * threshold - reports
        total += weight * float(mass @ (belief(signals) * below(left)))
    return float(total)


def _normal(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Equal steps and their normal weights, exact to rounding for smooth functions.

    Gauss-Hermite nodes would be too few where reports depend on the factor alone and
    the decision is a step in it.
    """
    points = np.linspace(-MAX_SIGNAL, MAX_SIGNAL, nodes)
    weights = np.exp(-(points**2) / 2)
    return points, weights / weights.sum()


def _distribution(
    reports: FloatArray, mass: FloatArray, count: int
) -> Callable[[FloatArray], FloatArray]:
    """Distribution function of the sum of ``count`` independent reports."""
    cells_of_one = int(np.clip(40_000 // count, 200, 2000))
    place = reports * cells_of_one
    low = np.minimum(place.astype(np.int64), cells_of_one - 1)
    part = place - low
    # Each report is split between two cells, so that means stay exact.
    cells = np.bincount(low, mass * (1 - part), cells_of_one + 1)
    cells += np.bincount(low + 1, mass * part, cells_of_one + 1)
    length = next_fast_len(count * cells_of_one + 1)
    density = irfft(rfft(cells, length) ** count, length)[: count * cells_of_one + 1]
    # The mass of a cell is spread evenly: half of it lies below the centre.
    steps = np.concatenate([[0.0], np.cumsum(density)])
    edges = (np.arange(count * cells_of_one + 2) - 0.5) / cells_of_one
    return lambda sums: np.interp(sums, edges, steps)
