"""A table of text and formatted numbers, for a terminal, Markdown or a page."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import ClassVar

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from truepool.core.formatting import printable

TONES = {"error": "bold red", "warning": "bold yellow", "note": "cyan"}
"""How a terminal shows how severe something is."""


@dataclass(frozen=True)
class Item:
    """Something to read: a sentence, the numbers behind it, and a command.

    ``tone`` is how severe it is, ``badge`` a word for that.
    """

    text: str
    facts: tuple[tuple[str, str], ...] = ()
    command: str = ""
    tone: str = ""
    badge: str = ""

    def numbers(self) -> str:
        """Return the numbers on one line."""
        return "; ".join(f"{name}: {value}" for name, value in self.facts)

    def to_markdown(self, mark: str) -> str:
        """Return an item of a list.

        >>> print(Item("Leave b out.", (("saves", "4"),), "truepool").to_markdown("1."))
        1. Leave b out.
           saves: 4
           `truepool`
        """
        space = " " * (len(mark) + 1)
        badge = f"**{self.badge}** " if self.badge else ""
        if not self.text:
            return f"{mark} {plain(self.numbers())}"
        lines = [f"{mark} {badge}{plain(self.text)}"]
        lines += [f"{space}{plain(self.numbers())}"] if self.facts else []
        lines += [f"{space}`{line}`" for line in self.command.splitlines()]
        return "  \n".join(lines)

    def print(self, console: Console, mark: str) -> None:
        """Print to a terminal: the numbers under the sentence, the command alone."""
        space = " " * (len(mark) + 1)
        text = (
            Text(f"{self.badge} ", TONES.get(self.tone, "")) if self.badge else Text()
        )
        print_block(console, text.append(self.text, "not bold default"), f"{mark} ")
        if self.facts:
            print_block(console, Text(self.numbers()), space)
        for line in self.command.splitlines():
            shown = Text(space + line, "cyan")
            console.print(shown, soft_wrap=True, highlight=False)


@dataclass(frozen=True)
class Grid:
    """Headers and rows of text, with a title and notes.

    Where a terminal is too narrow for all columns, as many of the first as fit are
    shown, and at least ``essential``; with ``folded`` headers, these may take several
    lines. All columns but the first are aligned to the right, as numbers are, unless
    their cells are ``prose``, or they are among the first ``words``. ``legend`` says
    what columns mean, by header: a terminal shows it of the columns that it has room
    for. Of a row, ``tones`` say how severe it is and ``opens`` what a page shows when
    the row is opened.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    essential: int | None = None
    prose: bool = False
    legend: tuple[tuple[str, str], ...] = ()
    words: int = 1
    folded: bool = False
    tones: tuple[str, ...] = ()
    opens: tuple[tuple[Item, ...], ...] = ()
    kind: ClassVar[str] = "grid"

    def is_words(self, column: int) -> bool:
        """Whether a column has words, which begin at the left."""
        return self.prose or column < self.words

    def tone(self, row: int) -> str:
        """How severe a row is."""
        return self.tones[row] if self.tones else ""

    def to_markdown(self) -> str:
        """Return a Markdown table with its title, what its rows open to, and notes.

        >>> print(Grid("Two", ("a", "b"), (("x", "1"),)).to_markdown())
        **Two**
        <BLANKLINE>
        | a | b |
        |:--|--:|
        | x | 1 |
        """
        columns = range(len(self.headers))
        ruler = "".join("|:--" if self.is_words(i) else "|--:" for i in columns)
        lines = [f"**{self.title}**", ""] if self.title else []
        lines += [_line(self.headers), f"{ruler}|", *map(_line, self.rows)]
        for row, items in zip(self.rows, self.opens, strict=False):
            if items:
                lines += ["", f"{plain(row[0])}:", ""]
                lines += [item.to_markdown("-") for item in items]
        for note in self.explanations():
            lines += ["", note]
        return printable("\n".join(lines))

    def print(self, console: Console, *, brief: bool = False) -> None:
        """Print to a terminal, as wide as it is; a brief table is rows alone."""
        write = partial(console.print, markup=False, highlight=False)
        if self.title:
            write(self.title, style="bold")
        table = Table(
            box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False,
            show_header=any(self.headers),
        )  # fmt: skip
        shown = self._fitting_columns(console.width)
        widths = self._folded_widths(shown, console.width) if self.folded else {}
        for i, header in enumerate(self.headers[:shown]):
            side = "left" if self.is_words(i) else "right"
            table.add_column(
                Text(header), justify=side, width=widths.get(i),  # type: ignore[arg-type]
                no_wrap=i == 0 and not self.folded,
            )  # fmt: skip
        for place, row in enumerate(self.rows):
            style = TONES.get(self.tone(place), "")
            cells = [Text(cell) for cell in row[:shown]]  # names are no markup
            if style and len(cells) > 1:
                cells[1].stylize(style)
            table.add_row(*cells)
        console.print(table)
        if brief:
            return
        console.print()
        for row, items in zip(self.rows, self.opens, strict=False):
            said = [item for item in items if item.text]
            if said:
                write(f"{row[0]}:")
            for item in said:
                item.print(console, "-")
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
        every = len(self.headers)
        return max(fit, min(self.essential or every, every))

    def _widths(self) -> list[int]:
        """How wide the first column is, the first two, and so on."""
        columns = zip(self.headers, *self.rows, strict=True)
        blocks = [_longest(column) for column in columns]
        if self.folded:
            blocks = [self._blocks(i)[1] for i in range(len(self.headers))]
        ends = accumulate(width + 2 for width in blocks)
        return [end - 1 for end in ends]  # nothing follows the last

    def _blocks(self, place: int) -> tuple[int, int]:
        """How wide a folded column wants to be, and must be."""
        cells = [row[place] for row in self.rows]
        header = _longest(self.headers[place].split())
        want = max(header, _longest(cells))
        if not self.is_words(place):
            return want, want
        return want, max(header, *(_longest(cell.split()) for cell in cells), 0)

    def _folded_widths(self, shown: int, width: int) -> dict[int, int]:
        """Width of each folded column: words take more lines where room is short."""
        wanted = {i: self._blocks(i) for i in range(shown)}
        found = {i: want for i, (want, _) in wanted.items()}
        lacking = sum(found.values()) + 2 * shown - 1 - width
        for i, (want, least) in sorted(wanted.items(), key=lambda item: -item[1][0]):
            taken = min(max(lacking, 0), want - least)
            found[i], lacking = want - taken, lacking - taken
        return found


def _longest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts), default=0)


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
        print_block(console, Text(step), f"{place:>2}. ")


def print_block(console: Console, text: Text, mark: str) -> None:
    """Print text as a block, to the right of its mark."""
    first = Text(mark)
    for line in text.wrap(console, max(console.width - len(mark), 1)):
        line.rstrip()
        console.print(first + line, highlight=False)
        first = Text(" " * len(mark))
