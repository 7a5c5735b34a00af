"""Labels: what happened, as the user calls it, and their places among the classes."""

import numpy as np
from numpy.typing import ArrayLike

from truepool.arrays import Array, IntArray
from truepool.errors import OutcomeError


def as_labels(y: ArrayLike) -> Array:
    """Labels as numbers or text, none of them missing.

    >>> as_labels(np.array(["no", "yes"], dtype=object))
    array(['no', 'yes'], dtype='<U3')
    """
    labels = np.asarray(y)
    if labels.dtype.kind == "O":
        gaps = np.array([v is None or v != v for v in labels.tolist()], dtype=bool)
        labels = labels if gaps.any() else np.asarray(labels.tolist())
    else:
        gaps = np.isnan(labels) if labels.dtype.kind == "f" else np.array([False])
    if gaps.any():
        raise OutcomeError(f"every row needs a label; row {np.argmax(gaps)} has none")
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        t = int(np.argmax(labels != np.floor(labels)))
        raise OutcomeError(
            f"a label must be a whole number or text; row {t} has {labels[t].item()!r}"
        )
    return labels


def places(labels: Array, classes: Array) -> IntArray:
    """Places of labels among the sorted classes.

    >>> places(np.array(["yes", "no"]), np.array(["no", "yes"]))
    array([1, 0])
    """
    found = np.searchsorted(classes, labels)
    known = classes[np.minimum(found, len(classes) - 1)] == labels
    if not np.all(known):
        t = int(np.argmin(known))
        raise OutcomeError(
            f"a label must be one of {classes.tolist()}; row {t} has "
            f"{labels[t].item()!r}"
        )
    return np.asarray(found, dtype=np.int64)
