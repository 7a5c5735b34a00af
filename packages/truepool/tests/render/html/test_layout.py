import sys
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from markupsafe import Markup

from truepool.panel.panel import Panel
from truepool.render.html import Section, page
from truepool.render.html.layout import prose
from truepool.render.tables.grid import Grid

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
        '{% extends "page.html.j2" %}{% block header %}<h1>{{ title }}</h1>{% endblock %}'
    )
    (templates / "part.html.j2").write_text("<p>{{ section.shown.text | prose }}</p>")
    sys.path.insert(0, str(folder))
    yield "somebodys_pages"
    sys.path.remove(str(folder))


TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r\0"))


@given(TEXT)
def test_any_text_is_escaped(package, text):
    filled = Section("one", "One", text, "part.html.j2", {"text": text}, {}, [Grid(text, (text,), ((text,),))])  # fmt: skip
    plain = Section("one", "One", "", "part.html.j2", {"text": ""}, {}, [Grid("", ("",), (("",),))])  # fmt: skip
    one, other = (
        Reader(page("mine.html.j2", package=package, title=part.title, sections=[part]))
        for part in (filled, plain)
    )
    assert [tag for tag in one.tags if tag != "code"] == other.tags
    assert one.cells == [text, text, text]
    assert one.labels == ["Parts of this page", text]


def test_a_page_of_another_package_has_the_layout_and_the_policy_of_all(package):
    part = Section("one", "The one", "First", "part.html.j2", {"text": "use `a`"})
    text = page("mine.html.j2", package=package, title="Ours", sections=[part])
    assert text.startswith('<!doctype html>\n<html lang="en">')
    assert "default-src 'none'" in text
    assert '<a href="#one">The one</a>' in text
    assert "<p>use <code>a</code></p>" in text
    assert "<title>Ours</title>" in text


def test_what_a_template_is_not_given_is_an_error(package):
    with pytest.raises(UndefinedError, match="title"):
        page("mine.html.j2", package=package, sections=[])


def test_a_backtick_in_a_name_is_no_code():
    assert prose("`ada` and `<b>`") == "<code>ada</code> and <code>&lt;b&gt;</code>"
    assert prose("ada` <harms>") == Markup("ada` &lt;harms&gt;")


def test_a_notebook_shows_names_as_they_are():
    shown = Panel([[0.9, 0.5], [0.1, 0.2]], [1, 0], agents=("<b>", "bob"))
    reader = Reader(shown._repr_html_())
    assert "b" not in reader.tags
    assert "<b>" in reader.cells
