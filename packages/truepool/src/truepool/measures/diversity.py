r"""Diversity of the agents: their correlations, disagreements and effective number.

All of it comes from Gram matrices, in one pass over the reports. Missing reports are
handled by pair: two agents are compared over the cases in which both reported.
"""

from dataclasses import dataclass

import numpy as np

from truepool.core.arrays import FloatArray, blocks
from truepool.measures.decisions import check_threshold, choose
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

ROUNDING_ERROR = 1e-13
"""Share of a sum of squares that rounding can leave where the variance is 0."""

MIN_DEVIATION = 1e-14
"""Standard deviation of reports that differ in their last bit only."""


@dataclass(frozen=True, eq=False)
class Diversity:
    """How different the agents of a panel are.

    ``correlation`` and ``disagreement`` are (N, N), NaN where two agents never
    reported on the same case (or, for the correlation, one was constant).
    ``mean_correlation`` and ``mean_disagreement`` are over all known pairs.
    ``effective_agents`` follows from the correlations; for the effective number of
    *weights* see `truepool.panel.weights.effective_number`.
    """

    agents: tuple[str, ...]
    correlation: FloatArray
    disagreement: FloatArray

    @property
    def mean_correlation(self) -> float:
        """Mean pairwise Pearson correlation, as in tab:empirical_rho."""
        return mean_over_pairs(self.correlation)

    @property
    def mean_disagreement(self) -> float:
        """Mean share of cases decided differently, as in tab:heterogeneity."""
        return mean_over_pairs(self.disagreement)

    @property
    def effective_agents(self) -> float:
        """Number of uncorrelated agents that are as diverse as these."""
        return effective_agents(self.correlation)

    def __repr__(self) -> str:
        return (
            f"Diversity({len(self.agents)} agents, mean correlation "
            f"{self.mean_correlation:.3f}, mean disagreement "
            f"{self.mean_disagreement:.3f}, {self.effective_agents:.2f} effective)"
        )


def diversity(
    panel: Panel, *, costs: Costs | None = None, threshold: float | None = None
) -> Diversity:
    """Correlation and disagreement of the agents of a panel.

    Costs or a threshold set where agents decide; outcomes are not used.

    >>> panel = Panel([[0.9, 0.8, 0.3], [0.1, 0.2, 0.4], [0.6, 0.7, 0.2]], [1, 0, 1])
    >>> found = diversity(panel)
    >>> round(found.mean_correlation, 3), round(found.mean_disagreement, 3)
    (-0.14, 0.444)
    >>> round(found.effective_agents, 2)
    1.31
    """
    return Diversity(
        panel.agents,
        correlation(panel),
        disagreement(panel, costs=costs, threshold=threshold),
    )


def correlation(panel: Panel) -> FloatArray:
    r"""Pearson correlation (N, N) of the reports of every two agents.

    With K classes the reports are vectors and

    .. math:: \rho_{ij} = \frac{\sum_k c_{ij}^k}
              {\sqrt{\sum_k c_{ii}^k \sum_k c_{jj}^k}}, \qquad
              c_{ij}^k = \operatorname{cov}(p_{ik}, p_{jk}),

    which is Pearson's for two classes. NaN where an agent is constant.

    >>> correlation(Panel([[0.9, 0.8], [0.1, 0.2], [0.6, 0.7]], [1, 0, 1])).round(3)
    array([[1.   , 0.975],
           [0.975, 1.   ]])
    """
    cross, own, rounding = _moments(panel)
    known = (own > rounding) & (own.T > rounding.T)
    spread = np.sqrt(np.where(known, own, 1.0) * np.where(known, own.T, 1.0))
    return np.where(known, np.clip(cross / spread, -1.0, 1.0), np.nan)


