"""Arrays: their shapes, checks and conversions.

Axes are T cases, N agents and then C *coordinates*: a binary probability needs one
number (that of class 1, so C = 1) and a probability over K > 2 classes needs K
(C = K). Code written for C coordinates works for both.
"""

from collections.abc import Iterator
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truepool.core.errors import OutcomeError, ReportError, SettingError
from truepool.core.numbers import as_numbers

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Array: TypeAlias = NDArray[Any]

SMALLEST = 1e-12
"""Probabilities are clipped this far from 0 and 1 before a logarithm is taken."""

BLOCK = 1 << 18
"""Numbers in a block: few enough for the CPU cache, enough for numpy to be fast."""

POINTS = 400
"""Largest number of points of a line in a figure."""


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a C-contiguous, read-only view of an array."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def classes(coordinates: int) -> int:
    """Number of classes K that C coordinates describe.

    >>> classes(1), classes(3)
    (2, 3)
    """
    return 2 if coordinates == 1 else coordinates


def to_classes(pooled: FloatArray) -> FloatArray:
    """Return one probability per class, (T, K), from coordinates (T, C).

    >>> to_classes(np.array([[0.25]]))
    array([[0.75, 0.25]])
    """
    if pooled.shape[-1] != 1:
        return pooled
    return np.concatenate([1.0 - pooled, pooled], axis=-1)


def from_classes(probabilities: FloatArray) -> FloatArray:
    """Coordinates (T, C) of probabilities (T, K); the inverse of `to_classes`.

    >>> from_classes(np.array([[0.75, 0.25]]))
    array([[0.25]])
    """
    return probabilities[..., 1:] if probabilities.shape[-1] == 2 else probabilities


def as_pooled(pooled: ArrayLike) -> FloatArray:
    """Coordinates (T, C) of pooled probabilities given as (T,) or (T, K).

    >>> as_pooled([0.2, 0.9]).shape, as_pooled([[0.8, 0.2]]).shape
    ((2, 1), (1, 1))
    """
    array = np.asarray(pooled, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, None]
    elif array.ndim == 2:
        array = from_classes(array)
    else:
        raise ReportError(
            "pooled probabilities must be (T,) for class 1 or (T, K); "
            f"got an array of shape {array.shape}"
        )
    if array.shape[1] > 1 and (np.abs(array.sum(axis=1) - 1) > 1e-6).any():
        where = int(np.argmax(np.abs(array.sum(axis=1) - 1) > 1e-6))
        raise ReportError(
            "the probabilities of a case must sum to 1; "
            f"case {where} has {array[where].tolist()}"
        )
    faults = ~((array >= 0) & (array <= 1))
    if faults.any():
        where = int(np.argmax(faults.any(axis=1)))
        raise ReportError(
            "a pooled probability must lie in [0, 1]; "
            f"case {where} has {array[where].tolist()}"
        )
    return array


def as_outcomes(outcomes: ArrayLike, classes: int) -> IntArray:
    """Outcomes as whole numbers 0..K-1, or an error that names the first that is not.

    >>> as_outcomes([0.0, 1.0, True], classes=2)
    array([0, 1, 1])
    """
    array = np.asarray(outcomes)
    whole = f"an outcome must be one of the whole numbers 0..{classes - 1}"
    if array.ndim != 1:
        raise OutcomeError(f"{whole}, one per case; got an array of {array.shape}")
    if array.dtype.kind not in "buif":
        array = _numbers(array, whole)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind in "bui" and array.min() >= 0 and array.max() < classes:
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise OutcomeError(
            f"{whole}; case {int(np.argmax(np.isnan(array)))} has none. "
            "Leave out the cases whose outcome is not known yet."
        )
    fits = (array >= 0) & (array < classes) & (array == np.floor(array))
    if not fits.all():
        where = int(np.argmin(fits))
        raise OutcomeError(
            f"{whole}; case {where} has {array[where].item()!r}. The reports are "
            f"about {classes} classes; number the outcomes from 0."
        )
    return array.astype(np.int64)


