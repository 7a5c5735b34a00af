"""How figures look: one palette, one ink, told apart without colour too."""

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
"""Each colour on a light and on a dark ground. Found by search: at least 3 : 1 against
its ground, and any two of the first five apart for every kind of colour vision."""
SERIES = tuple(light for name, (light, _) in PALETTE.items() if name != "grey")
DASHES = ("-", "--", "-.", ":", (0, (6, 1.5, 1, 1.5, 1, 1.5)))
MARKERS = ("o", "s", "^", "D", "v")
LONGEST = 22
"""Characters of a name that a figure shows; tables show all of them."""
WIDTH = 4.7
"""Inches: small enough that the words can be read on a telephone."""
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

LOOKS = (
    "axes.", "figure.", "font.", "grid.", "hatch.", "legend.", "lines.", "markers.",
    "patch.", "path.", "scatter.", "text.", "xaxis.", "xtick.", "yaxis.", "ytick.",
)  # fmt: skip
"""Settings of matplotlib that change how a figure looks."""


def styled(draw: "Callable[P, Figure]") -> "Callable[P, Figure]":
    """Draw in the house style, whatever the user's own settings are."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> "Figure":
        import matplotlib

        plain = {
            key: value
            for key, value in matplotlib.rcParamsDefault.items()
            if key.startswith(LOOKS)
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
    """Colour, dashes and marker of a line: one under another still shows."""
    step = place % len(SERIES)
    return {
        "color": SERIES[step],
        "linestyle": DASHES[(place + place // len(SERIES)) % len(DASHES)],
        "marker": MARKERS[step],
        "markersize": 3.5,
    }


def short(name: str) -> str:
    r"""A name that fits; matplotlib drops labels that begin with an underscore.

    >>> short("a very long name of an agent"), short("_ada")
    ('a very long name of a…', '\u200b_ada')
    """
    cut = name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
    return f"\u200b{cut}" if cut.startswith("_") else cut
