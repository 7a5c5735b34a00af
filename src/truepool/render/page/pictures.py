"""Figures and tables as a page holds them."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from truepool.render.html.svg import inline
from truepool.render.markup import Markup, joined, tag
from truepool.render.tables.grid import Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 30
"""Rows a figure has room for; tables show all."""
MOST_SPOKEN = 8
"""Numbers that are read aloud for a figure."""


def listed(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the first few pairs as words, for those who cannot see the figure.

    >>> listed([("ada", "60 %"), ("bob", "40 %")])
    'ada 60 %, bob 40 %'
    """
    return ", ".join(f"{name} {told}" for name, told in islice(pairs, MOST_SPOKEN))


def pictured(
    figure: "Figure", name: str, label: str, caption: str | None = None
) -> Markup:
    """Return a figure with what is read aloud for it, and what stands under it."""
    return tag(
        "figure",
        inline(figure, label, name),
        tag("figcaption", caption) if caption else None,
        id=f"figure-{name}",
    )


def row_of(pictures: Sequence[Markup]) -> Markup:
    """Return figures side by side where there is room."""
    return tag("div", *pictures, class_="figures")


def small_row_of(pictures: Sequence[Markup]) -> Markup:
    """Return small figures, as many side by side as there is room for."""
    return tag("div", *pictures, class_="figures small")


def table(grid: Grid) -> Markup:
    """Return a table that sorts, and scrolls by itself where it is too wide."""
    scrolled = tag(
        "div",
        grid.to_html(sortable=True),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=grid.title,
    )
    return joined(scrolled, *(tag("p", note) for note in grid.notes))
