"""Two numbers side by side, each with the digits that its error supports."""

from collections.abc import Mapping
from math import floor, log10
from typing import Any

from truepool.core.formatting import number

MAX_DECIMALS = 6
"""Decimals of a number that the paper does not print."""
ROUND_OFF = 1e-12
"""Repeats with a smaller relative spread are equal up to rounding errors."""


def cell_texts(cell: Mapping[str, Any]) -> tuple[str, str]:
    """What is printed and what we measured, in the same decimals.

    >>> cell_texts({"printed": "0.40", "measured": 0.3912, "error": 0.004})
    ('0.40', '0.39 ± 0.004')
    >>> cell_texts({"printed": None, "measured": 0.9934567, "error": 0.000302})
    ('', '0.99346 ± 0.00030')
    >>> cell_texts({"printed": None, "measured": "vcg", "error": 0.0})
    ('', 'vcg')
    """
    printed, measured = cell["printed"] or "", cell["measured"]
    if measured is None or isinstance(measured, str):
        return printed, measured or ""
    if cell["error"] < ROUND_OFF:
        return printed, _format_like(measured, printed)
    if _decimals(printed) is None:
        return printed, _by_error(measured, cell["error"])
    return (
        printed,
        f"{_format_like(measured, printed)} ± {_format_like(cell['error'], printed)}",
    )


def _format_like(value: float, printed: str) -> str:
    """Return a number with the decimals of a printed one, unless it would be 0."""
    decimals = _decimals(printed)
    if decimals is None:
        return number(value)
    text = f"{value:.{decimals}f}"
    return f"{value:.1g}" if value and not float(text) else text


def _by_error(value: float, error: float) -> str:
    """Return a mean to the second digit of its standard error."""
    decimals = max(1 - floor(log10(error)), 0)
    if decimals > MAX_DECIMALS:
        return f"{value:.1g} ± {error:.1g}"
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def _decimals(printed: str) -> int | None:
    """Digits after the point of a printed number, None if none is printed."""
    first = printed.split(" ")[0]
    if not first.lstrip("-").replace(".", "", 1).isdigit():
        return None
    return len(first.partition(".")[2])
