"""Cells: from what a table has to numbers, amounts, truth values, labels and times.

This is the one place where text becomes a number or a time, for every reader. A cell
that is neither is *odd*: it is marked, and whoever reads the column says what that
means.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray
from truepool.core.formatting import is_number

MISSING = (
    "",
    "NA",
    "N/A",
    "n/a",
    "#N/A",
    "#NA",
    "#N/A N/A",
    "NaN",
    "nan",
    "-NaN",
    "-nan",
    "NULL",
    "null",
    "1.#IND",
    "-1.#IND",
    "1.#QNAN",
    "-1.#QNAN",
)
"""How tables write a value that they do not have: those that pyarrow reads as none."""
TRUTH = {"false": False, "true": True}
NUMBER = (
    r"(?i)^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$|"
    r"^[-+]?(?:inf(?:inity)?|nan(?:\(\w*\))?)$"
)
"""What Arrow casts to a number."""
THOUSANDS = {mark: rf"^[-+]?[1-9]\d{{0,2}}(?:[{mark}]\d{{3}})+\s*%?$" for mark in ".,"}
"""Numbers whose marks could separate thousands."""
CURRENCY = (
    r"(?:US|R|C|A)?\$|[€£¥₹₩₺₽₪]|zł|\bkr\b|"
    r"\b(?:EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|BRL|MXN|SEK|NOK|DKK|PLN|CZK|HUF)\b"
)
"""What may stand before or after every amount of a column."""
AMOUNTS = {
    mark: rf"^[-+]?(?:\d+|[1-9]\d{{0,2}}(?:[{other}'’\x{{a0}}\x{{202f}} ]\d{{3}})+)"
    rf"(?:[{mark}]\d+)?$"
    for mark, other in ((".", ","), (",", "."))
}
"""Amounts with either decimal mark, also with the thousands set apart."""
DATES = (
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d/%b/%Y",
    "%b %d, %Y",
    "%b %d %Y",
    "%d-%b-%y",
    "%d %b %y",
    "%d-%B-%Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%B %d %Y",
)
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
FORMATS = ("", *(day + clock for day in DATES for clock in CLOCKS))
"""Ways to write times that are looked for; "" is ISO 8601."""
FIRST_YEAR = 1000
SAMPLE = 50
"""Texts that a way to write times must fit before all are tried."""
ZONE = re.compile(
    r":\d\d(?:[.,]\d+)?\s*[\[(]?(?!(?:AM|PM|Z)\b)([A-Z]{2,5}|\w+(?:/\w+)+)[\])]?$",
    re.IGNORECASE,
)
"""The name of a zone after a time of the day, such as CET or Europe/Berlin."""


def plain(column: Any) -> pa.Array:
    """Return a column as one array of a plain type: text, numbers, truth or times."""
    column = whole(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64())
    return column.cast(pa.float32()) if pa.types.is_float16(kind) else column


def whole(column: Any) -> pa.Array:
    """Return a column as one array; one that is in one piece is not copied."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # none, or too many to combine
        column = pa.concat_arrays(column.chunks or [pa.array([], column.type)])
    return column


def is_text(column: pa.Array) -> bool:
    """Whether a plain column holds text."""
    return bool(pa.types.is_string(column.type))


def is_number_type(column: pa.Array) -> bool:
    """Whether a plain column has a type of numbers, or of truth values."""
    kind = column.type
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
    )


def is_time_type(column: pa.Array) -> bool:
    """Whether a plain column holds dates, with or without a time of the day."""
    return bool(pa.types.is_timestamp(column.type) or pa.types.is_date(column.type))


def trim(column: pa.Array, missing: Collection[str] = ()) -> pa.Array:
    """Text of each cell without the spaces around it; null where there is none.

    >>> trim(pa.array([" 0.5", "n/d", "NA"]), ["n/d"]).to_pylist()
    ['0.5', None, None]
    """
    if not is_text(column):
        return pa.array(
            [None if v is None or v != v else str(v) for v in column.to_pylist()],
            pa.string(),
        )
    text = pc.utf8_trim_whitespace(column)
    gone = pc.is_in(text, value_set=pa.array([*MISSING, *missing], pa.string()))
    return pc.if_else(gone, pa.scalar(None, pa.string()), text)


