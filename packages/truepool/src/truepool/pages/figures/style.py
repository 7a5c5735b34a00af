"""The style of all figures: one palette; lines also differ without colour."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")

INK = "#000000"
"""Text and axes; a page replaces it by the colour of its text."""
GREY = "#6b7280"
PALETTE = {
    "blue": ("#0f5fb0", "#4f97ef"),
    "red": ("#982d06", "#e8703a"),
    "green": ("#1b9b87", "#74e8bd"),
    "plum": ("#4f1247", "#b768a8"),
    "gold": ("#938c00", "#f2e27a"),
    "grey": (GREY, "#9aa3b2"),
}
"""Each colour on a light and on a dark background. Found by search: at least 3 : 1
against its background, and the first five differ for every kind of colour vision."""
SERIES = tuple(light for name, (light, _) in PALETTE.items() if name != "grey")
DASHES = ("-", "--", "-.", ":", (0, (6, 1.5, 1, 1.5, 1, 1.5)))
MARKERS = ("o", "s", "^", "D", "v")
MAX_NAME = 22
"""Largest number of characters of a name in a figure; tables show all."""
WIDTH = 4.7
"""Width of a figure in inches: its text can be read on a phone."""
STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "axes.axisbelow": True,
    "figure.facecolor": "none",
    "grid.color": INK,
    "grid.alpha": 0.12,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    # Names are the user's: a dollar in them is a dollar.
    "text.parse_math": False,
}

STYLE_PREFIXES = (
    "axes.", "figure.", "font.", "grid.", "hatch.", "legend.", "lines.", "markers.",
    "patch.", "path.", "scatter.", "text.", "xaxis.", "xtick.", "yaxis.", "ytick.",
)  # fmt: skip
"""Settings of matplotlib that change how a figure looks."""


def house_style(draw: "Callable[P, Figure]") -> "Callable[P, Figure]":
    """Draw in the house style, whatever the user's own settings are."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> "Figure":
        import matplotlib

        plain = {
            key: value
            for key, value in matplotlib.rcParamsDefault.items()
            if key.startswith(STYLE_PREFIXES)
        }
        with matplotlib.rc_context({**plain, **STYLE}):
            return draw(*args, **kwargs)

    return drawn


def canvas(height: float, width: float = WIDTH) -> "tuple[Figure, Axes]":
    """Return a figure with one pair of axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def line_style(place: int) -> dict[str, Any]:
    """Colour, dashes and marker of a line, so that one behind another still shows."""
    step = place % len(SERIES)
    return {
        "color": SERIES[step],
        "linestyle": DASHES[(place + place // len(SERIES)) % len(DASHES)],
        "marker": MARKERS[step],
        "markersize": 3.5,
    }


def shorten(name: str) -> str:
    r"""Return a name that fits; matplotlib drops labels that begin with an underscore.

    >>> shorten("a very long name of an agent"), shorten("_ada")
    ('a very long name of a…', '\u200b_ada')
    """
    cut = name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…"
    return f"\u200b{cut}" if cut.startswith("_") else cut
