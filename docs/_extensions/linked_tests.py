"""Links to tests lead to the function, on a page of its file, and download nothing."""

import ast
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

FOLDER = "_tests"
ROOT = Path(__file__).parents[2]
PROSE = 60
"""Characters from which a cell is text to read, not a word or a number."""


def anchors(source: str) -> dict[int, str]:
    r"""Functions of a file by the line on which they begin, decorators included.

    >>> anchors("x = 1\n\n@mark\ndef test_it(): pass\n")
    {3: 'test_it'}
    """
    return {
        min([node.lineno, *(mark.lineno for mark in node.decorator_list)]): node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
    }


def with_anchors(highlighted: str, found: dict[int, str]) -> str:
    r"""Put an anchor at the beginning of each line that a function begins on.

    >>> with_anchors("<pre>a\nb</pre>", {2: "test_b"})
    '<pre>a\n<span id="test_b"></span>b</pre>'
    """
    before, opened, code = highlighted.partition("<pre>")
    lines = code.split("\n")
    for number, name in found.items():
        lines[number - 1] = f'<span id="{name}"></span>{lines[number - 1]}'
    return before + opened + "\n".join(lines)


def page_of(path: str) -> str:
    """Return the page of a file.

    >>> page_of("packages/truepool-lab/tests/games/test_theory.py")
    '_tests/packages/truepool-lab/tests/games/test_theory'
    """
    return f"{FOLDER}/{path.removesuffix('.py')}"


def link(app: Any, doctree: nodes.document) -> None:
    """Turn the download of a test into a link to its function.

    For the style sheet, a table with such links is of the class ``evidence`` and its
    cells of text are of the class ``prose``.
    """
    if app.builder.format != "html":
        return
    evidence: set[nodes.entry] = set()
    for node in list(doctree.findall(addnodes.download_reference)):
        name = node.astext().rpartition("::")[2]
        _, found = app.env.relfn2path(node["reftarget"], app.env.docname)
        path = Path(found).resolve()
        if not (name.startswith("test_") and path.suffix == ".py" and path.is_file()):
            continue
        page = page_of(path.relative_to(ROOT).as_posix())
        address = f"{app.builder.get_relative_uri(app.env.docname, page)}#{name}"
        shown = nodes.literal("", name)
        link = nodes.reference("", "", shown, refuri=address, internal=True)
        node.replace_self(link)
        evidence.update(_cells_around(link))
        app.env.linked_tests.add(path)
    for table in doctree.findall(nodes.table):
        cells = list(table.findall(nodes.entry))
        if evidence.isdisjoint(cells):
            continue
        table["classes"].append("evidence")
        for cell in cells:
            if cell not in evidence and len(cell.astext()) > PROSE:
                cell["classes"].append("prose")


def _cells_around(node: nodes.Node) -> Iterator[nodes.entry]:
    """Cells of tables that a node is in."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.entry):
            yield node


def start(app: Any) -> None:
    """Begin with no file."""
    app.env.linked_tests = getattr(app.env, "linked_tests", set())


def pages(app: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write one page per file that is linked to."""
    for path in sorted(app.env.linked_tests):
        name, source = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
        code = app.builder.highlighter.highlight_block(source, "python")
        body = f"<h1>{escape(name)}</h1>\n" + with_anchors(code, anchors(source))
        yield page_of(name), {"title": name, "body": body, "parents": []}, "page.html"


def setup(app: Any) -> dict[str, bool]:
    """Come before Sphinx collects the files to download."""
    app.connect("builder-inited", start)
    app.connect("doctree-read", link, priority=100)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
