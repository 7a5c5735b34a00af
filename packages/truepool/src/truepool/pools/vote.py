"""The majority vote, as a probability."""

from typing import ClassVar, final

import numpy as np

from truepool.core import kernels
from truepool.core.arrays import FloatArray, classes, read_only
from truepool.measures.decisions import EDGE, choose
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.panel.weights import uniform
from truepool.pools.interface import FixedPool, learned
from truepool.pools.onnx.graph import ReportTensors, Tensor


@final
class Vote(FixedPool):
    """Each agent decides by the costs; the pool is the mean report of the majority.

    A mean of reports on one side of the threshold stays on that side, so the decision
    of this pool *is* the majority vote (the plurality for K classes), and the
    probability still means something. Where the vote is tied all agents count. Where
    costs differ between cases, agents decide by those of an average training case.

    It costs more than the plain mean on 7 of 11 development panels (1.2 % more in the
    median, errors of equal cost); it is for those who must vote.

    >>> pool = Vote().fit([[0.9, 0.8, 0.2], [0.1, 0.2, 0.3]], [1, 0])
    >>> pool.predict_proba([[0.9, 0.7, 0.1]])[:, 1].round(3)
    array([0.8])
    """

    name: ClassVar[str] = "vote"
    costs_: Costs = learned()

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        costs = (self.costs or Costs()).resolve(panel.columns, panel.ids)
        self.costs_ = costs.mean(case_weights)

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        T, N, C = values.shape
        K = classes(C)
        reported = ~np.isnan(values[:, :, 0])
        filled = np.where(reported[:, :, None], values, 1.0 / K)
        votes = choose(filled, self.costs_, self.threshold)
        ballot = (votes[:, :, None] == np.arange(K)) & reported[:, :, None]  # (T, N, K)
        tally = ballot.sum(axis=1)
        leads = tally == tally.max(axis=1, keepdims=True)
        winner = leads.argmax(axis=1)
        majority = ballot[np.arange(T), :, winner]
        majority = np.where((leads.sum(axis=1) == 1)[:, None], majority, reported)
        majority_values = read_only(np.where(majority[:, :, None], values, np.nan))
        return np.asarray(kernels.linear(majority_values, uniform(N)))

    def to_onnx(self, reports: ReportTensors) -> Tensor:
        """Pooled coordinates (T, C) inside an ONNX graph."""
        costs, K = self.costs_, reports.classes
        if reports.coordinates == 1:
            line = costs.threshold if self.threshold is None else self.threshold
            yes = (reports.values > line + EDGE).numbers()
            ballot = yes * np.array([-1.0, 1.0]) + np.array([1.0, 0.0])
        else:
            expected = reports.values @ costs.table(K)
            least = (expected <= expected.min(2, keep=True) + EDGE).numbers()
            # The first of equals: the one with the largest falling number.
            first = least * np.arange(K, 0.0, -1.0)
            ballot = (first >= first.max(2, keep=True)).numbers()
        ballot = ballot * reports.reported  # (T, N, K)
        tally = ballot.sum(1, keep=True)
        leads = (tally >= tally.max(2, keep=True)).numbers()
        alone = leads.sum(2, keep=True) < 1.5
        majority = (ballot * leads).sum(2, keep=True)
        return reports.weighted_mean(alone.where(majority, reports.reported))
