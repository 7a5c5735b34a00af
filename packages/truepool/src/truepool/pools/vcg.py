"""Weights by contribution: how much worse the pool is without each agent."""

from dataclasses import replace
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.measures.credit import credit_per_report, leave_one_out
from truepool.measures.credit.removal import report_mass, shrunk_credit
from truepool.measures.losses import Loss, as_loss
from truepool.measures.shrinkage import check_sums, reports_are_rare
from truepool.panel.panel import Panel
from truepool.panel.weights import by_credit, uniform
from truepool.pools.interface import LinearPool, by_agent, learned
from truepool.pools.interface.result import Explanation


@final
class VCG(LinearPool):
    r"""Weights proportional to positive leave-one-out credit.

    :math:`D_i = \overline{\ell(p_{-i}, y) - \ell(p, y)}` at equal weights and
    :math:`w_i \propto \max(D_i, 0)`; equal weights when no agent contributes. The
    contribution-weighted model of Budescu & Chen (Management Science 2015), and the
    static VCG weights of the paper (READINGS 4). Where less than half of the cells are
    filled, credit is shrunk towards the crowd's, the more the rarer the agent reported
    (`truepool.measures.shrinkage`), unless it is sampled by ``removals``.

    Parameters
    ----------
    loss : str
        ``brier``, ``log``, ``spherical``, ``cost`` (the paper's: 0/1 at the
        threshold) or ``cost-brier``. Smooth losses give steadier weights.
    removals : int, optional
        Try only this many removals per case, at random (k-LOO, apd:approx_vcg).
    iterations : int
        How often credit is recomputed at the weights learned so far; 1 is the
        model above. An agent without weight never regains any.
    seed : int
        For ``removals``.

    Attributes
    ----------
    weights_ : (N,)
        The weights.
    credit_ : (N,)
        The credit, in units of the loss per case that the agent reported on.

    Examples
    --------
    >>> reports = [[0.9, 0.6, 0.5], [0.2, 0.4, 0.5], [0.7, 0.9, 0.5], [0.3, 0.1, 0.5]]
    >>> VCG().fit(reports, [1, 0, 1, 0]).weights_.round(3)
    array([0.599, 0.401, 0.   ])
    """

    name: ClassVar[str] = "vcg"
    scales: ClassVar[bool] = True
    complexity: ClassVar[int] = 2

    loss: str = "brier"
    removals: int | None = None
    iterations: int = 1
    seed: int = 0

    credit_: FloatArray = learned()

    def _weigh(self, panel: Panel, case_weights: FloatArray | None) -> FloatArray:
        if self.iterations < 1:
            raise SettingError(
                f"credit must be computed at least once; iterations is "
                f"{self.iterations!r}"
            )
        loss = as_loss(self.loss, self.costs, self.threshold).on(panel)
        weights = uniform(len(panel.agents))
        for _ in range(self.iterations):
            credit = self._credit(panel, loss, weights, case_weights)
            before = weights
            weights = by_credit(credit / loss.span(panel.classes))
            if np.abs(weights - before).max() < 1e-12:
                break
        self.credit_ = credit
        return weights

    def _credit(
        self,
        panel: Panel,
        loss: Loss,
        weights: FloatArray,
        case_weights: FloatArray | None,
    ) -> FloatArray:
        """Credit (N,) per report."""
        if reports_are_rare(panel) and self.removals is None:
            return shrunk_credit(panel, loss, weights, case_weights)
        credit = leave_one_out(
            panel,
            loss=loss,
            weights=weights,
            sample_weight=case_weights,
            removals=self.removals,
            seed=self.seed,
        )
        return credit_per_report(credit, panel, case_weights)

    def streams(self, agents: int) -> bool:
        """Whether it learns from sums over the cases: credit and reports by agent.

        Not where costs differ between cases, whose range must be known first.
        """
        plain = self.iterations == 1 and self.removals is None
        return plain and not as_loss(self.loss, self.costs, self.threshold).per_case

    def _sums(self, panel: Panel, prior: FloatArray) -> FloatArray:
        loss = as_loss(self.loss, self.costs, self.threshold)
        reported, mass = report_mass(panel)
        credit = leave_one_out(panel, loss=loss, prior=prior) * mass
        return np.stack([credit, reported, np.full(len(credit), mass)])

    def _weigh_sums(self, sums: FloatArray) -> FloatArray:
        check_sums(self.name, self.training_.missing, len(self.classes_))
        credit, reported, mass = sums
        # An agent that never reported has credit 0 and no rate.
        rate = np.where(reported > 0, reported / mass, 1.0)
        self.credit_ = credit / mass / rate
        loss = as_loss(self.loss, self.costs, self.threshold)
        return by_credit(self.credit_ / loss.span(len(self.classes_)))

    def _explanation(self) -> Explanation:
        credit = by_agent(self.agents_, self.credit_)
        return replace(super()._explanation(), credit=credit, loss=self.loss)
