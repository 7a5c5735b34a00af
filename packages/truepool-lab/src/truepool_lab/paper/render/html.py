"""The paper's tables beside ours as one HTML file that loads nothing else."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from truepool.render.html import Section, page
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

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def html(data: PlainData, figures: "Mapping[str, Figure]") -> str:
    """Return the page, with the figures that have been drawn."""
    sections = [
        _section(label, table, {k: v for k, v in figures.items() if k == label})
        for label, table in data["tables"].items()
    ]
    return page(
        "reproduction.html.j2",
        package=__package__,
        title="The paper, re-run",
        data=data,
        counts=conclusion_counts(data),
        summary=summary(data),
        legend=LEGEND,
        sections=sections,
    )


def _section(label: str, table: PlainData, figures: "Mapping[str, Figure]") -> Section:
    heading = label
    columns, keys, cells = layout(table)
    rows = [(key, [_cell(cells.get((key, c))) for c in columns]) for key in keys]
    shown = {
        "caption": sentence(table["title"]),
        "conclusions": table["conclusions"],
        "agreement": agreement_text(table) if table["cells"] else "",
        "headers": [*table["row_key"], *columns],
        "rows": rows,
        "notes": notes(table),
    }
    return Section(label, heading, heading, "table.html.j2", shown, figures)


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
