"""Pages of a reproduction, from plain data made for the purpose."""

import re
from html.parser import HTMLParser

import pytest
from matplotlib.figure import Figure

from truepool.core.errors import SourceError
from truepool_paper.render import report
from truepool_paper.render.html import html


def cell(key, column, printed, measured, verdict, error=0.0):
    return {
        "key": key, "column": column, "printed": printed, "measured": measured,
        "error": error, "repeats": 3, "verdict": verdict,
    }  # fmt: skip


def table(verdict, cells=(), reading="", cause="", columns=()):
    return {
        "kind": "table", "title": "A <title>", "section": "s", "shows": "", "verdict": verdict,
        "reading": reading, "cause": cause, "experiment": "x", "row_key": ["method"],
        "columns": list(columns), "cells": list(cells),
    }  # fmt: skip


CELLS = [
    cell(["VCG"], "FN", "0.40", 0.3912, "match", error=0.012),
    cell(["VCG"], "F1", None, 0.81234, "not printed"),
    cell(["a|b"], "FN", "0.50", None, "pending"),
]
DATA = {
    "size": "quick",
    "environment": {"python": "3.11", "cores": "2"},
    "tables": {
        "tab:a": table("match", CELLS, "As & is.", "Never shown.", ["FN"]),
        "fig:b": table("not printed"),
        "tab:c": table("pending", cause="not built yet"),
        "tab:d": table("differs", cause="Because."),
    },
}


def test_the_grid_has_one_line_per_table():
    shown = report.grid(DATA)
    assert shown.rows[0] == ("tab:a", "match", "1", "", "", "A <title>")
    assert shown.notes == (
        "1 match, 0 close, 1 differs, 1 not printed, 1 pending. Of 1 printed numbers 1 "
        "match, 0 are close and 0 differ.",
    )


def test_markdown_sets_the_numbers_side_by_side():
    page = report.markdown(DATA, {"fig:b": "figures/b.svg"})
    assert "| method | FN | F1 |\n|---|---|---|" in page
    assert "| VCG | 0.40 → 0.39 ± 0.01 ✓ | 0.812 · |" in page
    assert "| a\\|b | 0.50 … |  |" in page
    assert "## tab:c: pending" in page
    assert "| [tab:a](#taba-match) | match | 1 |  |  | A <title> |" in page
    assert "Why: not built yet" in page
    assert "Why: Because." in page
    assert "Never shown" not in page + html(DATA, {})
    assert "Reading: As & is." in page
    assert "![A <title>](figures/b.svg)" in page
    assert "- python: 3.11" in page
    assert "figures" not in report.markdown(DATA)


class Reader(HTMLParser):
    """Tags that close, and everything that a browser would load from elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.loaded, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "link", "img", "br"):
            self.open.append(tag)
        self.loaded += [
            v for k, v in attrs if k in ("src", "href") and not v.startswith("#")
        ]
        assert tag not in ("link", "img", "iframe")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def figure():
    drawn = Figure()
    drawn.subplots().plot([1, 2, 3], label="η")
    return drawn


def test_the_html_page_is_whole_and_loads_nothing():
    reader = Reader()
    page = html(DATA, {"fig:b": figure()})
    reader.feed(page)
    assert (reader.open, reader.loaded) == ([], [])
    assert "default-src 'none'" in page
    assert not re.search(r"url\((?!#)", page)
    text = " ".join(reader.text)
    for part in ("A <title>", "As & is.", "Because.", "not built yet", "3.11"):
        assert part in text


def test_a_figure_stands_in_the_section_of_its_label():
    page = html(DATA, {"fig:b": figure()})
    section = page[
        page.index('<section id="fig:b"') : page.index('<section id="tab:c"')
    ]
    assert page.count("<svg") == section.count("<svg") == 1
    assert 'aria-label="A &lt;title&gt;."' in section


def test_a_cell_of_the_page_shows_its_verdict_and_both_numbers():
    page = html(DATA, {})
    assert (
        '<td class="match"><span class="printed">0.40</span>'
        "<span>0.39 ± 0.01 ✓</span></td>" in page
    )
    assert '<td class="not-printed"><span class="printed"></span>' in page
    assert "<td></td>" in page
    for kind in ("match", "close", "differs", "pending"):
        assert f"td.{kind} {{" in page


def test_a_figure_is_the_same_text_for_the_same_rows():
    def drawn():
        return report.svg(figure())

    assert drawn() == drawn()
    assert drawn().startswith("<svg")
    assert not re.search(r"<(image|script)", drawn())


def test_what_cannot_be_written_is_said(tmp_path):
    (tmp_path / "figures").write_text("in the way")
    page = Figure()
    with pytest.raises(SourceError, match="cannot be written into: File exists"):
        report.write(DATA, {"fig:b": page}, tmp_path)
    assert report.write(DATA, {}, tmp_path)[0].read_text() == report.markdown(DATA)
