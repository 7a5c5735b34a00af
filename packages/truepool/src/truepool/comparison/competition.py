"""Who competes for a capacity: the tested cases, and those without an outcome."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import PanelError
from truepool.core.formatting import pluralize
from truepool.measures.capacity import Capacity
from truepool.measures.decisions import choose_within
from truepool.measures.folds import evaluation_cases
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel, PendingCases


@dataclass(frozen=True, eq=False)
class Competition:
    """Cases that compete for a capacity, and the folds that pool them.

    Without a capacity, or without cases that have no outcome, these are the tested
    cases, unless the others are asked for too. Otherwise ``panel`` goes on with the
    cases without an outcome, and each of them is pooled in one of the ``pairs``: with
    times by a fold that learned from earlier cases only, else by each fold in turn.
    Nothing learns from them.
    """

    panel: Panel
    pairs: list[tuple[IntArray, IntArray]]
    capacity: Capacity | None
    known: int
    """How many cases of the panel have an outcome."""

    @classmethod
    def of(
        cls,
        panel: Panel,
        pairs: list[tuple[IntArray, IntArray]],
        capacity: Capacity | None,
        costs: Costs,
        *,
        with_pending: bool = False,
    ) -> "Competition":
        """Return the competition for a capacity when these folds are tested.

        Cases without an outcome matter where something is limited; ``with_pending``
        they are decided in any case.
        """
        T = len(panel)
        if panel.pending is None or (capacity is None and not with_pending):
            return cls(panel, pairs, capacity, T)
        _check_costs(panel.pending, costs)
        every = panel.include_pending(costs.columns)
        fold = _assign(every, pairs, T)
        extended = [
            (learn, np.append(test, T + np.flatnonzero(fold == f)))
            for f, (learn, test) in enumerate(pairs)
        ]
        return cls(every, extended, capacity, T)

    @cached_property
    def cases(self) -> IntArray:
        """Cases that compete: those tested, then those without an outcome."""
        return evaluation_cases(self.pairs)

    @cached_property
    def tested(self) -> int:
        """How many of the cases are tested."""
        return int(np.searchsorted(self.cases, self.known))

    @property
    def pending(self) -> int:
        """How many of the cases have no outcome."""
        return len(self.cases) - self.tested

    def decide(self, pooled: FloatArray, loss: Loss) -> IntArray:
        """Decide all cases that compete, within the capacity if there is one."""
        limit, times = self.capacity, self.panel.times
        if limit is not None:
            limit = limit.scale(len(self.cases) / len(self.panel))
        costs = Loss("cost", loss.costs, loss.threshold).on(self.panel)
        return choose_within(
            pooled,
            costs.take(self.cases).costs,
            loss.threshold,
            limit,
            None if times is None else times[self.cases],
        )


def _assign(panel: Panel, pairs: list[tuple[IntArray, IntArray]], T: int) -> IntArray:
    """Fold that pools each case without an outcome; -1 before the first tested one."""
    count = len(panel) - T
    if panel.times is None:
        return np.arange(count) % len(pairs)
    first = np.array([panel.times[test].min() for _, test in pairs])
    order = np.argsort(first, kind="stable")
    place = np.searchsorted(first[order], panel.times[T:], side="right") - 1
    return np.asarray(np.where(place < 0, -1, order[place]))


def _check_costs(pending: PendingCases, costs: Costs) -> None:
    for name in costs.columns:
        if name not in pending.columns:
            raise PanelError(
                "cases without an outcome compete for the capacity, so their costs "
                f"must be known; they have no column {name!r}. Give it to "
                "panel.with_pending(..., columns=...)."
            )


def describe_pending(count: int, *, by_propensity: bool) -> str:
    """Say that cases without an outcome compete, and whose figures are given.

    >>> describe_pending(1, by_propensity=True)
    '1 case without an outcome competes for the capacity too; recall and cost are ...'
    """
    verb = "competes" if count == 1 else "compete"
    text = (
        f"{pluralize(count, 'case')} without an outcome {verb} for the capacity too; "
        "recall and cost are"
    )
    if by_propensity:
        return f"{text} those of all cases, by propensity."
    return (
        f"{text} those of the cases with an outcome. They are not those of all cases "
        "if outcomes are missing more often in some kinds of cases; propensities "
        "correct that."
    )
