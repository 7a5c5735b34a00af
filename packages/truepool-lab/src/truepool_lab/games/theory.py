r"""Closed forms and quadrature for these games, and the formulas that the paper prints.

Model: N agents of mean belief mu, pairwise correlation rho, and
:math:`\Pr(y = 1 \mid b) = \bar b` (READINGS 1).
"""

from collections.abc import Callable

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError, UnknownNameError
from truepool.panel.costs import Costs
from truepool_lab.games.equilibrium import PriceOfAnarchy
from truepool_lab.games.marginals import copula_correlation, marginal, smooth

MAX_SIGNAL = 7.0
"""Standard deviations within which factor and noise are integrated."""


def shrinkage(agents: int, correlation: float) -> float:
    r"""Share of a belief's distance from the base rate that a Brier-best report keeps.

    :math:`m_i^* = \mu + k (b_i - \mu)`, :math:`k = (1 + (n - 1) \rho) / n`, exact
    where E[b_j | b_i] is linear. Smallest at rho = 0; no shrinkage (k = 1) at rho = 1.

    >>> shrinkage(5, 0.5), shrinkage(5, 0.0), shrinkage(5, 1.0)
    (0.6, 0.2, 1.0)
    """
    _check(agents, correlation)
    return (1 + (agents - 1) * correlation) / agents


def effective_threshold(
    agents: int, correlation: float, mean: float, threshold: float
) -> float:
    r"""Threshold on the mean belief that is equivalent to deciding on shrunken reports.

    :math:`\tau_{eff} = \mu + (\tau - \mu) / k`: above tau exactly when tau > mu.

    >>> round(effective_threshold(5, 0.5, mean=0.3, threshold=0.4), 4)
    0.4667
    """
    k = shrinkage(agents, correlation)
    if k <= 0:
        return float(np.sign(threshold - mean)) * np.inf
    return mean + (threshold - mean) / k


def brier_bias() -> float:
    """Mean Brier-best report minus mean belief of calibrated agents: 0 for any n, rho.

    E[E[y | b_i]] = E[y] = E[b_i], by the law of total expectation.
    """
    return 0.0


def brier_shift(offset: float) -> float:
    """Best constant shift under the Brier score: minus the offset.

    >>> brier_shift(0.36)
    -0.36
    """
    return -offset


def brier_gain(shift: float, offset: float) -> float:
    r"""Gain from a constant shift d under Brier, :math:`-d^2 - 2 d (E[b] - E[y])`.

    eq:delta_U with its slip corrected: b(1 - y) - (1 - b)y is b - y, not b - 2by. The
    paper's d is minus ours.

    >>> brier_gain(brier_shift(0.1), 0.1), brier_gain(0.2, 0.0)
    (0.010000000000000002, -0.04000000000000001)
    """
    return -(shift**2) - 2 * shift * offset


def vcg_threshold(costs: Costs) -> float:
    """Return the threshold at which VCG agents cannot gain by one shift for all cases.

    That is so where the pool is calibrated. Other misreports gain nothing only where no
    agent can decide better than the pool, as with Pr(y = 1 given all reports).

    >>> round(vcg_threshold(Costs(fn=10, fp=1)), 4)
    0.0909
    """
    return float(costs.threshold)


def vcg_shift(threshold: float, costs: Costs) -> float:
    """Mean shift at which a calibrated pool decides as VCG agents prefer.

    They move the pool so that p + d > tau exactly when p > tau*: d = tau - tau*, where
    no report is clipped.

    >>> round(vcg_shift(0.3, Costs(fn=10, fp=1)), 3)
    0.209
    """
    return float(threshold - costs.threshold)


