"""Assignment of features and of training cases to agents."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truepool.agents.features.encoding import Encoder
from truepool.agents.partition import case_silos, feature_silos
from truepool.core.arrays import Array, IntArray
from truepool.core.errors import SettingError, suggestion


def assign_features(
    features: float | Sequence[Any] | None, encoder: Encoder, count: int, seed: int
) -> list[IntArray]:
    """Return the columns of each agent: all, a random silo of that share, or a list."""
    width = len(encoder.names_)
    if features is None:
        return [np.arange(width)] * count
    if isinstance(features, int | float | np.number):
        return feature_silos(width, count, float(features), seed)
    if len(features) != count:
        raise SettingError(
            f"features must give the columns of each of the {count} agents; "
            f"got {len(features)} lists"
        )
    silos = [[_place(column, encoder) for column in silo] for silo in features]
    if not all(silos):
        raise SettingError(
            f"an agent must see at least one feature; agent {silos.index([])} sees none"
        )
    return [np.array(silo) for silo in silos]


def _place(column: Any, encoder: Encoder) -> int:
    if isinstance(column, str):
        if column not in encoder.names_:
            raise SettingError(
                f"there is no feature {column!r}{suggestion(column, encoder.names_)}"
            )
        return encoder.names_.index(column)
    if not 0 <= column < len(encoder.names_):
        raise SettingError(
            f"features are numbered 0..{len(encoder.names_) - 1}; got {column!r}"
        )
    return int(column)


def assign_cases(
    cases: str | Sequence[ArrayLike] | None, labels: Array, count: int, seed: int
) -> list[IntArray]:
    """Return the training cases of each agent: all, a separate part, or a list."""
    if cases is None:
        return [np.arange(len(labels))] * count
    if isinstance(cases, str):
        if cases != "disjoint":
            raise SettingError(
                f"cases must be 'disjoint' or one list per agent; got {cases!r}"
            )
        return case_silos(labels, count, seed)
    if len(cases) != count:
        raise SettingError(
            f"cases must be given for each of the {count} agents; "
            f"got {len(cases)} lists"
        )
    return [_numbers(part, len(labels)) for part in cases]


def _numbers(cases: ArrayLike, count: int) -> IntArray:
    """Return cases by number; a mask becomes the numbers that it selects."""
    given = np.asarray(cases)
    if given.dtype == bool and given.shape == (count,):
        return np.flatnonzero(given)
    wrong = given.size and (given.dtype.kind not in "ui" or not given.ndim == 1)
    if wrong or (given.size and not (0 <= given.min() and given.max() < count)):
        raise SettingError(
            f"cases must be numbers in 0..{count - 1} or a mask of that length; "
            f"got {np.array2string(given, threshold=4, edgeitems=2)}"
        )
    return given.astype(np.int64)
