"""What a pool owes, checked where it is fitted and used, in one sentence each."""

from typing import TYPE_CHECKING, Any

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import PoolError
from truepool.core.plugins import origin
from truepool.panel.sparse import SparseReports
from truepool.panel.weights import on_simplex

if TYPE_CHECKING:
    from truepool.pools.interface.pool import Pool


ROUNDING = 1e-9
"""How far beyond 0 and 1 a pooled probability may lie: it is clipped. A pool that goes
farther does not give probabilities."""


def check_settings(pool: "Pool") -> None:
    """Refuse a constructor that does not take and store every setting."""
    settings = {"costs", "threshold", *pool.settings()}
    lost = sorted(settings - vars(pool).keys())
    if lost:
        raise PoolError(
            "a pool must take and store costs, threshold and its own settings; "
            f"__init__ of {type(pool).__name__} does not store {', '.join(lost)}. "
            "Leave __init__ out and annotate the settings in the class body, as in "
            "power: float = 2.0."
        )


def check_pooled(pool: "Pool", pooled: Any, values: FloatArray | SparseReports) -> None:
    """Refuse what `combine` returns for (T, N, C) if it is not probabilities (T, C)."""
    T, _, C = values.shape
    if not isinstance(pooled, np.ndarray) or pooled.shape != (T, C):
        raise PoolError(
            "combine must return an array with one row per case and one column per "
            f"coordinate, here ({T}, {C}); combine() of {type(pool).__name__} returned "
            f"{type(pooled).__name__} of shape {np.shape(pooled)}"
        )
    if pooled.size == 1:  # numpy takes longer to search one number than to pool
        low = high = pooled.item()
    elif pooled.size:
        low, high = pooled.min(), pooled.max()
    else:
        return
    if not (low >= -ROUNDING and high <= 1 + ROUNDING):  # so for NaN
        faults = ~((pooled >= -ROUNDING) & (pooled <= 1 + ROUNDING))
        case = int(np.argmax(faults.any(axis=1)))
        raise PoolError(
            f"a pooled probability must lie in [0, 1]; combine() of pool {pool.name!r}"
            f"{origin(type(pool), 'truepool.pools')} returned "
            f"{pooled[case][faults[case]][0]} in case {case + 1} of {T}. "
            "Change combine, or clip its result there if that is what is meant."
        )


def check_weights(pool: "Pool", weights: Any, agents: int) -> FloatArray:
    """Return the weights (N,) as an array; refuse them if they are not weights."""
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if not on_simplex(array, agents):
        raise PoolError(
            f"weights must be {agents} numbers, one per agent, not negative, that sum "
            f"to 1; _weigh() of {type(pool).__name__} returned {weights!r:.200}. "
            "truepool.panel.weights.proportional makes weights of any numbers."
        )
    return array
