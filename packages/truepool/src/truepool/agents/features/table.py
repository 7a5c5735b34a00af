"""Features: the rows that agents are trained on, checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import Array, FloatArray, IntArray, as_outcomes, read_only
from truepool.core.errors import FeatureError, OutcomeError
from truepool.core.formatting import pluralize
from truepool.panel.labels import Labels, check_labels, one_class_error
from truepool.panel.reports import check_names

if TYPE_CHECKING:
    from truepool.agents.features.encoding import Encoder, Encoding, Unseen


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Features:
    """Features (T, F) of T rows, with the outcomes and the names of everything.

    Parameters
    ----------
    values : array-like (T, F)
        Numbers; NaN where a value is missing. A category is the number of its level.
    outcomes : array-like (T,)
        What happened: one of two labels, or of 0..K-1.
    names : sequence of str, optional
        Of the features, in the order of the columns.
    labels : sequence of str, optional
        What the outcomes 0..K-1 are called; by default their numbers.
    positive : label, optional
        Which of two labels is positive, and therefore class 1. Outcomes 0/1 and
        False/True need none (it is 1, or the second of ``labels``).
    levels : mapping of str to sequence of str
        For each feature that is a category, what its numbers 0, 1, ... stand for.
    name : str
        What the rows are called.
    copy : bool
        Copy the values; False if nothing will write to them.

    Examples
    --------
    >>> Features([[0.5, 1], [2.5, 0]], [0, 1], ("size", "kind"), levels={"kind": "ab"})
    Features(features: 2 rows, 2 features (1 categorical), 2 classes, 0 missing)
    """

    values: FloatArray
    outcomes: IntArray
    names: tuple[str, ...]
    labels: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    name: str

    def __init__(
        self,
        values: ArrayLike,
        outcomes: ArrayLike,
        names: Sequence[str] | None = None,
        *,
        labels: Sequence[str] | None = None,
        positive: Any = None,
        levels: Mapping[str, Sequence[str]] | None = None,
        name: str = "features",
        copy: bool = True,
    ) -> None:
        numbers = _numbers(values)
        if copy and np.may_share_memory(numbers, np.asarray(values)):
            numbers = numbers.copy()
        known = _names(names, numbers.shape[1])
        _check(numbers, known)
        kinds = {str(key): tuple(map(str, of)) for key, of in (levels or {}).items()}
        _check_levels(numbers, known, kinds)
        happened, called = _class_numbers(outcomes, len(numbers), labels, positive)
        self._set(numbers, happened, known, tuple(map(str, called)), kinds, name)

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, ArrayLike],
        outcomes: ArrayLike,
        *,
        labels: Sequence[str] | None = None,
        positive: Any = None,
        name: str = "features",
    ) -> Self:
        """Make features of named columns; a column of text becomes a category.

        Levels are numbered in alphabetical order. `encoder` numbers them anew, by
        the rows a model is trained on.

        >>> rows = Features.from_columns({"x": [1.0, 2.0], "y": ["no", "go"]}, [0, 1])
        >>> rows.values, rows.levels
        (array([[1., 1.],
               [2., 0.]]), {'y': ('go', 'no')})
        """
        if not columns:
            raise FeatureError("there must be at least one feature; got no column")
        levels: dict[str, tuple[str, ...]] = {}
        numbers = []
        for key, column in columns.items():
            array = np.asarray(column)
            if array.dtype.kind in "OUST":
                found, array = np.unique(array.astype(str), return_inverse=True)
                levels[key] = tuple(found.tolist())
            numbers.append(array)
        if len({array.shape for array in numbers}) > 1:
            shapes = {key: a.shape for key, a in zip(columns, numbers, strict=True)}
            raise FeatureError(f"all columns must be equally long; they are {shapes}")
        values = np.stack(numbers, axis=1)
        return cls(
            values,
            outcomes,
            tuple(columns),
            labels=labels,
            positive=positive,
            levels=levels,
            name=name,
        )

    def _set(self, *fields: Any) -> None:
        for key, value in zip(self.__dataclass_fields__, fields, strict=True):
            array = isinstance(value, np.ndarray)
            object.__setattr__(self, key, read_only(value) if array else value)

    @property
    def classes(self) -> int:
        """Number of classes, K."""
        return len(self.labels)

    @property
    def categorical(self) -> tuple[int, ...]:
        """Columns that hold categories."""
        return tuple(j for j, key in enumerate(self.names) if key in self.levels)

    @property
    def missing(self) -> int:
        """How many values are missing."""
        return int(np.isnan(self.values).sum())

    def shares(self) -> FloatArray:
        """Share of each class, (K,)."""
        return np.bincount(self.outcomes, minlength=self.classes) / len(self)

    def take(self, rows: Array) -> Self:
        """Return some of the rows, in the order given.

        The part of sound features is trusted: it may lack a class.
        """
        part = object.__new__(type(self))
        part._set(
            self.values[rows],
            self.outcomes[rows],
            self.names,
            self.labels,
            self.levels,
            self.name,
        )
        return part

    def encoder(
        self, *, encoding: "Encoding" = "ordinal", unseen: "Unseen" = "missing"
    ) -> "Encoder":
        """Return the transformer that makes such rows ready for a model.

        It fills gaps; fit it on training rows only. See
        `truepool.agents.features.encoding.Encoder`.
        """
        from truepool.agents.features.encoding import Encoder

        return Encoder(
            self.categorical,
            fill=True,
            encoding=encoding,
            unseen=unseen,
            names=self.names,
        )

    def __len__(self) -> int:
        """Return the number of rows, T."""
        return len(self.values)

    def __repr__(self) -> str:
        kinds = f" ({len(self.levels)} categorical)" if self.levels else ""
        rows, width = pluralize(len(self), "row"), pluralize(len(self.names), "feature")
        return (
            f"Features({self.name}: {rows}, {width}"
            f"{kinds}, {self.classes} classes, {self.missing:,} missing)"
        )


def _numbers(values: ArrayLike) -> FloatArray:
    array = np.asarray(values)
    if array.ndim != 2 or not array.size:
        raise FeatureError(
            "features must be (T, F), one row per case and one column per feature; "
            f"got an array of shape {array.shape}"
        )
    if array.dtype.kind in "buif":
        return array.astype(np.float64, copy=False)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise FeatureError(
            "features must be numbers, NaN where one is missing; got text. Give the "
            "columns by name to Features.from_columns, which numbers categories."
        ) from None


def _names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"x{j}" for j in range(count))
    known = tuple(map(str, names))
    check_names(known, count, "feature", FeatureError)
    return known


def _check(values: FloatArray, names: tuple[str, ...]) -> None:
    # A sum is finite unless something is amiss, and needs no table of truths.
    if np.isfinite(values.sum()):
        return
    infinite = np.isinf(values)
    if infinite.any():
        t, j = (int(index) for index in np.argwhere(infinite)[0])
        raise FeatureError(
            f"a feature must be finite, or NaN where it is missing; {names[j]!r} is "
            f"{values[t, j]} in zero-based row {t}"
        )
    empty = np.isnan(values).all(axis=0)
    if empty.any():
        raise FeatureError(
            f"feature {names[int(np.argmax(empty))]!r} is missing in every row; "
            "leave it out"
        )


def _check_levels(
    values: FloatArray, names: tuple[str, ...], levels: Mapping[str, tuple[str, ...]]
) -> None:
    for key, known in levels.items():
        if key not in names:
            raise FeatureError(
                f"levels are given for {key!r}, which is not a feature; "
                f"features: {', '.join(names)}"
            )
        column = values[:, names.index(key)]
        given = column[~np.isnan(column)]
        wrong = (given < 0) | (given >= len(known)) | (given != np.floor(given))
        if wrong.any():
            raise FeatureError(
                f"category {key!r} has {len(known)} levels, numbered from 0; "
                f"got {given[int(np.argmax(wrong))]:g}"
            )


def _class_numbers(
    outcomes: ArrayLike, rows: int, names: Sequence[str] | None, positive: Any
) -> tuple[IntArray, Sequence[Any]]:
    """Class numbers of the outcomes, and what the classes are called."""
    given = check_labels(outcomes)
    if len(given) != rows:
        raise OutcomeError(
            f"there must be one outcome per row; got {len(given)} outcomes for "
            f"{rows} rows"
        )
    found = np.unique(given)
    if len(found) == 1:
        raise one_class_error("training", found[0].item())
    if names is not None:
        numbers = as_outcomes(given, len(names))
        if positive is None:
            return numbers, names
        labels = Labels.from_outcomes(list(names), positive)
        return (numbers if labels.names == tuple(names) else 1 - numbers), labels.names
    if len(found) == 2 or positive is not None:
        labels = Labels.from_outcomes(found, positive)
        return labels.encode(given), labels.names
    top = int(found[-1]) if found.dtype.kind in "bui" else 1
    return as_outcomes(given, top + 1), range(top + 1)
