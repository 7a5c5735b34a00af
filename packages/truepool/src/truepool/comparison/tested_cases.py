"""Pools on the tested cases: rows of a comparison, of all cases or of groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from truepool.comparison.values import Estimate, GroupComparison, Row
from truepool.core.arrays import Array, FloatArray, IntArray, case_mean, to_classes
from truepool.core.engine import Engine, Processes
from truepool.measures.groups import describe_shortage
from truepool.measures.inference import (
    Resamples,
    holm,
    independent_units,
    paired_p_values,
    share_interval,
    unseen_differences,
    unseen_errors,
    with_unseen,
)
from truepool.measures.scores import ece, loss
from truepool.measures.scores.decision import count_decisions
from truepool.panel.panel import last_rows

BASELINES = ("mean", "best-agent")
"""Every pool is compared with the plain mean and with the best single agent."""


@dataclass(frozen=True, eq=False)
class TestedCases:
    """What every pool said, decided and cost on the tested cases."""

    pooled: Mapping[str, FloatArray]
    decisions: Mapping[str, IntArray]
    paid: Mapping[str, FloatArray]
    losses: FloatArray
    outcomes: IntArray
    weights: FloatArray | None
    groups: Array | None
    """What cases have in common, so that they are not independent."""
    questions: Array | None = None
    """The case that each row belongs to, where cases are split into rows."""
    stakes: FloatArray | None = None
    """What a decision can change in each case (T,), if the losses are costs."""
    least: FloatArray | None = None
    """What the right decision costs in each case (T,), if the losses are costs."""

    @cached_property
    def units(self) -> FloatArray:
        """Independent parts (U, M) of the mean losses."""
        return independent_units(self.losses, self.weights, self.groups)

    @cached_property
    def unseen(self) -> FloatArray:
        """Differences of cost that none of these cases may have shown, (P,)."""
        if self.stakes is None:
            return np.empty(0)
        return unseen_differences(
            self.stakes, self.outcomes, self.weights, len(self.units)
        )

    def unseen_errors(self, column: int) -> tuple[float, float]:
        """What decisions of a pool would change that none of these cases has shown."""
        if self.stakes is None or self.least is None:
            return 0.0, 0.0
        excess = self.losses[:, column] - self.least
        return unseen_errors(
            excess, self.stakes, self.outcomes, self.weights, self.groups
        )

    def p_values(self) -> FloatArray:
        """P-values (2, M) of every pool against each baseline, which gets NaN."""
        names = list(self.pooled)
        p_values = np.full((2, len(names)), np.nan)
        for row, baseline in enumerate(BASELINES):
            j = names.index(baseline)
            others = np.arange(len(names)) != j
            gaps = self.units[:, others] - self.units[:, [j]]
            p_values[row, others] = paired_p_values(with_unseen(gaps, self.unseen))
        return p_values

    def take(self, cases: IntArray) -> "TestedCases":
        """Return some of the cases."""
        return TestedCases(
            {name: p[cases] for name, p in self.pooled.items()},
            {name: decided[cases] for name, decided in self.decisions.items()},
            {name: paid[cases] for name, paid in self.paid.items()},
            self.losses[cases],
            self.outcomes[cases],
            None if self.weights is None else self.weights[cases],
            None if self.groups is None else self.groups[cases],
            None if self.questions is None else self.questions[cases],
            None if self.stakes is None else self.stakes[cases],
            None if self.least is None else self.least[cases],
        )

    @property
    def case_outcomes(self) -> IntArray:
        """Outcome of each case, however many rows it is split into."""
        if self.questions is None:
            return self.outcomes
        return self.outcomes[last_rows(self.questions)]

    def rows(
        self,
        p_mean: FloatArray,
        p_best: FloatArray,
        *,
        level: float,
        resamples: int,
        seed: int,
        engine: Engine | None = None,
    ) -> tuple[Row, ...]:
        """Rows by loss, with these adjusted p-values (M,).

        The intervals of each pool are an item for the engine.
        """
        drawn = Resamples(len(self.units), resamples, seed)
        paired = Resamples(len(self.units) + len(self.unseen), resamples, seed)
        names = list(self.pooled)
        baselines = [names.index(name) for name in BASELINES]
        losses = np.ascontiguousarray(self.units.T)
        items = (
            (own, self.unseen_errors(i), [own - losses[j] for j in baselines])
            for i, own in enumerate(losses)
        )
        work = partial(
            _estimates, unseen=self.unseen, drawn=drawn, paired=paired, level=level
        )
        found = (engine or Processes()).map(work, items)
        rows = []
        for i, (name, estimates) in enumerate(zip(names, found, strict=True)):
            summary = self._summary(name) | self._intervals(name, level)
            chances = (float(p_mean[i]), float(p_best[i]))
            rows.append(Row(name, *estimates, *chances, **summary))
        return tuple(sorted(rows, key=_rank))

    def _intervals(self, name: str, level: float) -> dict[str, Any]:
        """Limits of recall and of the share of false alarms, of two classes."""
        if self.pooled[name].shape[1] > 1:
            return {}
        alert, positive = self.decisions[name] > 0, self.outcomes > 0
        of = level, self.weights, self.groups
        return {
            "recall_interval": share_interval(alert, positive, *of),
            "fp_interval": share_interval(alert, ~positive, *of),
        }

    def _summary(self, name: str) -> dict[str, Any]:
        probabilities = to_classes(self.pooled[name])
        y, w = self.outcomes, self.weights
        K = probabilities.shape[1]
        counts = count_decisions(self.decisions[name], y, K, w)
        return {
            "cost": case_mean(self.paid[name], w),
            "brier": loss(probabilities, y, "brier", sample_weight=w),
            "log": loss(probabilities, y, "log", sample_weight=w),
            "ece": ece(probabilities, y, sample_weight=w),
            "recall": counts.recall,
            "precision": counts.precision,
            "fn_rate": counts.fn_rate if K == 2 else float("nan"),
            "fp_rate": counts.fp_rate if K == 2 else float("nan"),
            "recalls": tuple(counts.recalls.tolist()),
        }


def compare_groups(
    tested: TestedCases, groups: Sequence[tuple[str, IntArray]], **settings: Any
) -> tuple[GroupComparison, ...]:
    """Compare the pools within each group, p-values adjusted for all of them."""
    parts = {name: tested.take(cases) for name, cases in groups}
    shortages = {
        name: describe_shortage(part.case_outcomes, groups=part.groups)
        for name, part in parts.items()
    }
    judged = [name for name, shortage in shortages.items() if shortage is None]
    raw = [parts[name].p_values() for name in judged]
    p_values = adjust(np.array(raw)) if raw else ()
    adjusted = dict(zip(judged, p_values, strict=True))
    return tuple(
        GroupComparison(
            name,
            len(part.case_outcomes),
            int((part.case_outcomes > 0).sum()),
            shortages[name],
            part.rows(*adjusted[name], **settings) if name in adjusted else (),
            case_mean((part.outcomes > 0).astype(np.float64), part.weights),
        )
        for name, part in parts.items()
    )


def _estimates(
    item: tuple[FloatArray, tuple[float, float], list[FloatArray]],
    *,
    unseen: FloatArray,
    drawn: Resamples,
    paired: Resamples,
    level: float,
) -> tuple[Estimate, Estimate, Estimate]:
    """Loss of a pool, and its differences from the baselines."""
    own, errors, (to_mean, to_best) = item
    return (
        estimate_cost(own, errors, drawn, level),
        estimate_difference(to_mean, unseen, paired, level),
        estimate_difference(to_best, unseen, paired, level),
    )


def estimate_cost(
    units: FloatArray, unseen: tuple[float, float], drawn: Resamples, level: float
) -> Estimate:
    """Mean of independent units (U,) with its BCa interval over these resamples.

    Where a class was always decided correctly, the upper end is that with one more
    case, an error (`truepool.measures.inference.unseen_errors`); where every decision
    was wrong, the lower end is that with one more case decided correctly.
    """
    mean, (error, correction) = float(units.mean()), unseen
    low, high = drawn.interval(units, level)
    if error:
        longer = np.append(units, mean + error)
        high = max(high, drawn.one_more.interval(longer, level)[1])
    if correction:
        longer = np.append(units, mean - correction)
        low = min(low, drawn.one_more.interval(longer, level)[0])
    return Estimate(mean, low, high)


def estimate_difference(
    units: FloatArray, unseen: FloatArray, drawn: Resamples, level: float
) -> Estimate:
    """Mean of differences (U,) with an interval that allows for unseen ones (P,)."""
    both = with_unseen(units[:, None], unseen)[:, 0]
    return Estimate(float(units.mean()), *drawn.interval(both, level))


def adjust(p_values: FloatArray) -> FloatArray:
    """Adjust p-values (..., 2, M) for all tests against the same baseline (Holm)."""
    adjusted = np.ones(p_values.shape)
    for row in range(2):
        tested = ~np.isnan(p_values[..., row, :])
        adjusted[..., row, :][tested] = holm(p_values[..., row, :][tested])
    return adjusted


def _rank(row: Row) -> tuple[float, bool, float]:
    """Lowest loss first; of equal ones the plain mean, then the lowest Brier loss."""
    return row.loss.value, row.pool != "mean", row.brier