def disagreement(
    panel: Panel, *, costs: Costs | None = None, threshold: float | None = None
) -> FloatArray:
    """Share of the cases (N, N) in which two agents decide differently.

    >>> disagreement(Panel([[0.9, 0.8], [0.1, 0.6]], [1, 0]))
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    costs = (costs or Costs()).resolve(panel.columns, panel.ids)
    check_threshold(threshold)
    costs.check_classes(panel.classes)
    T, N, C = panel.values.shape
    alike, both = np.zeros((2, N, N))
    for part in blocks(T, N * C):
        values = panel.values[part]
        present = ~np.isnan(values[:, :, 0])
        values = np.nan_to_num(values) if panel.silent else values
        decisions = choose(values, costs.take(part).shape((-1, 1)), threshold)
        for k in range(panel.classes):
            these = ((decisions == k) & present).astype(np.float64)
            alike += these.T @ these
        reported = present.astype(np.float64)
        both += reported.T @ reported
    return np.where(both > 0, 1.0 - alike / np.maximum(both, 1.0), np.nan)


def mean_over_pairs(matrix: FloatArray) -> float:
    """Mean over the known pairs of different agents; NaN if there are none.

    >>> mean_over_pairs(np.array([[1.0, 0.5], [0.5, 1.0]]))
    0.5
    """
    pairs = matrix[np.triu_indices(len(matrix), 1)]
    known = pairs[~np.isnan(pairs)]
    return float(known.mean()) if known.size else float("nan")


def effective_agents(correlations: FloatArray) -> float:
    r"""Number of uncorrelated agents that a correlation matrix is worth.

    The participation ratio of its eigenvalues,

    .. math:: \frac{(\sum_i \lambda_i)^2}{\sum_i \lambda_i^2}
              = \frac{N^2}{\sum_{ij} \rho_{ij}^2},

    from 1 (perfectly correlated) to N (uncorrelated). A constant agent has no
    correlation and does not count. A pair whose correlation is unknown counts as the
    mean of those that are known; NaN if none is. For the effective number of *weights*
    see `truepool.panel.weights.effective_number`.

    >>> effective_agents(np.eye(3)), effective_agents(np.ones((3, 3)))
    (3.0, 1.0)
    """
    varies = ~np.isnan(np.diag(correlations))
    known = correlations[np.ix_(varies, varies)]
    N = len(known)
    if N < 2:
        return float(N) if N else float("nan")
    return N / (1 + (N - 1) * mean_over_pairs(np.square(known)))


def _moments(panel: Panel) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centred sums of products and of own squares, and the rounding error of these.

    All are (N, N), over the cases in which both reported, and summed over the classes;
    row i of the last two belongs to agent i.
    """
    T, N, C = panel.values.shape
    means = _means(panel)
    wide = 3 * N if panel.silent else N
    gram = np.zeros((C, wide, wide))
    for part in blocks(T, wide * C):
        apart = panel.values[part] - means
        for c in range(C):
            seen = _design(apart[:, :, c]) if panel.silent else apart[:, :, c].copy()
            gram[c] += seen.T @ seen
    cross = gram[:, :N, :N]
    if panel.silent:
        both, sums = gram[:, N : 2 * N, N : 2 * N], gram[:, :N, N : 2 * N]
        squares = gram[:, 2 * N :, N : 2 * N]
    else:
        both, sums = np.full((C, N, N), float(T)), np.zeros((C, N, N))
        squares = np.diagonal(cross, axis1=1, axis2=2)[:, :, None] + sums
    count = np.maximum(both, 1.0)
    centred = (cross - sums * sums.transpose(0, 2, 1) / count).sum(axis=0)
    own = (squares - np.square(sums) / count).sum(axis=0)
    return (
        centred,
        own,
        ROUNDING_ERROR * squares.sum(axis=0) + both[0] * MIN_DEVIATION**2,
    )


def _design(apart: FloatArray) -> FloatArray:
    """Deviations, who reported, and squares (T, 3N): their Gram matrix holds all sums.

    In BLAS one symmetric product is several times as fast as three separate ones.
    """
    silent = np.isnan(apart)
    apart = np.where(silent, 0.0, apart)
    return np.hstack([apart, ~silent, np.square(apart)])


def _means(panel: Panel) -> FloatArray:
    """Mean report (N, C) of each agent, subtracted first to avoid cancellation."""
    total, count = np.zeros((2, *panel.values.shape[1:]))
    for part in blocks(len(panel), panel.values[0].size):
        values = panel.values[part]
        if panel.silent:
            silent = np.isnan(values)
            count += len(values) - silent.sum(axis=0)
            values = np.where(silent, 0.0, values)
        total += values.sum(axis=0)
    return np.asarray(total / (np.maximum(count, 1.0) if panel.silent else len(panel)))
