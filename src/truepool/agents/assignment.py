"""What each agent gets of the features and of the rows, from what the user asked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truepool.agents.partition import feature_silos, sample_silos
from truepool.core.arrays import Array, IntArray
from truepool.core.errors import SettingError, suggestion
from truepool.data.features.encoding import Encoder


def columns_of(
    features: float | Sequence[Any] | None, encoder: Encoder, count: int, seed: int
) -> list[IntArray]:
    """Columns of each agent: all, a silo of that share drawn for it, or those given."""
    width = len(encoder.names_)
    if features is None:
        return [np.arange(width)] * count
    if isinstance(features, int | float | np.number):
        return feature_silos(width, count, float(features), seed)
    if len(features) != count:
        raise SettingError(
            f"features must give the columns of each of the {count} agents; "
            f"{len(features)} lists came"
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
            f"features are numbered 0..{len(encoder.names_) - 1}; {column!r} came"
        )
    return int(column)


def rows_of(
    rows: str | Sequence[ArrayLike] | None, labels: Array, count: int, seed: int
) -> list[IntArray]:
    """Rows of each agent: all, a part of its own, or those given."""
    if rows is None:
        return [np.arange(len(labels))] * count
    if isinstance(rows, str):
        if rows != "disjoint":
            raise SettingError(f"rows are 'disjoint', or given; {rows!r} came")
        return sample_silos(labels, count, seed)
    if len(rows) != count:
        raise SettingError(
            f"rows must be given for each of the {count} agents; {len(rows)} lists came"
        )
    return [_share(share, len(labels)) for share in rows]


def _share(rows: ArrayLike, count: int) -> IntArray:
    """Rows by number; a mask becomes the numbers it lets through."""
    given = np.asarray(rows)
    if given.dtype == bool and given.shape == (count,):
        return np.flatnonzero(given)
    wrong = given.size and (given.dtype.kind not in "ui" or not given.ndim == 1)
    if wrong or (given.size and not (0 <= given.min() and given.max() < count)):
        raise SettingError(
            f"rows are numbered 0..{count - 1}, or a mask of that length; "
            f"{np.array2string(given, threshold=4, edgeitems=2)} came"
        )
    return given.astype(np.int64)