def is_empty(column: pa.Array, missing: Collection[str] = ()) -> BoolArray:
    """Rows (T,) in which a column has no value."""
    if is_text(column):
        column = trim(column, missing)
    floating = pa.types.is_floating(column.type)
    return _bools(
        pc.is_null(column, nan_is_null=True) if floating else pc.is_null(column)
    )


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers (T,) of a column, NaN where there is none; ``odd`` cells hold no number.

    ``signed`` cells carry a percent sign, which is left out of the number.
    """

    values: FloatArray
    odd: BoolArray | None = None
    signed: BoolArray | None = None

    def take(self, rows: IntArray) -> "Numbers":
        """Return the numbers of some rows."""
        marks = (self.odd, self.signed)
        own = (None if each is None else each[rows] for each in marks)
        return Numbers(self.values[rows], *own)


def numbers(
    column: pa.Array, mark: str = ".", missing: Collection[str] = ()
) -> Numbers:
    """Return the numbers of a plain column; ``mark`` is the decimal mark of its text.

    Where it is a comma, a column without any comma may have points, unless they could
    separate thousands.

    >>> numbers(pa.array(["0,5", "6%", "many", ""]), ",")
    Numbers(values=array([0.5, 6. , nan, nan]), odd=array([False, False,  True, False]), signed=array([False,  True, False, False]))
    """  # noqa: E501
    if not is_text(column):
        return Numbers(_typed(column, missing))
    text = trim(column, missing)
    codes = [float(word) for word in missing if is_number(word)]
    strange = None
    if mark == ",":
        points = pc.match_substring(text, ".")
        if pc.any(pc.match_substring(text, ",")).as_py():
            strange = points
        elif pc.any(points).as_py():
            alone = pc.match_substring_regex(text, THOUSANDS["."])
            strange = points if pc.all(pc.equal(alone, points)).as_py() else None
        text = pc.replace_substring(text, ",", ".")
        if strange is not None and pc.any(strange).as_py():
            text = pc.if_else(pc.fill_null(strange, False), "?", text)
    try:
        return Numbers(_without(_floats(pc.cast(text, pa.float64())), codes))
    except pa.ArrowInvalid:
        pass
    truth = truth_values(text)
    if truth is not None:
        return Numbers(truth)
    signed = _bools(pc.ends_with(text, "%"))
    if signed.any():
        text = pc.replace_substring_regex(text, r"\s*%$", "")
    fits = pc.fill_null(pc.match_substring_regex(text, NUMBER), True)
    odd = ~_bools(fits)
    values = pc.cast(pc.if_else(fits, text, pa.scalar(None, pa.string())), pa.float64())
    return Numbers(_without(_floats(values), codes), odd, signed)


def _typed(column: pa.Array, missing: Collection[str]) -> FloatArray:
    if not is_number_type(column):
        return np.full(len(column), np.nan)
    codes = [float(word) for word in missing if is_number(word)]
    return _without(_floats(column.cast(pa.float64())), codes)


def _without(values: FloatArray, codes: list[float]) -> FloatArray:
    """Return numbers, NaN where one stands for none."""
    return np.where(np.isin(values, codes), np.nan, values) if codes else values


def _floats(column: pa.Array) -> FloatArray:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _bools(column: pa.Array) -> BoolArray:
    filled = pc.fill_null(column, False)
    return np.asarray(filled.to_numpy(zero_copy_only=False), dtype=np.bool_)


def is_plain(column: pa.Array, missing: Collection[str] = ()) -> bool:
    """Whether text is numbers as any program writes them: no mark is to be found.

    >>> is_plain(pa.array(["0.5", "n/d", "7"]), ["n/d"]), is_plain(pa.array(["0,5"]))
    (True, False)
    """
    try:
        pc.cast(trim(column, missing), pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def truth_values(text: pa.Array) -> FloatArray | None:
    """Return 1 for true and 0 for false (T,); None where other words stand among them.

    >>> truth_values(pa.array(["true", None, "False"]))
    array([ 1., nan,  0.])
    """
    lower = pc.utf8_lower(text)
    if not pc.all(pc.is_in(lower.drop_null(), value_set=pa.array([*TRUTH]))).as_py():
        return None
    return _floats(pc.cast(pc.equal(lower, "true"), pa.float64()))


def decimal_marks(text: pa.Array) -> set[str]:
    """Decimal marks that trimmed text shows beyond doubt; "?" where thousands may be.

    >>> sorted(decimal_marks(pa.array(["0,5", "1.234,5", "7"])))
    [',']
    >>> decimal_marks(pa.array(["1,234"])), decimal_marks(pa.array(["7", None]))
    ({'?'}, set())
    """
    both = pc.and_(pc.match_substring(text, "."), pc.match_substring(text, ","))
    found: set[str] = set()
    for mark, other in ((".", ","), (",", ".")):
        last = pc.match_substring_regex(text, rf"[{other}].*[{mark}]\d*\s*%?$")
        if pc.any(pc.and_(both, last)).as_py():
            found.add(mark)
        alone = pc.and_(pc.match_substring(text, mark), pc.invert(both))
        if pc.any(alone).as_py():
            grouped = pc.match_substring_regex(text, THOUSANDS[mark])
            clear = pc.and_(alone, pc.invert(grouped))
            found.add(mark if pc.any(clear).as_py() else "?")
    return found - {"?"} if found & {".", ","} else found


@dataclass(frozen=True, eq=False)
class Amounts:
    """Amounts (T,) as people write them, and the first cell that shows how."""

    values: FloatArray
    odd: BoolArray | None = None
    shown: tuple[int, str] | None = None
    doubtful: bool = False
    """Whether what separates thousands could be a decimal mark."""


def amounts(
    column: pa.Array, mark: str | None = None, missing: Collection[str] = ()
) -> Amounts:
    """Return numbers that may have a currency, and thousands set apart.

    All cells, or none, have the same currency; a few others are odd. ``mark`` is the
    decimal mark of the table, None where nothing shows it.

    >>> amounts(pa.array(["1.250,00 €", "316,64 €"])).values
    array([1250.  ,  316.64])
    """
    if not is_text(column):
        return Amounts(_typed(column, missing))
    text = trim(column, missing)
    try:
        if mark != ",":
            values = _floats(pc.cast(text, pa.float64()))
            codes = [float(word) for word in missing if is_number(word)]
            return Amounts(_without(values, codes))
    except pa.ArrowInvalid:
        pass
    plain_text = bare(text)
    fits = {
        m: _bools(pc.fill_null(pc.match_substring_regex(plain_text, form), True))
        for m, form in AMOUNTS.items()
    }
    whole = [m for m in AMOUNTS if fits[m].all()]
    marked = _bools(pc.match_substring_regex(plain_text, "[.,]")).any()
    doubtful = len(whole) == 2 and bool(marked)
    if doubtful and mark is None:
        own = decimal_marks(plain_text)
        if (
            not plain_text.equals(text)
            and not _bools(pc.match_substring(plain_text, ".")).any()
        ):
            own = {"."}  # $1,200
        mark = next(iter(own)) if len(own) == 1 and "?" not in own else None
        doubtful = mark is None
    else:
        doubtful = False
    if mark not in whole and whole:
        mark = whole[0]
    mark = mark or max(fits, key=lambda m: int(np.count_nonzero(fits[m])))
    good = fits[mark]
    separators = "[^-+0-9,]" if mark == "," else "[^-+0-9.]"
    clean = pc.replace_substring(
        pc.replace_substring_regex(plain_text, separators, ""), ",", "."
    )
    clean = pc.if_else(pa.array(good), clean, pa.scalar(None, pa.string()))
    values = _floats(pc.cast(clean, pa.float64()))
    signs = r"[^-+eE\d,]" if mark == "," else r"[^-+eE\d.]"
    signed = _bools(pc.match_substring_regex(text, signs)) & good
    row = int(np.argmax(signed))
    shown = (row, text[row].as_py()) if signed.any() else None
    return Amounts(values, None if good.all() else ~good, shown, doubtful)


def bare(column: pa.Array, missing: Collection[str] = ()) -> pa.Array:
    """Text of each cell without the currency that most of them have; "?" in others.

    >>> bare(pa.array(["$ 5", "$7"])).to_pylist()
    ['5', '7']
    >>> bare(pa.array(["$ 5", "7", "$9"])).to_pylist()
    ['5', '?', '9']
    >>> bare(pa.array(["$5", "7"])).to_pylist()
    ['$5', '7']
    """
    text = trim(column, missing)
    first = (
        re.search(CURRENCY, cell) for cell in text.drop_null()[:SAMPLE].to_pylist()
    )
    found = next(filter(None, first), None)
    if found is None:
        return text
    sign = re.escape(found[0])
    outside = pc.match_substring_regex(text, rf"^[-+]?\s*{sign}|{sign}$")
    if 2 * (pc.sum(outside).as_py() or 0) <= pc.count(outside).as_py():
        return text
    rest = pc.replace_substring(text, found[0], "")
    near = pc.replace_substring_regex(rest, r"^([-+])[\s\x{a0}\x{202f}]+", r"\1")
    return pc.if_else(outside, pc.utf8_trim_whitespace(near), "?")


@dataclass(frozen=True, eq=False)
class Times:
    """Times (T,) of a column, in UTC where they have an offset; NaT where odd or none.

    ``zoned`` says whether they have an offset from UTC, None where no cell is a time;
    ``mixed`` is the first row that differs from those before in this. Numbers stay
    numbers.
    """

    values: Array
    odd: BoolArray | None = None
    zoned: bool | None = None
    mixed: int | None = None


def times(
    column: pa.Array, written: str | None = None, missing: Collection[str] = ()
) -> Times:
    """Return the times of a plain column; text is ISO 8601, or as ``written``.

    >>> times(pa.array(["28.04.2026", ""]), "%d.%m.%Y").values
    array(['2026-04-28T00:00:00.000000',                        'NaT'],
          dtype='datetime64[us]')
    """
    if is_time_type(column):
        zone = getattr(column.type, "tz", None)
        if pa.types.is_date(column.type):
            days = column.cast(pa.date32()).to_numpy(zero_copy_only=False)
            return Times(days.astype("datetime64[D]"), zoned=False)
        values = column.cast(pa.timestamp("us", zone)).to_numpy(zero_copy_only=False)
        return Times(values.astype("datetime64[us]"), zoned=zone is not None)
    if is_number_type(column) and not written:
        if pa.types.is_integer(column.type) and not column.null_count:
            return Times(column.to_numpy(zero_copy_only=False))
        return Times(_typed(column, missing))
    coded = trim(column, missing).dictionary_encode()
    texts = coded.dictionary.to_pylist()
    parsed = _parse_times(texts, written or "")
    code = np.asarray(pc.fill_null(coded.indices, -1))
    naive = [
        None if t is None else t.astimezone(UTC).replace(tzinfo=None) if t.tzinfo else t
        for t in parsed
    ]
    every = np.array([*naive, None], dtype="datetime64[us]")
    wrong = np.array([*(t is None for t in parsed), False])
    zones = np.array(
        [*(0 if t is None else 1 + (t.tzinfo is not None) for t in parsed), 0]
    )[code]
    known = np.flatnonzero(zones)
    mixed = np.flatnonzero(zones[known] != zones[known[0]]) if len(known) else known
    odd = wrong[code]
    return Times(
        every[code],
        odd if odd.any() else None,
        bool(zones[known[0]] == 2) if len(known) else None,
        int(known[mixed[0]]) if len(mixed) else None,
    )


def _parse_times(texts: Sequence[str], written: str) -> list[datetime | None]:
    """Times, None for what is none; no year is in the first century."""
    found = _moments(texts, written)
    return [None if t is not None and t.year < FIRST_YEAR else t for t in found]


MONTH_END = re.compile("29|30|31")


def _moments(texts: Sequence[str], written: str) -> list[datetime | None]:
    if not written:
        return [_parse(text, "") for text in texts]
    if re.search("%[zfZ]", written):
        return [_parse(text, written) for text in texts]
    fast = pc.strptime(pa.array(texts, pa.string()), written, "us", error_is_null=True)
    # Arrow reads 31 February as 3 March.
    return [
        _parse(text, written)
        if moment is None or (moment.day < 4 and MONTH_END.search(text))
        else moment
        for text, moment in zip(texts, fast.to_pylist(), strict=True)
    ]


def _parse(text: str, written: str) -> datetime | None:
    try:
        if not written:
            return datetime.fromisoformat(text)
        return datetime.strptime(text, written)
    except ValueError:
        return None


def time_formats(
    texts: Iterable[str], formats: Sequence[str] = FORMATS
) -> tuple[str, ...]:
    """Return the ways in which all texts can be read as times; "" is ISO 8601.

    >>> time_formats(["03/04/2026", "28/04/2026"]), time_formats(["2026-04-03"])
    (('%d/%m/%Y',), ('',))
    >>> time_formats(["03/04/2026"])
    ('%d/%m/%Y', '%m/%d/%Y')
    """
    texts = list(dict.fromkeys(texts))
    fit = formats
    for some in (texts[:1], texts[:SAMPLE], texts):
        fit = [f for f in fit if None not in _parse_times(some, f)]
    # Full names of months fit where short ones do: May is both.
    return tuple(f for f in fit if "%B" not in f or f.replace("%B", "%b") not in fit)


def distinct_formats(texts: Sequence[str], formats: Sequence[str]) -> tuple[str, ...]:
    """Return the formats that fit all texts, one of those that read the same times."""
    found = {tuple(_parse_times(texts, f)): f for f in time_formats(texts, formats)}
    return tuple(found.values())


def likely_formats(texts: Iterable[str]) -> list[str]:
    """Return the ways in which most texts can be read as times.

    >>> likely_formats(["28.04.2026", "29.04.2026", "soon"])
    ['%d.%m.%Y']
    """
    some = list(dict.fromkeys(texts))[:SAMPLE]
    fits = {f: count_times(some, f) for f in FORMATS}
    most = max(fits.values(), default=0)
    fit = [f for f, n in fits.items() if n == most and 2 * n > len(some)]
    return [f for f in fit if "%B" not in f or f.replace("%B", "%b") not in fit]


def count_times(texts: Sequence[str], written: str) -> int:
    """Return how many texts are times that are written so.

    >>> count_times(["28.04.2026", "soon"], "%d.%m.%Y")
    1
    """
    return sum(moment is not None for moment in _parse_times(texts, written))


def zone_name(text: str) -> str | None:
    """Return the name of a zone at the end of a time, None if it has none.

    >>> zone_name("2026-02-01 01:00 CET"), zone_name("2026-02-01 01:00 PM")
    ('CET', None)
    """
    found = ZONE.search(text)
    return None if found is None else found[1]


def labels(column: pa.Array, missing: Collection[str] = ()) -> pa.Array:
    """Outcomes of a plain column: text without spaces, or class numbers; null if none.

    Text that is whole numbers from 0 on, or true and false, is these.

    >>> labels(pa.array(["1", " 0", "?"]), ["?"]).to_pylist()
    [1, 0, None]
    """
    if is_text(column):
        text = trim(column, missing)
        names = label_numbers(text.unique().drop_null().to_pylist())
        if not names:
            return text
        return pa.array([None if v is None else names[v] for v in text.to_pylist()])
    if pa.types.is_floating(column.type):
        values = _typed(column, missing)
        gone = np.isnan(values)
        known = values[~gone]
        if (np.floor(known) == known).all() and (np.abs(known) < 2**63).all():
            whole = np.where(gone, 0, values).astype(np.int64)
            return pa.array(whole, mask=gone)
        return pa.array(values, mask=gone)
    if missing and is_number_type(column) and not pa.types.is_boolean(column.type):
        values = _typed(column, missing)
        return pa.array(np.nan_to_num(values).astype(np.int64), mask=np.isnan(values))
    return column


def label_numbers(names: Collection[Any]) -> dict[str, int | bool]:
    """Class numbers from 0 on that labels in text stand for; {} where they do not.

    >>> label_numbers(["1", "0"]), label_numbers(["TRUE"]), label_numbers(["1", "2"])
    ({'1': 1, '0': 0}, {'TRUE': True}, {})
    """
    if not names or not all(isinstance(name, str) for name in names):
        return {}
    if all(name.casefold() in TRUTH for name in names):
        return {name: TRUTH[name.casefold()] for name in names}
    whole = {name: int(name) for name in names if name.isdecimal() and len(name) < 19}
    same = len(whole) == len(names) and all(str(n) == s for s, n in whole.items())
    return dict(whole) if same and (0 in whole.values() or [*whole] == ["1"]) else {}


def fold(label: Any) -> Any:
    """Return a label without what two spellings of it may differ in: case and spaces.

    >>> fold(" In  doubt"), fold(1)
    ('in doubt', 1)
    """
    return " ".join(label.casefold().split()) if isinstance(label, str) else label


def spellings(labels: Iterable[Any]) -> list[list[Any]]:
    """Return the labels, each with all its spellings.

    >>> spellings(["Y", "N", "y", 1])
    [['Y', 'y'], ['N'], [1]]
    """
    found: dict[Any, list[Any]] = {}
    for label in labels:
        found.setdefault(fold(label), []).append(label)
    return [*found.values()]
