"""The paper's tables beside ours as one HTML file that asks for nothing else."""

from collections.abc import Mapping
from html import escape
from typing import Any

from truepool_paper.render.cells import sides
from truepool_paper.render.report import (
    LEGEND,
    MARKS,
    Told,
    layout,
    notes,
    sentence,
    summary,
)

STYLE = """
:root { color-scheme: light dark; --line: #8884; --dim: #5c5c5c }
@media (prefers-color-scheme: dark) { :root { --dim: #b0b0b0 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto;
       padding: 0 1rem }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .3rem; border-top: 1px solid var(--line);
     padding-top: 1rem }
h2 a { color: inherit; text-decoration: none }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .85rem; margin: .6rem 0 }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: right;
         white-space: nowrap }
th { text-align: left; font-weight: 600 } 
th:first-child { white-space: normal; min-width: 7rem }
td b, td i { display: block; font-style: normal }
td b { font-weight: 400; color: var(--dim) }
.match { background: #2a93 } .close { background: #da23 } .differs { background: #d333 }
.pending { background: #8882 }
.tag { font-size: .75rem; border-radius: .6rem; padding: .05rem .5rem; margin: 0 .5rem;
       display: inline-block; white-space: nowrap }
.cause { border-left: 3px solid #d33; padding-left: .6rem }
.reading { color: var(--dim); font-size: .85rem }
nav { columns: 14rem; font-size: .85rem } nav a { display: block; color: inherit }
figure { margin: 1rem 0; overflow-x: auto }
figure svg { max-width: max(100%, 38rem); height: auto; background: #fff }
dl { display: grid; grid-template-columns: max-content auto; gap: 0 1rem;
     font-size: .85rem } dt { color: var(--dim) } dd { margin: 0 }
"""


def html(told: Told, figures: Mapping[str, str]) -> str:
    """Return the page; ``figures`` holds the SVG text of each drawn figure."""
    tables = told["tables"].items()
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>The paper, re-run</title><style>{STYLE}</style></head><body>",
        f"<h1>The paper, re-run ({escape(told['size'])} size)</h1>",
        f"<p>{escape(summary(told))}</p>",
        f"<p>In each cell, one above the other: {escape(LEGEND)}</p>",
        _facts(told["environment"]),
        "<nav>",
        *(_link(label, table) for label, table in tables),
        "</nav>",
        *(_section(label, table, figures.get(label, "")) for label, table in tables),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _facts(facts: Told) -> str:
    pairs = (f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    return f"<dl>{''.join(pairs)}</dl>"


def _link(label: str, table: Told) -> str:
    return f'<a href="#{escape(label)}">{escape(label)}{_tag(table["verdict"])}</a>'


def _tag(verdict: str) -> str:
    return f'<span class="tag {_kind(verdict)}">{verdict}</span>'


def _kind(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _section(label: str, table: Told, figure: str) -> str:
    name = escape(label)
    head = f'<h2 id="{name}"><a href="#{name}">{name}</a>{_tag(table["verdict"])}</h2>'
    parts = [head, f"<p>{escape(sentence(table['title']))}</p>"]
    if figure:
        parts.append(f"<figure>{figure}</figure>")
    if table["cells"]:
        parts.append(f'<div class="wide">{_table(table)}</div>')
    for note in notes(table):
        kind = "cause" if note.startswith("Why") else "reading"
        parts.append(f'<p class="{kind}">{escape(note)}</p>')
    return "\n".join(parts)


def _table(table: Told) -> str:
    columns, keys, cells = layout(table)
    head = "".join(f"<th>{escape(str(c))}</th>" for c in [*table["row_key"], *columns])
    lines = [f"<tr>{head}</tr>"]
    for key in keys:
        names = "".join(f"<th>{escape(str(part))}</th>" for part in key)
        found = "".join(_cell(cells.get((key, column))) for column in columns)
        lines.append(f"<tr>{names}{found}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _cell(cell: Any) -> str:
    if cell is None:
        return "<td></td>"
    said, ours = (escape(side) for side in sides(cell))
    kind = _kind(cell["verdict"])
    mark = MARKS[cell["verdict"]]
    return f'<td class="{kind}"><b>{said}</b><i>{ours} {mark}</i></td>'
