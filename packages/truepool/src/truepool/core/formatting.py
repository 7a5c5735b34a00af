"""Formats of numbers in text: three significant figures by default."""

import re
from collections.abc import Sequence
from math import floor, isfinite, isnan, log10


def number(value: float, like: float | None = None) -> str:
    """Three significant figures, fixed point; or as many decimals as ``like`` has.

    >>> number(0.14236), number(12.345), number(float("nan")), number(1234.5)
    ('0.142', '12.3', '-', '1234')
    >>> number(0.0001, like=0.142), number(float("inf")), number(-0.0)
    ('0.000', '-', '0.000')
    """
    if not isfinite(value):
        return "-"
    size = abs(value if like is None or not isfinite(like) else like)
    places = 3 if size == 0 else max(0, 2 - floor(log10(size)))
    return f"{value:z.{min(places, 6)}f}"  # z: no minus before a zero


def money(value: float, currency: str = "") -> str:
    """Return a cost with its currency, where it has one.

    >>> money(0.14236, "EUR"), money(12.345)
    ('0.142 EUR', '12.3')
    """
    return f"{number(value)} {currency}".rstrip()


def in_unit(what: str, unit: str) -> str:
    """Return the name of a quantity with its unit, where that has a name.

    >>> in_unit("cost per case", "EUR"), in_unit("cost per case", "")
    ('cost per case (EUR)', 'cost per case')
    """
    return f"{what} ({unit})" if unit else what


def is_number(text: str) -> bool:
    """Whether a text can be read as a number.

    >>> is_number("5"), is_number("amount")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def signed(value: float, like: float | None = None) -> str:
    """Return a difference with its sign; or with as many decimals as ``like`` has.

    >>> signed(-0.0773, like=0.142), signed(0.0, like=0.142)
    ('-0.077', '0.000')
    """
    text = number(value, like)
    return f"+{text}" if value > 0 and float(text) else text


def percent(value: float) -> str:
    """Return a share as a percentage; a very small one has two significant figures.

    >>> percent(0.1234), percent(1.0), percent(float("nan"))
    ('12.3 %', '100.0 %', '-')
    >>> percent(0.000123), percent(0.0), percent(1e-12)
    ('0.012 %', '0.0 %', '< 0.000001 %')
    """
    if isnan(value):
        return "-"
    share = 100 * value
    if 0 < share < 1e-6:
        return "< 0.000001 %"
    places = 1 - floor(log10(share)) if 0 < share < 0.1 else 1
    return f"{share:.{min(places, 6)}f} %"


def pluralize(count: int, what: str) -> str:
    """Return a count with its noun, in the plural where needed.

    >>> pluralize(1, "error"), pluralize(2000, "case")
    ('1 error', '2,000 cases')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def join_names(names: Sequence[str], word: str = "and") -> str:
    """Join names as in a sentence.

    >>> join_names(["rf"]), join_names(["rf", "gbm", "mlp"]), join_names([])
    ('rf', 'rf, gbm and mlp', '')
    """
    *most, last = names or ("",)
    return f"{', '.join(most)} {word} {last}" if most else last


def end_once(text: str) -> str:
    """Return sentences that end with one full stop, also after a name that has one.

    >>> end_once("Ask Lena L.. Then wait... and see ../last.json.")
    'Ask Lena L. Then wait... and see ../last.json.'
    """
    return re.sub(r"(?<!\.)\.\.(?=\s|$)", ".", text)


def amount(value: float) -> str:
    """Return a number that a user gave, without trailing zeros.

    >>> amount(10.0), amount(0.5), amount(2_500_000)
    ('10', '0.5', '2500000')
    """
    return f"{value:.10g}"


INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""Control characters, changes of direction, halves of characters and no characters."""


def printable(text: str) -> str:
    r"""Return text without what a terminal or a page would obey instead of show.

    >>> printable("\x1b[31mred\x1b]0;title\x07 [red]a\n")
    '[31mred]0;title [red]a\n'
    """
    return INVISIBLE.sub("", text)