def miss_rates(
    agents: int,
    correlation: float,
    mean: float,
    threshold: float,
    *,
    concentration: float = 4.0,
    response: str = "exact",
) -> PriceOfAnarchy:
    r"""Share of positive cases missed with Brier-best and truthful reports.

    By quadrature: Gaussian copula with Beta marginals, mean-belief outcomes.
    ``response='exact'`` uses E[y | b_i] of the copula, ``'linear'`` the `shrinkage`.

    Given the shared factor f, the reports are independent and identically distributed.
    By symmetry

    .. math:: \Pr(\text{missed}, y = 1) = E_f\, E_{b_1 | f}\bigl[ b_1
              \Pr(g(b_2) + \dots + g(b_n) \le n\tau - g(b_1) \mid f) \bigr]

    for reports g(b). The inner probability is an (n-1)-fold convolution, done by FFT on
    a fine grid; f and b_1 are integrated against the normal density.

    >>> price = miss_rates(5, 0.5, 0.3, 0.4)
    >>> f"{price.truthful:.3f} -> {price.strategic:.3f}"
    '0.560 -> 0.705'
    """
    _check(agents, correlation)
    if response not in ("exact", "linear"):
        raise UnknownNameError("response in theory", response, ("exact", "linear"))
    if not 0 <= correlation < 1:
        raise SettingError(
            f"the quadrature needs a correlation in [0, 1); got {correlation!r}"
        )
    shape = marginal("copula", mean, concentration)
    r = copula_correlation(shape, correlation, agents)

    def strategic(z: FloatArray) -> FloatArray:
        own = shape.quantile(z)
        if response == "linear":
            return mean + shrinkage(agents, correlation) * (own - mean)
        others = smooth(shape, r * z, np.sqrt(1 - r * r))
        return (own + (agents - 1) * others) / agents

    def rate(reports: Callable[[FloatArray], FloatArray]) -> float:
        return _missed(shape.quantile, reports, agents, r, threshold) / mean

    return PriceOfAnarchy(rate(strategic), rate(shape.quantile))


def price_of_anarchy(
    agents: int,
    correlation: float,
    mean: float,
    threshold: float,
    *,
    concentration: float = 4.0,
    response: str = "exact",
) -> float | None:
    """FN with Brier-best reports over FN with truthful reports (`miss_rates`).

    Above 1 where tau > mu, below 1 where tau < mu; at tau = mu exactly 1 under the
    linear response.

    >>> round(price_of_anarchy(5, 0.5, 0.3, 0.3, response="linear"), 5)
    1.0
    """
    return miss_rates(
        agents,
        correlation,
        mean,
        threshold,
        concentration=concentration,
        response=response,
    ).ratio


def paper_delta_star(variance: float, covariance: float, mean: float) -> float:
    r"""The paper's eq:delta_star, as printed: not the Brier-best deviation.

    :math:`\frac{Cov}{2 (Var + Cov)} (1 - 2\mu)`, called the amount by which each of two
    agents under-reports. The true mean deviation is 0 (`brier_bias`).

    >>> paper_delta_star(0.042, 0.021, 0.3)
    0.06666666666666668
    """
    return covariance / (2 * (variance + covariance)) * (1 - 2 * mean)


def paper_delta_general(agents: int, correlation: float, mean: float) -> float:
    r"""The paper's conjecture eq:delta_general, as printed: false wherever rho > 0.

    :math:`\frac{(n-1)\rho}{2n(1 + (n-1)\rho)} (1 - 2\mu)`.

    >>> round(paper_delta_general(5, 0.5, 0.3), 3)
    0.027
    """
    _check(agents, correlation)
    shared = (agents - 1) * correlation
    return shared / (2 * agents * (1 + shared)) * (1 - 2 * mean)


def _check(agents: int, correlation: float) -> None:
    if agents < 2:
        raise SettingError(f"a game needs at least 2 agents; got {agents!r}")
    if not -1 / (agents - 1) <= correlation <= 1:
        raise SettingError(
            f"{agents} beliefs can have a correlation in [{-1 / (agents - 1):.3g}, 1]; "
            f"got {correlation!r}"
        )


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
