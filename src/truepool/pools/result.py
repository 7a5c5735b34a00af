"""What a pool answers: pooled probabilities, its training cases, its explanation."""

from collections.abc import Mapping
from dataclasses import dataclass

from truepool.core.arrays import FloatArray, IntArray


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
    """

    cases: int
    counts: tuple[int, ...]
    missing: float

    @property
    def base_rates(self) -> tuple[float, ...]:
        """Share of each class.

        >>> Training(4, (3, 1), 0.0).base_rates
        (0.75, 0.25)
        """
        return tuple(count / self.cases for count in self.counts)


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
    """

    name: str
    why: str | None = None
    weights: Mapping[str, float] | None = None
    credit: Mapping[str, float] | None = None
    loss: str | None = None
    members: Mapping[str, float] | None = None
