"""Formats of numbers in text: three significant figures by default."""

import re
from collections.abc import Callable, Sequence
from math import ceil, floor, isfinite, isinf, isnan, log10
from typing import Protocol


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


class Interval(Protocol):
    """A number with its interval."""

    @property
    def value(self) -> float:
        """The number."""

    @property
    def low(self) -> float:
        """Its lower bound; NaN where it has none."""

    @property
    def high(self) -> float:
        """Its upper bound."""


def quantity(value: float, places: int | None = None) -> str:
    """Return an amount by thousands: three significant figures, a whole one as it is.

    >>> quantity(1234.5), quantity(-0.042), quantity(3.0, places=1), quantity(76.0)
    ('1,234', '-0.0420', '3.0', '76')
    """
    if not isfinite(value):
        return f"{value:+g}" if isinf(value) else "-"
    if places is None:
        whole = value.is_integer() or value == 0
        places = 0 if whole else min(max(0, 2 - floor(log10(abs(value)))), 6)
    return f"{value:z,.{places}f}"


def measured(
    value: Interval | float | None, form: Callable[..., str] = quantity
) -> str:
    """Return a number, with its interval where it has one, as precise as that is.

    >>> measured(None), measured(0.5), measured(1200)
    ('-', '0.500', '1,200')
    """
    if value is None:
        return "-"
    if isinstance(value, int | float):
        return form(float(value))
    if isnan(value.low) or isnan(value.high):
        return form(value.value)
    places = _places(value.high - value.low)
    ends = format_interval(form(value.low, places), form(value.high, places))
    return f"{form(value.value, places)} {ends}"


def _places(width: float) -> int | None:
    """Decimals that an interval of this width leaves meaning, one or two figures of it.

    >>> _places(28.0), _places(2.4), _places(0.1), _places(0.0)
    (0, 1, 2, None)
    """
    if not isfinite(width) or width <= 0:
        return None
    return min(max(0, ceil(0.7 - log10(width))), 6)


def format_interval(low: str, high: str) -> str:
    """Return an interval in brackets, without leading zeros.

    >>> format_interval("-0.111", "+0.023"), format_interval("0.9", "10.2")
    ('[-.111, +.023]', '[.9, 10.2]')
    """
    return "[" + ", ".join(re.sub(r"^([+-]?)0\.", r"\1.", x) for x in (low, high)) + "]"


def format_p_value(p_value: float | None) -> str:
    """Return a p-value; below 0.001 as ``< 0.001``, below 0.05 never as 0.050.

    >>> format_p_value(0.0412), format_p_value(1e-9), format_p_value(None)
    ('0.041', '< 0.001', '-')
    >>> format_p_value(0.04962), format_p_value(0.050003), format_p_value(0.049999)
    ('0.0496', '0.050', '0.0499')
    """
    if p_value is None or isnan(p_value):
        return "-"
    if p_value < 0.001:
        return "< 0.001"
    if p_value < 0.05 <= round(p_value, 3):
        return f"{floor(p_value * 10_000) / 10_000:.4f}"
    return f"{p_value:.3f}"


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


def measured_share(value: Interval | float | None) -> str:
    """Return a share as a percentage, with its interval where it has one.

    >>> measured_share(0.1234), measured_share(0.42), measured_share(None)
    ('12.3 %', '42.0 %', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, int | float):
        return percent(value)
    if isnan(value.low) or isnan(value.high):
        return percent(value.value)
    shares = [100 * x for x in (value.value, value.low, value.high)]
    places = _places(shares[2] - shares[1])
    shown, low, high = (quantity(share, places) for share in shares)
    return f"{shown} % {format_interval(low, high)}"


def share(p: float) -> str:
    """Percentage with two significant digits of how far it is from 0 or 100 %.

    >>> [share(p) for p in (0.0, 0.00018, 0.0011, 0.016, 0.0996, 0.31, 0.9989, 1.0)]
    ['0 %', '0.018 %', '0.11 %', '1.6 %', '10 %', '31 %', '99.89 %', '100 %']
    """
    rest = float(f"{100 * min(p, 1 - p):.1e}")
    places = 1 - floor(log10(rest)) if rest > 0 else 0
    return f"{100 * p:.{min(places, 6)}f}".removesuffix(".0") + " %"


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
