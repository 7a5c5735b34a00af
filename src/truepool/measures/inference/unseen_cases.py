"""Errors, and differences of cost, that could have been seen and were not."""

import numpy as np

from truepool.core.arrays import Array, FloatArray, IntArray


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
    half = np.sqrt(_mean_squares(stakes, outcomes, weights, units) / 2)
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


def unseen_errors(
    excess: FloatArray,
    stakes: FloatArray,
    outcomes: IntArray,
    weights: FloatArray | None = None,
    groups: Array | None = None,
) -> tuple[float, float]:
    """What an error, and a right decision, would change that no case has shown.

    ``excess`` (T,) is what each decision costs more than the right one. Of a class that
    was always decided correctly an error may still occur: the first number is what that
    changes, of the class where it is most, 0 where every class has shown one. The
    second is what a right decision changes where every decision was wrong, else 0. Both
    are as large as the units of `independent_units`: the cases of a group may well be
    wrong together.

    >>> outcomes, stakes = np.array([1, 1, 0, 0]), np.array([10.0, 10.0, 1.0, 1.0])
    >>> unseen_errors(np.array([0.0, 0.0, 1.0, 0.0]), stakes, outcomes)
    (10.0, 0.0)
    """
    sizes, cases = _unit_sizes(stakes, outcomes, weights, groups), np.bincount(outcomes)
    wrong = excess > 1e-9 * stakes  # not what rounding leaves
    shown = np.bincount(outcomes, wrong)[cases > 0] > 0
    error = float(sizes[~shown].max(initial=0.0))
    return error, float(sizes.max(initial=0.0)) if wrong.all() else 0.0


def _unit_sizes(
    stakes: FloatArray,
    outcomes: IntArray,
    weights: FloatArray | None,
    groups: Array | None,
) -> FloatArray:
    """Root mean square, by class that occurs, of what can change in a unit, (K',)."""
    if groups is None:
        return np.sqrt(_mean_squares(stakes, outcomes, weights))
    w = np.ones(len(stakes)) if weights is None else weights / weights.mean()
    names, group = np.unique(groups.astype(str), return_inverse=True)
    parts, part = np.unique(np.stack([outcomes, group]), axis=1, return_inverse=True)
    sums = np.bincount(part.ravel(), w * stakes).astype(np.float64)
    return np.sqrt(_mean_squares(sums * (len(names) / len(stakes)), parts[0]))


def _mean_squares(
    stakes: FloatArray,
    outcomes: IntArray,
    weights: FloatArray | None = None,
    units: int | None = None,
) -> FloatArray:
    """Mean square, by class that occurs, of what a decision can change, (K',)."""
    w = np.ones(len(stakes)) if weights is None else weights / weights.mean()
    w = w * (1 if units is None else units / len(stakes))
    squares, cases = np.bincount(outcomes, np.square(w * stakes)), np.bincount(outcomes)
    return np.asarray(squares[cases > 0] / cases[cases > 0])
