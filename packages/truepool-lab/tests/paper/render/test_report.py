"""Pages of a reproduction, from plain data made for the purpose."""

import re
from html.parser import HTMLParser

import pytest
from browser import Browser, find_browser
from matplotlib.figure import Figure

from truepool.core.errors import SourceError
from truepool_lab.paper.render import report
from truepool_lab.paper.render.html import html


def cell(key, column, printed, measured, verdict, error=0.0, kind="evidence"):
    return {
        "key": key, "column": column, "printed": printed, "measured": measured,
        "error": error, "repeats": 3, "verdict": verdict, "kind": kind,
    }  # fmt: skip


def level(cells=0, match=0, near=0, ratio=None, fitted=0, constructed=0, timed=0):
    return {
        "cells": cells, "match": match, "near": near, "ratio": ratio, "fitted": fitted,
        "constructed": constructed, "timed": timed,
    }  # fmt: skip


def table(status="compared", cells=(), reading="", cause="", columns=(), **changed):
    return {
        "kind": "table", "title": "A <title>", "section": "s", "shows": "",
        "status": status, "conclusions": [], "level": level(),
        "order": {"same": 0, "reversed": 0, "open": 0}, "basis": "ours",
        "reading": reading, "cause": cause, "experiment": "x", "run": None, "row_key": ["method"],
        "columns": list(columns), "cells": list(cells), **changed,
    }  # fmt: skip


def claim(number, verdict, text="A <claim>"):
    tests = [f"tests/test_x.py::test_{number}"]
    return {"number": number, "text": text, "verdict": verdict, "reason": "So it is.", "summary": "It is.", "tests": tests}  # fmt: skip


CELLS = [
    cell(["VCG"], "FN", "0.40", 0.3912, "match", error=0.012),
    cell(["VCG"], "F1", None, 0.81234, "not printed"),
    cell(["a|b"], "FN", "0.50", None, "pending"),
    cell(["Brier"], "FN", "0.30", 0.30, "match", kind="fitted"),
]
DATA = {
    "size": "quick",
    "environment": {"python": "3.11", "cores": "2"},
    "added": ["tab:d"],
    "conclusions": [claim(1, "holds"), claim(2, "does not hold"), claim(3, "holds")],
    "tables": {
        "tab:a": table(
            "compared", CELLS, "As & is.", "Never shown.", ["FN"],
            conclusions=[claim(2, "does not hold"), claim(4, "does not hold")],
            level=level(1, 1, 1, 1.02, fitted=1),
            order={"same": 3, "reversed": 1, "open": 2},
        ),
        "tab:a@inferred": table(reading="Else.", basis="inferred", level=level(2, 1, 0)),
        "fig:b": table("drawn"),
        "tab:c": table("pending", cause="not built yet"),
        "tab:d": table(cause="Because.", level=level(4, 3, 2, None)),
    },
}  # fmt: skip


def test_the_grid_has_one_line_per_table():
    shown = report.grid(DATA)
    title = "4 tables and figures of the paper, quick size, and 1 other reading"
    assert shown.title == title
    assert shown.rows[0] == (
        "tab:a", "2 do not hold", "1.02", "1 of 1", "1 of 1", "ours", "A <title>"
    )  # fmt: skip
    assert [row[2] for row in shown.rows] == ["1.02", "none", "drawn", "pending", "none"]  # fmt: skip
    assert shown.notes == (
        "Main conclusions of all published tables: 2 hold, 0 hold in part, 1 do not, 0 cannot be "
        "decided.",
        "Of 5 printed numbers 3 are within 20 % and 4 within sampling error. Not "
        "counted: 1 that a setting was fitted to, 0 true by construction, 0 running "
        "times. Pending: 1. With a second reading, inferred from printed cells: 1 "
        "table; within sampling error are 1 of 1 numbers under the first reading and "
        "1 of 2 under the second. A number that a reading was fitted to, or does not "
        "measure, does not count for it.",
        "tab:c: pending, not built yet.",
    )


def test_the_page_leads_with_conclusions_and_links_them():
    page = report.markdown(DATA, {}, "claims.md")
    assert page.index("## Which conclusions stand") < page.index("## How near")
    assert "A <claim> ([claim 1](claims.md#claim-1)) | **holds** | It is. |" in page
    alone = report.markdown(DATA)
    assert "claims.md" not in alone


def test_markdown_sets_the_numbers_side_by_side():
    page = report.markdown(DATA, {"fig:b": "figures/b.svg"})
    assert "| method | FN | F1 |\n|---|---|---|" in page
    assert "| VCG | 0.40 → 0.39 ± 0.01 ✓ | 0.812 · |" in page
    assert "| Brier | 0.30 → 0.30 ✓† |  |" in page
    assert "| a\\|b | 0.50 … |  |" in page
    assert "- **does not hold**: A <claim> (claim 4)" in page
    assert (
        "Level: median ratio 1.02, 1 of 1 within 20 %, 1 of 1 within error. Order of "
        "methods, pairs that the print sets apart: 3 the same, 1 reversed, 2 not "
        "significant." in page
    )
    assert "[tab:a@inferred](#tabainferred)" in page
    assert "Why: not built yet" in page
    assert "Why: Because." in page
    assert "Never shown" not in page + html(DATA, {})
    assert "Reading (ours, where the paper leaves a choice): As & is." in page
    assert "Reading (inferred from printed cells): Else." in page
    assert "![A <title>](figures/b.svg)" in page
    assert "- python: 3.11" in page
    assert "measured in runs of their own, with the same versions: tab:d" in page
    assert "figures/" not in report.markdown({**DATA, "added": []})


def test_a_table_of_running_times_says_that_it_is_no_evidence():
    timed = table(cells=CELLS, level=level(timed=4))
    assert report.nearness(timed) == ("no evidence", "", "")
    assert report.agreement_text(timed) == "Level: no cell is evidence."


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


@pytest.mark.skipif(find_browser() is None, reason="there is no Chromium")
@pytest.mark.parametrize("width", [1280, 390])
def test_reasons_are_read_without_scrolling_sideways(tmp_path, width):
    long = claim(1, "does not hold") | {"reason": "Reports shrink. " * 30}
    page = tmp_path / "page.html"
    page.write_text(html(DATA | {"conclusions": [long]}, {"fig:b": figure()}))
    browser = Browser(find_browser())
    try:
        browser.open(page, width)
        right = "document.querySelector('table').getBoundingClientRect().right"
        assert browser.run(right) <= width
        cell = "getComputedStyle(document.querySelector('tbody td:last-child'))"
        assert browser.run(f"{cell}.textAlign") == "left"
    finally:
        browser.close()


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
    for kind in ("match", "near", "apart", "pending"):
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


def test_a_table_says_by_which_version_of_its_experiment_it_was_measured():
    run = {"version": "2", "day": "2026-01-31", "outdated": False}
    (fresh,) = report.notes(table(run=run))
    assert "2026-01-31" in fresh
    (old,) = report.notes(table(run={**run, "outdated": True}))
    assert old.startswith(fresh.removesuffix("."))
    assert len(old) > len(fresh)
