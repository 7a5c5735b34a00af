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
from truepool.core.formatting import pluralize
from truepool.pages.grid import Grid
from truepool_lab.paper.render import conclusions
from truepool_lab.paper.render.cells import cell_texts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PlainData: TypeAlias = Mapping[str, Any]
PAGES = ("verdicts.json", "reproduction.md", "reproduction.html")
MARKS = {
    "match": "✓",
    "near": "≈",
    "apart": "✗",
    "not printed": "·",
    "not at hand": "◦",
    "pending": "…",
}
NO_EVIDENCE = "†"
LEGEND = (
    "printed → ours ± standard error. ✓ match: no further apart than rounding and "
    "twice the sampling error. ≈ near: at most 20 % apart. ✗ apart. · not printed. "
    "◦ of hardware that we do not have, never compared. … pending. † no evidence: "
    "fitted to this cell, true by construction, or a running time on another machine; "
    "not counted. A printed ± is a standard deviation."
)
BASES = {
    "stated": "stated in the paper",
    "inferred": "inferred from printed cells",
    "ours": "ours, where the paper leaves a choice",
}


def grid(data: PlainData) -> Grid:
    """One line per table: its conclusions, how near its numbers are, its reading."""
    rows = tuple(
        (label, verdicts(table), *nearness(table), table["basis"], table["title"])
        for label, table in data["tables"].items()
    )
    first = sum("@" not in label for label in data["tables"])
    what = "table or figure" if first == 1 else "tables and figures"
    title = f"{first} {what} of the paper, {data['size']} size"
    if first < len(rows):
        title += f", and {pluralize(len(rows) - first, 'other reading')}"
    notes = (conclusion_counts(data), summary(data), *pending(data))
    return Grid(title, HEADERS, rows, notes, essential=5, legend=COLUMNS)


HEADERS = (
    "label", "conclusions", "ratio", "within 20 %", "within error", "reading",
    "what it shows",
)  # fmt: skip


COLUMNS = (
    ("conclusions", "Conclusions: those of the paper about the table, by verdict."),
    ("ratio", "Ratio: the median factor between ours and the printed number."),
    (
        "within error",
        "Within error: cells that differ by no more than sampling error allows.",
    ),
    (
        "reading",
        "Reading: where the settings come from; stated in the paper, inferred from "
        "printed cells, or ours where the paper leaves a choice.",
    ),
)
"""What the columns of the table in the terminal mean."""


def verdicts(table: PlainData) -> str:
    """How many conclusions about a table have which verdict.

    >>> verdicts({"conclusions": [{"verdict": "holds"}, {"verdict": "holds"}]})
    '2 hold'
    """
    found = Counter(claim["verdict"] for claim in table["conclusions"])
    words = {
        "holds": ("holds", "hold"),
        "holds in part": ("holds in part", "hold in part"),
        "does not hold": ("does not hold", "do not hold"),
        "not decidable": ("not decidable", "not decidable"),
    }
    return ", ".join(
        f"{found[verdict]} {forms[found[verdict] > 1]}"
        for verdict, forms in words.items()
        if found[verdict]
    )


def nearness(table: PlainData) -> tuple[str, str, str]:
    """Typical ratio, and the shares within 20 % and within sampling error."""
    level = table["level"]
    if table["status"] != "compared":
        return (table["status"], "", "")
    if not level["cells"]:
        return ("no evidence", "", "")
    ratio = "none" if level["ratio"] is None else f"{level['ratio']:.2f}"
    cells = level["cells"]
    return ratio, f"{level['near']} of {cells}", f"{level['match']} of {cells}"


def conclusion_counts(data: PlainData) -> str:
    """How many of the main conclusions stand."""
    found = Counter(claim["verdict"] for claim in data["conclusions"])
    return (
        f"Main conclusions of all published tables: {found['holds']} hold, "
        f"{found['holds in part']} hold in part, {found['does not hold']} do not, "
        f"{found['not decidable']} cannot be decided."
    )


def summary(data: PlainData) -> str:
    """How near the numbers are, how many are not counted, and what readings change."""
    tables = data["tables"]
    first = [table for label, table in tables.items() if "@" not in label]
    text = f"{_nearness_of(first)} {_uncounted(first)}"
    other = {
        label: table
        for label, table in tables.items()
        if "@" in label and table["status"] == "compared"
    }
    if not other:
        return text
    names = {label.partition("@")[0] for label in other}
    mine = [table for label, table in tables.items() if label in names]
    return (
        f"{text} With a second reading, inferred from printed cells: "
        f"{pluralize(len(names), 'table')}; within sampling error are "
        f"{_matches(mine)} numbers under the first reading and "
        f"{_matches(list(other.values()))} under the second. A number that a reading "
        "was fitted to, or does not measure, does not count for it."
    )


def pending(data: PlainData) -> list[str]:
    """Say why tables are pending, and how to get what they need."""
    labels: dict[str, list[str]] = {}
    for label, table in data["tables"].items():
        if table["status"] == "pending":
            labels.setdefault(table["cause"], []).append(label)
    return [f"{', '.join(found)}: pending, {why}." for why, found in labels.items()]


def _matches(tables: list[PlainData]) -> str:
    match, cells = (
        sum(t["level"][what] for t in tables) for what in ("match", "cells")
    )
    return f"{match} of {cells}"


def _nearness_of(tables: list[PlainData]) -> str:
    cells, near, match = (
        sum(t["level"][what] for t in tables) for what in ("cells", "near", "match")
    )
    are = "is" if near == 1 else "are"
    return (
        f"Of {cells} printed numbers {near} {are} within 20 % and {match} within "
        "sampling error."
    )


