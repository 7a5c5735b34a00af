"""Charts of pages as SVG, drawn at once and without a library.

They have no styles of their own: the style sheet of the page says what a class is. Rows
of intervals and of bands are as wide as the page and have text of its size; all others
are drawn on a canvas that is scaled.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10

import numpy as np
from markupsafe import Markup
from scipy.special import logit

from truepool.audits.values import Reliability
from truepool.core.arrays import FloatArray, thin
from truepool.core.formatting import amount

__all__ = [
    "COLOURS",
    "Axis",
    "Band",
    "Bands",
    "Interval",
    "Line",
    "Mark",
    "axis_for",
    "band_rows",
    "bar_chart",
    "heat_map",
    "interval_rows",
    "line_chart",
    "reliability_chart",
    "running_mean",
]  # fmt: skip

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
RARE = 0.05
"""Axes are in log-odds where the rarer outcome has a smaller share than this."""
SMALLEST, FARTHEST = 1e-6, 100
"""Smallest probability that is told from 0, and how many times smaller than the share
of the rarer outcome an axis begins."""
EVEN = (0.0, 0.25, 0.5, 0.75, 1.0)
ODDS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1 - 1e-4)
"""Round probabilities on an even axis, and on one in log-odds."""


@dataclass(frozen=True, eq=False)
class Line:
    """A named series of values, NaN where there is none, on a common axis.

    ``places`` are shares of that axis, evenly spaced by default.
    """

    name: str
    values: FloatArray
    places: FloatArray | None = None


@dataclass(frozen=True)
class Mark:
    """A vertical line at a share of the axis, with a few words."""

    place: float
    text: str = ""
    tone: str = ""


@dataclass(frozen=True)
class Interval:
    """A row: a value with its interval, and the same as text."""

    name: str
    value: float
    low: float
    high: float
    text: str
    tone: str = ""
    """Says which colour it has."""


@dataclass(frozen=True)
class Band:
    """A part of a row, between two shares of the axis."""

    start: float
    end: float
    tone: str


@dataclass(frozen=True)
class Bands:
    """A row of bands, and what is said of it."""

    name: str
    bands: tuple[Band, ...]
    text: str
    tone: str = ""


@dataclass(frozen=True)
class Axis:
    """An axis of probabilities: even, or in log-odds from ``low`` to ``high``.

    What lies beyond stands at the end.
    """

    log_odds: bool = False
    low: float = 0.0
    high: float = 1.0

    @property
    def ticks(self) -> list[float]:
        """Round probabilities on it."""
        every = ODDS if self.log_odds else EVEN
        return [tick for tick in every if self.low <= tick <= self.high]

    def share(self, p: FloatArray | float) -> FloatArray:
        """Return where on the axis probabilities stand, from 0 to 1."""
        if not self.log_odds:
            return np.asarray(p, dtype=np.float64)
        ends = logit([self.low, self.high])
        placed = logit(np.clip(p, self.low, self.high))
        return np.asarray((placed - ends[0]) / (ends[1] - ends[0]))


def axis_for(rate: float, probabilities: Iterable[FloatArray]) -> Axis:
    """Return an axis on which these can be read at this share of positive outcomes.

    >>> axis_for(0.37, [np.array([0.1, 0.9])])
    Axis(log_odds=False, low=0.0, high=1.0)
    >>> axis_for(0.002, [np.array([0.0, 0.0004, 0.06])])
    Axis(log_odds=True, low=0.0001, high=0.1)
    """
    if min(rate, 1 - rate) >= RARE:
        return Axis()
    p = np.concatenate([np.ravel(one) for one in probabilities])
    p = p[(p >= SMALLEST) & (p <= 1 - SMALLEST)]
    least = max(p.min(initial=0.01), min(rate, 1 - rate) / FARTHEST)
    low = max((t for t in ODDS if t <= least), default=SMALLEST)
    high = min((t for t in ODDS if t >= p.max(initial=0.1)), default=1 - SMALLEST)
    return Axis(True, low, high)


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
        kind = "square" if self.width < WIDTH else "wide"
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
    marks: Sequence[Mark] = (),
) -> Markup:
    """Draw lines over one axis, whose two ends are named; at most five differ."""
    low, high = bounds or _range([line.values for line in lines])
    ticks = _ticks(low, high)
    frame = Frame(min(low, ticks[0]), max(high, ticks[-1]))
    parts = [*_rulers(frame, ticks, form), *_ends(frame, ends)]
    for mark in marks:
        left = mark.place > 0.5
        x = frame.x(mark.place) + (-4 if left else 4)
        words = _text(x, TOP + 9, mark.text, "end" if left else "start")
        parts += [_mark(frame, mark), words]
    for place, line in enumerate(lines):
        shape = _path(frame, line)
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
    points: Reliability,
    label: str,
    *,
    axis: Axis | None = None,
    threshold: float | None = None,
) -> Markup:
    """Draw observed frequencies over mean reports, with the band of calibration.

    Points outside the band are filled; a dashed line is the threshold.
    """
    axis = axis or Axis()
    frame = Frame(0.0, 1.0, SIDE + LEFT + RIGHT, SIDE + TOP + BOTTOM)
    parts = _probabilities(frame, axis)
    order = np.argsort(points.mean_report)
    x, y, low, high = (
        axis.share(part[order]).tolist()
        for part in (points.mean_report, points.frequency, points.low, points.high)
    )
    edge = [*zip(x, high, strict=True), *zip(x[::-1], low[::-1], strict=True)]
    band = " ".join(_point(frame, *corner) for corner in edge)
    parts.append(Markup('<polygon class="band" points="{}"/>').format(band))
    ends = f"M{_point(frame, 0, 0)}L{_point(frame, 1, 1)}"
    parts.append(Markup('<path class="diagonal" d="{}"/>').format(ends))
    if threshold is not None:
        parts.append(_mark(frame, Mark(float(axis.share(threshold)))))
    path = "L".join(_point(frame, *at) for at in zip(x, y, strict=True))
    parts.append(Markup('<path class="line c0" d="M{}"/>').format(path))
    for left, top, out in zip(x, y, points.outside[order], strict=True):
        dot = '<circle class="dot{}" cx="{}" cy="{}" r="3.5"/>'
        place = f"{frame.x(left):.1f}", f"{frame.y(top):.1f}"
        parts.append(Markup(dot).format("" if out else " hollow", *place))
    return frame.draw(label, parts)


def _probabilities(frame: Frame, axis: Axis) -> list[Markup]:
    """Name round probabilities on both axes."""
    parts = []
    for tick in axis.ticks:
        place, shown = float(axis.share(tick)), _percent(tick)
        y, ends = f"{frame.y(place):.1f}", (f"{frame.x(0):.1f}", f"{frame.x(1):.1f}")
        parts.append(_across("rule", *ends, y, y))
        parts.append(_text(LEFT - 5, frame.y(place) + 4, shown, "end"))
        if axis.log_odds or tick in (0.0, 0.5, 1.0):
            parts.append(_text(frame.x(place), frame.height - 6, shown, "middle"))
    return parts


def _mark(frame: Frame, mark: Mark) -> Markup:
    """Draw a vertical line from top to bottom."""
    x = f"{frame.x(mark.place):.1f}"
    ends = f"{TOP:g}", f"{frame.height - BOTTOM:g}"
    return _across(f"mark {mark.tone}", x, x, *ends)


def heat_map(names: Sequence[str], matrix: FloatArray, label: str) -> Markup:
    """Draw a matrix of correlations: blue is positive, red negative, NaN empty."""
    N, cell = len(names), 30.0 if len(names) <= 12 else 16.0
    side, room = N * cell, 96.0
    parts = []
    for i, name in enumerate(names):
        short = name if len(name) <= 14 else f"{name[:13]}…"
        parts.append(_text(room - 6, (i + 0.5) * cell + 4, short, "end"))
        x = room + (i + 0.5) * cell
        turned = '<text transform="translate({:g} {:g}) rotate(-60)" text-anchor="end">'
        parts.append(Markup(turned + "{}</text>").format(x + 4, side + 10, short))
    for i, j in np.ndindex(N, N):
        value = float(matrix[i, j])
        if not isfinite(value):
            continue
        x, y = room + j * cell, i * cell
        box = '<rect class="cell {}" x="{:g}" y="{:g}" width="{:g}" height="{:g}" '
        tone = "plus" if value >= 0 else "minus"
        parts.append(
            Markup(box + 'fill-opacity="{:.2f}"/>').format(
                tone, x, y, cell, cell, 0.45 * min(1.0, abs(value))
            )
        )
        if N <= 12 and i != j:
            shown = f"{value:.2f}".replace("0.", ".")
            parts.append(_text(x + cell / 2, y + cell / 2 + 4, shown, "middle"))
    frame = Frame(0.0, 1.0, room + side + 4, side + room * 0.85)
    return frame.draw(label, parts)


def interval_rows(
    rows: Sequence[Interval],
    label: str,
    *,
    bars: bool = False,
    form: Callable[[float], str] = amount,
) -> Markup:
    """Draw one value with its interval per row, or a bar from zero."""
    ends = [x for row in rows for x in (row.value, row.low, row.high) if isfinite(x)]
    ticks = _ticks(*_range([np.array([0.0, *ends])]))
    low, high = ticks[0], ticks[-1]

    def at(value: float) -> str:
        return f"{100 * (value - low) / (high - low):.2f}%"

    drawn = []
    for row in rows:
        marks = [_across("zero", at(0.0), at(0.0), "0", "100%")]
        if bars:
            left, right = sorted((0.0, row.value))
            width = f"{100 * (right - left) / (high - low):.2f}%"
            box = '<rect class="bar {}" x="{}" y="20%" width="{}" height="60%"/>'
            marks.append(Markup(box).format(row.tone, at(left), width))
        if isfinite(row.low) and isfinite(row.high):
            kind = f"whisker {row.tone}{' on-bar' if bars else ''}"
            marks.append(_across(kind, at(row.low), at(row.high), "50%", "50%"))
        if not bars:
            dot = '<circle class="dot {}" cx="{}" cy="50%" r="4.5"/>'
            marks.append(Markup(dot).format(row.tone, at(row.value)))
        drawn.append(_row(row.name, marks, row.text))
    shown = [(at(tick), form(tick)) for tick in ticks]
    return _rows(label, [*drawn, _scale(shown)], "")


def band_rows(
    rows: Sequence[Bands], label: str, ends: Sequence[tuple[float, str]]
) -> Markup:
    """Draw bands of a row over one axis, such as when a feed was sound."""
    drawn = []
    for row in rows:
        marks = [
            Markup('<rect class="health {}" x="{}" width="{}" height="100%"/>').format(
                band.tone,
                f"{100 * band.start:.2f}%",
                f"{100 * (band.end - band.start):.2f}%",
            )
            for band in row.bands
        ]
        drawn.append(_row(row.name, marks, row.text, row.tone))
    shown = [(f"{100 * place:.2f}%", text) for place, text in ends]
    return _rows(label, [*drawn, _scale(shown)], "bands")


def _rows(label: str, rows: Sequence[Markup], kind: str) -> Markup:
    list_ = '<ul class="plot {}" aria-label="{}">{}</ul>'
    return Markup(list_).format(kind, label, Markup("").join(rows))


def _row(name: str, marks: Sequence[Markup], text: str, tone: str = "") -> Markup:
    item = (
        '<li><span class="name">{}</span><svg class="track" aria-hidden="true">{}</svg>'
        '<span class="value {}">{}</span></li>'
    )
    return Markup(item).format(name, Markup("").join(marks), tone, text)


def _scale(ticks: Sequence[tuple[str, str]]) -> Markup:
    """Name places on the axis below all rows."""
    item = '<text x="{}" y="11" text-anchor="{}">{}</text>'
    texts = []
    for step, (place, text) in enumerate(ticks):
        side = "start" if step == 0 else "end" if step == len(ticks) - 1 else "middle"
        texts.append(Markup(item).format(place, side, text))
    scale = '<li class="scale" aria-hidden="true"><span></span><svg>{}</svg></li>'
    return Markup(scale).format(Markup("").join(texts))


def _across(kind: str, x1: str, x2: str, y1: str, y2: str) -> Markup:
    line = '<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>'
    return Markup(line).format(kind, x1, x2, y1, y2)


def running_mean(values: FloatArray, length: int) -> FloatArray:
    """Mean of the last ``length`` values, ignoring NaN; NaN if there are no others.

    >>> running_mean(np.array([1.0, np.nan, 3.0, 5.0]), 2)
    array([1., 1., 3., 4.])
    """
    known = ~np.isnan(values)
    total = np.cumsum(np.where(known, values, 0.0))
    count = np.cumsum(known)
    before = np.maximum(np.arange(len(values)) - length, -1)
    past = np.where(before >= 0, total[before], 0.0)
    seen = np.where(before >= 0, count[before], 0)
    inside = count - seen
    return np.where(inside > 0, (total - past) / np.maximum(inside, 1), np.nan)


def _percent(p: float) -> str:
    """Return a round probability in percent, as short as it can be.

    >>> _percent(0.0001), _percent(0.5), _percent(1 - 1e-4)
    ('0.01%', '50%', '99.99%')
    """
    return f"{100 * p:.6f}".rstrip("0").rstrip(".") + "%"


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
        ends = f"{frame.x(0):.1f}", f"{frame.x(1):.1f}"
        parts.append(_across("rule", *ends, y, y))
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


def _path(frame: Frame, line: Line) -> str:
    """Points of a line; it is interrupted where there are no values."""
    parts, pen, values = [], "M", line.values
    last = max(len(values) - 1, 1)
    for i in thin(len(values)) if len(values) else ():
        value = float(values[i])
        if not isfinite(value):
            pen = "M"
            continue
        place = i / last if line.places is None else float(line.places[i])
        value = min(max(value, frame.low), frame.high)
        parts.append(f"{pen}{_point(frame, place, value)}")
        pen = "L"
    return "".join(parts)
