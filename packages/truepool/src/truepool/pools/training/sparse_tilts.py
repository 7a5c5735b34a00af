"""The regression of `shrunk` on sparse reports: nothing of size T N is needed."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from truepool.core import kernels
from truepool.core.arrays import FloatArray, IntArray, logit
from truepool.measures.newton import Terms
from truepool.panel.sparse import SparseReports
from truepool.pools.training.logistic import softplus


@dataclass(frozen=True, eq=False)
class SparseTilts:
    """The anchor (T,), how far each report lies from it, and whose reports tilt it.

    ``tilted`` (P - 2,) are the agents with a tilt, in their order; ``cells`` holds
    their reports alone. Coefficients are a shift, a stretch, and one tilt each.
    """

    anchor: FloatArray
    cells: SparseReports
    tilted: IntArray
    agents: int

    @classmethod
    def build(cls, reports: SparseReports, clip: float, most: int) -> "SparseTilts":
        """Anchor and tilts of the agents who reported most, at most so many."""
        anchor, apart = log_odds_apart(reports, clip)
        busiest = np.argsort(-reports.agent_counts, kind="stable")[:most]
        tilted, N = np.sort(busiest), reports.agents
        place = np.full(N, -1)
        place[tilted] = np.arange(len(tilted))
        cells = reports.with_values(apart).match_agents(place, len(tilted))
        return cls(anchor, cells, tilted, N)

    @property
    def size(self) -> int:
        """Number of coefficients, P."""
        return 2 + len(self.tilted)

    def expand(self, fits: FloatArray) -> FloatArray:
        """Coefficients (M, 2 + N) of all agents from those (M, P) of these."""
        every = np.zeros((len(fits), 2 + self.agents))
        every[:, :2] = fits[:, :2]
        every[:, 2 + self.tilted] = fits[:, 2:]
        return every

    def terms(
        self, happened: FloatArray, cases: FloatArray, theta: FloatArray
    ) -> Terms:
        """Log loss, its gradient and its Hessian (P, P)."""
        z, cells = self.anchor, self.cells
        moved = cells.by_case(theta[2:][cells.agent] * cells.values)
        scores = theta[0] + (1.0 + theta[1]) * z + moved
        fitted = expit(scores)
        loss = float(cases @ (softplus(scores) - happened * scores))
        error = cases * (fitted - happened)
        spread = cases * fitted * (1.0 - fitted)
        gradient = np.zeros(self.size)
        gradient[:2] = error.sum(), error @ z
        gradient[2:] = cells.by_agent(error[cells.case] * cells.values)
        own = cells.values * spread[cells.case]
        crossed = cells.by_agent(own), cells.by_agent(own * z[cells.case])
        hessian = np.zeros((self.size, self.size))
        hessian[2:, 2:] = kernels.sparse_gram(
            cells.starts, cells.agent, cells.values, spread, cells.agents
        )
        hessian[:2, 2:] = crossed
        hessian[2:, :2] = hessian[:2, 2:].T
        corner = spread.sum(), spread @ z, spread @ z, spread @ z**2
        hessian[:2, :2] = np.reshape(corner, (2, 2))
        return loss, gradient, hessian


def log_odds_apart(
    reports: SparseReports, clip: float
) -> tuple[FloatArray, FloatArray]:
    """Mean log-odds (T,) of each case, and how far each report (M,) lies from it.

    >>> reports = SparseReports.from_dense(np.array([[0.5, 0.5], [np.nan, 0.5]]))
    >>> log_odds_apart(reports, 0.02)
    (array([0., 0.]), array([0., 0., 0.]))
    """
    x = logit(reports.values, clip)
    anchor = reports.by_case(x) / reports.counts
    return anchor, x - anchor[reports.case]
