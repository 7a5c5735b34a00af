"""Charts of the dashboard: lines over time, and what they stand for."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from truepool.pages.chart import Line, line_chart
from truepool.pages.page import Figure


def over_time(
    title: str,
    lines: Sequence[Line],
    label: str,
    ends: tuple[str, str],
    unit: str,
    **settings: Any,
) -> Figure:
    """Draw lines, or say when there will be some: a line needs two points."""
    if all(np.isfinite(line.values).sum() < 2 for line in lines):
        return Figure(title, waiting=f"Appears after the second {unit}.")
    return Figure(title, line_chart(lines, label, ends, **settings), legend(lines))


def legend(lines: Sequence[Line]) -> tuple[str, ...]:
    """Return what the lines of a chart are called."""
    return tuple(line.name for line in lines)


def last(lines: Sequence[Line], form: Callable[[float], str]) -> str:
    """Read the last value of each line aloud."""
    found = []
    for line in lines:
        known = line.values[~np.isnan(line.values)]
        if known.size:
            found.append(f"{line.name} {form(float(known[-1]))}")
    return ", ".join(found)
