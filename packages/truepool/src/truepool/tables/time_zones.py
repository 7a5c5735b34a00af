"""Time zones: all times of a table have an offset, or none has."""

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import narwhals as nw

from truepool.core.arrays import Array
from truepool.core.errors import PanelError
from truepool.panel.row_names import row_name

ONE_KIND = (
    "Write an offset in each, or, if all are times of one place, leave the offsets out."
)
CLOCK = r":\d\d(?:[.,]\d+)?"
ZONE_NAME = re.compile(
    rf"{CLOCK}\s*[\[(]?(?!(?:AM|PM|Z)\b)([A-Z]{{2,5}}|\w+(?:/\w+)+)[\])]?$",
    re.IGNORECASE,
)
"""The name of a zone after a time of the day, such as CET or Europe/Berlin."""


@dataclass(eq=False)
class Zones:
    """Whether the times seen so far have an offset, and where the first one stands.

    A time without an offset is that of an unknown zone, so that it cannot be compared
    with one that has an offset.
    """

    zoned: bool | None = None
    first: str = ""

    def check(self, column: nw.Series[Any], times: Array, first_row: int = 0) -> None:
        """Refuse times of a column that differ in this from the ones before them."""
        if column.dtype.is_temporal():
            known = ~column.is_null()
            if known.any():
                row = int(known.arg_max() or 0)
                self._add(column, row, _typed_zone(column.dtype), first_row)
        elif times.dtype.kind == "O":
            for row, value in enumerate(times.tolist()):
                if _zone(value) != self.zoned:
                    self._add(column, row, _zone(value), first_row)

    def _add(
        self, column: nw.Series[Any], row: int, zoned: bool | None, first_row: int
    ) -> None:
        if zoned in (None, self.zoned):
            return
        found = (
            f"column {column.name!r} has {str(column[row]).strip()!r} in "
            f"{row_name(first_row + row)}"
        )
        if self.zoned is not None:
            raise PanelError(
                "the times of a table must all have an offset from UTC, such as "
                f"+01:00, or none; {self.first}, and {found}. {ONE_KIND}"
            )
        self.zoned, self.first = zoned, found


def zone_name(text: str) -> str | None:
    """Return the name of a zone at the end of a time, None if it has none.

    >>> zone_name("2026-02-01 01:00 CET"), zone_name("2026-02-01 01:00 PM")
    ('CET', None)
    """
    found = ZONE_NAME.search(text)
    return None if found is None else found[1]


def _typed_zone(dtype: Any) -> bool | None:
    if dtype == nw.Datetime:
        return dtype.time_zone is not None
    return False if dtype == nw.Date else None


def _zone(value: Any) -> bool | None:
    """Whether a time has an offset; None if it is none, or a number."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if not isinstance(value, date) or value != value:  # pandas has dates that are none
        return None
    return isinstance(value, datetime) and value.tzinfo is not None
