"""Weighted means of fitted pools, evaluated together where they can be compiled."""

from collections.abc import Callable
from enum import IntEnum
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from scipy.special import expit

from truepool.core import kernels
from truepool.core.arrays import FloatArray, IntArray, logit
from truepool.pools.best_agent import BestAgent
from truepool.pools.beta import Beta
from truepool.pools.boosted import Boosted
from truepool.pools.brier import Brier
from truepool.pools.candidates.weights import CERTAIN
from truepool.pools.convex import Convex
from truepool.pools.extremized import Extremized
from truepool.pools.interface import Pool
from truepool.pools.log_odds import LogOdds
from truepool.pools.mean import Mean
from truepool.pools.median import Median
from truepool.pools.platt import Platt
from truepool.pools.ridge import Ridge
from truepool.pools.shrunk import Shrunk
from truepool.pools.stacked_lr import StackedLR
from truepool.pools.trimmed import Trimmed
from truepool.pools.vcg import VCG

NO_TREES = (
    np.zeros((0, 4), np.int64),
    np.zeros(0),
    np.zeros(0),
    np.zeros(0, np.int64),
)


class Kind(IntEnum):
    """What the numbers of a member of a compiled mixture mean."""

    LINEAR = 0  # N weights
    TRIMMED = 1  # the share cut off at each end
    ANCHORED = 2  # clip, then per fit: share, shift, stretch, N tilts
    SCALED = 3  # clip, factor, shift, N weights
    BETA = 4  # a, b, N weights
    BEST = 5  # N losses
    LOG_ODDS = 6  # what fills in N log-odds: their means, pulls and loadings; then per
    # model: N slopes, intercept
    REPORTS = 7  # the same of N reports
    TREES = 8  # baseline; per agent 0, 1 where it always reported, 2 where never


class Mixture:
    """A weighted mean of fitted pools, of their probabilities or of their log-odds.

    For two classes, members that have a compiled form are evaluated by one call; others
    one by one. The answers agree to rounding. Log-odds are averaged of two classes.
    """

    def __init__(
        self, pools: tuple[Pool, ...], shares: FloatArray, *, log_odds: bool = False
    ) -> None:
        self.log_odds = log_odds
        self.others: list[tuple[float, Pool]] = []
        members, used, numbers = [], [], [np.zeros(0)]
        self._trees: tuple[Any, ...] = NO_TREES
        end = 0
        for pool, share in zip(pools, shares.tolist(), strict=True):
            form = _compiled_form(pool)
            if form is None or (form[0] == Kind.TREES and self._trees is not NO_TREES):
                self.others.append((share, pool))
                continue
            kind, own = form
            if isinstance(pool, Boosted):
                self._trees = _trees(pool)
            members.append((int(kind), end, end + own.size))
            used.append(share)
            numbers.append(own)
            end += own.size
        self._members: IntArray = np.array(members, np.int64).reshape(-1, 3)
        self._shares = np.array(used)
        self._numbers = np.concatenate(numbers)

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        if not self._shares.size:
            pooled = np.zeros((len(values), values.shape[2]))
        else:
            clip = CERTAIN if self.log_odds else 0.0
            members = self._members, self._shares, self._numbers, *self._trees
            pooled = compiled().mixture(values, *members, clip)
        for share, pool in self.others:
            answer = pool.combine(values)
            pooled = pooled + share * (
                logit(answer, CERTAIN) if self.log_odds else answer
            )
        return np.asarray(expit(pooled) if self.log_odds else pooled)


@cache
def compiled() -> Any:
    """Return the loops in `loops_compiled`; None where nothing is compiled."""
    name = "truepool.pools.mixture.loops_compiled"
    return import_module(name) if kernels.fast else None


def _compiled_form(pool: Pool) -> tuple[Kind, FloatArray] | None:
    """Kind and numbers of a fitted pool, or None if it has no compiled form."""
    encode = ENCODERS.get(type(pool))
    if encode is None or compiled() is None or len(pool.classes_) > 2:
        return None
    form = encode(pool, len(pool.agents_))
    if form is None:
        return None
    kind, numbers, width = form
    flat = np.concatenate([np.ravel(part) for part in numbers]).astype(np.float64)
    # The loop trusts these sizes, and a saved pool may come from anybody.
    return (kind, flat) if flat.size == width else None


Form = tuple[Kind, tuple[Any, ...], int]
"""Kind, numbers, and how many of them there must be."""


def _linear(pool: Any, N: int) -> Form:
    return Kind.LINEAR, (pool.weights_,), N


def _median(pool: Any, N: int) -> Form:
    return Kind.TRIMMED, (0.5,), 1


def _trimmed(pool: Any, N: int) -> Form:
    return Kind.TRIMMED, (pool.alpha,), 1


def _best(pool: Any, N: int) -> Form:
    return Kind.BEST, (pool.losses_,), N


def _log_odds(pool: Any, N: int) -> Form:
    return Kind.ANCHORED, (pool.clip_, 1.0, np.zeros(2 + N)), 4 + N


def _shrunk(pool: Any, N: int) -> Form:
    fits = np.column_stack([pool.shares_, pool.fits_])
    return Kind.ANCHORED, (pool.clip_, fits), 1 + len(pool.shares_) * (3 + N)


def _platt(pool: Any, N: int) -> Form | None:
    return _scaled(pool, pool.shift_, N)


def _extremized(pool: Any, N: int) -> Form | None:
    return None if np.isnan(pool.factor_) else _scaled(pool, np.zeros(1), N)


def _scaled(pool: Any, shift: FloatArray, N: int) -> Form | None:
    if ENCODERS.get(type(pool.pool_)) is not _linear:
        return None
    numbers = (pool.clip_, pool.factor_, shift, pool.pool_.weights_)
    return Kind.SCALED, numbers, 3 + N


def _beta(pool: Any, N: int) -> Form | None:
    if ENCODERS.get(type(pool.pool_)) is not _linear:
        return None
    return Kind.BETA, (pool.shape_, pool.pool_.weights_), 2 + N


def _stacked(pool: Any, N: int) -> Form:
    coefficients = pool.parameters_["coefficients"]
    width = 3 * N + len(coefficients) * (N + 1)
    return Kind.LOG_ODDS, (pool.imputation_, coefficients), width


def _ridge(pool: Any, N: int) -> Form:
    kind = Kind.LOG_ODDS if pool.scale == "log-odds" else Kind.REPORTS
    return kind, (pool.imputation_, pool.coefficients_), 4 * N + 1


def _boosted(pool: Any, N: int) -> Form:
    habits = np.where(pool.never_, 2.0, np.where(pool.always_, 1.0, 0.0))
    return Kind.TREES, (pool.baseline_, habits), 1 + N


def _trees(pool: Boosted) -> tuple[Any, ...]:
    nodes = pool.nodes_
    table = [nodes[name] for name in ("feature", "left", "right", "missing_left")]
    return np.stack(table, axis=1), nodes["cut"], nodes["value"], nodes["roots"]


ENCODERS: dict[type[Pool], Callable[[Any, int], Form | None]] = {
    **dict.fromkeys((Mean, Brier, VCG, Convex), _linear),
    Median: _median,
    Trimmed: _trimmed,
    BestAgent: _best,
    LogOdds: _log_odds,
    Shrunk: _shrunk,
    Platt: _platt,
    Extremized: _extremized,
    Beta: _beta,
    StackedLR: _stacked,
    Ridge: _ridge,
    Boosted: _boosted,
}
