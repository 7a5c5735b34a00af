"""Columns that are one judge: shown both orders, or asked more than once."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.special import stdtrit

from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray
from truepool.measures.inference import paired_p_values
from truepool_jury.juries.values import OrderBias, Repetition
from truepool_jury.juries.verdicts import Verdicts

MIN_ITEMS = 10
"""Items that both columns need, for anything to be said about the pair."""


def order_bias(
    verdicts: Verdicts, first: str, second: str, level: float = 0.95
) -> OrderBias:
    """Test whether a judge prefers a place: paired t-test of the log-odds.

    Both columns are probabilities that the same item of the pair is better. No label is
    needed: whichever item is better, the two should agree.
    """
    x, y = (verdicts.log_odds[:, verdicts.column(name)] for name in (first, second))
    differences = (x - y)[~np.isnan(x - y)]
    n = len(differences)
    if n < MIN_ITEMS:
        return OrderBias(first, second, n, None, None)
    p_value = float(paired_p_values(differences[:, None])[0])
    return OrderBias(first, second, n, mean_estimate(differences / 2, level), p_value)


def repetition(verdicts: Verdicts, runs: Sequence[str]) -> Repetition:
    """Compare the answers of one judge: how often it changes sides, and by how much.

    Over all pairs of answers to one item.
    """
    places = [verdicts.column(name) for name in runs]
    items, flips, differences = 0, [], []
    for first, second in combinations(places, 2):
        x, y = verdicts.reports[:, first], verdicts.reports[:, second]
        both = ~np.isnan(x - y)
        items = max(items, int(both.sum()))
        flips.append((x[both] - 0.5) * (y[both] - 0.5) < 0)
        differences.append(np.abs(x[both] - y[both]))
    if items < MIN_ITEMS:
        return Repetition(tuple(runs), items, None, None)
    changed, apart = np.concatenate(flips), np.concatenate(differences)
    return Repetition(tuple(runs), items, float(changed.mean()), float(apart.mean()))


def mean_estimate(values: FloatArray, level: float) -> Estimate:
    """Return a mean with its interval by Student's t.

    >>> mean_estimate(np.array([1.0, 2.0, 3.0]), 0.95)
    Estimate(value=2.0, low=-0.484..., high=4.484...)
    """
    n, mean = len(values), float(values.mean())
    error = float(values.std(ddof=1)) / np.sqrt(n)
    reach = float(stdtrit(n - 1, (1 + level) / 2)) * error
    return Estimate(mean, float(mean - reach), float(mean + reach))
