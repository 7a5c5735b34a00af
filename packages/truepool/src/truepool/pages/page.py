"""A page: what is shown on a terminal, as Markdown and as HTML.

A page has sections; a section has parts: text, lists, tables and figures. What a
medium cannot show, such as a figure on a terminal, is left out there: its numbers stand
in a table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from markupsafe import Markup
from rich.console import Console

from truepool.core.formatting import printable
from truepool.pages.grid import Grid, Item, plain

__all__ = ["Beside", "Figure", "Grid", "Item", "Items", "Page", "Part", "Section",
           "Template", "Text"]  # fmt: skip


@dataclass(frozen=True)
class Text:
    """Paragraphs, or the lines of a list."""

    lines: tuple[str, ...]
    listed: bool = False
    kind: ClassVar[str] = "text"


@dataclass(frozen=True)
class Items:
    """Items, one below the other; numbered where their order counts."""

    items: tuple[Item, ...]
    numbered: bool = False
    kind: ClassVar[str] = "items"


@dataclass(frozen=True)
class Figure:
    """A drawing with its title, what its lines stand for and a caption.

    ``waiting`` is said in place of a drawing for which there is too little.
    """

    title: str = ""
    drawing: Markup | None = None
    legend: tuple[str, ...] = ()
    waiting: str = ""
    caption: str = ""
    name: str = ""
    """Its anchor."""
    kind: ClassVar[str] = "figure"


@dataclass(frozen=True)
class Beside:
    """Parts side by side where there is room; ``small`` ones many in a row."""

    parts: "tuple[Part, ...]"
    small: bool = False
    kind: ClassVar[str] = "beside"


@dataclass(frozen=True)
class Template:
    """A part of an HTML page alone, by a template of its own."""

    template: str
    shown: Mapping[str, Any] = field(default_factory=dict)
    kind: ClassVar[str] = "template"


Part: TypeAlias = Text | Items | Grid | Figure | Beside | Template


@dataclass(frozen=True)
class Section:
    """A part of a page: its anchor, heading, and the text of the link to it.

    A section without a title stands above the links. A terminal shows those that are
    ``brief``, and all if asked.
    """

    name: str
    title: str
    parts: tuple[Part, ...]
    link: str = ""
    brief: bool = False


@dataclass(frozen=True)
class Page:
    """Title, what it asks, the answer, what it is about, and sections.

    ``tone`` is how severe the answer is; ``facts`` are numbers with their names.
    """

    title: str
    headline: str
    sections: tuple[Section, ...]
    question: str = ""
    tone: str = ""
    about: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()

    def print(self, console: Console, *, verbose: bool = False) -> None:
        """Print the headline and the sections that are brief, or all."""
        console.print(self.headline, style="bold", highlight=False, markup=False)
        shown = [one for one in self.sections if verbose or one.brief]
        for section in shown:
            parts = [part for part in _flat(section.parts) if _is_text(part)]
            if not parts:
                continue
            console.print()
            if section.title and verbose and not section.brief:
                console.print(section.title, style="bold underline", markup=False)
            for part in parts:
                _print(part, console, brief=not verbose)

    def to_markdown(self) -> str:
        """Return the whole page as Markdown."""
        lines = [f"# {plain(self.headline)}", "", *_paragraphs(self.about)]
        lines += [f"- {plain(name)}: {plain(value)}" for name, value in self.facts]
        for section in self.sections:
            parts = [part for part in _flat(section.parts) if _is_text(part)]
            if parts and section.title:
                lines += ["", f"## {plain(section.title)}"]
            for part in parts:
                lines += ["", _markdown(part)]
        return printable("\n".join(lines).rstrip() + "\n")


def _flat(parts: tuple[Part, ...]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Beside):
            yield from _flat(part.parts)
        else:
            yield part


def _is_text(part: Part) -> bool:
    return isinstance(part, Text | Items | Grid)


def _paragraphs(lines: tuple[str, ...]) -> list[str]:
    return [text for line in lines for text in (plain(line), "")]


def _print(part: Part, console: Console, *, brief: bool) -> None:
    if isinstance(part, Grid):
        part.print(console, brief=brief)
    elif isinstance(part, Items):
        for place, item in enumerate(part.items, start=1):
            item.print(console, f"{place}." if part.numbered else "-")
    elif isinstance(part, Text):
        mark = "- " if part.listed else ""
        for line in part.lines:
            console.print(mark + line, highlight=False, markup=False)


def _markdown(part: Part) -> str:
    if isinstance(part, Grid):
        return part.to_markdown()
    if isinstance(part, Items):
        marks = (f"{place}." for place in range(1, len(part.items) + 1))
        return "\n".join(
            item.to_markdown(mark if part.numbered else "-")
            for mark, item in zip(marks, part.items, strict=True)
        )
    if isinstance(part, Text):
        if part.listed:
            return "\n".join(f"- {plain(line)}" for line in part.lines)
        return "\n".join(_paragraphs(part.lines)).rstrip()
    raise AssertionError("only text is Markdown")
