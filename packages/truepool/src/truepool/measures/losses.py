r"""Losses of a pooled probability: one number per case, smaller is better.

All are written with two quantities that mean the same for 2 and for K classes: the
probability :math:`p_y` of the outcome, and the size :math:`\|p\|^2`.

==============  ==========================================================  ===========
name            loss of p for outcome y                                     proper
==============  ==========================================================  ===========
``brier``       :math:`1 - 2p_y + \|p\|^2` (halved for two classes, where
                it is the usual :math:`(p - y)^2`)                          yes
``log``         :math:`-\log p_y`                                           yes
``spherical``   :math:`1 - p_y / \|p\|`                                     yes
``cost``        cost of the decision that p leads to                        yes (a step)
``cost-brier``  Brier with each squared error weighted by its cost          no
==============  ==========================================================  ===========

``cost-brier`` is smooth and follows the costs, which gives steadier weights; the
report that minimises it is the *cost-weighted* probability, not the probability.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import (
    SMALLEST,
    FloatArray,
    IntArray,
    as_outcomes,
    as_pooled,
    blocks,
    classes,
)
from truepool.core.errors import SettingError, UnknownNameError
from truepool.measures.decisions import check_threshold, choose
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports

NAMES = ("brier", "log", "spherical", "cost", "cost-brier")


@dataclass(frozen=True)
class Loss:
    """A named loss with its costs and threshold.

    >>> Loss("brier")([0.25], [1])
    array([0.5625])
    >>> Loss("cost", Costs(fn=10, fp=1))([0.25, 0.25], [1, 0])
    array([0., 1.])
    """

    name: str
    costs: Costs = field(default_factory=Costs)
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise UnknownNameError("loss", self.name, NAMES)
        check_threshold(self.threshold)

    @property
    def squared(self) -> bool:
        """Whether the loss is a weighted square of the error."""
        return self.name in ("brier", "cost-brier")

    @property
    def convex(self) -> bool:
        """Whether the loss is convex in p, so that best weights can be found."""
        return self.squared or self.name == "log"

    def __call__(self, pooled: ArrayLike, outcomes: ArrayLike) -> FloatArray:
        """Loss of each case, (T,), for pooled (T,) or (T, K)."""
        coordinates = as_pooled(pooled)
        self.check_cases(len(coordinates))
        return self.evaluate(
            coordinates, as_outcomes(outcomes, classes(coordinates.shape[-1]))
        )

    def check_cases(self, cases: int) -> None:
        """Refuse costs that are not known for each of so many cases."""
        if "cost" in self.name:
            self.costs.check_cases(cases)

    @property
    def per_case(self) -> bool:
        """Whether it weighs errors by costs that differ between cases."""
        return "cost" in self.name and not self.costs.constant

    def on(self, panel: Panel) -> "Loss":
        """Return the loss with the costs of each case of a panel, where they differ."""
        if not self.per_case:
            return self
        costs = self.costs.resolve(panel.columns, panel.ids)
        costs.check_cases(len(panel))
        return replace(self, costs=costs)

    def take(self, cases: Any) -> "Loss":
        """Return the loss of some of the cases."""
        if not self.per_case:
            return self
        return replace(self, costs=self.costs.take(cases))

    def evaluate(self, pooled: FloatArray, outcomes: IntArray) -> FloatArray:
        """Loss of coordinates (..., C) given outcomes (...), without checks.

        Costs per case are those of the outcomes, in their order.
        """
        match self.name:
            case "brier":
                return _brier(pooled, outcomes)
            case "log":
                return np.asarray(
                    -np.log(np.maximum(outcome_probability(pooled, outcomes), SMALLEST))
                )
            case "spherical":
                size = np.sqrt(_size(pooled))
                return np.asarray(1.0 - outcome_probability(pooled, outcomes) / size)
            case "cost":
                costs = self.costs.shape(np.shape(outcomes))
                decisions = choose(pooled, costs, self.threshold)
                return costs.cost_per_case(
                    outcomes, decisions, classes(pooled.shape[-1])
                )
            case _:
                K = classes(pooled.shape[-1])
                errors = (pooled - indicator(outcomes, K)) ** 2
                return np.asarray((self.factors(outcomes, K) * errors).sum(axis=-1))

    def span(self, classes: int, *, of_slopes: bool = False) -> float:
        """Largest difference of the losses (or slopes) of two agents in one case."""
        worst = 1.0
        if "cost" in self.name:
            costs = self.costs.errors if self.squared else self.costs
            happened = (np.full(costs.cases or (), y) for y in range(classes))
            rows = [costs.cost_per_decision(outcomes, classes) for outcomes in happened]
            worst = float(np.ptp(rows, axis=-1).max())
        if self.name == "log":
            return 1.0 / SMALLEST if of_slopes else -float(np.log(SMALLEST))
        if of_slopes:
            return (2.0 if classes == 2 else 4.0) * worst
        halves = self.name in ("spherical", "cost") or classes == 2
        return worst if halves else 2.0 * worst

    def slope(self, pooled: FloatArray, outcomes: IntArray) -> FloatArray:
        """Derivative of a convex loss by each coordinate, (..., C)."""
        K = classes(pooled.shape[-1])
        if self.name == "log":
            probability = np.maximum(outcome_probability(pooled, outcomes), SMALLEST)[
                ..., None
            ]
            if pooled.shape[-1] == 1:
                return np.where(outcomes[..., None] == 1, -1.0, 1.0) / probability
            return np.where(
                np.arange(K) == outcomes[..., None], -1.0 / probability, 0.0
            )
        if not self.convex:
            raise SettingError(f"the {self.name} loss is not convex in the pool")
        return 2.0 * self.factors(outcomes, K) * (pooled - indicator(outcomes, K))

    def factors(self, outcomes: IntArray, classes: int) -> FloatArray:
        """Weight of each squared error in a squared loss, (..., C)."""
        if self.name == "brier":
            return np.ones(1 if classes == 2 else classes)
        errors = self.costs.errors
        if classes == 2:
            costs = errors.shape(outcomes.shape)
            return costs.cost_per_case(outcomes, 1 - outcomes, classes)[..., None]
        rows = errors.cost_per_decision(outcomes, classes)
        missing = rows.sum(axis=-1, keepdims=True) / (classes - 1)
        return np.where(indicator(outcomes, classes) > 0, missing, rows)

    @property
    def scale(self) -> FloatArray:
        """Binary: cost of an error for outcomes 0 and 1 (1 for plain Brier)."""
        if self.name == "brier":
            return np.ones(2)
        table = self.costs.errors.table(2)
        return np.array([table[0, 1], table[1, 0]])


def every() -> dict[str, Callable[..., Loss]]:
    """All losses by name.

    >>> list(every())
    ['brier', 'log', 'spherical', 'cost', 'cost-brier']
    """
    return {name: partial(Loss, name) for name in NAMES}


def as_loss(
    loss: "str | Loss", costs: Costs | None = None, threshold: float | None = None
) -> Loss:
    """Return the loss of that name under these costs; a `Loss` is passed through."""
    if not isinstance(loss, Loss):
        return Loss(loss, costs or Costs(), threshold)
    if costs is not None or threshold is not None:
        raise SettingError("a Loss has costs and threshold of its own; leave them out")
    return loss


def brier(pooled: ArrayLike, outcomes: ArrayLike) -> FloatArray:
    r"""Squared error, :math:`(p - y)^2`; summed over the classes when K > 2.

    >>> brier([0.25], [1])
    array([0.5625])
    """
    return Loss("brier")(pooled, outcomes)


def log(pooled: ArrayLike, outcomes: ArrayLike) -> FloatArray:
    r"""Minus the log of the probability of the outcome, :math:`-\log p_y`.

    >>> log([0.25], [1]).round(3)
    array([1.386])
    """
    return Loss("log")(pooled, outcomes)


def spherical(pooled: ArrayLike, outcomes: ArrayLike) -> FloatArray:
    r"""One minus the spherical score, :math:`1 - p_y / \|p\|`.

    >>> spherical([1.0, 0.0], [1, 1])
    array([0., 1.])
    """
    return Loss("spherical")(pooled, outcomes)


def cost(
    pooled: ArrayLike,
    outcomes: ArrayLike,
    costs: Costs | None = None,
    threshold: float | None = None,
) -> FloatArray:
    """Cost of the decision that follows from the pooled probability.

    >>> cost([0.25], [1], Costs(fn=10, fp=1), threshold=0.5)
    array([10.])
    """
    return as_loss("cost", costs, threshold)(pooled, outcomes)


def cost_brier(
    pooled: ArrayLike, outcomes: ArrayLike, costs: Costs | None = None
) -> FloatArray:
    r"""Squared error weighted by its cost, :math:`cost_y (p - y)^2`.

    For K classes the error on class k is weighted by cost[y, k] and the error on y
    itself by the mean cost of missing y, so equal costs of 1 give `brier`.

    >>> cost_brier([0.25], [1], Costs(fn=10, fp=1))
    array([5.625])
    """
    return as_loss("cost-brier", costs)(pooled, outcomes)


def indicator(outcomes: IntArray, classes: int) -> FloatArray:
    """Outcomes as coordinates (..., C): 1 for the class of the outcome, else 0.

    >>> indicator(np.array([2, 0]), classes=3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    index = np.arange(1, 2) if classes == 2 else np.arange(classes)
    return np.asarray(outcomes[..., None] == index, dtype=np.float64)


def outcome_probability(pooled: FloatArray, outcomes: IntArray) -> FloatArray:
    """Probability of the outcome, (...)."""
    if pooled.shape[-1] == 1:
        return np.where(outcomes == 1, pooled[..., 0], 1.0 - pooled[..., 0])
    index = np.broadcast_to(outcomes, pooled.shape[:-1])[..., None]
    return np.take_along_axis(pooled, index, axis=-1)[..., 0]


def _size(pooled: FloatArray) -> FloatArray:
    if pooled.shape[-1] == 1:
        return np.asarray(pooled[..., 0] ** 2 + (1.0 - pooled[..., 0]) ** 2)
    return np.asarray((pooled**2).sum(axis=-1))


def _brier(pooled: FloatArray, outcomes: IntArray) -> FloatArray:
    if pooled.shape[-1] == 1:
        return np.asarray((pooled[..., 0] - outcomes) ** 2)
    return np.asarray(1.0 - 2.0 * outcome_probability(pooled, outcomes) + _size(pooled))


def agent_losses(
    panel: Panel, loss: Loss, case_weights: FloatArray | None = None
) -> FloatArray:
    """Mean loss (N,) of each agent's own reports; infinite if it never reported.

    >>> agent_losses(Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0]), Loss("brier")).round(3)
    array([0.01, 0.25])
    """
    return over_mass(*agent_loss_sums(panel, loss, case_weights))


def agent_loss_sums(
    panel: Panel, loss: Loss, case_weights: FloatArray | None = None
) -> FloatArray:
    """Total loss of each agent's own reports, and the weight of their cases, (2, N)."""
    loss, cases = loss.on(panel), panel.case_weights(case_weights)
    if panel.sparse is not None:
        cells = panel.sparse
        share = np.ones(len(cells.values)) if cases is None else cases[cells.case]
        lost = report_losses(panel, cells, loss) * share
        return np.stack([cells.by_agent(lost), cells.by_agent(share)])
    total, mass = np.zeros((2, len(panel.agents)))
    for part in blocks(len(panel), panel.values[0].size):
        values = panel.values[part]
        reported = ~np.isnan(values[:, :, 0])
        share = reported if cases is None else reported * cases[part][:, None]
        values = np.where(reported[:, :, None], values, 0.5)
        lost = loss.take(part).evaluate(values, panel.outcomes[part][:, None]) * share
        # Row after row from the first case on: the blocks change no bit of the sum.
        total, mass = np.vstack([total, lost]).sum(0), np.vstack([mass, share]).sum(0)
    return np.stack([total, mass])


def report_losses(panel: Panel, cells: SparseReports, loss: Loss) -> FloatArray:
    """Loss (M,) of each report; a loss with costs per case has those of the panel."""
    outcomes = panel.outcomes[cells.case]
    return loss.take(cells.case).evaluate(cells.values[:, None], outcomes)


def mean_over_reports(
    by_case: FloatArray, case_weights: FloatArray | None = None
) -> FloatArray:
    """Mean (N,) of (T, N) over the cases that are not NaN; infinite if there are none.

    >>> mean_over_reports(np.array([[1.0, np.nan], [3.0, np.nan]]))
    array([ 2., inf])
    """
    share = (~np.isnan(by_case)).astype(np.float64)
    if case_weights is not None:
        share *= case_weights[:, None]
    mass = share.sum(axis=0)
    total = (np.nan_to_num(by_case) * share).sum(axis=0)
    return over_mass(total, mass)


def over_mass(total: FloatArray, mass: FloatArray) -> FloatArray:
    """Mean (N,) of totals by their weight; infinite where there is none."""
    return np.where(mass > 0, total / np.where(mass > 0, mass, 1.0), np.inf)
