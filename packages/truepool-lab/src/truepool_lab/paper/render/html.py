"""The paper's tables beside ours as one HTML file that loads nothing else."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from truepool.pages.html import html as to_html
from truepool.pages.page import Page, Section, Template
from truepool_lab.paper.render.cells import cell_texts
from truepool_lab.paper.render.report import (
    LEGEND,
    PlainData,
    agreement_text,
    conclusion_counts,
    layout,
    mark,
    notes,
    sentence,
    summary,
)
from truepool_lab.paper.render.svg import StyleSheet, inline

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def html(data: PlainData, figures: "Mapping[str, Figure]") -> str:
    """Return the page, with the figures that have been drawn."""
    sheet = StyleSheet()
    sections = tuple(
        _section(label, table, figures.get(label), sheet)
        for label, table in data["tables"].items()
    )
    title = "The paper, re-run"
    return to_html(
        Page(title, title, sections),
        "reproduction.html.j2",
        package=__package__,
        data=data,
        counts=conclusion_counts(data),
        summary=summary(data),
        legend=LEGEND,
        rules=sheet.rules,
    )


def _section(
    label: str, table: PlainData, figure: "Figure | None", sheet: StyleSheet
) -> Section:
    columns, keys, cells = layout(table)
    rows = [(key, [_cell(cells.get((key, c))) for c in columns]) for key in keys]
    caption = sentence(table["title"])
    shown = {
        "title": label,
        "caption": caption,
        "drawing": figure and inline(figure, caption, label, sheet=sheet),
        "conclusions": table["conclusions"],
        "agreement": agreement_text(table) if table["cells"] else "",
        "headers": [*table["row_key"], *columns],
        "rows": rows,
        "notes": notes(table),
    }
    return Section(label, label, (Template("table.html.j2", shown),))


def _cell(cell: PlainData | None) -> PlainData | None:
    if cell is None:
        return None
    printed, ours = cell_texts(cell)
    kind = cell["verdict"].replace(" ", "-")
    return {
        "kind": kind,
        "printed": printed,
        "ours": f"{ours} {mark(cell)}",
    }
