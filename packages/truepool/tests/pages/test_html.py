import io
import sys
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from markupsafe import Markup
from rich.console import Console

from truepool.pages.grid import Grid, Item
from truepool.pages.html import html, prose
from truepool.pages.page import Items, Page, Section, Template, Text
from truepool.panel.panel import Panel

CELLS = ("caption", "th", "td")


class Reader(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.cells, self.labels, self.inside = [], [], [], False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.labels += [value for key, value in attrs if key == "aria-label"]
        self.inside = tag in CELLS or (self.inside and tag == "button")
        if tag in CELLS:
            self.cells.append("")

    def handle_data(self, data):
        if self.inside:
            self.cells[-1] += data

    def handle_endtag(self, tag):
        self.inside = False


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A package of somebody else, with templates of its own."""
    folder = tmp_path_factory.mktemp("somebody")
    templates = folder / "somebodys_pages" / "templates"
    templates.mkdir(parents=True)
    (folder / "somebodys_pages" / "__init__.py").touch()
    (templates / "mine.html.j2").write_text(
        '{% extends "page.html.j2" %}{% block header %}<h1>{{ greeting }}</h1>{% endblock %}'
    )
    (templates / "part.html.j2").write_text("<p>{{ shown.text | prose }}</p>")
    sys.path.insert(0, str(folder))
    yield "somebodys_pages"
    sys.path.remove(str(folder))


TEXT = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cf", "Cn", "Zl", "Zp", "Zs")),
    min_size=1,
)
"""What a page shows as it is; printable() is tested where it is."""


def filled(text, package):
    grid = Grid(text, (text,), ((text,),))
    rows = Grid(
        text,
        (text, text),
        ((text, text),),
        opens=((Item(text, ((text, text),), text),),),
    )
    parts = (
        Text((text,)),
        grid,
        rows,
        Items((Item(text),)),
        Template("part.html.j2", {"text": text}),
    )
    page = Page(
        text,
        text,
        (Section("one", "One", parts),),
        text,
        "note",
        (text,),
        ((text, text),),
    )
    return html(page, "mine.html.j2", package=package, greeting=text)


@given(TEXT)
def test_any_text_is_escaped(package, text):
    one, other = (Reader(filled(each, package)) for each in (text, "x"))
    assert [tag for tag in one.tags if tag != "code"] == [
        tag for tag in other.tags if tag != "code"
    ]
    assert one.cells == [text, text, text]
    assert one.labels[0] == "Parts of this page"
    assert text in one.labels


def test_a_page_of_another_package_has_the_layout_and_the_policy_of_all(package):
    part = Template("part.html.j2", {"text": "use `a`"})
    page = Page("Ours", "Ours", (Section("one", "First", (part,), "The one"),))
    text = html(page, "mine.html.j2", package=package, greeting="Hello")
    assert text.startswith('<!doctype html>\n<html lang="en">')
    assert "default-src 'none'" in text
    assert '<a href="#one">The one</a>' in text
    assert "<p>use <code>a</code></p>" in text
    assert "<title>Ours</title>" in text


def test_what_a_template_is_not_given_is_an_error(package):
    with pytest.raises(UndefinedError, match="greeting"):
        html(Page("Ours", "Ours", ()), "mine.html.j2", package=package)


def test_a_page_is_the_same_on_a_terminal_and_as_markdown():
    """What no terminal can show is left out there, and nothing else."""
    page = Page(
        "T", "Yes.", (
            Section("a", "Plan", (Items((Item("Do it.", (("saves", "4"),), "truepool fit"),), numbered=True),), brief=True),
            Section("b", "More", (Text(("one", "two"), listed=True), Grid("", ("x",), (("5",),))),),
        ),
    )  # fmt: skip
    texts = []
    for verbose in (False, True):
        out = io.StringIO()
        page.print(Console(file=out, width=80), verbose=verbose)
        texts.append(out.getvalue())
    assert "1. Do it.\n   saves: 4\n   truepool fit\n" in texts[0]
    assert "two" not in texts[0]
    assert "- two" in texts[1]
    markdown = page.to_markdown()
    assert markdown.startswith("# Yes.")
    for text in ("## Plan", "1. Do it.", "`truepool fit`", "## More", "- two", "| 5 |"):
        assert text in markdown


def test_a_folded_table_breaks_words_and_never_numbers():
    grid = Grid(
        "",
        ("agent", "cost per 1,000 cases"),
        (("a long name of an agent", "1,234 [1,000, 1,500]"),),
        folded=True,
    )
    out = io.StringIO()
    grid.print(Console(file=out, width=36), brief=True)
    lines = out.getvalue().splitlines()
    assert any("1,234 [1,000, 1,500]" in line for line in lines)
    assert max(map(len, lines)) <= 36


def test_a_backtick_in_a_name_is_no_code():
    assert prose("`ada` and `<b>`") == "<code>ada</code> and <code>&lt;b&gt;</code>"
    assert prose("ada` <harms>") == Markup("ada` &lt;harms&gt;")


def test_a_notebook_shows_names_as_they_are():
    shown = Panel([[0.9, 0.5], [0.1, 0.2]], [1, 0], agents=("<b>", "bob"))
    reader = Reader(shown._repr_html_())
    assert "b" not in reader.tags
    assert "<b>" in reader.cells
