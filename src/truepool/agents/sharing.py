"""What each agent gets of the features and of the rows, from what the user asked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truepool.agents.encoding import Encoder
from truepool.agents.partition import feature_silos, sample_silos
from truepool.arrays import Array, IntArray
from truepool.errors import SettingError, nearest


def columns_of(
    features: float | Sequence[Any] | None, encoder: Encoder, count: int, seed: int
) -> list[IntArray]:
    """Columns of each agent: all, a silo of that share drawn for it, or those given."""
    width = len(encoder.names)
    if features is None:
        return [np.arange(width)] * count
    if isinstance(features, int | float | np.number):
        return feature_silos(width, count, float(features), seed)
    if len(features) != count:
        raise SettingError(
            f"features must give the columns of each of the {count} agents; "
            f"{len(features)} lists came"
        )
    return [np.array([_place(c, encoder) for c in silo]) for silo in features]


def _place(column: Any, encoder: Encoder) -> int:
    if isinstance(column, str):
        if column not in encoder.names:
            raise SettingError(
                f"there is no feature {column!r}{nearest(column, encoder.names)}"
            )
        return encoder.names.index(column)
    if not 0 <= column < len(encoder.names):
        raise SettingError(
            f"features are numbered 0..{len(encoder.names) - 1}; {column!r} came"
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
    return [np.asarray(share, dtype=np.int64) for share in rows]
