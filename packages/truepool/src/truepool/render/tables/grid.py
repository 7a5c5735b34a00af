"""A table of text and formatted numbers, for a terminal, Markdown or a page."""

import re
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from truepool.core.formatting import printable


@dataclass(frozen=True)
class Grid:
    """Headers and rows of text, with a title and notes.

    Where a terminal is too narrow for all columns, as many of the first as fit are
    shown, and at least ``essential``. All columns but the first are aligned to the
    right, as numbers are, unless their cells are ``prose``. ``legend`` says what
    columns mean, by header: a terminal shows it of the columns that it has room for.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    essential: int | None = None
    prose: bool = False
    legend: tuple[tuple[str, str], ...] = ()

    def to_markdown(self) -> str:
        """Return a Markdown table with its title and notes.

        >>> print(Grid("Two", ("a", "b"), (("x", "1"),)).to_markdown())
        **Two**
        <BLANKLINE>
        | a | b |
        |:--|--:|
        | x | 1 |
        """
        side = "|:--" if self.prose else "|--:"
        ruler = "|:--" + side * (len(self.headers) - 1) + "|"
        lines = [f"**{self.title}**", "", _line(self.headers), ruler]
        lines += [_line(row) for row in self.rows]
        for note in self.explanations():
            lines += ["", note]
        return printable("\n".join(lines))

    def print(self, console: Console) -> None:
        """Print to a terminal, as wide as it is."""
        write = partial(console.print, markup=False, highlight=False)
        write(self.title, style="bold")
        table = Table(
            box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False,
            show_header=any(self.headers),
        )  # fmt: skip
        shown = self._fitting_columns(console.width)
        for i, header in enumerate(self.headers[:shown]):
            left = i == 0 or self.prose
            table.add_column(
                Text(header), justify="left" if left else "right", no_wrap=i == 0
            )
        for row in self.rows:
            table.add_row(*map(Text, row[:shown]))  # names are no markup
        console.print(table)
        console.print()
        for note in self.explanations(shown):
            write(note)
        if shown < len(self.headers):
            hidden = ", ".join(map(repr, self.headers[shown:]))
            wide = self._widths()[-1]
            needed = (
                f"a terminal of {wide}" if console.is_terminal else f"COLUMNS={wide}"
            )
            write(f"Left out for lack of width: {hidden}; {needed} shows all.")

    def explanations(self, shown: int | None = None) -> tuple[str, ...]:
        """Return the legend of the first columns, all by default, then the notes.

        >>> legend = (("a", "A: one."), ("b", "B: two."))
        >>> Grid("Two", ("a", "b"), (), ("Note.",), legend=legend).explanations(1)
        ('A: one.', 'Note.')
        """
        known = self.headers[:shown]
        legend = " ".join(words for header, words in self.legend if header in known)
        return (legend, *self.notes) if legend else self.notes

    def _fitting_columns(self, width: int) -> int:
        """How many columns fit."""
        fit = sum(end <= width for end in self._widths())
        return max(fit, self.essential or len(self.headers))

    def _widths(self) -> list[int]:
        """How wide the first column is, the first two, and so on."""
        columns = zip(self.headers, *self.rows, strict=True)
        ends = accumulate(max(map(cell_len, column)) + 2 for column in columns)
        return [end - 1 for end in ends]  # nothing follows the last


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(plain, cells))} |"


def plain(text: str) -> str:
    r"""Return text with everything escaped that Markdown reads as tag, link or cell.

    >>> print(plain("a|b <i> [c](d)"))
    a\|b \<i> [c]\(d)
    """
    return re.sub(r"[|<]|(?<=\])\(", r"\\\g<0>", text)


def print_steps(console: Console, steps: list[str]) -> None:
    """Print what to do, one numbered step after another."""
    console.print("What to do:", style="bold", highlight=False)
    for place, step in enumerate(steps, start=1):
        print_block(console, Text(step), Text(f"{place:>2}. "))


def print_block(console: Console, text: Text, mark: Text) -> None:
    """Print text as a block, to the right of its mark."""
    for line in text.wrap(console, max(console.width - len(mark), 1)):
        line.rstrip()
        console.print(mark + line, highlight=False)
        mark = Text(" " * len(mark))
