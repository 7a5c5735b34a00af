"""Errors, and differences of cost, that could have been seen and were not."""

import numpy as np

from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray

LIKE_WEIGHTS = 4.0
"""Weights that differ by no more than this factor make no strata."""


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
    large as the ``units`` of `independent_units` (by default, one per case). Where
    weights differ much, light and heavy cases have their own: see `_strata`.

    >>> stakes = np.array([10.0, 10.0, 1.0, 1.0])
    >>> unseen_differences(stakes, np.array([1, 1, 0, 0])).round(2)
    array([ 0.71, -0.71,  7.07, -7.07])
    """
    stakes, outcomes, weights = _complete(stakes, outcomes, weights)
    strata = _strata(outcomes, weights)
    half = np.sqrt(_mean_squares(stakes, strata, weights, units) / 2)
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
    changes, of the class where it is most, 0 where every class has shown one (where
    weights differ much, the light and the heavy cases of every class: see `_strata`).
    The second is what a right decision changes where every decision was wrong, else 0.
    Both are as large as the units of `independent_units`: the cases of a group may well
    be wrong together.

    >>> outcomes, stakes = np.array([1, 1, 0, 0]), np.array([10.0, 10.0, 1.0, 1.0])
    >>> unseen_errors(np.array([0.0, 0.0, 1.0, 0.0]), stakes, outcomes)
    (10.0, 0.0)
    """
    wrong = excess > 1e-9 * stakes  # not what rounding leaves
    stakes, outcomes, weights = _complete(stakes, outcomes, weights)
    more = len(outcomes) - len(wrong)
    if groups is not None:
        groups = np.append(groups.astype(str), [f"unseen {i}" for i in range(more)])
    strata = _strata(outcomes, weights)
    sizes, cases = _unit_sizes(stakes, strata, weights, groups), np.bincount(strata)
    shown = np.bincount(strata, np.append(wrong, np.zeros(more)))[cases > 0] > 0
    error = float(sizes[~shown].max(initial=0.0))
    return error, float(sizes.max(initial=0.0)) if wrong.all() else 0.0


def _strata(outcomes: IntArray, weights: FloatArray | None) -> IntArray:
    """Cases that could show the same error (T,): those of a class, and of like weights.

    Where few of the cases that a pool let pass were reviewed, each stands for many, and
    one miss among them may cost more than all that were seen. None being seen says
    little, however many errors cases of weight 1 have shown.

    >>> _strata(np.array([1, 1, 0]), np.array([1.0, 20.0, 1.0]))
    array([2, 3, 0])
    >>> _strata(np.array([1, 1, 0]), np.array([1.0, 2.0, 1.0]))
    array([1, 1, 0])
    """
    heavy = large_weights(weights)
    return np.asarray(2 * outcomes + heavy) if heavy.any() else outcomes


def _complete(
    stakes: FloatArray, outcomes: IntArray, weights: FloatArray | None
) -> tuple[FloatArray, IntArray, FloatArray | None]:
    """Add to each class without a case of large weight one that could be seen next."""
    heavy = large_weights(weights)
    if weights is None or not heavy.any():
        return stakes, outcomes, weights
    lacking = np.setdiff1d(outcomes, outcomes[heavy])
    usual = [np.sqrt(np.square(stakes[outcomes == k]).mean()) for k in lacking]
    large = np.sqrt(np.square(weights[heavy]).mean())
    return (
        np.append(stakes, usual),
        np.append(outcomes, lacking),
        np.append(weights, np.full(len(lacking), large)),
    )


def large_weights(weights: FloatArray | None) -> BoolArray:
    """Whether each weight is one of the large ones (T,); none where all are alike.

    >>> large_weights(np.array([1.0, 20.0, 2.0])), large_weights(np.array([1.0, 2.0]))
    (array([False,  True, False]), array([False, False]))
    """
    if weights is None or weights.max() <= LIKE_WEIGHTS * weights.min():
        return np.zeros(0 if weights is None else len(weights), bool)
    return np.asarray(weights > np.sqrt(weights.min() * weights.max()))


def unseen_variance(
    scores: FloatArray,
    design: FloatArray,
    p: FloatArray,
    weights: FloatArray,
    questions: Array | None = None,
) -> FloatArray:
    """Variance (M, M) of a sum of scores (M, T) that the heavy cases have not shown.

    Scores are weights times the ``design`` (M, T) times outcome minus expectation. If
    the reports p (T,) are right, they vary by p (1 - p); where no heavy case was
    positive, those that were seen vary far less. Rows of one question are one case.

    >>> p, one = np.array([0.1, 0.1]), np.ones((1, 2))
    >>> unseen_variance(np.array([[0.9, 0.0]]), one, p, np.array([1.0, 10.0]))
    array([[9.]])
    """
    T = len(p)
    case = (
        np.arange(T)
        if questions is None
        else np.unique(questions, return_inverse=True)[1]
    )
    total = np.bincount(case, weights).astype(np.float64)
    heavy = large_weights(total)
    sums, sizes = (
        np.stack([np.bincount(case, row)[heavy] for row in rows])
        for rows in (scores, design * weights)
    )
    mean = (np.bincount(case, weights * p) / total)[heavy]
    seen = np.asarray(sums @ sums.T, np.float64)
    expected = (sizes * mean * (1 - mean)) @ sizes.T
    return _missing(seen, expected)


def _missing(seen: FloatArray, expected: FloatArray) -> FloatArray:
    """What a variance (M, M) lacks of the expected one, in every direction.

    Two heavy cases may vary as much as expected in all, and hardly at all in one
    direction, in which anything would then be significant.

    >>> _missing(np.diag([4.0, 0.0]), np.diag([2.0, 2.0]))
    array([[0., 0.],
           [0., 2.]])
    """
    sizes, axes = np.linalg.eigh(expected)
    held = sizes > 1e-12 * max(float(sizes[-1]), 1e-300)
    root = axes[:, held] * np.sqrt(sizes[held])
    inverse = axes[:, held] / np.sqrt(sizes[held])
    lacks, ways = np.linalg.eigh(np.eye(held.sum()) - inverse.T @ seen @ inverse)
    added = root @ ways * np.sqrt(np.maximum(lacks, 0.0))
    return np.asarray(added @ added.T)


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
