"""Figures inside a page."""

import re
from xml.etree import ElementTree

from truepool_lab.paper.charts import Series, bars, lines
from truepool_lab.paper.render.svg import StyleSheet, inline

AGENTS = ("logistic", "forest", "tree", "bayes", "neighbours")


def figure(agents=AGENTS):
    """Bars of two series, and a level."""
    named = {"ours": [3.0, 1.0, 2.0, 4.0, 5.0], "theirs": [2.0, 2.0, 1.0, 3.0, 6.0]}
    return bars(agents, named, "agent", "loss", level=2.0)


def drawn(agents=AGENTS, key="k"):
    return inline(figure(agents), 'says "<who>" helps', key)


def test_a_figure_is_named_for_those_who_cannot_see_it():
    root = ElementTree.fromstring(drawn())
    assert (root.tag, root.attrib["role"]) == ("svg", "img")
    assert root.attrib["aria-label"] == 'says "<who>" helps'


def test_every_id_is_its_own_and_every_reference_finds_one():
    one, other = drawn(key="one"), drawn(key="two")
    ids = [set(re.findall(r' id="([^"]+)"', text)) for text in (one, other)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for text, known in zip((one, other), ids, strict=True):
        references = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', text))
        assert {a or b for a, b in references} == known


def test_colours_follow_the_page():
    text = drawn()
    assert "var(--blue, #0f5fb0)" in text
    assert "currentColor" in text
    assert "#000000" not in text
    assert set(re.findall(r"#[0-9a-f]{6}", text)) <= {"#0f5fb0", "#982d06", "#6b7280"}


def test_text_stays_text_in_the_type_of_the_page():
    text = drawn()
    assert ">neighbours</text>" in text
    assert "font-family" not in text


def test_names_are_escaped():
    text = drawn(("<script>alert(1)</script>", *AGENTS[1:]))
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_letters_the_measuring_font_lacks_do_not_matter():
    assert "日本" in drawn(("日本", *AGENTS[1:]))


def test_nothing_that_is_not_needed_is_kept():
    path = Series(range(400), [x % 7 / 3 for x in range(400)])
    text = inline(lines({"": {name: path for name in AGENTS}}, "x"), "paths", "p")
    assert "<metadata" not in text
    assert "<style" not in text
    assert "<g>" not in text
    assert "xlink" not in text
    assert not re.search(r"\.\d\d", re.search(r' d="([^"]+)"', text)[1])
    assert len(text) < 25_000


def test_styles_become_classes_and_text_that_looks_like_one_stays_text():
    odd = ' style="}p{zoom:9"'
    sheet = StyleSheet()
    one = figure((odd, *AGENTS[1:]))
    root = ElementTree.fromstring(inline(one, odd, "k", sheet=sheet))
    assert not [element for element in root.iter() if "style" in element.attrib]
    names = {name for e in root.iter() for name in e.attrib.get("class", "").split()}
    assert names == set(re.findall(r"\.(s\d+){", sheet.rules))
    assert "zoom" not in sheet.rules
    assert any(element.text and "zoom" in element.text for element in root.iter())
    assert root.attrib["aria-label"] == odd.strip()


def test_the_same_style_is_one_class():
    sheet = StyleSheet()
    assert [sheet.class_of(style) for style in ("a: b", "c: d", "a: b")] == [
        "s0",
        "s1",
        "s0",
    ]
    assert sheet.rules == ".s0{a: b}\n.s1{c: d}\n"