def _uncounted(tables: list[PlainData]) -> str:
    fitted, constructed, timed, pending = (
        sum(t["level"]["fitted"] for t in tables),
        sum(t["level"]["constructed"] for t in tables),
        sum(t["level"]["timed"] for t in tables),
        sum(t["status"] == "pending" for t in tables),
    )
    return (
        f"Not counted: {fitted} that a setting was fitted to, {constructed} true by "
        f"construction, {timed} running times. Pending: {pending}."
    )


def markdown(
    data: PlainData,
    figures: Mapping[str, str] | None = None,
    claims_page: str | None = None,
) -> str:
    """Return the page: conclusions first, then every table side by side.

    ``figures`` holds the path of each drawn figure, ``claims_page`` the path of the
    page of claims, if there is one beside this page.
    """
    lines = [f"# The paper, re-run ({data['size']} size)", ""]
    lines += conclusions.section(data["conclusions"], claims_page)
    lines += ["", "## How near the numbers are", "", summary(data), ""]
    lines += ["*Ratio* is the median factor between ours and the printed number.", ""]
    lines += _index(data)
    lines += ["", f"Each cell reads: {LEGEND}", "", *_provenance(data)]
    for label, table in data["tables"].items():
        lines += ["", f"## {label}", "", sentence(table["title"])]
        if label in (figures or {}):
            lines += ["", f"![{table['title']}]({(figures or {})[label]})"]
        lines += conclusions.of_table(table["conclusions"], claims_page)
        if table["cells"]:
            lines += ["", agreement_text(table), "", *_table(table)]
        lines += [line for note in notes(table) for line in ("", note)]
    return "\n".join(lines) + "\n"


def _provenance(data: PlainData) -> list[str]:
    lines = [f"- {name}: {value}" for name, value in data["environment"].items()]
    if data["added"]:
        lines += [
            "- measured in runs of their own, with the same versions: "
            + ", ".join(data["added"])
        ]
    return lines


def sentence(title: str) -> str:
    """Return a title that ends with a full stop.

    >>> sentence("FN by n"), sentence("Who gains?")
    ('FN by n.', 'Who gains?')
    """
    return title if title.endswith("?") else f"{title}."


def agreement_text(table: PlainData) -> str:
    """Level and order of a table in one line."""
    level, order = table["level"], table["order"]
    if table["status"] == "not printed":
        return "None of these numbers is printed in the paper."
    if not level["cells"]:
        return "Level: no cell is evidence."
    ratio, near, match = nearness(table)
    text = f"Level: median ratio {ratio}, {near} within 20 %, {match} within error."
    if sum(order.values()):
        text += (
            f" Order of methods, pairs that the print sets apart: {order['same']} the "
            f"same, {order['reversed']} reversed, {order['open']} not significant."
        )
    return text


def notes(table: PlainData) -> list[str]:
    """Return why a table differs or is pending, how it was read, and when measured."""
    level, run = table["level"], table["run"]
    differs = level["match"] < level["cells"] or table["status"] == "pending"
    found = [f"Apart: {text}." for text in [apart(table)] if text]
    found += [f"Why: {table['cause']}"] if table["cause"] and differs else []
    if table["reading"]:
        found.append(f"Reading ({BASES[table['basis']]}): {table['reading']}")
    if run and run["outdated"]:
        found.append(
            f"Measured on {run['day']} with version {run['version']} of the "
            "experiment, which has changed since: rows without a number of ours await "
            "the next full run, and the reading is that of the new version."
        )
    elif run:
        found.append(
            f"Measured on {run['day']} with version {run['version']} of the experiment."
        )
    return found


def apart(table: PlainData) -> str:
    """Where numbers that are evidence are apart: by column, how many of how many.

    >>> cell = {"column": "FN", "kind": "evidence"}
    >>> apart({"cells": [{**cell, "verdict": "apart"}, {**cell, "verdict": "match"}]})
    'FN (1 of 2)'
    """
    judged = [
        cell
        for cell in table["cells"]
        if cell["kind"] == "evidence" and cell["verdict"] in ("match", "near", "apart")
    ]
    every = Counter(cell["column"] for cell in judged)
    far = Counter(cell["column"] for cell in judged if cell["verdict"] == "apart")
    return ", ".join(f"{name} ({far[name]} of {every[name]})" for name in far)


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
    from truepool_lab.paper.render.html import html

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
    """One linked line per table: conclusions, nearness and reading."""
    return [
        _table_line(list(HEADERS)),
        "|" + "---|" * len(HEADERS),
        *(
            _table_line(
                [_link(label), verdicts(t), *nearness(t), t["basis"], t["title"]]
            )
            for label, t in data["tables"].items()
        ),
    ]


def _link(label: str) -> str:
    """Link to a section by the name that Markdown gives its heading.

    >>> _link("tab:poa@inferred")
    '[tab:poa@inferred](#tabpoainferred)'
    """
    anchor = label.replace(":", "").replace("@", "")
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
    return f"{printed}{arrow}{ours} {mark(cell)}".strip()


def mark(cell: PlainData) -> str:
    """Return the sign of a verdict, with another one where the cell is no evidence."""
    judged = cell["verdict"] in ("match", "near", "apart")
    doubt = NO_EVIDENCE if judged and cell["kind"] != "evidence" else ""
    return MARKS[cell["verdict"]] + doubt


def _table_line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
