"""Intervals of shares, such as recall (Wilson 1927)."""

from math import sqrt

import numpy as np

from truepool.core.arrays import Array, BoolArray, FloatArray
from truepool.measures.inference.bootstrap import check_level, standard_errors
from truepool.measures.inference.unseen_cases import large_weights


def share_interval(
    hits: BoolArray,
    members: BoolArray,
    level: float,
    weights: FloatArray | None = None,
    groups: Array | None = None,
) -> tuple[float, float]:
    r"""Interval of the share of the members (T,) that are hits (T,); NaN without any.

    With z standard errors for the level, n members and the share p, Wilson's ends solve
    :math:`|p - \theta| = z \sqrt{\theta (1 - \theta) / n}`. Unlike those of resampling
    they are apart where p is 0 or 1: of thirty positives that are all found, the
    thirty-first may be missed. Of weighted or grouped cases, n is the number of
    independent ones that would vary as much (Korn and Graubard 1998), at most as many
    as there are members. Where weights differ much and no member of large weight is
    missing from the hits, the lower end is that with one more which is: where few of
    the cases that a pool let pass were reviewed, none of the few may have been a miss.

    >>> low, high = share_interval(np.ones(33, bool), np.ones(33, bool), 0.95)
    >>> f"[{low:.3f}, {high:.3f}]"
    '[0.896, 1.000]'
    """
    check_level(level)
    if not members.any():
        return float("nan"), float("nan")
    w = members * (np.ones(len(members)) if weights is None else weights)
    hit, whole = w * hits, w
    if groups is not None:
        unit = np.unique(groups.astype(str), return_inverse=True)[1]
        sums = [np.bincount(unit, part).astype(np.float64) for part in (hit, whole)]
        hit, whole = sums
    most = float(members.sum())
    low, high = _wilson(hit, whole, most, level)
    heavy = large_weights(weights)
    if heavy.any() and hits[heavy & members].all():
        unseen = float(np.sqrt(np.square(np.asarray(weights)[heavy]).mean()))
        more = np.append(hit, 0.0), np.append(whole, unseen)
        low = min(low, _wilson(*more, most + 1, level)[0])
    return low, high


def _wilson(
    hit: FloatArray, whole: FloatArray, most: float, level: float
) -> tuple[float, float]:
    """Wilson's interval of the share of the units (U,), at most ``most`` of them."""
    p = float(hit.sum() / whole.sum())
    n = min(_effective_number(hit, whole, p), most)
    z = standard_errors(level)
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    # At 0 and 1 one end is p itself, which rounding must not move.
    return max(0.0, min(p, centre - reach)), min(1.0, max(p, centre + reach))


def _effective_number(hit: FloatArray, whole: FloatArray, share: float) -> float:
    """Independent members whose share varies as that of these units does."""
    variance = float(np.square(hit - share * whole).sum() / whole.sum() ** 2)
    binomial = share * (1 - share)
    if binomial > 0 and variance > 0:
        return binomial / variance
    return float(whole.sum() ** 2 / np.square(whole).sum())  # Kish (1965)
