"""Cases of a table that a model is asked about; it never sees their outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import narwhals as nw
import numpy as np
import pyarrow as pa

from truepool.core.arrays import Array, BoolArray
from truepool.panel.labels import Labels, encode_outcomes
from truepool.tables import Cure, Fault, Question, TableFaults, cells, open_source
from truepool.tables.outcome import OUTCOMES
from truepool.tables.source import INDEXES, Dialect, column_fault


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
    outcome : str or None
        Column of the outcomes, None where there is none.
    """

    frame: Any
    features: tuple[str, ...]
    copied: dict[str, Array]
    known: BoolArray
    given: Array
    outcome: str | None = None

    @classmethod
    def read(
        cls,
        table: Any,
        *,
        outcome: str | None = None,
        id: str | None = None,
        time: str | None = None,
        ignore: Sequence[str] = (),
    ) -> Self:
        """Read a file or a frame; an outcome that nobody names has a usual name."""
        text = () if id is None else (id,)
        source = open_source(table, Dialect(text=text))
        rows = source.table().drop_columns([n for n in INDEXES if n in source.names])
        others = {id, time, *ignore}
        outcome = outcome or _usual_outcome(
            [name for name in rows.column_names if name not in others]
        )
        _check_columns(rows.column_names, outcome, id, time, ignore)
        usual = {id or "id", time or "time"} - {outcome}
        kept = [name for name in rows.column_names if name in usual]
        known, given = np.zeros(len(rows), dtype=bool), np.array([], dtype=np.int64)
        outcome = outcome if outcome in rows.column_names else None
        if outcome is not None:
            column = cells.plain(rows.column(outcome))
            known = ~cells.is_empty(column)
            given = np.asarray(column.filter(pa.array(known)).to_pylist())
            rows = rows.drop_columns([outcome])
        others = {*kept, *ignore}
        return cls(
            nw.from_native(rows, eager_only=True),
            tuple(name for name in rows.column_names if name not in others),
            {n: np.asarray(rows.column(n).to_pylist(), dtype=object) for n in kept},
            known,
            given,
            outcome,
        )

    @property
    def outcomes(self) -> Array:
        """Outcomes as they are written, None where they are unknown."""
        found = np.full(len(self.known), None, dtype=object)
        found[self.known] = self.given.tolist()
        return found


def _usual_outcome(names: Sequence[str]) -> str | None:
    """Column that is called like an outcome: as a feature it would give that away."""
    found = [name for name in names if name.lower() in OUTCOMES]
    if len(found) > 1:
        raise TableFaults((), [Question("which-outcome", "outcome", tuple(found))])
    return found[0] if found else None


def _check_columns(
    names: Sequence[str],
    outcome: str | None,
    id: str | None,
    time: str | None,
    ignore: Sequence[str],
) -> None:
    """Refuse columns that are named and not there, or named for two things."""
    named = [("id", id), ("time", time), *(("ignore", name) for name in ignore)]
    faults = [
        column_fault(key, name, names, several=key == "ignore")
        for key, name in named
        if name is not None and name not in names
    ]
    if outcome is not None and outcome in (id, time):
        keys = ["outcome", "id" if outcome == id else "time"]
        faults.append(Fault("two-roles", column=outcome, fields={"keys": keys},
                            cures=(Cure("name-other"),)))  # fmt: skip
    if faults:
        raise TableFaults(faults)


def common_labels(tables: Sequence[Cases], positive: Any) -> Labels | None:
    """Return the two labels that the outcomes of all tables have; None without any."""
    given = [cases.given for cases in tables if len(cases.given)]
    if not given:
        return None
    return encode_outcomes(np.concatenate(given), 2, positive)[1]
