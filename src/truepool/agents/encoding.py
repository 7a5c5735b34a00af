"""Features as agents see them: numbers, with categories numbered by what was seen."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import narwhals as nw
import numpy as np
import pyarrow as pa

from truepool.arrays import Array, FloatArray, IntArray
from truepool.errors import FeatureError, SettingError, nearest

Unseen = Literal["refuse", "missing"]


@dataclass(frozen=True, eq=False)
class Encoder:
    """Turns a table into numbers (T, F), the same way at training and ever after.

    Numbers stay; text is numbered in alphabetical order of the categories that were
    seen; an empty cell is NaN. A category that was not seen is refused, or counts as
    missing where ``unseen`` says so.

    Attributes
    ----------
    names : names of the columns, in order
    places : where they stand in an array without names
    width : how many columns such an array has
    categories : what a text column may say

    Examples
    --------
    >>> import pyarrow as pa
    >>> encoder = Encoder.learn(pa.table({"size": [1.5, 2], "flag": ["SF", "REJ"]}))
    >>> encoder(pa.table({"flag": ["SF"], "size": [7]}))
    array([[7., 1.]])
    """

    names: tuple[str, ...]
    places: tuple[int, ...]
    width: int
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    named: bool = False
    unseen: Unseen = "refuse"

    @classmethod
    def learn(cls, X: Any, unseen: Unseen = "refuse") -> Self:
        """See which columns there are and which categories they name."""
        if unseen not in ("refuse", "missing"):
            raise SettingError(
                f"unseen categories are to 'refuse' or 'missing'; {unseen!r} came"
            )
        frame = _frame(X)
        if frame is None:
            width = _array(X).shape[1]
            names = tuple(f"x{i}" for i in range(width))
            return cls(names, tuple(range(width)), width, unseen=unseen)
        names = tuple(frame.columns)
        texts = {name: _texts(frame[name]) for name in names if _is_text(frame[name])}
        seen = {
            name: tuple(sorted({text for text in column if text is not None}))
            for name, column in texts.items()
        }
        places = tuple(range(len(names)))
        named = not isinstance(X, np.ndarray | list | tuple)
        return cls(names, places, len(names), seen, named, unseen)

    def only(self, columns: IntArray) -> Self:
        """Return the encoder of some of the columns."""
        names = tuple(self.names[i] for i in columns)
        places = tuple(self.places[i] for i in columns)
        seen = {
            name: self.categories[name] for name in names if name in self.categories
        }
        return type(self)(names, places, self.width, seen, self.named, self.unseen)

    def __call__(self, X: Any) -> FloatArray:
        """Numbers (T, F) of a table, or a sentence that names what does not fit."""
        frame = _frame(X)
        if frame is None:
            values = self._placed(_array(X))
        else:
            values = np.stack(
                [
                    self._column(name, frame[found])
                    for name, found in self._found(frame.columns)
                ],
                axis=1,
            )
        if np.isinf(values).any():
            t, i = (int(index) for index in np.argwhere(np.isinf(values))[0])
            raise FeatureError(
                "a feature must be a finite number, or missing; "
                f"{self.names[i]!r} is {values[t, i]} in row {t}"
            )
        return values

    def _placed(self, array: FloatArray) -> FloatArray:
        if self.categories:
            column = next(iter(self.categories))
            raise FeatureError(
                f"column {column!r} held text in training; a table of numbers came. "
                "Give the rows in the form they were trained in."
            )
        if array.shape[1] == len(self.names):
            return array
        if array.shape[1] != self.width:
            raise FeatureError(
                f"rows must have the {self.width} features of training; "
                f"they have {array.shape[1]}"
            )
        return np.ascontiguousarray(array[:, self.places])

    def _found(self, columns: list[str]) -> Iterable[tuple[str, str]]:
        """Our columns and theirs: by name, or by place where there were no names."""
        if not self.named:
            if len(columns) not in (self.width, len(self.names)):
                raise FeatureError(
                    f"rows must have the {self.width} features of training; "
                    f"they have {len(columns)}"
                )
            whole = len(columns) == self.width
            places = self.places if whole else range(len(self.names))
            return zip(self.names, (columns[i] for i in places), strict=True)
        for name in self.names:
            if name not in columns:
                raise FeatureError(
                    f"rows must have the features of training; there is no {name!r}"
                    f"{nearest(name, columns)}; columns: {', '.join(columns)}"
                )
        return zip(self.names, self.names, strict=True)

    def _column(self, name: str, column: nw.Series[Any]) -> FloatArray:
        if name not in self.categories:
            return _numbers(column)
        seen = self.categories[name]
        number = {text: float(i) for i, text in enumerate(seen)}
        codes = np.full(len(column), np.nan)
        for t, text in enumerate(_texts(column)):
            if text is None:
                continue
            if text not in number and self.unseen == "refuse":
                shown = ", ".join(seen[:5]) + (", ..." if len(seen) > 5 else "")
                raise FeatureError(
                    f"a category must have been seen in training; column {name!r} says "
                    f"{text!r} in row {t}; known: {shown} ({len(seen)}). Train with "
                    "such rows, leave the cell empty, or train with unseen='missing'."
                )
            codes[t] = number.get(text, np.nan)
        return codes


def _frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return a frame, or None for a plain array of numbers."""
    found = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(found, nw.DataFrame):
        if not found.columns:
            raise FeatureError("rows must have at least one feature; they have none")
        return found
    array = np.asarray(X)
    if array.dtype.kind in "buif" or array.ndim != 2:
        return None
    columns = array.astype(object).T.tolist()
    try:
        table = {f"x{i}": pa.array(column) for i, column in enumerate(columns)}
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise FeatureError(
            f"a feature must be all numbers or all text; {str(error).splitlines()[0]}"
        ) from None
    frame: nw.DataFrame[Any] = nw.from_native(pa.table(table), eager_only=True)
    return frame


def _array(X: Any) -> FloatArray:
    array: Array = np.asarray(X)
    if array.ndim != 2 or array.dtype.kind not in "buif" or array.shape[1] == 0:
        raise FeatureError(
            "rows must be a table: a row a case, a column a feature; "
            f"an array of shape {array.shape} came"
        )
    return array.astype(np.float64, copy=False)


def _is_text(column: nw.Series[Any]) -> bool:
    return column.dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object)


def _texts(column: nw.Series[Any]) -> list[str | None]:
    return [None if _missing(v) else str(v) for v in column.to_list()]


def _missing(value: Any) -> bool:
    return value is None or value == "" or value != value


def _numbers(column: nw.Series[Any]) -> FloatArray:
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        values = column.to_list()
        t = next((t for t, v in enumerate(values) if not _missing(v)), None)
        if t is None:
            return np.full(len(values), np.nan)
        raise FeatureError(
            f"column {column.name!r} must hold numbers, as in training; "
            f"it says {values[t]!r} in row {t}"
        )
    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
