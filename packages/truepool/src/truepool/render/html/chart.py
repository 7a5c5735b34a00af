"""Small charts as SVG, drawn at once: a page that is asked for every few seconds.

They have no styles of their own: the style sheet of the page says what a class is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10

import numpy as np
from markupsafe import Markup

from truepool.core.arrays import FloatArray, thin
from truepool.core.formatting import amount

WIDTH, HEIGHT, SIDE = 420.0, 190.0, 230.0
"""Of a chart, and both sides of a square one, in the units of its drawing."""
LEFT, RIGHT, TOP, BOTTOM = 46.0, 10.0, 10.0, 22.0
"""Room for the labels of the axes."""
TICKS = 4
"""Steps of an axis, about."""
COLOURS = 5
"""Lines that differ in colour and dashes."""
LEAST_RANGE = 1e-9
"""Of values that differ, as a share of the largest."""


@dataclass(frozen=True, eq=False)
class Line:
    """A named series of values, NaN where there is none, on a common axis."""

    name: str
    values: FloatArray


@dataclass(frozen=True)
class Frame:
    """The axes of a chart: where a value is drawn."""

    low: float
    high: float
    width: float = WIDTH
    height: float = HEIGHT

    def x(self, share: float) -> float:
        """Place of a share of the horizontal axis."""
        return LEFT + share * (self.width - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Place of a value on the vertical axis."""
        share = (value - self.low) / (self.high - self.low)
        return self.height - BOTTOM - share * (self.height - TOP - BOTTOM)

    def draw(self, label: str, parts: Sequence[Markup]) -> Markup:
        """Return the chart with a text for those who cannot see it."""
        kind = "square" if self.height > HEIGHT else "wide"
        head = Markup(f'<svg class="chart {kind}" viewBox="0 0 {{}} {{}}" role="img" ')
        tail = Markup('aria-label="{}">{}</svg>').format(label, Markup("").join(parts))
        return head.format(f"{self.width:g}", f"{self.height:g}") + tail


def line_chart(
    lines: Sequence[Line],
    label: str,
    ends: tuple[str, str],
    *,
    bounds: tuple[float, float] | None = None,
    form: Callable[[float], str] = amount,
) -> Markup:
    """Draw lines over one axis, whose two ends are named; at most five differ."""
    low, high = bounds or _range([line.values for line in lines])
    ticks = _ticks(low, high)
    frame = Frame(min(low, ticks[0]), max(high, ticks[-1]))
    parts = [*_rulers(frame, ticks, form), *_ends(frame, ends)]
    for place, line in enumerate(lines):
        shape = _path(frame, line.values)
        parts.append(Markup('<path class="line c{}" d="{}"/>').format(place, shape))
    return frame.draw(label, parts)


def bar_chart(values: FloatArray, label: str, ends: tuple[str, str]) -> Markup:
    """Draw one bar for each count, from zero."""
    ticks = _ticks(0.0, max(float(values.max(initial=0.0)), 1.0))
    ticks = [tick for tick in ticks if tick == round(tick)]  # bars are counts
    frame = Frame(0.0, ticks[-1])
    parts = [*_rulers(frame, ticks, "{:,.0f}".format), *_ends(frame, ends)]
    step = 1 / max(len(values), 1)
    for i, value in enumerate(values.tolist()):
        left, right = frame.x(i * step), frame.x((i + 0.8) * step)
        top, bottom = frame.y(value), frame.y(0.0)
        parts.append(
            Markup('<rect class="bar" x="{}" y="{}" width="{}" height="{}"/>').format(
                *(f"{v:.1f}" for v in (left, top, right - left, bottom - top))
            )
        )
    return frame.draw(label, parts)


def reliability_chart(
    reported: FloatArray,
    observed: FloatArray,
    low: FloatArray,
    high: FloatArray,
    label: str,
) -> Markup:
    """Draw observed frequencies over mean reports, with the band of calibration."""
    frame = Frame(0.0, 1.0, SIDE + LEFT + RIGHT, SIDE + TOP + BOTTOM)
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    parts = list(_rulers(frame, ticks, "{:.0%}".format))
    for tick in ticks[1::2]:
        parts.append(_text(frame.x(tick), frame.height - 6, f"{tick:.0%}", "middle"))
    upper = zip(reported, high, strict=True)
    lower = zip(reported[::-1], low[::-1], strict=True)
    band = " ".join(_point(frame, x, y) for x, y in (*upper, *lower))
    parts.append(Markup('<polygon class="band" points="{}"/>').format(band))
    ends = f"M{_point(frame, 0, 0)}L{_point(frame, 1, 1)}"
    parts.append(Markup('<path class="diagonal" d="{}"/>').format(ends))
    line = "L".join(
        _point(frame, x, y) for x, y in zip(reported, observed, strict=True)
    )
    parts.append(Markup('<path class="line c0" d="M{}"/>').format(line))
    for x, y in zip(reported, observed, strict=True):
        parts.append(
            Markup('<circle class="dot" cx="{}" cy="{}" r="3.5"/>').format(
                f"{frame.x(x):.1f}", f"{frame.y(y):.1f}"
            )
        )
    return frame.draw(label, parts)


def _range(series: Sequence[FloatArray]) -> tuple[float, float]:
    known = np.concatenate([np.empty(0), *series])
    known = known[np.isfinite(known)]
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    if high - low > LEAST_RANGE * max(abs(low), abs(high), 1.0):
        return low, high
    # One value says nothing about a range: it is shown against zero.
    tiny = abs(low) <= LEAST_RANGE
    return (0.0, 1.0) if tiny else (min(low, 0.0), max(high, 0.0))


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers around a range.

    >>> _ticks(0.0, 0.93)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    >>> _ticks(-3.0, 8.0)
    [-5.0, 0.0, 5.0, 10.0]
    """
    rough = (high - low) / TICKS
    unit = 10.0 ** floor(log10(rough))
    step = next(s * unit for s in (1, 2, 2.5, 5, 10) if s * unit >= rough)
    first, last = floor(low / step), -floor(-high / step)
    return [round(k * step, 12) for k in range(first, last + 1)]


def _rulers(
    frame: Frame, ticks: Sequence[float], form: Callable[[float], str]
) -> list[Markup]:
    parts = []
    for tick in ticks:
        y = f"{frame.y(tick):.1f}"
        parts.append(
            Markup('<line class="rule" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
                f"{frame.x(0):.1f}", f"{frame.x(1):.1f}", y, y
            )
        )
        parts.append(_text(LEFT - 5, frame.y(tick) + 4, form(tick), "end"))
    return parts


def _ends(frame: Frame, ends: tuple[str, str]) -> list[Markup]:
    bottom = frame.height - 5
    return [
        _text(frame.x(0), bottom, ends[0], "start"),
        _text(frame.x(1), bottom, ends[1], "end"),
    ]


def _text(x: float, y: float, words: str, anchor: str) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(
        f"{x:.1f}", f"{y:.1f}", anchor, words
    )


def _point(frame: Frame, x: float, y: float) -> str:
    return f"{frame.x(x):.1f},{frame.y(y):.1f}"


def _path(frame: Frame, values: FloatArray) -> str:
    """Points of a line; it is interrupted where there are no values."""
    parts, pen = [], "M"
    last = max(len(values) - 1, 1)
    for i in thin(len(values)) if len(values) else ():
        value = float(values[i])
        if not isfinite(value):
            pen = "M"
            continue
        parts.append(f"{pen}{_point(frame, i / last, value)}")
        pen = "L"
    return "".join(parts)
