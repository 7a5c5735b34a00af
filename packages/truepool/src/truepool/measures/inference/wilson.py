"""Intervals of shares, such as recall (Wilson 1927)."""

from math import sqrt

import numpy as np
from scipy.special import gammainccinv, gammaincinv

from truepool.core.arrays import Array, BoolArray, FloatArray
from truepool.measures.inference.bootstrap import check_level, standard_errors
from truepool.measures.inference.unseen_cases import large_weights


def share_interval(
    hits: BoolArray,
    members: BoolArray,
    level: float,
    weights: FloatArray | None = None,
    groups: Array | None = None,
    unseen: BoolArray | None = None,
) -> tuple[float, float]:
    r"""Interval of the share of the members (T,) that are hits (T,); NaN without any.

    With z standard errors for the level, n members and the share p, Wilson's ends solve
    :math:`|p - \theta| = z \sqrt{\theta (1 - \theta) / n}`. Unlike those of resampling
    they are apart where p is 0 or 1: of thirty positives that are all found, the
    thirty-first may be missed. Of grouped cases, n is the number of independent ones
    that would vary as much (Korn and Graubard 1998), at most as many as there are
    members.

    Where weights differ much, few cases stand for many, and none of them may have been
    a miss: the weighted numbers of hits and of misses get limits of their own (Fay and
    Feuer 1997), and these are combined to those of their ratio (Donner and Zou 2012).
    ``unseen`` (T,) are the cases like which a member without a hit could be: of
    precision only the alerts, by default the members and all that are no hits.

    >>> low, high = share_interval(np.ones(33, bool), np.ones(33, bool), 0.95)
    >>> f"[{low:.3f}, {high:.3f}]"
    '[0.896, 1.000]'
    """
    check_level(level)
    if not members.any():
        return float("nan"), float("nan")
    if groups is None and weights is not None and large_weights(weights).any():
        hit, miss = members & hits, members & ~hits
        possible = members | ~hits if unseen is None else unseen
        return _weighted_share(weights, hit, miss, possible, level)
    w = members * (np.ones(len(members)) if weights is None else weights)
    hit_mass, whole = w * hits, w
    if groups is not None:
        unit = np.unique(groups.astype(str), return_inverse=True)[1]
        sums = [np.bincount(unit, x).astype(np.float64) for x in (hit_mass, whole)]
        hit_mass, whole = sums
    most = float(members.sum())
    low, high = _wilson(hit_mass, whole, most, level)
    heavy = large_weights(weights)
    if heavy.any() and hits[heavy & members].all():
        extra = float(np.sqrt(np.square(np.asarray(weights)[heavy]).mean()))
        more = np.append(hit_mass, 0.0), np.append(whole, extra)
        low = min(low, _wilson(*more, most + 1, level)[0])
    return low, high


def _weighted_share(
    weights: FloatArray,
    hit: BoolArray,
    miss: BoolArray,
    possible: BoolArray,
    level: float,
) -> tuple[float, float]:
    """Limits of H / (H + M) from those of the weighted numbers H and M."""
    limits = [
        _sum_limits(weights[part], float(weights[could].max(initial=0.0)), level)
        for part, could in ((hit, hit), (miss, possible))
    ]
    (h, h_low, h_high), (m, m_low, m_high) = limits
    # Donner and Zou's limits of the ratio M / H, in which one end of each counts.
    most = _ratio(m, h, m_high, h_low, 1.0)
    least = _ratio(m, h, m_low, h_high, -1.0)
    return 1 / (1 + most), 1 / (1 + least)


def _ratio(m: float, h: float, m_end: float, h_end: float, sign: float) -> float:
    """One limit of m / h, from the ends of both that lie on its side."""
    below = h_end * (2 * h - h_end)
    inner = (m * h) ** 2 - m_end * (2 * m - m_end) * below
    if below <= 0:
        return float("inf") if sign > 0 else 0.0
    return max(0.0, (m * h + sign * sqrt(max(inner, 0.0))) / below)


def _sum_limits(
    weights: FloatArray, largest: float, level: float
) -> tuple[float, float, float]:
    """Weighted number of events (n,), and its limits by the gamma distribution.

    ``largest`` is the weight that one more event could have.

    >>> [round(x, 2) for x in _sum_limits(np.zeros(0), 50.0, 0.95)]
    [0.0, 0.0, 184.44]
    """
    total, variance = float(weights.sum()), float(np.square(weights).sum())
    tail = (1 - level) / 2
    low = 0.0
    if total > 0:
        low = variance / total * float(gammaincinv(total**2 / variance, tail))
    total_up, variance_up = total + largest, variance + largest**2
    shape = total_up**2 / variance_up if variance_up > 0 else 1.0
    scale = variance_up / total_up if total_up > 0 else 0.0
    return total, low, scale * float(gammainccinv(shape, tail))


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
