"""Pages of a reproduction, from a told one made for the purpose."""

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
TOLD = {
    "size": "quick",
    "environment": {"python": "3.11", "cores": "2"},
    "tables": {
        "tab:a": table("match", CELLS, "As & is.", "Never shown.", ["FN"]),
        "fig:b": table("not printed"),
        "tab:c": table("pending", cause="not built yet"),
        "tab:d": table("differs", cause="Because."),
    },
}


def test_the_grid_has_a_line_a_table():
    shown = report.grid(TOLD)
    assert shown.rows[0] == ("tab:a", "match", "1", "", "", "A <title>")
    assert shown.notes == (
        "1 match, 0 close, 1 differs, 1 not printed, 1 pending. Of 1 printed numbers 1 "
        "match, 0 are close and 0 differ.",
    )


def test_markdown_sets_the_numbers_side_by_side():
    page = report.markdown(TOLD, {"fig:b": "figures/b.svg"})
    assert "| method | FN | F1 |\n|---|---|---|" in page
    assert "| VCG | 0.40 → 0.39 ± 0.01 ✓ | 0.812 · |" in page
    assert "| a\\|b | 0.50 … |  |" in page
    assert "## tab:c: pending" in page
    assert "| [tab:a](#taba-match) | match | 1 |  |  | A <title> |" in page
    assert "Why: not built yet" in page
    assert "Why: Because." in page
    assert "Never shown" not in page + html(TOLD, {})
    assert "Reading: As & is." in page
    assert "![A <title>](figures/b.svg)" in page
    assert "- python: 3.11" in page
    assert "figures" not in report.markdown(TOLD)


class Reader(HTMLParser):
    """Tags that close, and everything that could be asked for from elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.asked, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "link", "img", "br"):
            self.open.append(tag)
        self.asked += [
            v for k, v in attrs if k in ("src", "href") and not v.startswith("#")
        ]
        assert tag not in ("script", "link", "img", "iframe")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_html_page_is_whole_and_asks_for_nothing():
    reader = Reader()
    page = html(TOLD, {"fig:b": "<svg></svg>"})
    reader.feed(page)
    assert (reader.open, reader.asked) == ([], [])
    assert "url(" not in page
    assert "<figure><svg></svg></figure>" in page
    text = " ".join(reader.text)
    for part in (
        "A <title>",
        "As & is.",
        "Because.",
        "0.39 ± 0.01",
        "not built yet",
        "3.11",
    ):
        assert part in text
    assert (
        '<td class="match"><b>0.40</b><i>0.39 ± 0.01 ✓</i></td><td class="not-printed">'
        in page
    )
    assert "<td></td>" in page


def test_a_figure_is_the_same_text_for_the_same_rows():
    def drawn():
        page = Figure()
        page.subplots().plot([1, 2, 3], label="η")
        return report.svg(page)

    assert drawn() == drawn()
    assert drawn().startswith("<svg")
    assert not re.search(r"<(image|script)", drawn())


def test_what_cannot_be_written_is_said(tmp_path):
    (tmp_path / "figures").write_text("in the way")
    page = Figure()
    with pytest.raises(SourceError, match="cannot be written into: File exists"):
        report.write(TOLD, {"fig:b": page}, tmp_path)
    assert report.write(TOLD, {}, tmp_path)[0].read_text() == report.markdown(TOLD)
