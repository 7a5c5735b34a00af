"""How numbers look: three significant figures where they matter, no more."""

import re
from math import floor, isnan, log10
from typing import Any

from truepool.comparison import Estimate


def number(value: float, like: float | None = None) -> str:
    """Three significant figures, fixed point; ``like`` lends its decimals.

    >>> number(0.14236), number(12.345), number(float("nan")), number(1234.5)
    ('0.142', '12.3', '-', '1234')
    >>> number(0.0001, like=0.142)
    '0.000'
    """
    if isnan(value):
        return "-"
    size = abs(value if like is None else like)
    places = 3 if size == 0 else max(0, 2 - floor(log10(size)))
    return f"{value:.{min(places, 6)}f}"


def signed(value: float, like: float) -> str:
    """Return a difference with its sign, in the decimals of what it is added to.

    >>> signed(-0.0773, like=0.142), signed(0.0, like=0.142)
    ('-0.077', '0.000')
    """
    text = number(value, like)
    if float(text) == 0:
        return text.lstrip("-")
    return f"+{text}" if value > 0 else text


def between(low: str, high: str) -> str:
    """Return an interval, without the zeros before the points.

    >>> between("-0.111", "+0.023"), between("0.9", "10.2")
    ('[-.111, +.023]', '[.9, 10.2]')
    """
    return "[" + ", ".join(re.sub(r"^([+-]?)0\.", r"\1.", x) for x in (low, high)) + "]"


def percent(value: float) -> str:
    """Return a share as a percentage.

    >>> percent(0.1234), percent(float("nan"))
    ('12.3 %', '-')
    """
    return "-" if isnan(value) else f"{100 * value:.1f} %"


def estimated(estimate: Estimate | None, *, sign: bool = False) -> str:
    """Return a number with its interval, where one can be told.

    >>> estimated(Estimate(0.5, 0.4, 0.6)), estimated(None)
    ('0.500 [.400, .600]', '-')
    >>> estimated(Estimate(0.5, float("nan"), float("nan")))
    '0.500'
    >>> estimated(Estimate(0.01, -0.02, 0.04), sign=True)
    '+0.0100 [-.0200, +.0400]'
    """
    if estimate is None:
        return "-"
    show = signed if sign else number
    if isnan(estimate.low) or isnan(estimate.high):
        return show(estimate.value, estimate.value)
    like = max(map(abs, (estimate.value, estimate.low, estimate.high)))
    ends = (show(end, like) for end in (estimate.low, estimate.high))
    return f"{show(estimate.value, like)} {between(*ends)}"


def chance(p_value: float | None) -> str:
    """Return a p-value, no smaller than anybody should believe.

    >>> chance(0.0412), chance(1e-9), chance(None)
    ('0.041', '< 0.001', '-')
    """
    if p_value is None or isnan(p_value):
        return "-"
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def setting(value: Any) -> str:
    """Return what something was set to, as short as it was given.

    >>> setting(0.50), setting("all"), setting(3)
    ('0.5', 'all', '3')
    """
    return f"{value:g}" if isinstance(value, float) else str(value)
