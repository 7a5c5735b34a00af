"""Ids that occur more than once in a table of any length."""

import pyarrow as pa
import pyarrow.compute as pc

from truepool.tables.column_selection import Ids

MOST_IDS = 1_000_000
"""Cases whose ids are compared with each other; more would take memory that grows."""


class RepeatedIds:
    """The ids of the first `MOST_IDS` cases, to count those that repeat an earlier one.

    >>> seen = RepeatedIds()
    >>> seen.add(["a", "b", None])
    >>> seen.add(["a", None])
    >>> seen.count(), seen.left_out
    (1, 0)
    """

    def __init__(self) -> None:
        self._parts: list[pa.Array] = []
        self._kept = 0
        self.left_out = 0
        """Cases whose ids are not compared."""

    def add(self, ids: Ids | None) -> None:
        """Take up the ids of further cases; cases of tables without ids have none."""
        if ids is None:
            return
        part = ids[: MOST_IDS - self._kept]
        self._kept += len(part)
        self.left_out += len(ids) - len(part)
        if len(part):
            self._parts.append(_as_text(part) if isinstance(part, list) else part)

    def count(self) -> int:
        """Return how many cases repeat the id of an earlier one; no id is none."""
        if not self._parts:
            return 0
        try:
            ids = pa.chunked_array(self._parts)
            distinct = pc.count_distinct(ids).as_py()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # of a rarer type
            ids = pa.chunked_array([_as_text(part.to_pylist()) for part in self._parts])
            distinct = pc.count_distinct(ids).as_py()
        empty = ids.null_count
        # A cell of CSV without an id is empty text.
        if ids.type in (pa.string(), pa.large_string()):
            blank = pc.sum(pc.equal(ids, "")).as_py() or 0
            empty, distinct = empty + blank, distinct - bool(blank)
        return int(len(ids) - empty - distinct)


def _as_text(ids: list[object]) -> pa.Array:
    return pa.array([None if id is None else str(id) for id in ids], pa.string())