def _numbers(array: Array, rule: str) -> FloatArray:
    """Return the numbers of an object array, or refuse the first text in it."""
    for t, value in enumerate(array.tolist()):
        if isinstance(value, str) or not isinstance(value, Real | None):
            raise OutcomeError(
                f"{rule}; case {t} has {value!r}. Map the labels to numbers first."
            )
    return array.astype(np.float64)


LARGEST_WEIGHT = 1e15
"""Weights of cases lie between one over this and this."""


def as_case_weights(sample_weight: ArrayLike | None, cases: int) -> FloatArray | None:
    """Return one non-negative weight per case, or None for equal weights."""
    if sample_weight is None:
        return None
    rule = f"sample_weight must hold one number for each of the {cases} cases"
    array = as_numbers(sample_weight, rule, SettingError)
    if array.shape != (cases,):
        raise SettingError(f"{rule}; got an array of shape {array.shape}")
    if not (np.isfinite(array).all() and (array >= 0).all() and array.sum() > 0):
        raise SettingError(
            "sample_weight must be finite, not negative and not all zero; "
            f"its smallest value is {array.min():g}"
        )
    extreme = (array > 0) & ((array < 1 / LARGEST_WEIGHT) | (array > LARGEST_WEIGHT))
    if extreme.any():
        t = int(np.argmax(extreme))
        raise SettingError(
            f"sample_weight must lie between {1 / LARGEST_WEIGHT:g} and "
            f"{LARGEST_WEIGHT:g}, or be 0; got {array[t]:g} in case {t}. Express it in "
            "another unit."
        )
    return array


def case_count(case_weights: FloatArray) -> float:
    """Number of cases that these weights represent.

    A weight of 2 is two cases; weights that sum to 1 represent the effective number of
    cases.

    >>> case_count(np.array([2.0, 1.0])), case_count(np.array([0.5, 0.5]))
    (3.0, 2.0)
    """
    total = float(case_weights.sum())
    return max(total, total**2 / float(np.square(case_weights).sum()))


def case_mean(values: FloatArray, sample_weight: FloatArray | None) -> Any:
    """Weighted mean over the cases (axis 0).

    >>> case_mean(np.array([1.0, 3.0]), np.array([3.0, 1.0]))
    1.5
    """
    if sample_weight is None:
        mean = values.mean(axis=0)
    else:
        mean = np.tensordot(sample_weight, values, axes=(0, 0)) / sample_weight.sum()
    return mean if np.ndim(mean) else float(mean)


def is_recorded(values: Any) -> bool:
    """Whether these are tensors of a graph, and no numbers yet.

    `truepool.pools.onnx.graph` records what functions of numpy do with them.
    """
    return not isinstance(values, np.ndarray)


def has_gaps(values: FloatArray) -> bool:
    """Whether reports are missing; those that are recorded may be.

    >>> has_gaps(np.array([[0.2, np.nan]])), has_gaps(np.array([[0.2, 0.4]]))
    (True, False)
    """
    return is_recorded(values) or bool(np.isnan(values).any())


