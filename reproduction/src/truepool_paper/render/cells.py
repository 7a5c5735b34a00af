"""Two numbers side by side, each as far as it can be trusted."""

from collections.abc import Mapping
from math import floor, log10
from typing import Any

from truepool.core.formatting import number

FINEST = 6
"""Decimals of a number that no printed one stands beside."""
DUST = 1e-12
"""A spread below which repeats were the same, but for the last bit of their sum."""


def sides(cell: Mapping[str, Any]) -> tuple[str, str]:
    """What is printed and what we measured, in the same decimals.

    >>> sides({"printed": "0.40", "measured": 0.3912, "error": 0.004})
    ('0.40', '0.39 ± 0.004')
    >>> sides({"printed": None, "measured": 0.9934567, "error": 0.000302})
    ('', '0.99346 ± 0.00030')
    >>> sides({"printed": None, "measured": "vcg", "error": 0.0})
    ('', 'vcg')
    """
    said, got = cell["printed"] or "", cell["measured"]
    if got is None or isinstance(got, str):
        return said, got or ""
    if cell["error"] < DUST:
        return said, _like(got, said)
    if _decimals(said) is None:
        return said, _by_error(got, cell["error"])
    return said, f"{_like(got, said)} ± {_like(cell['error'], said)}"


def _like(value: float, said: str) -> str:
    """Return a number in the decimals of a printed one, unless it would vanish."""
    decimals = _decimals(said)
    if decimals is None:
        return number(value)
    text = f"{value:.{decimals}f}"
    return f"{value:.1g}" if value and not float(text) else text


def _by_error(value: float, error: float) -> str:
    """Return a mean as far as its standard error tells: to the second digit of it."""
    decimals = max(1 - floor(log10(error)), 0)
    if decimals > FINEST:
        return f"{value:.1g} ± {error:.1g}"
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def _decimals(said: str) -> int | None:
    """Digits after the point of a printed number, None if none is printed."""
    first = said.split(" ")[0]
    if not first.lstrip("-").replace(".", "", 1).isdigit():
        return None
    return len(first.partition(".")[2])
