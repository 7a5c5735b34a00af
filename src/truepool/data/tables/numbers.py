"""The one place where the text of a table becomes numbers."""

import shlex
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from truepool.core.arrays import Array, BoolArray, FloatArray
from truepool.core.errors import PanelError, ReportError, SourceError
from truepool.core.formatting import is_number
from truepool.data.case_columns import number_cure
from truepool.data.row_names import row_name
from truepool.data.tables.table_format import TableFormat

MISSING = tuple(csv.ConvertOptions().null_values)
"""How tables write a value they do not have, beside the empty cell."""

THOUSANDS = r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+"
"""Whole numbers with points between the thousands; a decimal comma may follow."""

MOST_MARKS = 10
"""A column with more different texts than this is no agent with marks for no report."""

EDGE = 1e-6
"""Least probability of an outcome: no single report may rule anything out."""


def parse_reports(
    columns: Iterable[nw.Series[Any]], written: TableFormat, first_row: int = 0
) -> dict[str, FloatArray]:
    """Reports of each column, NaN where there is none; percentages become shares.

    Scores from a to b become (s - a) / (b - a). ``first_row`` is the number of the
    first row in its table.
    """
    columns = list(columns)
    parsed = {column.name: _parse(column, written, first_row) for column in columns}
    if written.percent:
        _check_one_unit(columns, written)
        for name, values in parsed.items():
            _check_range(name, values, 0, 100, "percentage", "--percent", first_row)
        parsed = {name: values / 100 for name, values in parsed.items()}
    if written.scores is not None:
        low, high = written.score_range
        for name, values in parsed.items():
            _check_range(name, values, low, high, "score", "--scores", first_row)
        parsed = {
            name: (values - low) / (high - low) for name, values in parsed.items()
        }
    return parsed


def _check_range(
    name: str,
    values: FloatArray,
    low: float,
    high: float,
    kind: str,
    option: str,
    first_row: int,
) -> None:
    """Refuse numbers outside the range of an option, as the table has them."""
    outside = (values < low - EDGE) | (values > high + EDGE)
    if outside.any():
        row = int(np.argmax(outside))
        raise ReportError(
            f"a {kind} must lie between {low:g} and {high:g}; column {name!r} has "
            f"{values[row]:g} in {row_name(first_row + row)}. Correct it, change "
            f"{option}, or leave the "
            f"column out (--ignore {shlex.quote(name)})."
        )


def parse_column(column: nw.Series[Any], written: TableFormat) -> Array:
    """Values of a column as they are; None where a cell of text is empty.

    Text that is numbers with decimal commas becomes numbers if that is their mark.
    """
    if column.dtype.is_nested():
        raise SourceError(
            f"the column {column.name!r} must hold one plain value per case"
        )
    values = np.asarray(column.to_numpy())
    if values.dtype.kind not in "OUT":
        return values
    shares = _signed_shares(column, written)
    if shares is not None:
        return shares
    if written.decimal == ",":
        text = _without_thousands(column.name, _text(column, written))
        if _has_decimal_commas(text):
            return _cast(text, replace(written, percent=False))
    cells = values.astype(object)
    cells[is_empty(column)] = None
    return cells


def parse_numbers(
    column: nw.Series[Any], written: TableFormat, what: str, first_row: int = 0
) -> FloatArray:
    """Numbers of a column such as that of the weights, NaN where a cell is empty.

    A column without commas may have decimal points beside others with decimal commas:
    propensities that truepool wrote, joined to a table from a spreadsheet.
    """
    if _is_numeric(column):
        return _as_floats(column)
    shares = _signed_shares(column, written)
    if shares is not None:
        return shares
    text = _text(column, written)
    written = replace(written, percent=False)
    if written.decimal == ",":
        text = _without_thousands(column.name, text, first_row)
        if not pc.any(pc.match_substring(text, ",")).as_py():
            written = replace(written, decimal=".")
    try:
        return _cast(text, written)
    except pa.ArrowInvalid:
        row, cell = _first_other(text, written)
        cure = number_cure(cell, "Correct it, or name another column.")
        raise PanelError(
            f"{what} must be a number; column {column.name!r} has {cell!r} in "
            f"{row_name(first_row + row)}. {cure}"
        ) from None


def _signed_shares(column: nw.Series[Any], written: TableFormat) -> FloatArray | None:
    """Propensities (T,) that all carry a percent sign; None where they do not."""
    if column.name != written.propensity or _is_numeric(column):
        return None
    text = _text(column, written)
    pattern = r"^(\d+([.,]\d+)?\s*%)?$"
    if not pc.all(pc.match_substring_regex(text, pattern)).as_py():
        return None
    text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
    return _cast(text, replace(written, percent=True)) / 100


def is_empty(column: nw.Series[Any]) -> BoolArray:
    """Rows in which a column has no value: null, NaN, or no text."""
    empty = column.is_null()
    if column.dtype.is_float():
        empty = empty | column.is_nan().fill_null(True)
    elif column.dtype == nw.String:
        empty = empty | (column.str.strip_chars() == "").fill_null(True)
    return np.asarray(empty.to_numpy(), dtype=np.bool_)


def _is_numeric(column: nw.Series[Any]) -> bool:
    return column.dtype.is_numeric() or column.dtype == nw.Boolean