def mean_report(values: FloatArray) -> FloatArray:
    """Mean over the agents (axis 1) that reported; NaN where none did.

    >>> mean_report(np.array([[0.2, 0.4, np.nan], [np.nan, np.nan, np.nan]]))
    array([0.3, nan])
    """
    if not has_gaps(values):  # to a single case the number of calls is all that matters
        return np.asarray(values.mean(axis=1))
    count = (~np.isnan(values)).sum(axis=1)
    total = np.nansum(values, axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def fill_missing(values: FloatArray) -> FloatArray:
    """Replace the missing reports of (T, N, ...) by the mean of the others.

    >>> fill_missing(np.array([[0.2, 0.4, np.nan]])).round(3)
    array([[0.2, 0.4, 0.3]])
    """
    if not has_gaps(values):
        return values
    return np.where(np.isnan(values), mean_report(values)[:, None], values)


def normalize(values: FloatArray) -> FloatArray:
    """Scale coordinates (T, C) so that K classes sum to 1; binary is unchanged.

    >>> normalize(np.array([[0.5, 0.25, 0.25], [0.2, 0.2, 0.0], [0.0, 0.0, 0.0]]))
    array([[0.5       , 0.25      , 0.25      ],
           [0.5       , 0.5       , 0.        ],
           [0.33333333, 0.33333333, 0.33333333]])
    """
    if values.shape[-1] == 1:
        return values
    total = values.sum(axis=-1, keepdims=True)
    even = np.full_like(values, 1.0 / values.shape[-1])
    shares: FloatArray = np.divide(values, total, out=even, where=total > 0)
    return shares


def as_probabilities(pooled: FloatArray) -> FloatArray:
    """Probability of every class, (T, K), of pooled coordinates (T, C).

    Values are clipped to [0, 1], because of rounding, and K classes sum to 1.

    >>> as_probabilities(np.array([[1.0 + 2.3e-16], [-1e-17], [0.25]])).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.75, 0.25]]
    """
    if pooled.shape[-1] != 1:
        return normalize(np.minimum(np.maximum(pooled, 0.0), 1.0))
    probabilities = np.empty((len(pooled), 2))
    np.clip(pooled[:, 0], 0.0, 1.0, out=probabilities[:, 1])
    np.subtract(1.0, probabilities[:, 1], out=probabilities[:, 0])
    return probabilities


def logit(probability: FloatArray, clip: float = SMALLEST) -> FloatArray:
    r"""Log-odds :math:`\log p - \log(1 - p)`, finite by clipping.

    >>> logit(np.array([0.5]))
    array([0.])
    """
    clipped = np.clip(probability, clip, 1 - clip)
    odds: FloatArray = np.log(clipped) - np.log1p(-clipped)
    return odds


def log_scale(values: FloatArray, clip: float = SMALLEST) -> FloatArray:
    r"""Coordinates on the log scale: :math:`\log p_k - \log p_0` for k >= 1.

    Binary gives the logit (one number), K classes give K - 1, in both cases
    unconstrained; `from_log_scale` goes back.

    >>> log_scale(np.array([[0.5, 0.25, 0.25]])).round(3)
    array([[-0.693, -0.693]])
    """
    if values.shape[-1] == 1:
        return logit(values, clip)
    logs: FloatArray = np.log(np.maximum(values, clip))
    return logs[..., 1:] - logs[..., :1]


def from_log_scale(scale: FloatArray) -> FloatArray:
    """Coordinates of the probabilities whose log scale this is.

    >>> from_log_scale(np.array([[0.0]]))
    array([[0.5]])
    """
    if scale.shape[-1] == 1:
        small = np.exp(-np.abs(scale))
        share: FloatArray = np.where(scale < 0.0, small, 1.0) / (1.0 + small)
        return share
    full = np.concatenate([np.zeros_like(scale[..., :1]), scale], axis=-1)
    full -= full.max(axis=-1, keepdims=True)
    full = np.exp(full, out=full)
    full /= full.sum(axis=-1, keepdims=True)
    return from_classes(full)


def blocks(cases: int, width: int) -> Iterator[slice]:
    """Consecutive slices of the cases, each holding about `BLOCK` numbers.

    >>> [len(range(*part.indices(10))) for part in blocks(10, BLOCK // 4)]
    [4, 4, 2]
    """
    step = max(1, BLOCK // max(width, 1))
    for start in range(0, cases, step):
        yield slice(start, min(start + step, cases))


def thin(length: int) -> IntArray:
    """Indices (at most `POINTS`) of evenly spaced points of a line, with both ends.

    >>> thin(3), thin(10_000).size
    (array([0, 1, 2]), 400)
    """
    return np.unique(np.linspace(0, length - 1, min(length, POINTS)).astype(int))
