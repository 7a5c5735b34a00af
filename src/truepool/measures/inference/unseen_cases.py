"""Differences of cost that could have been seen, and were not."""

import numpy as np

from truepool.core.arrays import FloatArray, IntArray


def unseen_differences(
    stakes: FloatArray,
    outcomes: IntArray,
    weights: FloatArray | None = None,
    units: int | None = None,
) -> FloatArray:
    r"""Return two differences of cost per class, one lost and one gained, (2K,).

    Of thirty positive cases two rules may decide every one alike, and the thirty-first
    differently. Resampling knows nothing of it, and where a miss costs a hundred false
    alarms its intervals are far too narrow. Agresti and Min (2005) therefore add half a
    case that only the one rule decides correctly, and half a case of the other. Two
    whole cases with :math:`\pm s_k / \sqrt{2}` vary as much, where :math:`s_k` is the
    root mean square of what a decision can change in a case of class k. They are as
    large as the ``units`` of `independent_units` (by default, one per case).

    >>> stakes = np.array([10.0, 10.0, 1.0, 1.0])
    >>> unseen_differences(stakes, np.array([1, 1, 0, 0])).round(2)
    array([ 0.71, -0.71,  7.07, -7.07])
    """
    w = np.ones(len(stakes)) if weights is None else weights / weights.mean()
    w = w * (1 if units is None else units / len(stakes))
    squares = np.bincount(outcomes, np.square(w * stakes))
    cases = np.bincount(outcomes)
    half = np.sqrt(squares[cases > 0] / cases[cases > 0] / 2)
    return np.stack([half, -half], axis=1).ravel()


def with_unseen(units: FloatArray, unseen: FloatArray) -> FloatArray:
    """Add unseen differences (P,) to seen ones (U, M); the means stay as they are.

    Where nothing differs in any case, nothing is added: mostly the two are the same.
    They take the sign of the first difference, so that what one rule saves is what the
    other one costs, to the last bit.

    >>> with_unseen(np.array([[1.0, 0.0], [3.0, 0.0]]), np.array([4.0, -4.0]))
    array([[ 2.,  0.],
           [ 6.,  0.],
           [ 8.,  0.],
           [-8.,  0.]])
    """
    first = units[(units != 0).argmax(axis=0), np.arange(units.shape[1])]
    added = unseen[:, None] * np.sign(first) + 0.0  # no minus zero
    longer = np.concatenate([units, added])
    return np.asarray(longer * (len(longer) / len(units)))