def _as_floats(column: nw.Series[Any]) -> FloatArray:
    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _parse(column: nw.Series[Any], written: TableFormat, first_row: int) -> FloatArray:
    if _is_numeric(column):
        return _as_floats(column)
    text = _text(column, written)
    try:
        return _cast(text, written)
    except pa.ArrowInvalid:
        row, cell = _first_other(text, written)
        raise ReportError(
            f"a report must be a number in [0, 1]; column {column.name!r} has {cell!r} "
            f"in {row_name(first_row + row)}. {_cure(column.name, cell, text, written)}"
        ) from None


def _text(column: nw.Series[Any], written: TableFormat) -> Any:
    """Trimmed text of each cell; null where it means that there is no value."""
    if column.dtype == nw.String:
        cells = column.to_arrow().cast(pa.string())
    else:
        values = [None if v is None or v != v else str(v) for v in column.to_list()]
        cells = pa.array(values, pa.string())
    text = pc.utf8_trim_whitespace(cells)
    gone = pc.is_in(text, value_set=pa.array([*MISSING, *written.missing]))
    return pc.if_else(gone, pa.scalar(None, pa.string()), text)


def _plain(text: Any, written: TableFormat) -> Any:
    """Return numbers as computers write them; a point is no decimal comma."""
    if written.decimal == ",":
        text = pc.replace_substring(text, ".", "'")
    number = pc.replace_substring(text, written.decimal, ".")
    if written.percent:
        number = pc.utf8_trim_whitespace(pc.utf8_rtrim(number, "%"))
    return number


def _cast(text: Any, written: TableFormat) -> FloatArray:
    numbers = pc.cast(_plain(text, written), pa.float64())
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def _first_other(text: Any, written: TableFormat) -> tuple[int, str]:
    """Return the first row that holds no number, and its cell."""
    row = 0
    for cell in _plain(text, written):
        try:
            cell.cast(pa.float64())
        except pa.ArrowInvalid:
            break
        row += 1
    return row, text[row].as_py()


def _without_thousands(name: str, text: Any, first_row: int = 0) -> Any:
    """Leave out points between thousands, where a decimal comma says that they are.

    Whole numbers alone, such as 1.567, are refused: they might be decimals.
    """
    points = pc.match_substring_regex(text, rf"^{THOUSANDS}(,\d+)?$")
    plain = pc.match_substring_regex(text, r"^[-+]?\d+(,\d+)?$")
    if not pc.any(points).as_py() or not pc.all(pc.or_(points, plain)).as_py():
        return text
    if pc.any(pc.match_substring_regex(text, rf"^{THOUSANDS},\d+$")).as_py():
        return pc.replace_substring(text, ".", "")
    row = pc.index(points, True).as_py()
    raise SourceError(
        "with --decimal ',' a point is not a decimal mark; column "
        f"{name!r} has {text[row].as_py()!r} in {row_name(first_row + row)}. Leave "
        "out what separates "
        "the thousands, or pass --decimal '.' if the point is the decimal mark."
    )


def _has_decimal_commas(text: Any) -> bool:
    """Whether all cells are numbers, some of them with a decimal comma."""
    commas = pc.any(pc.match_substring(text, ",")).as_py()
    plain = pc.match_substring_regex(text, r"^[-+]?\d+(,\d+)?$")
    return bool(commas and pc.all(plain).as_py())


def _is_word(cell: str) -> bool:
    return not is_number(cell.rstrip("%").replace(",", "."))


def _cure(name: str, cell: str, text: Any, written: TableFormat) -> str:
    if _is_word(cell):
        words = {other for other in text.drop_null().to_pylist() if _is_word(other)}
        if len(words) > MOST_MARKS:
            option = shlex.quote(name)
            return (
                f"It has {len(words):,} different texts, so it is no agent: leave it "
                f"out (--ignore {option}) or, if it names the cases, pass --id "
                f"{option}. A table with one row per report is read with --long."
            )
        word = shlex.quote(cell)
        return (
            f"If it means no report, pass --missing {word}; an empty cell, NA, NaN or "
            "null means that already. Else correct it. A column that is not an agent "
            f"is left out with --ignore {shlex.quote(name)} (of a saved pool, in its "
            "fit)."
        )
    if "." in cell and written.decimal == ",":
        return "Pass --decimal '.' if the point is the decimal mark, else leave it out."
    options = ["--decimal ','"] if "," in cell and written.decimal != "," else []
    options += ["--percent"] if "%" in cell and not written.percent else []
    return f"Pass {' and '.join(options)}."


def is_signed(column: nw.Series[Any]) -> bool:
    """Whether the first report of a column carries a percent sign."""
    cells = column.drop_nulls().head(1).to_list()
    return any(str(cell).strip().endswith("%") for cell in cells)


def _check_one_unit(columns: list[nw.Series[Any]], written: TableFormat) -> None:
    """Refuse tables in which some reports carry a percent sign and others do not."""
    first: dict[bool, tuple[str, str]] = {}
    for column in columns:
        if _is_numeric(column):
            cells = [str(value) for value in column.drop_nulls().head(1).to_list()]
        else:
            cells = _text(column, written).drop_null().to_pylist()
        for cell in cells:
            first.setdefault(cell.endswith("%"), (column.name, cell))
    if len(first) == 2:
        (signed, share), (bare, number) = first[True], first[False]
        raise ReportError(
            "with --percent either all reports carry a percent sign or none; column "
            f"{signed!r} has {share!r} and column {bare!r} has {number!r}. Write "
            "them in one unit."
        )
