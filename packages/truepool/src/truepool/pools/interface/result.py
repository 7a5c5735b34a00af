"""What a pool answers: pooled probabilities, its training cases, its explanation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.measures.capacity import Capacity
from truepool.measures.decisions import limit_decisions
from truepool.panel.costs import Costs


@dataclass(frozen=True, eq=False)
class PoolResult:
    """What a pool makes of T cases.

    Attributes
    ----------
    probabilities : (T, K)
        Pooled probability of every class.
    decisions : (T,)
        Class of least expected cost; for two classes 1 where p > threshold.
    """

    probabilities: FloatArray
    decisions: IntArray

    def within(
        self, capacity: Capacity, costs: Costs, times: Array | None = None
    ) -> "PoolResult":
        """Return the result with the most valuable positive decisions that fit.

        ``costs`` are those of the pool, looked up for each case where they differ.
        """
        capacity.check_classes(self.probabilities.shape[1])
        p = self.probabilities[:, 1:]
        decisions = limit_decisions(self.decisions, p, costs, capacity, times)
        return replace(self, decisions=decisions)


@dataclass(frozen=True)
class Training:
    """The cases that a pool learned from.

    Attributes
    ----------
    cases : int
        How many there were.
    counts : tuple of int
        How many of them each class had.
    missing : float
        Share of the reports that were missing.
    commonest : tuple of float
        Share of each agent's reports that are its most common one, where `truepool fit`
        counted that; `truepool score` tells a dead feed by it.
    above_percent : tuple of float
        Share of each agent's reports that are above 1 %, where `truepool fit` counted
        that; `truepool score` tells fractions from percentages by it.
    """

    cases: int
    counts: tuple[int, ...]
    missing: float
    commonest: tuple[float, ...] = ()
    above_percent: tuple[float, ...] = ()

    @property
    def base_rates(self) -> tuple[float, ...]:
        """Share of each class.

        >>> Training(4, (3, 1), 0.0).base_rates
        (0.75, 0.25)
        """
        return tuple(count / self.cases for count in self.counts)


@dataclass(frozen=True)
class Parameter:
    """A number that a pool learned, and what it means in words."""

    name: str
    value: float
    meaning: str


@dataclass(frozen=True)
class Explanation:
    """What a fitted pool is; None where something does not apply.

    Attributes
    ----------
    name : str
        Name of the pool; of `simplest`, name of the pool that it chose.
    why : str, optional
        Why it was chosen, in one sentence.
    weights, credit : mapping of agent to number, optional
        Weights on the simplex, and the credit that they follow from.
    loss : str, optional
        The loss by which the pool learned; credit is counted in it.
    members : mapping of pool to number, optional
        The pools that it combines, with their weights.
    scores : mapping of pool to number, optional
        Mean loss per case, out of fold, of every pool that was tried, lowest first.
    scored_by : str, optional
        The loss of the scores.
    learned : tuple of Parameter
        Numbers that it learned beside weights, such as the slope of `platt`.
    """

    name: str
    why: str | None = None
    weights: Mapping[str, float] | None = None
    credit: Mapping[str, float] | None = None
    loss: str | None = None
    members: Mapping[str, float] | None = None
    scores: Mapping[str, float] | None = None
    scored_by: str | None = None
    learned: tuple[Parameter, ...] = ()
