"""What the checks share, computed once and only when it is needed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from truepool.audits.cross_validation import CrossValidation
from truepool.audits.sampling import Sampling
from truepool.audits.timeline import Position, format_date
from truepool.comparison import (
    Competition,
    Estimate,
    estimate_cost,
    estimate_difference,
)
from truepool.core.arrays import Array, FloatArray, IntArray, case_mean
from truepool.core.engine import Engine
from truepool.measures.capacity import Capacity
from truepool.measures.diversity import correlation
from truepool.measures.groups import FEWEST_CASES, describe_shortage
from truepool.measures.inference import (
    Resamples,
    independent_units,
    paired_p_values,
    share_interval,
    unseen_differences,
    unseen_errors,
    with_unseen,
)
from truepool.measures.losses import Loss, agent_losses
from truepool.measures.shrinkage import comparable_losses
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.interface import Pool

SAVED = "{} as saved"
"""What a pool is called that was fitted before, beside one of its kind fitted again."""

MONTH = 365.25 / 12
"""Days of a month."""

A = TypeVar("A")


@dataclass(frozen=True, eq=False)
class Evidence:
    """A panel, the pool in use and the costs, and everything computed from them."""

    panel: Panel
    pool: Pool
    costs: Costs
    threshold: float | None
    level: float
    resamples: int
    seed: int
    by: str | None = None
    """Column of the panel that divides the cases into groups."""
    capacity: Capacity | None = None
    """How many cases can be decided positive."""
    engine: Engine | None = None
    """Where pools are cross-validated; in this process, if it is None."""
    treated: bool = False
    """Whether reports are as the plan's steps about agents leave them."""

    def part(self, chosen: IntArray) -> "Evidence":
        """Return the evidence on some of the tested cases, by their places."""
        panel = self.panel.take(self.cases[chosen])
        validation = CrossValidation(panel, self.pool, self.sampling)
        known = {"cases": np.arange(len(chosen)), "pooled": self.pooled[chosen]}
        vars(validation).update(known)
        other = replace(self, panel=panel)
        vars(other)["validation"] = validation
        vars(other)["decisions"] = self.decisions[chosen]
        return other

    def treat(self, panel: Panel) -> "Evidence":
        """Return the evidence with other reports on the same cases and folds."""
        own = self.validation
        like = tuple(own.pools)
        validation = CrossValidation(panel, self.pool, self.sampling, own.seen, like)
        vars(validation)["folds"] = own.folds
        other = replace(self, panel=panel, treated=True)
        vars(other).update(validation=validation, sampling=self.sampling)
        vars(other)["planned_loss"] = self.planned_loss
        return other

    def compute(self, quantity: Callable[["Evidence"], A]) -> A:
        """Return a quantity of this evidence, computed on first use."""
        if quantity not in self._computed:
            self._computed[quantity] = quantity(self)
        return cast(A, self._computed[quantity])

    def adopt(
        self, other: "Evidence", *quantities: Callable[["Evidence"], object]
    ) -> None:
        """Take over quantities that are the same in other evidence."""
        self._computed.update({one: other.compute(one) for one in quantities})

    @cached_property
    def _computed(self) -> dict[Any, Any]:
        return {}

    @cached_property
    def unsplit(self) -> "Evidence":
        """The evidence with one row per case, for what follows cases through time."""
        if self.panel.questions is None:
            return self
        other = replace(self, panel=self.panel.unsplit())
        vars(other)["sampling"] = self.sampling
        return other

    def before(self, place: int) -> IntArray:
        """Rows of the cases before this place in time."""
        panel = self.panel
        if panel.questions is None:
            return panel.order[:place]
        ordered = panel.questions[panel.order]
        known: dict[Any, int] = {}
        numbers = [known.setdefault(name, len(known)) for name in ordered.tolist()]
        return panel.order[np.array(numbers) < place]

    @cached_property
    def sampling(self) -> Sampling:
        """Random samples of the cases, and a note of each."""
        return Sampling(self.seed)

    @cached_property
    def loss(self) -> Loss:
        """What decisions cost, in each case of the panel."""
        return Loss("cost", self.costs, self.threshold).on(self.panel)

    @cached_property
    def tested_loss(self) -> Loss:
        """What decisions cost in the tested cases, at the threshold in use."""
        return self.loss.take(self.cases)

    @cached_property
    def implied_loss(self) -> Loss:
        """What decisions cost in the tested cases, at the threshold of the costs."""
        return Loss("cost", self.costs).on(self.panel).take(self.cases)

    @cached_property
    def planned_loss(self) -> Loss:
        """What decisions cost once the threshold is that of the costs, if that saves.

        Pools are compared at the threshold that is left after the first step.
        """
        loss = Loss("cost", self.costs, self.threshold)
        if self.threshold is None or self.capacity is not None or self.shortage:
            return loss
        implied = self.implied_loss.evaluate(self.pooled, self.outcomes)
        saving = self.saving(self.cost - implied)
        moves = saving is not None and saving.low > 0
        return Loss("cost", self.costs) if moves else loss

    @cached_property
    def planned(self) -> "Evidence":
        """The evidence at the threshold that is left after the first step.

        What later steps save is measured there.
        """
        threshold = self.planned_loss.threshold
        if threshold == self.threshold:
            return self
        other = replace(self, threshold=threshold)
        shared = ("validation", "sampling", "correlation")
        vars(other).update({name: getattr(self, name) for name in shared})
        return other

    @property
    def line(self) -> float | None:
        """Threshold in use; None where it differs by case, or for K > 2 classes."""
        if self.panel.classes != 2:
            return None
        if self.threshold is not None or not self.costs.constant:
            return self.threshold
        return float(self.costs.threshold)

    @cached_property
    def typical_line(self) -> float | None:
        """Threshold in use; that of an average case where it differs by case."""
        if self.line is not None or self.panel.classes != 2:
            return self.line
        return float(self.tested_loss.costs.mean(self.weights_of(self.cases)).threshold)

    @cached_property
    def label(self) -> str:
        """Name of the pool in lists that also name agents."""
        return "pool" if "pool" not in self.panel.agents else "the pool"

    @cached_property
    def shortage(self) -> str | None:
        """Why no interval can be given; None where there are enough cases.

        Cases from which the pool only learns (the first ones in time) do not count.
        """
        whole = len(self.outcomes) == len(self.panel)
        outcomes = self.panel.outcomes[self.panel.one_row_each(self.cases)]
        what = "outcomes" if whole else "tested outcomes"
        return describe_shortage(outcomes, what, self.groups_of(self.cases))

    # The pool on cases it did not learn from

    @cached_property
    def validation(self) -> CrossValidation:
        """The pool in use, cross-validated."""
        return CrossValidation(self.panel, self.pool, self.sampling)

    @property
    def in_use(self) -> str:
        """What the pool in use is called beside those that it is compared with."""
        return SAVED.format(self.pool.name) if self.validation.saved else self.pool.name

    @property
    def cases(self) -> IntArray:
        """Indices of the tested cases."""
        return self.validation.cases

    @property
    def pooled(self) -> FloatArray:
        """Pooled probabilities of the tested cases, (T', C)."""
        return self.validation.pooled

    @cached_property
    def competition(self) -> Competition:
        """The cases that compete for the capacity, where there is one."""
        if self.capacity is not None:
            return self.everyone
        pairs = self.validation.tested_pairs
        return Competition.of(self.panel, pairs, None, self.costs)

    @cached_property
    def everyone(self) -> Competition:
        """The tested cases, and those without an outcome that the same folds pool."""
        pairs = self.validation.tested_pairs
        return Competition.of(
            self.panel, pairs, self.capacity, self.costs, with_pending=True
        )

    @property
    def pooled_competitors(self) -> FloatArray:
        """Pooled probabilities of the cases that compete, the tested ones first."""
        return self.pooled if self.capacity is None else self.pooled_everyone

    @cached_property
    def pooled_everyone(self) -> FloatArray:
        """Pooled probabilities of `everyone`, the tested cases first."""
        if not self.everyone.pending:
            return self.pooled
        later = self.validation.predict_pending(self.everyone)
        return np.concatenate([self.pooled, later])

    @cached_property
    def outcomes(self) -> IntArray:
        """Outcomes of the tested cases."""
        return self.panel.outcomes[self.cases]

    @property
    def weighted_share(self) -> float | None:
        """Share of positives by the weights of the cases; None where all are equal."""
        weights = self.panel.case_weights()
        if weights is None:
            return None
        return float(np.average(self.panel.outcomes > 0, weights=weights))

    @cached_property
    def cost(self) -> FloatArray:
        """Cost of each tested case without the capacity, (T',)."""
        return self.tested_loss.evaluate(self.pooled, self.outcomes)

    @cached_property
    def stake(self) -> float:
        """What errors cost more than right decisions would have, per tested case."""
        y = self.outcomes
        right = self.tested_loss.costs.cost_per_case(y, y, self.panel.classes)
        return self.mean(self.cost - right)

    @cached_property
    def competitor_decisions(self) -> IntArray:
        """Decision on each case that competes, the tested ones first."""
        loss = Loss("cost", self.costs, self.threshold)
        return self.competition.decide(self.pooled_competitors, loss)

    @cached_property
    def decisions(self) -> IntArray:
        """Decision on each tested case, within the capacity if there is one, (T',)."""
        return self.competitor_decisions[: self.competition.tested]

    @property
    def decision_cost(self) -> FloatArray:
        """Cost of these decisions in each tested case, (T',)."""
        costs = self.tested_loss.costs
        return costs.cost_per_case(self.outcomes, self.decisions, self.panel.classes)

    def recall(self, decisions: IntArray) -> Estimate | None:
        """Share of the positive tested cases that are decided positive."""
        if self.shortage or self.panel.classes != 2:
            return None
        positive, found = self.outcomes > 0, decisions > 0
        weights, groups = self.weights_of(self.cases), self.groups_of(self.cases)
        interval = share_interval(found, positive, self.level, weights, groups)
        hits = self.mean((found & positive).astype(np.float64))
        return Estimate(hits / self.mean(positive.astype(np.float64)), *interval)

    def cost_of(self, panel: Panel) -> FloatArray:
        """Cost of each tested case with other reports, the pool fitted to them."""
        validation = self.validation
        values = panel.values[self.cases]
        pooled = validation.predict(values, self.cases, validation.fit(panel))
        return self.tested_loss.evaluate(pooled, self.outcomes)

    def with_reports(self, agent: int, values: FloatArray) -> Panel:
        """Return the panel with the reports of one agent (T, C) replaced."""
        reports = self.panel.values.copy()
        reports[:, agent] = values
        return self.panel.with_reports(reports)

    # Intervals

    def units(self, by_case: FloatArray) -> FloatArray:
        """Independent parts (U,) of the mean of a series over the tested cases.

        Cases count by their weights, and those of one group together.
        """
        weights, groups = self.weights_of(self.cases), self.groups_of(self.cases)
        return independent_units(by_case[:, None], weights, groups)[:, 0]

    def weights_of(self, cases: IntArray) -> FloatArray | None:
        """Weights of some cases; None if all count alike."""
        weights = self.panel.case_weights()
        return None if weights is None else weights[cases]

    def groups_of(self, cases: IntArray) -> Array | None:
        """Groups of some cases; None if they are independent."""
        return None if self.panel.groups is None else self.panel.groups[cases]

    def mean(self, by_case: FloatArray) -> float:
        """Mean of a series over the tested cases, by their weights."""
        return float(self.units(by_case).mean())

    def p_value(self, by_case: FloatArray) -> float:
        """Two-sided t-test of whether such a mean is 0."""
        return float(paired_p_values(self.units(by_case)[:, None])[0])

    def saving_p_value(self, saved: FloatArray) -> float:
        """Two-sided t-test of whether the mean of differences of cost is 0."""
        units = self.units(saved)[:, None]
        return float(paired_p_values(with_unseen(units, self._unseen(saved)))[0])

    def _unseen(self, saved: FloatArray) -> FloatArray:
        """Differences of cost that the cases of a series may not have shown, (P,)."""
        stakes = self.tested_loss.costs.stakes(self.outcomes, self.panel.classes)
        weights, units = self.weights_of(self.cases), len(self.units(saved))
        return unseen_differences(stakes, self.outcomes, weights, units)

    @cached_property
    def _resamples(self) -> dict[int, Resamples]:
        return {}

    def estimate(self, cost: FloatArray) -> Estimate | None:
        """Mean cost with its BCa interval; None where the cases cannot support one."""
        if self.shortage:
            return None
        cases, K, units = self.cases, self.panel.classes, self.units(cost)
        costs, y = self.tested_loss.costs, self.outcomes
        excess = cost - costs.cost_per_case(y, y, K)
        unseen = unseen_errors(
            excess, costs.stakes(y, K), y, self.weights_of(cases), self.groups_of(cases)
        )
        return estimate_cost(units, unseen, self._drawn(len(units)), self.level)

    def saving(self, saved: FloatArray) -> Estimate | None:
        """Mean of differences of cost with its interval; None as for `estimate`."""
        if self.shortage:
            return None
        units, unseen = self.units(saved), self._unseen(saved)
        drawn = self._drawn(len(units) + len(unseen))
        return estimate_difference(units, unseen, drawn, self.level)

    def _drawn(self, units: int) -> Resamples:
        if units not in self._resamples:
            self._resamples[units] = Resamples(units, self.resamples, self.seed)
        return self._resamples[units]

    # Time

    def date(self, place: int | None) -> str:
        """Return when the case at a place in time was; empty without dates."""
        times = self.panel.times
        if place is None or times is None or times.dtype.kind != "M":
            return ""
        return format_date(times[self.panel.order[place]])

    def position(self, place: int) -> Position:
        """Return where a case is in time."""
        panel = self.panel
        name = None if panel.ids is None else str(panel.ids[panel.order[place]])
        return Position(place, len(panel), name, self.date(place))

    # The agents

    @cached_property
    def correlation(self) -> FloatArray:
        """Correlation of reports, (N, N); NaN where few cases have both."""
        enough = self.shared_cases >= min(FEWEST_CASES, len(self.panel))
        return np.where(enough, correlation(self.panel), np.nan)

    @cached_property
    def shared_cases(self) -> FloatArray:
        """How many cases two agents both reported on, (N, N)."""
        known = (~np.isnan(self.panel.values[:, :, 0])).astype(np.float64)
        return np.asarray(known.T @ known)

    @cached_property
    def own_brier(self) -> FloatArray:
        """Brier loss of each agent's own reports, (N,)."""
        return agent_losses(self.panel, Loss("brier"))

    @cached_property
    def comparable_brier(self) -> FloatArray:
        """Brier loss (N,) by which agents are ranked: shrunk where reports are rare."""
        return comparable_losses(self.panel, Loss("brier"))

    @cached_property
    def own_cost(self) -> FloatArray:
        """Cost per case (N,) of deciding by each agent alone, on the tested cases."""
        return agent_losses(self.panel.take(self.cases), self.tested_loss)

    @cached_property
    def prior_brier(self) -> float:
        """Brier loss of reporting the base rate every time."""
        panel = self.panel
        prior = np.broadcast_to(panel.base_rate(), (len(panel), panel.values.shape[2]))
        lost = Loss("brier").evaluate(prior, panel.outcomes)
        return float(case_mean(lost, panel.case_weights()))

    def cost_without(
        self, agents: Iterable[int], cases: IntArray | None = None
    ) -> FloatArray:
        """Cost of each tested case without these agents' reports, (T',).

        Their reports are left out on these ``cases``, by default on all.
        """
        values = self.panel.values[self.cases]
        affected = slice(None) if cases is None else np.isin(self.cases, cases)
        for agent in agents:
            values[affected, agent] = np.nan
        pooled = self.validation.predict(values, self.cases)
        return self.tested_loss.evaluate(pooled, self.outcomes)

    def saving_without(
        self, agent: int, cases: IntArray | None = None
    ) -> Estimate | None:
        """What the pool would save per case without the agent's reports on ``cases``.

        None where none of them was tested, as after the last known outcome.
        """
        if cases is not None and not np.isin(cases, self.cases).any():
            return None
        return self.saving(self.cost - self.cost_without([agent], cases))

    @cached_property
    def cost_rises(self) -> FloatArray:
        """Increase in cost of each tested case without each agent, (T', N).

        The weights of the other agents are scaled up: leave-one-out credit.
        """
        agents = range(len(self.panel.agents))
        costs = [self.cost_without([i]) for i in agents]
        return np.stack([cost - self.cost for cost in costs], axis=1)


def cases_per_month(evidence: Evidence) -> float | None:
    """Cases in a month of the table, with an outcome or without; None without dates."""
    panel = evidence.unsplit.panel
    if panel.times is None or panel.times.dtype.kind != "M":
        return None
    times = panel.times
    if panel.pending is not None and panel.pending.times is not None:
        times = np.concatenate([times, panel.pending.times])
    days = float(np.ptp(times.astype("datetime64[s]").astype(np.int64))) / 86_400
    # By propensity a case stands for others that are among those without an outcome.
    each = 1.0 if panel.weights is None else float(panel.weights.mean())
    return None if days < 1 else len(times) * each / days * MONTH
