"""A table ready to be shown: words and formatted numbers, no matter where."""

from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Grid:
    """Headers, rows of text, and what a reader needs to know before and after."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def to_markdown(self) -> str:
        """Return a Markdown table with its title and notes.

        >>> print(Grid("Two", ("a", "b"), (("x", "1"),)).to_markdown())
        **Two**
        <BLANKLINE>
        | a | b |
        |:--|--:|
        | x | 1 |
        """
        ruler = "|:--" + "|--:" * (len(self.headers) - 1) + "|"
        lines = [f"**{self.title}**", "", _line(self.headers), ruler]
        lines += [_line(row) for row in self.rows]
        for note in self.notes:
            lines += ["", note]
        return "\n".join(lines)

    def print(self, console: Console) -> None:
        """Print to a terminal, as wide as it is."""
        console.print(self.title, style="bold", highlight=False)
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
        for i, header in enumerate(self.headers):
            table.add_column(
                header, justify="left" if i == 0 else "right", no_wrap=i == 0
            )
        for row in self.rows:
            table.add_row(*row)
        console.print(table)
        console.print()
        for note in self.notes:
            console.print(note, highlight=False)


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"
