"""The site, without building it: each page has its place, the reference is true."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from check_site import problems
from reference import pages

import truepool
from truepool.cli.verbs import every_command

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.M | re.S)


def entries(page):
    """Pages in the tables of contents of a page, by name; a star is any."""
    for tree in TREE.findall(page.read_text()):
        for line in tree.splitlines():
            if line and not line.startswith(":"):
                found = sorted(page.parent.glob(f"{line}.*"))
                assert found, f"{page.name} lists {line}, which is not there"
                yield from (path for path in found if path.suffix in (".md", ".ipynb"))


def test_every_page_is_listed_exactly_once():
    pages = {*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")} - {DOCS / "index.md"}
    listed = [entry for page in DOCS.rglob("*.md") for entry in entries(page)]
    assert sorted(listed) == sorted(pages)


def title(page):
    """The title of a page or notebook."""
    if page.suffix == ".ipynb":
        return json.loads(page.read_text())["cells"][0]["source"][0].strip("# \n")
    return page.read_text().partition("\n")[0].strip("# ")


def test_no_two_pages_in_one_list_have_the_same_title():
    for page in DOCS.rglob("*.md"):
        titles = [title(entry) for entry in entries(page)]
        assert sorted(titles) == sorted(set(titles)), page.name


def test_the_sections_of_the_site_are_these():
    sections = [entry.stem for entry in entries(DOCS / "index.md")]
    assert sections == [
        "start", "guides", "concepts", "reference", "paper", "extend", "decisions",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def reference():
    return pages()


def test_the_reference_is_what_the_code_says(reference):
    folder = DOCS / "reference"
    for name, text in reference.items():
        assert (folder / name).read_text() == text, f"{name}: run make reference"
    written = {p.relative_to(folder).as_posix() for p in folder.rglob("*.*")}
    assert written == set(reference)


def test_no_field_of_a_request_or_an_answer_lacks_its_meaning(reference):
    rows = [row for row in reference["http.md"].splitlines() if row.startswith("| `")]
    assert len(rows) > 100
    for row in rows:
        meaning = row.strip("| ").rpartition(" | ")[2].removeprefix("Required.")
        assert len(meaning.split()) >= 2, row


def test_every_verb_and_option_is_in_the_reference_of_the_command_line(reference):
    for _, command in every_command():
        for parameter in command.params:
            for option in parameter.opts:
                assert option in reference["cli.md"] or not option.startswith("-")


def test_every_public_name_is_in_the_reference_of_python(reference):
    pages = "".join(text for name, text in reference.items() if "python" in name)
    for name in {*truepool.__all__, *dir(truepool)}:
        home = getattr(truepool, name)
        path = getattr(home, "__name__", name) if hasattr(home, "__path__") else name
        known = (
            f":: truepool.{name}\n", f"## truepool.{name}\n", f"## {path}\n",
            f"## {getattr(home, '__name__', '')}\n",
        )  # fmt: skip
        assert any(line in pages for line in known), name


def test_a_formula_is_drawn_without_a_script():
    sys.path.insert(0, str(DOCS / "_extensions"))
    try:
        pytest.importorskip("docutils")
        from mathml import render
    finally:
        sys.path.pop(0)
    assert (
        render("a^2", inline=True) == "<math><msup><mi>a</mi><mn>2</mn></msup></math>"
    )
    assert "∑" in render(r"\Bigl(\sum_i w_i\Bigr)", inline=False)


def test_a_link_to_a_test_leads_to_the_line_on_which_it_begins(monkeypatch):
    pytest.importorskip("sphinx", reason="the site is not built here")
    monkeypatch.syspath_prepend(DOCS / "_extensions")
    from linked_tests import anchors, page_of, with_anchors

    source = "x = 1\n\n\n@mark\ndef test_it():\n    pass\n"
    assert anchors(source) == {4: "test_it"}
    lines = with_anchors(f"<div><pre>{source}</pre></div>", anchors(source)).split("\n")
    assert lines[3] == '<span id="test_it"></span>@mark'
    assert page_of("tests/test_site.py") == "_tests/tests/test_site"


def test_a_table_of_tests_is_marked_for_the_style_sheet(monkeypatch):
    pytest.importorskip("sphinx", reason="the site is not built here")
    monkeypatch.syspath_prepend(DOCS / "_extensions")
    from docutils import nodes
    from docutils.utils import new_document
    from linked_tests import link
    from sphinx import addnodes

    name, why = "tests/test_site.py::test_it", "why, " * 20
    download = addnodes.download_reference("", "", nodes.literal("", name))
    download["reftarget"] = "../tests/test_site.py"
    cells = [
        nodes.entry("", nodes.paragraph("", "", part))
        for part in (nodes.Text(why), download)
    ]
    table = nodes.table("", nodes.row("", *cells))
    page = new_document("errata")
    page += table
    env = SimpleNamespace(
        docname="errata", linked_tests=set(), relfn2path=lambda *_: ("", __file__)
    )
    builder = SimpleNamespace(format="html", get_relative_uri=lambda _, to: to)
    link(SimpleNamespace(builder=builder, env=env), page)
    (found,) = page.findall(nodes.reference)
    assert (found.astext(), found["refuri"]) == ("test_it", "_tests/tests/test_site#test_it")  # fmt: skip
    assert table["classes"] == ["evidence"]
    assert [cell["classes"] for cell in cells] == [["prose"], []]


PAGE = (
    '<a href="other.html#here">x</a><img src="p.png"><p id="top"><a href="#top">y</a>'
)


@pytest.fixture
def site(tmp_path):
    (tmp_path / "index.html").write_text(PAGE)
    (tmp_path / "other.html").write_text('<h1 id="here">')
    (tmp_path / "p.png").touch()
    return tmp_path


def test_a_whole_site_has_no_problems(site):
    assert problems(site) == []


@pytest.mark.parametrize(
    "fault",
    [
        '<a href="nowhere.html">',
        '<a href="other.html#nowhere">',
        '<a href="#nowhere">',
        '<img src="nowhere.png">',
        '<script src="https://example.org/a.js"></script>',
        '<link href="//example.org/a.css" rel="stylesheet">',
        "<style>@import 'https://example.org/a.css'</style>",
        '<p style="background: url(https://example.org/a.png)">',
        '<img srcset="https://example.org/a.png 2x" src="p.png">',
    ],
)
def test_a_dead_link_and_a_resource_from_elsewhere_are_found(site, fault):
    (site / "fault.html").write_text(fault)
    (problem,) = problems(site)
    assert problem.startswith("fault.html ")


def test_a_link_to_another_site_is_no_resource(site):
    (site / "more.html").write_text('<a href="https://example.org/">')
    assert problems(site) == []


def test_a_style_sheet_from_elsewhere_is_found(site):
    (site / "a.css").write_text("a { background: url(https://example.org/a.png) }")
    (problem,) = problems(site)
    assert problem == "a.css fetches https://example.org/a.png from elsewhere"
