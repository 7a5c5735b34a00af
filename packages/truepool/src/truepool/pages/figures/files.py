"""Figures as files."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from truepool.core import files
from truepool.core.errors import SourceError
from truepool.core.formatting import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")


def check_path(path: Path) -> None:
    """Refuse a path to which no figure can be written."""
    if path.suffix.lower() not in FORMATS and not path.is_dir():
        raise SourceError(
            f"a figure is written as {', '.join(FORMATS)}; got {str(path)!r}"
        )
    files.check_path(path)


def save(figure: "Figure", path: Path) -> None:
    """Write a figure as SVG, PNG or PDF, on a white background."""
    from matplotlib.text import Text

    check_path(path)
    for text in figure.findobj(Text):
        text.set_text(printable(text.get_text()))
    # In memory first: on a full disk, matplotlib's PDF fails with an error of its own.
    drawn = BytesIO()
    kind = path.suffix[1:].lower()
    figure.savefig(drawn, format=kind, dpi=120, facecolor="white")
    files.write_bytes(path, drawn.getvalue())
