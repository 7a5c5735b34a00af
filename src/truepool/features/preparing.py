"""Making features ready for a model, by what the training rows show and no others.

Numbers that are missing get the median of the training rows; categories get their
place among those seen in training. A row that came later changes neither.
"""

from collections.abc import Sequence
from numbers import Real
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from truepool.arrays import Array, BoolArray, FloatArray
from truepool.errors import FeatureError, UnknownNameError

ENCODINGS = ("ordinal", "one-hot")
UNSEEN = ("mark", "refuse")
NOWHERE = -1.0
"""The number of a category that no training row had."""
_TURNED = ("numbers", "text")


@final
class Preparation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Median for what is missing, numbers for categories; fitted on training rows.

    Parameters
    ----------
    categorical : sequence of int
        Columns that hold categories, as numbers or as text; the others are numbers.
    encoding : {"ordinal", "one-hot"}
        A category becomes its place in the order of those seen in training, which
        keeps the columns where they are, or one column of 0 and 1 for each.
    unseen : {"mark", "refuse"}
        What a category is given that no training row had: "mark" gives it -1 (in
        one-hot: 0 in every column), "refuse" raises an error that names it. A category
        that is missing is always marked.
    names : sequence of str, optional
        Of the columns, for messages and for ``get_feature_names_out``.

    Examples
    --------
    >>> train = [[1.0, "tcp"], [3.0, "udp"], [np.nan, "tcp"]]
    >>> ready = Preparation([1]).fit(train)
    >>> ready.transform([[np.nan, "udp"], [5.0, "icmp"]])
    array([[ 2.,  1.],
           [ 5., -1.]])
    """

    def __init__(
        self,
        categorical: Sequence[int] = (),
        *,
        encoding: str = "ordinal",
        unseen: str = "mark",
        names: Sequence[str] | None = None,
    ) -> None:
        self.categorical = categorical
        self.encoding = encoding
        self.unseen = unseen
        self.names = names

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn medians and categories from training rows."""
        if self.encoding not in ENCODINGS:
            raise UnknownNameError("encoding", self.encoding, ENCODINGS)
        if self.unseen not in UNSEEN:
            raise UnknownNameError("way with unseen categories", self.unseen, UNSEEN)
        table = _table(X)
        self.n_features_in_ = table.shape[1]
        apart = set(self.categorical)
        if not apart <= set(range(self.n_features_in_)):
            raise FeatureError(
                f"categorical columns must be among 0..{self.n_features_in_ - 1}; "
                f"{sorted(apart)} came"
            )
        self.categories_: dict[int, Array] = {}
        self.medians_: dict[int, float] = {}
        for j in range(self.n_features_in_):
            if j in apart:
                column, gone = _category(table[:, j])
                self.categories_[j] = np.unique(column[~gone])
            else:
                numbers = self._number(table, j)
                told = numbers[~np.isnan(numbers)]
                if not told.size:
                    raise FeatureError(
                        f"{self._called(j)} must have a value in some training row to "
                        "take the median of; it has none. Leave it out."
                    )
                self.medians_[j] = float(np.median(told))
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return rows of finite numbers: (T, F), or more columns for one-hot."""
        check_is_fitted(self)
        table = _table(X)
        if table.shape[1] != self.n_features_in_:
            raise FeatureError(
                f"rows must have the {self.n_features_in_} features that were learned "
                f"from; {table.shape[1]} came"
            )
        parts = [
            self._encoded(table, j) if j in self.categories_ else self._filled(table, j)
            for j in range(self.n_features_in_)
        ]
        return np.concatenate(parts, axis=1)

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Names of the columns that come out."""
        check_is_fitted(self)
        names: list[str] = []
        for j in range(self.n_features_in_):
            name = str(self.names[j]) if self.names is not None else f"x{j}"
            if j in self.categories_ and self.encoding == "one-hot":
                names += [f"{name}={level}" for level in self.categories_[j].tolist()]
            else:
                names.append(name)
        return np.array(names, dtype=object)

    def _filled(self, table: Array, j: int) -> FloatArray:
        numbers = self._number(table, j)
        return np.where(np.isnan(numbers), self.medians_[j], numbers)[:, None]

    def _encoded(self, table: Array, j: int) -> FloatArray:
        known = self.categories_[j]
        column, gone = _category(table[:, j])
        if known.size and (column.dtype.kind == "U") != (known.dtype.kind == "U"):
            was, now = ("text", "numbers") if known.dtype.kind == "U" else _TURNED
            raise FeatureError(
                f"{self._called(j)} must hold categories of the kind it was trained "
                f"on, {was}; {now} came"
            )
        place = np.searchsorted(known, column).clip(max=max(known.size - 1, 0))
        seen = (known[place] == column) & ~gone if known.size else np.zeros_like(gone)
        strange = ~seen & ~gone
        if self.unseen == "refuse" and strange.any():
            t = int(np.argmax(strange))
            raise FeatureError(
                f"a category must be one of the {known.size} seen in training; "
                f"{self._called(j)} has {column[t].item()!r} in row {t}. Train on rows "
                "that have it, or let unseen='mark' give it -1."
            )
        if self.encoding == "ordinal":
            return np.where(seen, place, NOWHERE)[:, None]
        spelled = np.zeros((len(column), known.size))
        spelled[np.flatnonzero(seen), place[seen]] = 1.0
        return spelled

    def _number(self, table: Array, j: int) -> FloatArray:
        try:
            numbers = table[:, j].astype(np.float64)
        except (TypeError, ValueError):
            raise FeatureError(
                f"{self._called(j)} must hold numbers; it holds text. Name its column "
                "as categorical."
            ) from None
        if np.isinf(numbers).any():
            t = int(np.argmax(np.isinf(numbers)))
            raise FeatureError(
                "a feature must be finite, or NaN where it is missing; "
                f"{self._called(j)} is {numbers[t]} in row {t}"
            )
        return np.asarray(numbers)

    def _called(self, j: int) -> str:
        return f"feature {j}" if self.names is None else f"feature {self.names[j]!r}"


def _table(X: Any) -> Array:
    table = np.asarray(X)
    if table.dtype.kind not in "buif":
        # Rows of mixed kinds would be turned into text, numbers and all.
        table = np.asarray(X, dtype=object)
    if table.ndim != 2:
        raise FeatureError(
            f"features must be (T, F), a row a case; an array of {table.shape} came"
        )
    return table


def _category(column: Array) -> tuple[Array, BoolArray]:
    """Categories that can be put in order, numbers or text, and which are missing."""
    if column.dtype.kind in "buif":
        return column, np.isnan(column.astype(np.float64))
    gone = np.array([value is None or value != value for value in column], dtype=bool)
    if all(isinstance(value, Real) for value in column[~gone]):
        return np.where(gone, np.nan, column).astype(np.float64), gone
    return np.where(gone, "", column).astype(str), gone
