"""Times: how the columns of a table write them."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import narwhals as nw
import numpy as np

from truepool.core.arrays import Array
from truepool.core.errors import PanelError
from truepool.core.formatting import is_number, join_names
from truepool.panel.row_names import row_name
from truepool.tables.table_format import TableFormat
from truepool.tables.time_zones import Zones, zone_name

DATES = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d",
    "%d-%b-%Y", "%d %b %Y", "%d/%b/%Y", "%b %d, %Y", "%b %d %Y", "%d-%b-%y", "%d %b %y",
    "%d-%B-%Y", "%d %B %Y", "%B %d, %Y", "%B %d %Y",
)  # fmt: skip
TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
"""Times are looked for in ISO 8601, then as each of these dates with each of these."""
ISO = tuple(f"%Y-%m-%d{time}" for time in (*TIMES, "T%H:%M", "T%H:%M:%S"))
"""The most frequent ways to write ISO 8601."""
EXAMPLES = 50
"""Values that a way to write times must fit before all are tried."""
MONTH = r"(?<=\d[-/. ])[^\W\d]{3,}(?=\.?[-/. ]\d)"
FOREIGN = (
    "Names of months must be English, and {!r} has none: write months as numbers, as "
    "in 2026-01-31."
)
NO_ZONE_NAMES = "a zone must be an offset from UTC, such as +01:00 (%z), and no name"
BETWEEN = "|"
"""Stands between several formats."""
LEAST_NUMBER = 1000
"""A smaller number is no time; 2026 may be a year."""


def time_formats(values: Iterable[str]) -> tuple[str, ...]:
    """Return the ways in which all values can be read as times; "" is ISO 8601.

    >>> time_formats(["03/04/2026", "28/04/2026"]), time_formats(["2026-04-03"])
    (('%d/%m/%Y',), ('',))
    """
    formats = ["", *(day + time for day in DATES for time in TIMES)]
    for value in values:
        formats = [written for written in formats if _is_time(value, written)]
    return _without_twins(formats)


def nearly_time_formats(
    values: Sequence[str], most: int
) -> tuple[tuple[str, ...], list[str]]:
    """Return the ways to read all but a few values as times, and those few.

    >>> nearly_time_formats(["28.04.2026", "29.04.2026", "30.04.2026", "Total"], 1)
    (('%d.%m.%Y',), ['Total'])
    """
    formats = ["", *(day + time for day in DATES for time in TIMES)]
    for some in (values[:EXAMPLES], values):
        others = {
            written: [value for value in some if not _is_time(value, written)]
            for written in formats
        }
        formats = [w for w in formats if len(others[w]) <= min(most, len(some) // 2)]
    return _without_twins(formats), others[formats[0]] if formats else []


def _without_twins(formats: Sequence[str]) -> tuple[str, ...]:
    """Leave out full names of months where short ones fit too: May is both."""
    return tuple(f for f in formats if "%B" not in f or _short(f) not in formats)


def _short(written: str) -> str:
    return written.replace("%B", "%b")


def parse_formatted(values: Iterable[str], written: str) -> Array:
    """Times of texts that all fit a format; "" is ISO 8601.

    >>> parse_formatted(["28.04.2026"], "%d.%m.%Y")
    array(['2026-04-28T00:00:00.000000'], dtype='datetime64[us]')
    """
    times = (_time(value, written or None) for value in values)
    naive = (None if t is None else t.replace(tzinfo=None) for t in times)
    return np.array([*naive], dtype="datetime64[us]")


def parse_times(
    column: nw.Series[Any],
    written: TableFormat,
    first_row: int = 0,
    zones: Zones | None = None,
) -> Array:
    """Times as the panel takes them: by a format, or as they are.

    Cells that hold dates, as those of Excel may, need no format. ``zones`` are those of
    the times that these are compared with; by default, any are read.
    """
    typed = column.dtype.is_temporal()
    if typed or (written.time_format is None and column.dtype != nw.String):
        times = np.asarray(column.to_numpy())
    else:
        times = _parse_texts(column, written, first_row)
    if zones is not None:
        zones.check(column, times, first_row)
    return times


def _parse_texts(column: nw.Series[Any], written: TableFormat, first_row: int) -> Array:
    _check_format(written.time_format or "")
    times: list[datetime | None] = []
    cells = column.to_list()
    form = _choose(column.name, cells, written.time_format)
    for row, value in enumerate(cells):
        try:
            times.append(_time(value, form))
        except ValueError:
            _check_any_time(column.name, cells, written)
            _check_no_zone_name(column.name, str(value).strip(), first_row + row)
            kind, cure = "as ISO 8601, such as 2026-01-31T12:00", _cure(cells)
            if form is not None:
                kind = f"as {written.time_format!r}"
                cure = _other_format(cells, written)
            raise PanelError(
                f"a time must be written {kind}; column {column.name!r} has {value!r} "
                f"in {row_name(first_row + row)}. {cure}"
            ) from None
    return np.array(times, dtype=object)


def _check_format(written: str) -> None:
    """Refuse a format in which AM and PM count for nothing, or are not said.

    The parser ignores %p beside %H, and takes %I without %p for the morning. Of the
    names of zones it knows those of this machine alone, and ignores them.
    """
    for form in map(str.strip, written.split(BETWEEN)):
        parts = re.findall("%(.)", form)
        if "Z" in parts:
            raise PanelError(
                f"{NO_ZONE_NAMES}; got the time format {form!r}. Write an offset after "
                f"each time, and pass --time-format {form.replace('%Z', '%z')!r}."
            )
        if "H" in parts and "p" in parts:
            raise PanelError(
                "with AM and PM (%p) the hour must be %I, because %H is the hour from "
                f"0 to 23; got the time format {form!r}. Pass --time-format "
                f"{form.replace('%H', '%I')!r}; if hours do go to 23, take AM and PM "
                "out of the table."
            )
        if "I" in parts and "p" not in parts:
            raise PanelError(
                "hours from 1 to 12 (%I) must come with AM or PM (%p); got the time "
                f"format {form!r}, which does not tell morning from afternoon. If "
                f"hours go to 23, pass --time-format {form.replace('%I', '%H')!r}; "
                "else write AM or PM after each time, and %p in the format."
            )


def _check_any_time(name: str, cells: Iterable[Any], written: TableFormat) -> None:
    """Refuse a column in which no cell could be a time, however it is written."""
    texts = list(dict.fromkeys(_texts(cells)))
    if any(map(_may_be_time, texts)):
        return
    option = "--decision-time" if name == written.decision_time else "--time"
    raise PanelError(
        f"a column of times must hold dates; column {name!r} holds none, but "
        f"{join_names([repr(text) for text in texts[:2]])}. Name another column "
        f"({option})."
    )


def _check_no_zone_name(column: str, text: str, row: int) -> None:
    """Refuse the name of a zone: it may be that of several, or change in summer."""
    if (name := zone_name(text)) is None:
        return
    start = text.rpartition(name)[0].rstrip(" [(")
    example = start + ("+00:00" if name.upper() in ("UTC", "GMT") else "+01:00")
    cure = f"Write the offset instead of {name}, as in {example!r}"
    if re.search(r"[+-]\d\d:?\d\d$", start):
        cure = f"Leave out {name}, as in {start!r}"
    raise PanelError(
        f"{NO_ZONE_NAMES}; column {column!r} has {text!r} in {row_name(row)}. {cure}."
    )


def _may_be_time(text: str) -> bool:
    """Whether a text has digits enough for a time, and is no small number."""
    if is_number(text):
        return float(text) >= LEAST_NUMBER
    return re.search(r"\d\d", text) is not None


def _choose(name: str, cells: list[Any], written: str | None) -> str | None:
    """Return the format of a column: of several, the only one that fits all cells.

    Where none does, the first; its error says so.
    """
    formats = [] if written is None else [f.strip() for f in written.split(BETWEEN)]
    if len(formats) < 2:
        return written
    texts = _texts(cells)
    fit = [f for f in formats if all(_is_time(text, f) for text in texts)]
    if len(fit) > 1 and any(
        _time(t, fit[0]) != _time(t, f) for t in texts for f in fit
    ):
        raise PanelError(
            f"one of the formats must fit the column {name!r}; {join_names(fit)} both "
            "fit and give different times. Leave one out of --time-format."
        )
    return fit[0] if fit else formats[0]


def _time(value: Any, written: str | None) -> datetime | None:
    text = "" if value is None or value != value else str(value).strip()
    if not text:
        return None
    if written is None:
        return datetime.fromisoformat(text)
    return datetime.strptime(text, written)


def _cure(cells: Iterable[Any]) -> str:
    """Name the formats that fit all cells or most, an example where there is none."""
    texts = _texts(cells)
    if found := time_formats(texts):
        return f"Pass --time-format {' or '.join(map(repr, found))}."
    formats = ("", *(day + time for day in DATES for time in TIMES))
    example = "Say how times are written, as in --time-format '%d.%m.%Y %H:%M'."
    return _mostly(texts, ("",), formats) or example


def _other_format(cells: Iterable[Any], written: TableFormat) -> str:
    """Name the format that fits all cells or most, where there is one.

    Two columns of times may be written differently.
    """
    texts, own = _texts(cells), str(written.time_format)
    found = [f for f in time_formats(texts) if f]
    found += [f for f in ISO if all(_is_time(text, f) for text in texts)]
    if not found:
        named = tuple(f.strip() for f in own.split(BETWEEN))
        formats = (*named, *(day + time for day in DATES for time in TIMES), *ISO)
        return _mostly(texts, named, formats) or "Change --time-format."
    cure = f"Pass --time-format {' or '.join(map(repr, found))}"
    if written.decision_time is None:
        return f"{cure}."
    both = f"{own} {BETWEEN} {found[0]}"
    return f"{cure}; if the columns of times are written differently, {both!r}."


def _mostly(texts: Sequence[str], own: tuple[str, ...], formats: Sequence[str]) -> str:
    """Name the format that fits the most cells, if more than half; else nothing."""
    others = {f: [text for text in texts if not _is_time(text, f)] for f in formats}
    best = min(formats, key=lambda f: len(others[f]))
    count, wrong = len(texts), others[best]
    months = [text for text in wrong if re.search(MONTH, text)]
    if len({re.findall(MONTH, text)[0] for text in months}) > 1:
        return FOREIGN.format(months[0])
    if 2 * len(wrong) >= count:
        return ""
    if best in own:
        return f"Correct it; {count - len(wrong):,} of {count:,} cells fit."
    return (
        f"Pass --time-format {best!r}, which fits {count - len(wrong):,} of {count:,} "
        f"cells, and correct the others, such as {wrong[0]!r}."
    )


def _texts(cells: Iterable[Any]) -> list[str]:
    """Cells that are not empty, as trimmed text."""
    return [str(cell).strip() for cell in cells if cell and cell == cell]


def _is_time(value: str, written: str) -> bool:
    try:
        _time(value, written or None)
    except ValueError:
        return False
    return True
