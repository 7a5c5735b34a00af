"""The one place where the text of a table becomes numbers."""

import re
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray
from truepool.core.errors import PanelError, SourceError
from truepool.core.formatting import is_number
from truepool.panel.case_columns import CURRENCY, number_cure, odd_amount
from truepool.panel.row_names import row_name
from truepool.tables.table_format import TableFormat

MISSING = (
    "", "NA", "N/A", "n/a", "#N/A", "#NA", "#N/A N/A", "NaN", "nan", "-NaN", "-nan",
    "NULL", "null", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
"""How tables write a value they do not have: those that pyarrow reads as none."""

TRUTH = pa.array(["true", "false"])
"""Words that are read as 1 and 0 where a column has no others."""

FORMS = {
    mark: rf"^[-+]?(?:\d+|[1-9]\d{{0,2}}(?:[{other}'’\x{{a0}}\x{{202f}} ]\d{{3}})+)"
    rf"(?:[{mark}]\d+)?$"
    for mark, other in ((".", ","), (",", "."))
}
"""Numbers with either decimal mark, also with the thousands set apart."""

THOUSANDS = r"^[-+]?[1-9]\d{0,2}(\.\d{3})+\s*%?$"
"""A number whose points could separate thousands."""


def parse_column(column: nw.Series[Any], written: TableFormat) -> Array:
    """Values of a column as they are; None where a cell of text is empty.

    Text that is amounts, as people write them, becomes numbers.
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
    text = trimmed_text(column, written)
    numbers = _plain_amounts(column.name, text, written.decimal)
    if numbers is not None and not numbers.equals(text):
        return cast(numbers, ".")
    cells = values.astype(object)
    cells[is_empty(column)] = None
    return cells


def parse_numbers(
    column: nw.Series[Any],
    written: TableFormat,
    what: str,
    first_row: int = 0,
    *,
    whole: bool = False,
) -> FloatArray:
    """Numbers of a column such as that of the weights, NaN where a cell is empty.

    Unless it is the ``whole`` column, --decimal alone says what 1.234 is: rows that are
    not at hand could say otherwise.

    A column without commas may have decimal points beside others with decimal commas:
    propensities that truepool wrote, joined to a table from a spreadsheet.
    """
    numbers = typed_numbers(column)
    if numbers is not None:
        return numbers
    shares = _signed_shares(column, written)
    if shares is not None:
        return shares
    text, decimal = trimmed_text(column, written), written.decimal
    amounts = _plain_amounts(column.name, text, decimal, first_row, whole=whole)
    if amounts is not None:
        return cast(amounts, ".")
    if decimal == "," and not pc.any(pc.match_substring(text, ",")).as_py():
        decimal = "."
    try:
        return cast(text, decimal)
    except pa.ArrowInvalid:
        row, cell = first_other(text, decimal)
        if re.search(CURRENCY, cell) and (pair := odd_amount(text.to_pylist())):
            odd, usual = pair
            raise PanelError(
                f"{what} must be written alike in every case; column {column.name!r} "
                f"has {text[odd].as_py()!r} in {row_name(first_row + odd)}, and most "
                f"are written as {usual!r}. Correct it, or leave the case out."
            ) from None
        cure = number_cure(cell, "Correct it, or name another column.")
        raise PanelError(
            f"{what} must be a number; column {column.name!r} has {cell!r} in "
            f"{row_name(first_row + row)}. {cure}"
        ) from None


def describe_amounts(
    column: nw.Series[Any], numbers: Array, written: TableFormat
) -> str | None:
    """Say how amounts were read, where --decimal does not say so; None if it does."""
    if is_numeric(column) or numbers.dtype.kind != "f":
        return None
    if column.name == written.propensity:  # percent signs leave no doubt
        return None
    text = trimmed_text(column, written)
    signs = r"[^-+eE\d,]" if written.decimal == "," else r"[^-+eE\d.]"
    row = pc.index(pc.match_substring_regex(text, signs), True).as_py()
    return None if row < 0 else f"{text[row].as_py()!r} as {numbers[row]:.15g}"


def _signed_shares(column: nw.Series[Any], written: TableFormat) -> FloatArray | None:
    """Propensities (T,) that all carry a percent sign; None where they do not."""
    if column.name != written.propensity or is_numeric(column):
        return None
    cells = trimmed_text(column, written)
    pattern = r"^(\d+([.,]\d+)?\s*%)?$"
    if not pc.all(pc.match_substring_regex(cells, pattern)).as_py():
        return None
    cells = pc.if_else(pc.equal(cells, ""), pa.scalar(None, pa.string()), cells)
    return cast(cells, written.decimal, np.ones(len(cells), dtype=bool)) / 100


def is_empty(column: nw.Series[Any]) -> BoolArray:
    """Rows in which a column has no value: null, NaN, or no text."""
    empty = column.is_null()
    if column.dtype.is_float():
        empty = empty | column.is_nan().fill_null(True)
    elif column.dtype == nw.String:
        empty = empty | (column.str.strip_chars() == "").fill_null(True)
    return np.asarray(empty.to_numpy(), dtype=np.bool_)


def is_numeric(column: nw.Series[Any]) -> bool:
    """Whether a column has a type of numbers."""
    return column.dtype.is_numeric() or column.dtype == nw.Boolean


def typed_numbers(
    column: nw.Series[Any], missing: Sequence[str] = ()
) -> FloatArray | None:
    """Numbers (T,) of a column that has such a type, NaN where there is none.

    A number among the words ``missing`` means that there is none.
    """
    if not is_numeric(column):
        return None
    numbers = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return _without(numbers, missing)


def _without(numbers: FloatArray, missing: Sequence[str]) -> FloatArray:
    """Return numbers (T,), NaN where one is among the words ``missing``."""
    codes = [float(word) for word in missing if is_number(word)]
    return np.where(np.isin(numbers, codes), np.nan, numbers) if codes else numbers


def is_word(cell: str) -> bool:
    """Whether a cell is no number, with either mark and also in percent."""
    return not is_number(cell.rstrip("%").replace(",", "."))


def trimmed_text(column: nw.Series[Any], written: TableFormat) -> Any:
    """Trimmed text of each cell; null where it means that there is no value."""
    if column.dtype == nw.String:
        cells = column.to_arrow().cast(pa.string())
    else:
        values = [None if v is None or v != v else str(v) for v in column.to_list()]
        cells = pa.array(values, pa.string())
    trimmed = pc.utf8_trim_whitespace(cells)
    gone = pc.is_in(trimmed, value_set=pa.array([*MISSING, *written.missing]))
    return pc.if_else(gone, pa.scalar(None, pa.string()), trimmed)


def cast(
    text: Any,
    decimal: str,
    percent: BoolArray | None = None,
    missing: Sequence[str] = (),
) -> FloatArray:
    """Numbers (T,) of text; percent signs are allowed in the rows ``percent`` (T,).

    A number among the words ``missing``, such as 9999.0 for 9999, means none.
    """
    parsed = pc.cast(_plain(text, decimal, percent), pa.float64())
    numbers = np.asarray(parsed.to_numpy(zero_copy_only=False), dtype=np.float64)
    return _without(numbers, missing)


def with_one_mark(text: Any, owner: IntArray, decimal: str) -> Any:
    """Text (T,) in which decimal points are commas, where ``decimal`` is one.

    ``owner`` (T,) is the number of each row's agent. An agent without any comma writes
    points, unless all of them could separate thousands.

    >>> with_one_mark(pa.array(["0,5", "0.25"]), np.array([0, 1]), ",").to_pylist()
    ['0,5', '0,25']
    """
    if decimal != "," or not len(text):
        return text
    has = {mark: pc.match_substring(text, mark) for mark in ".,"}
    points = pc.and_not(has["."], pc.match_substring_regex(text, THOUSANDS))
    agents = [
        owner[np.asarray(pc.fill_null(rows, False).to_numpy(zero_copy_only=False))]
        for rows in (points, has[decimal])
    ]
    pointed = pa.array(np.isin(owner, np.setdiff1d(*agents)))
    return pc.if_else(pointed, pc.replace_substring(text, ".", decimal), text)


def mark_cure(cell: str, text: Any, decimal: str) -> str:
    """Say what to do about a decimal mark among others of an agent, or alone.

    >>> mark_cure("0.5", pa.array(["0.5", "0,25"]), ",")
    "It also has '0,25': write all its numbers with one decimal mark, and nothing..."
    """
    mark, other = (",", ".") if "," in cell else (".", ",")
    found = (str(each) for each in text if each.is_valid)
    pair = next((each for each in found if other in each and mark not in each), None)
    if pair is not None:
        return (
            f"It also has {pair!r}: write all its numbers with one decimal mark, and "
            "nothing between thousands."
        )
    if "." in cell and decimal == ",":
        return "Pass --decimal '.' if the point is the decimal mark, else leave it out."
    return ""


def truth_values(text: Any) -> FloatArray | None:
    """Return 1 for true and 0 for false (T,); None where other words stand among them.

    >>> truth_values(pa.array(["true", None, "False"]))
    array([ 1., nan,  0.])
    """
    lower = pc.utf8_lower(text)
    if not pc.all(pc.is_in(lower.drop_null(), value_set=TRUTH)).as_py():
        return None
    votes = pc.cast(pc.equal(lower, TRUTH[0]), pa.float64())
    return np.asarray(votes.to_numpy(zero_copy_only=False), dtype=np.float64)


def first_other(
    text: Any, decimal: str, percent: BoolArray | None = None
) -> tuple[int, str]:
    """Return the first row that holds no number, and its cell."""
    row = 0
    for cell in _plain(text, decimal, percent):
        try:
            cell.cast(pa.float64())
        except pa.ArrowInvalid:
            break
        row += 1
    return row, text[row].as_py()


def _plain(text: Any, decimal: str, percent: BoolArray | None) -> Any:
    """Return numbers as computers write them; a point is no decimal comma."""
    if decimal == ",":
        text = pc.replace_substring(text, ".", "'")
    number = pc.replace_substring(text, decimal, ".")
    if percent is not None and percent.any():
        bare = pc.utf8_trim_whitespace(pc.utf8_rtrim(number, "%"))
        number = pc.if_else(pa.array(percent), bare, number)
    return number


def _plain_amounts(
    name: str, text: Any, decimal: str, first_row: int = 0, *, whole: bool = True
) -> Any:
    """Amounts as computers write them; None where some cell is none, or in doubt.

    All cells, or none, have the same currency. What separates the thousands is left
    out where some cell tells it from the decimal mark: 1,567 alone could be either.
    $1,567 could not where --decimal is a point: hardly an amount has three decimals.
    """
    bare = _without_currency(text)
    fits = [
        mark
        for mark, form in FORMS.items()
        if pc.all(pc.match_substring_regex(bare, form)).as_py()
    ]
    if fits and decimal not in fits and bare.equals(text) and not whole:
        return None
    if len(fits) == 2 and pc.any(pc.match_substring_regex(bare, "[.,]")).as_py():
        has_decimals = pc.any(pc.match_substring(bare, decimal)).as_py()
        if not bare.equals(text) and not has_decimals:
            return _machine_form(bare, decimal)
        points = pc.match_substring(bare, ".")
        if decimal == "," and pc.any(points).as_py():
            row = pc.index(points, True).as_py()
            raise SourceError(
                "with --decimal ',' a point is not a decimal mark; column "
                f"{name!r} has {text[row].as_py()!r} in {row_name(first_row + row)}. "
                "Leave out what separates the thousands, or pass --decimal '.' if the "
                "point is the decimal mark."
            )
        commas = pc.any(pc.match_substring(bare, ",")).as_py()
        if (decimal == ",") != commas or not (commas or bare.equals(text)):
            return None
        fits = [decimal]
    return _machine_form(bare, fits[0]) if fits else None


def _machine_form(amounts: Any, decimal: str) -> Any:
    """Leave out what separates the thousands, and write a decimal point."""
    separators = "[^-+0-9,]" if decimal == "," else "[^-+0-9.]"
    plain = pc.replace_substring_regex(amounts, separators, "")
    return pc.replace_substring(plain, ",", ".")


def _without_currency(text: Any) -> Any:
    """Leave out the currency that all cells have; the text where there is none."""
    first = next((cell.as_py() for cell in text if cell.is_valid), "")
    found = re.search(CURRENCY, first)
    if found is None:
        return text
    sign = re.escape(found[0])
    outside = pc.match_substring_regex(text, rf"^[-+]?\s*{sign}|{sign}$")
    if not pc.all(outside).as_py():
        return text
    bare = pc.replace_substring(text, found[0], "")
    near = pc.replace_substring_regex(bare, r"^([-+])[\s\x{a0}\x{202f}]+", r"\1")
    return pc.utf8_trim_whitespace(near)
