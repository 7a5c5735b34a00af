"""Cases of a table that a model is asked about; it never sees their outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from truepool.core.arrays import Array, BoolArray
from truepool.core.errors import SourceError, suggestion
from truepool.panel.labels import Labels, encode_outcomes
from truepool.tables import read_frame
from truepool.tables.numbers import is_empty


@dataclass(frozen=True, eq=False)
class Cases:
    """Rows of a table without the outcome, which columns are features, and the rest.

    Attributes
    ----------
    frame : narwhals frame
        All columns but the outcome.
    features : tuple of str
        Columns without another meaning.
    copied : dict of str to array
        Ids and times, as they are.
    known : (T,) booleans
        Which outcomes are known.
    given : array
        Labels of the known outcomes.
    """

    frame: Any
    features: tuple[str, ...]
    copied: dict[str, Array]
    known: BoolArray
    given: Array

    @classmethod
    def read(
        cls,
        table: Any,
        *,
        outcome: str,
        id: str | None = None,
        time: str | None = None,
        ignore: Sequence[str] = (),
    ) -> Self:
        """Read a file or a frame."""
        frame = read_frame(table, id)
        for name in (id, time, *ignore):
            if name is not None and name not in frame.columns:
                raise SourceError(
                    f"there is no column {name!r}{suggestion(name, frame.columns)}; "
                    f"columns: {', '.join(frame.columns)}"
                )
        if outcome in (id, time):
            raise SourceError(
                f"a column has one meaning; {outcome!r} is the outcome and cannot be "
                "the id or the time"
            )
        usual = {id or "id", time or "time"} - {outcome}
        kept = [name for name in frame.columns if name in usual]
        known, given = np.zeros(len(frame), dtype=bool), np.array([], dtype=np.int64)
        if outcome in frame.columns:
            known = ~is_empty(frame[outcome])
            given = np.asarray(frame[outcome].filter(known.tolist()).to_list())
            frame = frame.drop(outcome)
        others = {*kept, *ignore}
        return cls(
            frame,
            tuple(name for name in frame.columns if name not in others),
            {name: np.asarray(frame[name].to_list(), dtype=object) for name in kept},
            known,
            given,
        )

    @property
    def outcomes(self) -> Array:
        """Outcomes as they are written, None where they are unknown."""
        found = np.full(len(self.known), None, dtype=object)
        found[self.known] = self.given.tolist()
        return found


def common_labels(tables: Sequence[Cases], positive: Any) -> Labels | None:
    """Return the two labels that the outcomes of all tables have; None without any."""
    given = [cases.given for cases in tables if len(cases.given)]
    if not given:
        return None
    return encode_outcomes(np.concatenate(given), 2, positive)[1]
