"""Features as numbers, by what the training rows show and no others."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Literal, Self, TypeAlias, final

import narwhals as nw
import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.validation import check_is_fitted

from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray
from truepool.core.errors import FeatureError, SettingError, suggestion

Encoding: TypeAlias = Literal["ordinal", "one-hot"]
Unseen: TypeAlias = Literal["refuse", "missing"]

MISSING_CODE = -1.0
"""The number of a missing category where gaps are filled."""

MAX_SHOWN = 5
"""So many known categories are listed in a message."""


@final
class Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns a table into numbers (T, F), the same way at training and ever after.

    Numbers stay; a category becomes its place in the order of those seen in training.
    Later rows change nothing. Columns of a frame are found by name.

    Parameters
    ----------
    categorical : sequence of int, optional
        Columns that hold categories, as numbers or as text; by default those of text.
    fill : bool
        Whether a missing number gets the median of the training rows and a missing
        category -1 (in one-hot: 0 in every column). Otherwise both are NaN.
    encoding : {"ordinal", "one-hot"}
        Whether a category becomes its place, which keeps the columns where they are,
        or one column of 0 and 1 for each.
    unseen : {"refuse", "missing"}
        Whether a category that no training row had is an error or counts as missing.
    names : sequence of str, optional
        Of the columns of an array, for messages and for ``get_feature_names_out``.

    Attributes
    ----------
    names_ : tuple of str
        Names of the columns, in order.
    places_ : tuple of int
        Where they stand in an array without names.
    width_ : int
        How many columns such an array has.
    categories_ : dict of str to array
        What a column of categories may hold.
    fills_ : dict of str to float
        What is put where a value is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> encoder = Encoder().fit(pa.table({"size": [1.5, 2], "flag": ["SF", "REJ"]}))
    >>> encoder.transform(pa.table({"flag": ["SF"], "size": [7]}))
    array([[7., 1.]])
    >>> train = [[1.0, "tcp"], [3.0, "udp"], [np.nan, "tcp"]]
    >>> ready = Encoder([1], fill=True, unseen="missing").fit(train)
    >>> ready.transform([[np.nan, "udp"], [5.0, "icmp"]])
    array([[ 2.,  1.],
           [ 5., -1.]])
    """

    def __init__(
        self,
        categorical: Sequence[int] | None = None,
        *,
        fill: bool = False,
        encoding: Encoding = "ordinal",
        unseen: Unseen = "refuse",
        names: Sequence[str] | None = None,
    ) -> None:
        self.categorical = categorical
        self.fill = fill
        self.encoding = encoding
        self.unseen = unseen
        self.names = names

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the columns, their categories and their medians from training rows."""
        self._check_settings()
        table = _table(X)
        self.named_ = not isinstance(X, np.ndarray | list | tuple)
        columns = table.columns if isinstance(table, nw.DataFrame) else None
        width = table.shape[1]
        if columns is None or not self.named_:
            columns = list(self.names or (f"x{j}" for j in range(width)))
        self.names_ = tuple(map(str, columns))
        self.places_ = tuple(range(width))
        self.width_ = self.n_features_in_ = width
        chosen = self._chosen(table)
        self.categories_: dict[str, Array] = {}
        self.fills_: dict[str, float] = {}
        for j, name in enumerate(self.names_):
            column = _column(table, j)
            if j in chosen:
                values, gone = _categories(column)
                self.categories_[name] = np.unique(values[~gone])
                self.fills_[name] = MISSING_CODE
            elif self.fill:
                numbers = self._checked(_numbers(name, column)[:, None], name)
                self.fills_[name] = _median(name, numbers)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Numbers (T, F) of a table, or more columns for one-hot."""
        check_is_fitted(self)
        table = _table(X)
        if isinstance(table, np.ndarray) and not self.fills_ and not self.categories_:
            return self._checked(self._placed(table))
        parts = [
            self._encoded(name, _column(table, place))
            for name, place in zip(self.names_, self._found(table), strict=True)
        ]
        return np.concatenate(parts, axis=1)

    def only(self, columns: IntArray) -> Self:
        """Return the fitted encoder of some of the columns."""
        part = copy(self)
        part.names_ = tuple(self.names_[j] for j in columns)
        part.places_ = tuple(self.places_[j] for j in columns)
        part.categories_ = {
            n: c for n, c in self.categories_.items() if n in part.names_
        }
        return part

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Names of the columns that come out."""
        check_is_fitted(self)
        names: list[str] = []
        for name in self.names_:
            if name in self.categories_ and self.encoding == "one-hot":
                names += [
                    f"{name}={level}" for level in self.categories_[name].tolist()
                ]
            else:
                names.append(name)
        return np.array(names, dtype=object)

    def to_dict(self) -> dict[str, Any]:
        """What was learned, as JSON can hold it; for an encoder that fills no gaps."""
        return {
            "names": list(self.names_),
            "places": list(self.places_),
            "width": self.width_,
            "named": self.named_,
            "unseen": self.unseen,
            "categories": {n: c.tolist() for n, c in self.categories_.items()},
        }

    @classmethod
    def from_dict(cls, known: Mapping[str, Any]) -> Self:
        """Return the fitted encoder that `to_dict` described."""
        encoder = cls(unseen=known["unseen"])
        encoder.names_ = tuple(known["names"])
        encoder.places_ = tuple(known["places"])
        encoder.width_ = encoder.n_features_in_ = known["width"]
        encoder.named_ = known["named"]
        seen = known["categories"].items()
        encoder.categories_ = {n: np.array(c, dtype=object) for n, c in seen}
        encoder.fills_ = {}
        return encoder

    def _check_settings(self) -> None:
        for name, known in (
            ("encoding", ("ordinal", "one-hot")),
            ("unseen", ("refuse", "missing")),
        ):
            value = {"encoding": self.encoding, "unseen": self.unseen}[name]
            if value not in known:
                raise SettingError(
                    f"{name} must be {' or '.join(map(repr, known))}; got {value!r}"
                )

    def _chosen(self, table: Any) -> set[int]:
        if self.categorical is None:
            return {j for j in range(self.width_) if _is_text(_column(table, j))}
        chosen = set(self.categorical)
        if not chosen <= set(range(self.width_)):
            raise FeatureError(
                f"categorical columns must be among 0..{self.width_ - 1}; "
                f"got {sorted(chosen)}"
            )
        return chosen

    def _found(self, table: Any) -> Iterable[int]:
        """Where our columns are: by name, or by place where there were no names."""
        if isinstance(table, nw.DataFrame) and self.named_:
            columns = table.columns
            for name in self.names_:
                if name not in columns:
                    raise FeatureError(
                        f"rows must have the features of training; there is no "
                        f"{name!r}{suggestion(name, columns)}; columns: "
                        f"{', '.join(columns)}"
                    )
            return [columns.index(name) for name in self.names_]
        width = table.shape[1]
        if width == len(self.names_):
            return range(width)
        if width != self.width_:
            raise FeatureError(
                f"rows must have the {self.width_} features of training; "
                f"they have {width}"
            )
        return self.places_

    def _placed(self, array: FloatArray) -> FloatArray:
        places = list(self._found(array))
        if places == list(range(array.shape[1])):
            return array
        return np.ascontiguousarray(array[:, places])

    def _encoded(self, name: str, column: Any) -> FloatArray:
        if name not in self.categories_:
            values = self._checked(_numbers(name, column)[:, None], name)
        else:
            values = self._codes(name, column)[:, None]
            if self.encoding == "one-hot":
                places = np.arange(self.categories_[name].size)
                return np.asarray(values == places, dtype=np.float64)
        if not self.fill:
            return values
        return np.where(np.isnan(values), self.fills_[name], values)

    def _codes(self, name: str, column: Any) -> FloatArray:
        """Places (T,) of the categories among those of training; NaN for the others."""
        known = self.categories_[name]
        values, gone = _categories(column, known if known.size else None, name)
        codes = np.full(len(values), np.nan)
        if known.size and not gone.all():
            encoder = OrdinalEncoder(
                categories=[known],
                handle_unknown="use_encoded_value",
                unknown_value=np.nan,
            ).fit(known[:1, None])
            codes[~gone] = encoder.transform(values[~gone, None])[:, 0]
        strange = np.isnan(codes) & ~gone
        if self.unseen == "refuse" and strange.any():
            t = int(np.argmax(strange))
            shown = ", ".join(map(str, known[:MAX_SHOWN]))
            more = ", ..." if known.size > MAX_SHOWN else ""
            raise FeatureError(
                f"a category must have been seen in training; column {name!r} says "
                f"{values[t]!r} in zero-based row {t}; known: {shown}{more} "
                f"({known.size}). Train "
                "with such rows, leave the cell empty, or train with unseen='missing'."
            )
        return codes

    def _checked(self, values: FloatArray, name: str | None = None) -> FloatArray:
        if np.isinf(values).any():
            t, j = (int(index) for index in np.argwhere(np.isinf(values))[0])
            raise FeatureError(
                "a feature must be a finite number, or missing; "
                f"{name or self.names_[j]!r} is {values[t, j]} in zero-based row {t}"
            )
        return values


def _table(X: Any) -> FloatArray | nw.DataFrame[Any]:
    """Return an array of numbers, or a frame."""
    found = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(found, nw.DataFrame):
        if not found.columns:
            raise FeatureError("rows must have at least one feature; they have none")
        return found
    array: Array = np.asarray(X)
    if array.dtype.kind not in "buif":
        # Rows of mixed kinds would be turned into text, numbers and all.
        array = np.asarray(X, dtype=object)
    if array.ndim != 2 or array.shape[1] == 0:
        raise FeatureError(
            "features must be a table (T, F), one row per case and one column per "
            f"feature; got an array of shape {array.shape}"
        )
    if array.dtype.kind in "buif":
        return array.astype(np.float64, copy=False)
    try:
        table = {
            f"x{j}": pa.array(column, from_pandas=True)
            for j, column in enumerate(array.T)
        }
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise FeatureError(
            f"a feature must be all numbers or all text; {str(error).splitlines()[0]}"
        ) from None
    frame: nw.DataFrame[Any] = nw.from_native(pa.table(table), eager_only=True)
    return frame


def _column(table: Any, place: int) -> FloatArray | nw.Series[Any]:
    if isinstance(table, nw.DataFrame):
        return table[table.columns[place]]
    column: FloatArray = table[:, place]
    return column


def _is_text(column: FloatArray | nw.Series[Any]) -> bool:
    if isinstance(column, np.ndarray):
        return False
    return column.dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object)


def _categories(
    column: FloatArray | nw.Series[Any], known: Array | None = None, name: str = ""
) -> tuple[Array, BoolArray]:
    """Categories (T,), numbers or text as in training, and which are missing."""
    was = None if known is None else known.dtype == object
    if not isinstance(column, np.ndarray) and (was or _is_text(column)):
        values = column.to_list()
        gone = np.array([_missing(value) for value in values], dtype=bool)
        texts = np.array([str(value) for value in values], dtype=object)
        if was is False and not gone.all():
            raise _other_kind(name, "numbers", "text")
        return texts, gone
    numbers = _numbers(name, column)
    if was and not np.isnan(numbers).all():
        raise _other_kind(name, "text", "numbers")
    return numbers, np.isnan(numbers)


def _other_kind(name: str, was: str, now: str) -> FeatureError:
    return FeatureError(
        f"column {name!r} must hold categories of the kind it was trained on, {was}; "
        f"got {now}. Give the rows in the form they were trained in."
    )


def _missing(value: Any) -> bool:
    return value is None or value == "" or value != value


def _numbers(name: str, column: FloatArray | nw.Series[Any]) -> FloatArray:
    if isinstance(column, np.ndarray):
        return column
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        values = column.to_list()
        t = next((t for t, v in enumerate(values) if not _missing(v)), None)
        if t is None:
            return np.full(len(values), np.nan)
        raise FeatureError(
            f"column {name!r} must hold numbers; it has {values[t]!r} in "
            f"zero-based row {t}. "
            "If these are categories, train with the column as categorical."
        )
    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _median(name: str, numbers: FloatArray) -> float:
    if np.isnan(numbers).all():
        raise FeatureError(
            f"column {name!r} must have a value in some training row to take the "
            "median of; it has none. Leave it out."
        )
    return float(np.nanmedian(numbers))
