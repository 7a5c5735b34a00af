"""The paper's tables beside ours: for the terminal, and as a Markdown page.

A page is a pure function of `Reproduction.to_dict`, as saved in ``verdicts.json``.
"""

import json
from collections import Counter
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from truepool.core.errors import SourceError
from truepool.core.files import write_text
from truepool.render.tables.grid import Grid
from truepool_paper.render.cells import cell_texts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PlainData: TypeAlias = Mapping[str, Any]
PAGES = ("verdicts.json", "reproduction.md", "reproduction.html")
MARKS = {
    "match": "✓",
    "close": "≈",
    "differs": "✗",
    "not printed": "·",
    "pending": "…",
}
LEGEND = (
    "printed → ours ± standard error. ✓ match: no further apart than rounding and "
    "twice the sampling error. ≈ close: same sign, and no two methods clearly in "
    "another order, however far apart the numbers. "
    "✗ differs. · not printed. … pending. A printed ± is a standard deviation."
)


def grid(data: PlainData) -> Grid:
    """One line per table: its verdict, and the verdicts of its cells."""
    rows = tuple(
        (label, table["verdict"], *counts(table), table["title"])
        for label, table in data["tables"].items()
    )
    title = f"{len(rows)} tables and figures of the paper, {data['size']} size"
    headers = ("label", "verdict", "match", "close", "differs", "what it shows")
    return Grid(title, headers, rows, (summary(data),), essential=5)


def counts(table: PlainData) -> tuple[str, ...]:
    """How many cells match, are close, and differ."""
    found = Counter(cell["verdict"] for cell in table["cells"])
    return tuple(str(found[v] or "") for v in ("match", "close", "differs"))


def summary(data: PlainData) -> str:
    """How many tables have which verdict.

    >>> table = {"verdict": "match", "cells": [{"verdict": "match"}]}
    >>> print(summary({"tables": {"a": table, "b": table}}))
    2 match, 0 close, 0 differs, 0 not printed, 0 pending. Of 2 printed numbers 2 match,
    0 are close and 0 differ.
    """
    tables = data["tables"].values()
    found = Counter(table["verdict"] for table in tables)
    cells = Counter(cell["verdict"] for table in tables for cell in table["cells"])
    match, close, differs = (cells[v] for v in ("match", "close", "differs"))
    return (
        ", ".join(f"{found[verdict]} {verdict}" for verdict in MARKS)
        + f". Of {match + close + differs} printed numbers {match} match, {close} are "
        f"close and {differs} differ."
    )


def markdown(data: PlainData, figures: Mapping[str, str] | None = None) -> str:
    """Return the page: every table side by side, its reading, and its cause.

    ``figures`` holds the path of each drawn figure.
    """
    lines = [f"# The paper, re-run ({data['size']} size)", "", summary(data)]
    lines += ["", f"Each cell reads: {LEGEND}", ""]
    lines += [f"- {name}: {value}" for name, value in data["environment"].items()]
    lines += ["", *_index(data)]
    for label, table in data["tables"].items():
        lines += ["", f"## {label}: {table['verdict']}", "", sentence(table["title"])]
        if label in (figures or {}):
            lines += ["", f"![{table['title']}]({(figures or {})[label]})"]
        if table["cells"]:
            lines += ["", *_table(table)]
        lines += [line for note in notes(table) for line in ("", note)]
    return "\n".join(lines) + "\n"


def sentence(title: str) -> str:
    """Return a title that ends with a full stop.

    >>> sentence("FN by n"), sentence("Who gains?")
    ('FN by n.', 'Who gains?')
    """
    return title if title.endswith("?") else f"{title}."


def notes(table: PlainData) -> list[str]:
    """Return why a table differs or is pending, and how it was read."""
    explained = table["cause"] and table["verdict"] in ("differs", "pending")
    found = [f"Why: {table['cause']}"] if explained else []
    return [*found, f"Reading: {table['reading']}"] if table["reading"] else found


def layout(
    table: PlainData,
) -> tuple[list[str], list[tuple[Any, ...]], dict[Any, PlainData]]:
    """Columns, row keys and cells by place; the paper's first, then what is ours."""
    cells = {(tuple(cell["key"]), cell["column"]): cell for cell in table["cells"]}
    keys = list(dict.fromkeys(key for key, _ in cells))
    columns = list(dict.fromkeys([*table["columns"], *(c for _, c in cells)]))
    return columns, keys, cells


def write(data: PlainData, figures: Mapping[str, "Figure"], out: Path) -> list[Path]:
    """Write verdicts, figures and both pages into a folder; return the pages."""
    from truepool_paper.render.html import html

    drawn = {label: svg(page) for label, page in figures.items()}
    names = {label: f"figures/{label.replace(':', '_')}.svg" for label in drawn}
    pages = {names[label]: text for label, text in drawn.items()}
    texts = (
        json.dumps(data, indent=1) + "\n",
        markdown(data, names),
        html(data, figures),
    )
    pages |= dict(zip(PAGES, texts, strict=True))
    try:
        for name, text in pages.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            write_text(out / name, text)
    except OSError as error:
        raise SourceError(
            f"{str(out)!r} cannot be written into: {error.strerror}; name another "
            "folder"
        ) from None
    return [out / name for name in PAGES[1:]]


def svg(page: "Figure") -> str:
    """Return a figure as SVG text, the same for the same rows."""
    from matplotlib import rc_context

    text = StringIO()
    with rc_context({"svg.hashsalt": "truepool", "svg.fonttype": "none"}):
        page.savefig(text, format="svg", metadata={"Date": None}, facecolor="white")
    whole = text.getvalue()
    return whole[whole.index("<svg") :]


def _index(data: PlainData) -> list[str]:
    """One linked line per table: its verdict, and how many cells have which."""
    head = ["", "verdict", "match", "close", "differs", "what it shows"]
    return [
        _table_line(head),
        "|" + "---|" * len(head),
        *(
            _table_line([_link(label, t), t["verdict"], *counts(t), t["title"]])
            for label, t in data["tables"].items()
        ),
    ]


def _link(label: str, table: PlainData) -> str:
    """Link to a section by the name that Markdown gives its heading.

    >>> _link("tab:poa", {"verdict": "not printed"})
    '[tab:poa](#tabpoa-not-printed)'
    """
    anchor = f"{label}: {table['verdict']}".replace(":", "").replace(" ", "-")
    return f"[{label}](#{anchor})"


def _table(table: PlainData) -> list[str]:
    columns, keys, cells = layout(table)
    head = [*table["row_key"], *columns]
    lines = [_table_line(head), "|" + "---|" * len(head)]
    for key in keys:
        texts = [_text(cells[key, c]) if (key, c) in cells else "" for c in columns]
        lines.append(_table_line([*(str(part) for part in key), *texts]))
    return lines


def _text(cell: PlainData) -> str:
    printed, ours = cell_texts(cell)
    arrow = " → " if printed and ours else ""
    return f"{printed}{arrow}{ours} {MARKS[cell['verdict']]}".strip()


def _table_line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
