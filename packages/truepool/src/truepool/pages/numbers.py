"""Numbers, intervals and p-values as text, in tables and on pages."""

from math import isfinite, isinf, isnan
from typing import Any

from truepool.comparison import Estimate
from truepool.core.formatting import (
    amount,
    format_interval,
    format_p_value,
    number,
    percent,
    signed,
)
from truepool.core.sentences import COUNTED

__all__ = [
    "amount",
    "equation",
    "format_estimate",
    "format_interval",
    "format_p_value",
    "number",
    "per_thousand",
    "percent",
    "setting",
    "signed",
]


def format_estimate(estimate: Estimate | None, *, sign: bool = False) -> str:
    """Return a number with its interval, where there is one.

    >>> format_estimate(Estimate(0.5, 0.4, 0.6)), format_estimate(None)
    ('0.500 [.400, .600]', '-')
    >>> format_estimate(Estimate(0.5, float("nan"), float("nan")))
    '0.500'
    >>> format_estimate(Estimate(66.0, float("nan"), float("nan")))
    '66'
    >>> format_estimate(Estimate(0.01, -0.02, 0.04), sign=True)
    '+0.0100 [-.0200, +.0400]'
    >>> format_estimate(Estimate(0.0, 0.0, 0.00012), sign=True)
    '0 [0, +.000120]'
    >>> format_estimate(Estimate(0.1, float("-inf"), float("inf")), sign=True)
    '+0.100 [-inf, +inf]'
    """
    if estimate is None:
        return "-"
    show = signed if sign else number
    if isnan(estimate.low) or isnan(estimate.high):
        if estimate.value > 1 and estimate.value.is_integer():  # a count
            return f"{estimate.value:,.0f}"
        return show(estimate.value, estimate.value)
    numbers = (estimate.value, estimate.low, estimate.high)
    like = max((abs(x) for x in numbers if isfinite(x)), default=0.0)
    value, *ends = (
        f"{x:+g}" if isinf(x) else show(x, like) if x else "0" for x in numbers
    )
    return f"{value} {format_interval(*ends)}"


def setting(value: Any) -> str:
    """Return the value of a setting, without trailing zeros.

    >>> setting(0.50), setting("all"), setting(3)
    ('0.5', 'all', '3')
    """
    return f"{value:g}" if isinstance(value, float) else str(value)


def per_thousand(
    saving: Estimate,
    level: float,
    unit: str = "",
    p_value: float | None = None,
    of: str = "cases",
) -> str:
    """Return a saving or a cost per case as one per 1,000 cases, with its interval.

    >>> print(per_thousand(Estimate(0.0761, 0.009, 0.105), 0.95, "false alarms"))
    the cost of 76 false alarms per 1,000 cases (95 % interval 9 to 105)
    >>> print(per_thousand(Estimate(0.0761, 0.009, 0.105), 0.95, "EUR"))
    76 EUR per 1,000 cases (95 % interval 9 to 105)
    >>> print(per_thousand(Estimate(6.5, 2.0, 9.0), 0.9, p_value=0.004))
    6,500 per 1,000 cases (90 % interval 2,000 to 9,000; adjusted p = 0.004)
    """
    shown, low, high = _thousandfold(saving)
    what = f"{'the cost of ' * (unit in COUNTED)}{_count(shown, unit)}"
    test = "" if p_value is None else f"; adjusted {equation('p', p_value)}"
    interval = f"{100 * level:g} % interval {low} to {high}{test}"
    return f"{what} per 1,000 {of} ({interval})"


def _count(shown: str, unit: str) -> str:
    """Return a number with its unit, in the singular where it is one of what counts."""
    one = shown in ("1", "-1") and unit in COUNTED
    return f"{shown} {unit.removesuffix('s') if one else unit}".rstrip()


def _thousandfold(saving: Estimate) -> tuple[str, str, str]:
    """Return value and ends of an interval as text, times 1,000."""
    places = 0 if 1000 * max(abs(saving.low), abs(saving.high)) >= 10 else 2
    value, low, high = (
        f"{1000 * x:z,.{places}f}" for x in (saving.value, saving.low, saving.high)
    )
    return value, low, high


def equation(name: str, p_value: float) -> str:
    """Return a p-value in a sentence.

    >>> equation("p", 0.0412), equation("p", 1e-9)
    ('p = 0.041', 'p < 0.001')
    """
    shown = format_p_value(p_value)
    return f"{name} {shown}" if shown.startswith("<") else f"{name} = {shown}"
