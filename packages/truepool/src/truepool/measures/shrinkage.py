r"""Means of agents who reported rarely, shrunk towards the crowd.

The mean :math:`m_i` of agent i over its :math:`n_i` reports varies by
:math:`\tau^2 + \sigma^2 / n_i` around the mean :math:`\mu` of all agents:
:math:`\tau^2` is by how much agents differ, :math:`\sigma^2` by how much the reports of
one agent do. Its mean over all T cases, had it reported on each, is expected at

.. math:: \mu + \frac{\tau^2 + \sigma^2 / T}{\tau^2 + \sigma^2 / n_i} (m_i - \mu).

Who reported on every case stays where it is; ten reports move an agent hardly away from
the crowd. :math:`\tau^2` is that of DerSimonian & Laird (1986).
"""

import numpy as np

from truepool.core.arrays import FloatArray, case_mean
from truepool.core.errors import PanelError
from truepool.measures.losses import Loss, agent_losses, report_losses
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports
from truepool.panel.weights import uniform

RARE_FILL = 0.5
"""With a smaller share of the cells filled, agents are shrunk towards the crowd."""


def is_rare(missing: float, classes: int) -> bool:
    """Whether agents are shrunk: two classes, and less than half of the cells filled.

    It is so in either layout, whatever the number of cells.
    """
    return classes == 2 and missing > 1.0 - RARE_FILL


def reports_are_rare(panel: Panel) -> bool:
    """Whether the agents of a panel are shrunk."""
    return is_rare(panel.missing, panel.classes)


def check_sums(name: str, missing: float, classes: int) -> None:
    """Refuse to learn from sums where agents are shrunk: that takes every report."""
    if is_rare(missing, classes):
        raise PanelError(
            f"the pool {name!r} must see all reports at once where less than "
            f"{RARE_FILL:.0%} of the cells have one, to shrink rare agents towards "
            f"the crowd; in this data set {1.0 - missing:.1%} have. Write it as one "
            "long table (long)."
        )


def cells_of(panel: Panel) -> SparseReports:
    """Return the reports of a panel of two classes without the empty cells."""
    return panel.sparse or SparseReports.from_dense(panel.reports)


def shrink_means(
    cells: SparseReports, numbers: FloatArray, case_weights: FloatArray | None = None
) -> FloatArray:
    """Mean (N,) of one number per report, (M,), of each agent, shrunk.

    NaN for an agent without a report.

    >>> cells = SparseReports.from_dense(np.full((20, 3), 0.5))
    >>> shrink_means(cells, np.tile([0.1, 0.2, 0.3], 20)).round(3)
    array([0.1, 0.2, 0.3])
    """
    given = np.ones(len(cells)) if case_weights is None else case_weights
    share = given[cells.case]
    mass = cells.by_agent(share)
    with np.errstate(invalid="ignore"):
        means = cells.by_agent(share * numbers) / mass
        # Reports of unequal weights tell as much as this many of equal ones.
        counts = mass**2 / cells.by_agent(share**2)
    within = share @ (numbers - means[cells.agent]) ** 2 / mass.sum()
    cases = given.sum() ** 2 / (given**2).sum()
    return shrink(means, counts, within, cases)


def shrink(
    means: FloatArray, counts: FloatArray, within: float, cases: float
) -> FloatArray:
    """Means (N,) of agents over ``counts`` (N,) of the cases, shrunk.

    ``within`` is the mean square of what they are taken of around them. NaN for an
    agent whose count is NaN.
    """
    known = counts > 0
    agents, total = int(known.sum()), counts[known].sum()
    if total <= agents or agents < 2:
        return np.where(known, means, np.nan)
    within *= total / (total - agents)
    n, m = counts[known], means[known]
    apart = n @ (m - n @ m / total) ** 2 - (agents - 1) * within
    between = max(0.0, float(apart / (total - n @ n / total)))
    spread = between + within / n
    if not spread.max() > 0:
        return np.where(known, means, np.nan)
    crowd = (m / spread).sum() / (1.0 / spread).sum()
    factor = np.minimum((between + within / cases) / spread, 1.0)
    shrunk = np.full(len(means), np.nan)
    shrunk[known] = crowd + factor * (m - crowd)
    return shrunk


def comparable_losses(
    panel: Panel, loss: Loss, case_weights: FloatArray | None = None
) -> FloatArray:
    """Mean loss (N,) by which agents can be ranked; infinite without a report.

    It is that of their own reports, or, where agents are shrunk, the loss of the mean
    of all reports plus how much more than it each lost on the same cases, shrunk: who
    reported on few or on easy cases is not the best for that.

    >>> panel = Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    >>> comparable_losses(panel, Loss("brier")).round(3)
    array([0.01, 0.25])
    """
    if not reports_are_rare(panel):
        return agent_losses(panel, loss, case_weights)
    cells, loss, cases = (
        cells_of(panel),
        loss.on(panel),
        panel.case_weights(case_weights),
    )
    pooled = cells.linear(uniform(len(panel.agents)))[:, None]
    crowd = loss.evaluate(pooled, panel.outcomes)
    more = report_losses(panel, cells, loss) - crowd[cells.case]
    shrunk = case_mean(crowd, cases) + shrink_means(cells, more, cases)
    return np.where(np.isnan(shrunk), np.inf, shrunk)
