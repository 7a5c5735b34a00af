"""Which cases to label next, and the weights that keep their rates unbiased."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import FloatArray, IntArray, as_pooled
from truepool.core.errors import SettingError
from truepool.core.seeds import check_seed

STRATA = 10
"""Cases are divided into so many parts of equal size by their pooled probability."""
MIN_PER_STRATUM = 2
"""Fewer labels in a part say nothing about its spread."""
MIN_SPREAD = 0.1
"""Standard deviation that every part is granted: the pool may be too sure of it."""


@dataclass(frozen=True, eq=False)
class LabelPlan:
    """Cases to label, in random order, and what each label counts.

    Attributes
    ----------
    cases : (n,) of int
        The cases to label.
    weights : (n,)
        How many cases each of them stands for; they sum to the number of cases. The
        weighted mean of the labels is an unbiased estimate of their rate.
    strata : (n,) of int
        The part each case was drawn from, 0 for the lowest probabilities.
    """

    cases: IntArray
    weights: FloatArray
    strata: IntArray


def plan_labels(pooled: ArrayLike, budget: int, *, seed: int = 0) -> LabelPlan:
    r"""Choose cases to label at random, more of them where the pool is less sure.

    Cases are divided into ten parts by their pooled probability; part h gets labels in
    proportion to :math:`\sqrt{\bar p_h (1 - \bar p_h)}` (Neyman 1934), and at least
    two. Within a part every case has the same chance.

    >>> plan = plan_labels([0.02] * 90 + [0.5] * 10, budget=20)
    >>> len(plan.cases), round(float(plan.weights.sum()))
    (20, 100)
    """
    check_seed(seed)
    p = as_pooled(pooled)[:, 0]
    parts = min(STRATA, budget // MIN_PER_STRATUM)
    if not parts:
        raise SettingError(
            f"at least {MIN_PER_STRATUM} cases must be labelled; got a budget of "
            f"{budget!r}"
        )
    if budget > len(p):
        raise SettingError(
            f"at most all {len(p):,} cases can be labelled; got a budget of {budget:,}"
        )
    rng = np.random.default_rng(seed)
    # Ties are broken at random, so that equal probabilities do not follow the table.
    order = np.lexsort((rng.random(len(p)), p))
    pieces = np.array_split(order, parts)
    sizes = np.array([len(piece) for piece in pieces])
    means = np.array([p[piece].mean() for piece in pieces])
    spreads = np.maximum(np.sqrt(means * (1 - means)), MIN_SPREAD)
    counts = _allocate(budget, sizes, spreads * sizes)
    drawn = [
        rng.choice(piece, count, replace=False)
        for piece, count in zip(pieces, counts, strict=True)
    ]
    shuffled = rng.permutation(budget)
    cases = np.concatenate(drawn)[shuffled]
    weights = np.repeat(sizes / counts, counts)[shuffled]
    return LabelPlan(cases, weights, np.repeat(np.arange(parts), counts)[shuffled])


def combine_weights(weights: FloatArray) -> FloatArray:
    r"""Weights (n,) of labels from a random sample (NaN) and from plans, together.

    Either part alone gives an unbiased rate. Together each part counts by its effective
    number of labels, :math:`(\sum w)^2 / \sum w^2`, which depends on no label. The
    weights that are returned have a mean of 1.

    >>> combine_weights(np.array([np.nan, np.nan, 10.0, 10.0]))
    array([1., 1., 1., 1.])
    >>> combine_weights(np.array([np.nan, 1.0, 3.0])).round(3)
    array([1.154, 0.462, 1.385])
    """
    planned = ~np.isnan(weights)
    combined = np.ones(len(weights))
    if planned.any():
        own = (
            weights[planned] / weights[planned].max()
        )  # squares of large ones overflow
        combined[planned] = own * (own.sum() / np.square(own).sum())
        combined /= combined.mean()
    return combined


def _allocate(budget: int, sizes: IntArray, shares: FloatArray) -> IntArray:
    """Divide the budget in proportion to the shares, within the size of each part."""
    counts = np.minimum(MIN_PER_STRATUM, sizes)
    for _ in range(budget - int(counts.sum())):
        claims = np.where(counts < sizes, shares / (counts + 0.5), -np.inf)
        counts[np.argmax(claims)] += 1
    return np.asarray(counts)
