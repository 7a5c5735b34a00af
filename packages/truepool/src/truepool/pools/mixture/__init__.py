"""Weighted means of fitted pools, evaluated together where they can be compiled."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from truepool.core import kernels
from truepool.core.arrays import FloatArray, IntArray, logit
from truepool.core.kernels.reference import Kind
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


class Mixture:
    """A weighted mean of fitted pools, of their probabilities or of their log-odds.

    Members that have a compiled form are evaluated by one call, the others one by one.
    The answers agree to rounding. Log-odds are averaged of two classes only.
    """

    def __init__(
        self, pools: tuple[Pool, ...], shares: FloatArray, *, log_odds: bool = False
    ) -> None:
        self.log_odds = log_odds
        self.others: list[tuple[float, Pool]] = []
        members, used, numbers = [], [], [np.zeros(0)]
        self._trees: tuple[Any, ...] = NO_TREES
        self._evaluate: Any = None
        end = 0
        for pool, share in zip(pools, shares.tolist(), strict=True):
            form = _compiled_form(pool)
            if form is None or (form[0] == Kind.TREES and self._trees is not NO_TREES):
                self.others.append((share, pool))
                continue
            kind, own = form
            self._evaluate = _kernel(pool)
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
            clip = (CERTAIN,) if self.log_odds else ()
            pooled = self._evaluate(
                values, self._members, self._shares, self._numbers, *self._trees, *clip
            )
        for share, pool in self.others:
            answer = pool.combine(values)
            pooled = pooled + share * (
                logit(answer, CERTAIN) if self.log_odds else answer
            )
        return np.asarray(expit(pooled) if self.log_odds else pooled)


def _kernel(pool: Pool) -> Any:
    """The compiled loop for the classes of a pool; None where there is none."""
    return kernels.mixture if len(pool.classes_) == 2 else kernels.class_mixture


def _compiled_form(pool: Pool) -> tuple[Kind, FloatArray] | None:
    """Kind and numbers of a fitted pool, or None if it has no compiled form."""
    encode = ENCODERS.get(type(pool))
    if encode is None or _kernel(pool) is None:
        return None
    K = len(pool.classes_)
    form = encode(pool, Sizes(len(pool.agents_), 1 if K == 2 else K, K - 1))
    if form is None:
        return None
    kind, numbers, width = form
    flat = np.concatenate([np.ravel(part) for part in numbers]).astype(np.float64)
    # The loop trusts these sizes, and a saved pool may come from anybody.
    return (kind, flat) if flat.size == width else None


class Sizes(NamedTuple):
    """Number of agents, of coordinates, and of log-odds per report."""

    N: int
    C: int
    J: int


Form = tuple[Kind, tuple[Any, ...], int]
"""Kind, numbers, and how many of them there must be."""


def _linear(pool: Any, of: Sizes) -> Form:
    return Kind.LINEAR, (pool.weights_,), of.N


def _median(pool: Any, of: Sizes) -> Form:
    return Kind.TRIMMED, (0.5,), 1


def _trimmed(pool: Any, of: Sizes) -> Form:
    return Kind.TRIMMED, (pool.alpha,), 1


def _best(pool: Any, of: Sizes) -> Form:
    return Kind.BEST, (pool.losses_,), of.N


def _log_odds(pool: Any, of: Sizes) -> Form:
    unmoved = np.zeros(of.C + 1 + of.N)
    return Kind.ANCHORED, (pool.clip_, 1.0, unmoved), 2 + unmoved.size


def _shrunk(pool: Any, of: Sizes) -> Form:
    M = len(pool.shares_)
    fits = np.column_stack([pool.shares_, pool.fits_])
    return Kind.ANCHORED, (pool.clip_, fits), 1 + M * (of.C + 2 + of.N)


def _platt(pool: Any, of: Sizes) -> Form | None:
    return _scaled(pool, pool.shift_, of)


def _extremized(pool: Any, of: Sizes) -> Form | None:
    return None if np.isnan(pool.factor_) else _scaled(pool, np.zeros(of.J), of)


def _scaled(pool: Any, shifts: FloatArray, of: Sizes) -> Form | None:
    if ENCODERS.get(type(pool.pool_)) is not _linear:
        return None
    numbers = (pool.clip_, pool.factor_, shifts, pool.pool_.weights_)
    return Kind.SCALED, numbers, 2 + of.J + of.N


def _beta(pool: Any, of: Sizes) -> Form | None:
    if ENCODERS.get(type(pool.pool_)) is not _linear:
        return None
    return Kind.BETA, (pool.shape_, pool.pool_.weights_), 2 * of.C + of.N


def _stacked(pool: Any, of: Sizes) -> Form:
    coefficients = pool.parameters_["coefficients"]
    width = 3 * of.N * of.J + len(coefficients) * of.C * (of.N * of.J + 1)
    return Kind.LOG_ODDS, (pool.imputation_, coefficients), width


def _ridge(pool: Any, of: Sizes) -> Form:
    on_odds = pool.scale == "log-odds"
    kind = Kind.LOG_ODDS if on_odds else Kind.REPORTS
    read = of.N * (of.J if on_odds else of.C)
    width = 3 * read + of.C * (read + 1)
    return kind, (pool.imputation_, pool.coefficients_), width


def _boosted(pool: Any, of: Sizes) -> Form:
    habits = np.where(pool.never_, 2.0, np.where(pool.always_, 1.0, 0.0))
    columns = pool.columns_ if of.C > 1 else np.zeros(0)
    return Kind.TREES, (pool.baseline_, habits, columns), of.C + of.N + columns.size


def _trees(pool: Boosted) -> tuple[Any, ...]:
    nodes = pool.nodes_
    table = [nodes[name] for name in ("feature", "left", "right", "missing_left")]
    return np.stack(table, axis=1), nodes["cut"], nodes["value"], nodes["roots"]


ENCODERS: dict[type[Pool], Callable[[Any, Sizes], Form | None]] = {
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
