"""Weights: points of the simplex, one per agent, never negative, summing to 1."""

import numpy as np
from numpy.typing import ArrayLike

from truepool.core import kernels
from truepool.core.arrays import BoolArray, FloatArray, is_recorded, read_only
from truepool.core.errors import SettingError

SUM_TOLERANCE = 1e-9
"""How far from 1 the sum of given weights may lie."""

ROUNDING_ERROR = 1e-12
"""Credit that rounding alone can produce."""


def uniform(agents: int) -> FloatArray:
    """Give every agent the same weight.

    >>> uniform(4)
    array([0.25, 0.25, 0.25, 0.25])
    """
    return np.full(agents, 1.0 / agents)


def on_simplex(weights: FloatArray, agents: int) -> bool:
    """Whether these are weights: one per agent, not negative, summing to 1.

    >>> on_simplex(np.array([0.25, 0.75]), 2), on_simplex(np.array([-1.0, 2.0]), 2)
    (True, False)
    """
    sound = weights.shape == (agents,) and (weights >= 0).all()
    return bool(sound and np.isclose(weights.sum(), 1.0))


def proportional(merits: FloatArray) -> FloatArray:
    r"""Weights :math:`w_i \propto \max(m_i, 0)`; equal when no agent has merit.

    >>> proportional(np.array([3.0, 1.0, -2.0]))
    array([0.75, 0.25, 0.  ])
    >>> proportional(np.array([-1.0, -2.0]))
    array([0.5, 0.5])
    """
    merits = np.clip(merits, 0.0, None)
    total = merits.sum()
    if not total > 0:
        return uniform(merits.size)
    # Dividing by the largest first keeps merits near the smallest float exact.
    merits = merits / merits.max()
    return np.asarray(merits / merits.sum())


def by_credit(credit: FloatArray) -> FloatArray:
    """Weights proportional to positive credit; equal when no agent has any.

    Credit up to `ROUNDING_ERROR` is what rounding leaves of no difference, and counts
    as none.

    >>> by_credit(np.array([0.03, 0.01, -0.02, 1e-17]))
    array([0.75, 0.25, 0.  , 0.  ])
    """
    return proportional(np.where(credit > ROUNDING_ERROR, credit, 0.0))


def inverse(losses: FloatArray, floor: float = 1e-12) -> FloatArray:
    r"""Weights :math:`w_i \propto 1 / \ell_i`, for losses of at least ``floor``.

    >>> inverse(np.array([0.1, 0.3])).round(2)
    array([0.75, 0.25])
    """
    return proportional(1.0 / np.maximum(losses, floor))


def case_weights(merits: FloatArray, reported: BoolArray) -> FloatArray:
    """Weights (T, N) of each case over the agents that reported, by their merits.

    Where none of them has any merit they count equally.

    >>> case_weights(np.array([3.0, 1.0]), np.array([[True, True], [False, True]]))
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    share = np.where(reported, merits, 0.0)
    share = np.where(share.sum(axis=1, keepdims=True) > 0, share, reported)
    weights: FloatArray = share / share.sum(axis=1, keepdims=True)
    return weights


def pool_by_case(values: FloatArray, merits: FloatArray) -> FloatArray:
    """Pool (T, N, C) by the merits (T, N) that agents have in each case: (T, C).

    >>> pool_by_case(np.array([[[0.2], [0.4], [np.nan]]]), np.array([[1.0, 3.0, 9.0]]))
    array([[0.35]])
    """
    share = case_weights(merits, ~np.isnan(values[:, :, 0]))
    pooled: FloatArray = np.einsum("tn,tnc->tc", share, np.nan_to_num(values))
    return pooled


def linear(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted mean (T, C) of (T, N, C) over those who reported, by weights (N,).

    Where all of these have weight zero they count equally.

    >>> linear(np.array([[[0.2], [0.4], [np.nan]]]), np.array([0.25, 0.75, 0.0]))
    array([[0.35]])
    """
    if is_recorded(values):
        return pool_by_case(values, weights)
    return np.asarray(kernels.linear(read_only(values), weights))


def effective_number(weights: FloatArray) -> float:
    r"""How many equal agents the weights amount to, :math:`1 / \sum_i w_i^2`.

    >>> effective_number(np.array([0.5, 0.5, 0.0]))
    2.0
    """
    return float(1.0 / np.square(weights).sum())


def as_weights(weights: ArrayLike, agents: int) -> FloatArray:
    """Check that given weights lie on the simplex of this many agents.

    >>> as_weights([0.5, 0.5], agents=2)
    array([0.5, 0.5])
    """
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (agents,):
        raise SettingError(
            f"weights must hold one number for each of the {agents} agents; "
            f"got an array of shape {array.shape}"
        )
    if not (np.all(array >= 0) and abs(array.sum() - 1) <= SUM_TOLERANCE):
        raise SettingError(
            "weights must not be negative and must sum to 1; "
            f"got {array.tolist()}, which sums to {array.sum():g}. Divide by the sum."
        )
    return array
