"""The page in a real browser: nothing goes wrong, nothing is fetched, tables sort."""

from base64 import b64decode
from io import BytesIO

import pytest
from example_audit import AGENTS, audit
from fixtures import browser
from PIL import Image

__all__ = ["browser"]

ODD = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    agents = (ODD, *AGENTS[1:])
    audit(agents).to_html(path)
    return path


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_the_console_is_silent_and_the_network_still(browser, page, width, dark):
    browser.open(page, width, dark=dark)
    assert (
        browser.happened(
            "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"
        )
        == []
    )
    requests = [
        request["request"]["url"]
        for request in browser.happened("Network.requestWillBeSent")
    ]
    assert requests == [f"file://{page}"]
    assert browser.happened("Page.javascriptDialogOpening") == []


SHAPE = """
(() => ({ scripts: document.scripts.length, images: document.images.length, styles: document.styleSheets.length,
  findings: [...document.querySelectorAll(".finding")].filter(e => e.checkVisibility() && e.offsetHeight > 60).length }))()
"""


@pytest.mark.parametrize(
    "name",
    ["</style><script>alert(1)</script>", 'x style="}ol{zoom:0"', '"><img src=x onerror=alert(1)>', "a{display:none}"],
)  # fmt: skip
def test_no_name_of_an_agent_hides_a_finding_or_runs(browser, tmp_path, name):
    one = audit(tuple(name + agent for agent in AGENTS))
    one.to_html(tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    assert browser.run(SHAPE) == {
        "scripts": 1, "images": 0, "styles": 1, "findings": len(one.findings),
    }  # fmt: skip
    assert not browser.happened("Page.javascriptDialogOpening", "Log.entryAdded")
    assert len(browser.happened("Network.requestWillBeSent")) == 1


@pytest.mark.parametrize("width", [1280, 768, 390, 320])
def test_nothing_but_tables_is_wider_than_the_screen(browser, page, width):
    browser.open(page, width)
    assert browser.run("document.documentElement.scrollWidth") == width


EDGES = """
(end => { const box = [...document.querySelectorAll(".scroll")].find(e => e.scrollWidth > e.clientWidth);
  box.scrollLeft = end ? box.scrollWidth : 0; box.scrollIntoView();
  const { left, right, top } = box.getBoundingClientRect();
  return [left, right, top, getComputedStyle(document.body).backgroundColor]; })
"""


@pytest.mark.parametrize("dark", [False, True])
def test_a_table_that_goes_on_has_a_shade_at_that_edge(browser, page, dark):
    browser.open(page, 390, dark=dark)
    for end in (False, True):
        left, right, top, ground = browser.run(f"{EDGES}({str(end).lower()})")
        shot = browser.call("Page.captureScreenshot", format="png")["data"]
        image = Image.open(BytesIO(b64decode(shot))).convert("RGB")
        shaded = [
            f"rgb{image.getpixel((int(x), int(top) + 6))}" != ground
            for x in (left + 4, right - 4)
        ]
        assert shaded == [end, not end]


COLUMN = """
((table, column) => [...document.querySelectorAll("table.sortable")[table].tBodies[0].rows]
  .map(row => row.cells[column].textContent))
"""
SORTS = """
((table, column) => document.querySelectorAll("table.sortable")[table].tHead.rows[0].cells[column].ariaSort)
"""
BUTTON = """
((table, column) => document.querySelectorAll("table.sortable")[table].tHead.rows[0].cells[column].querySelector("button"))
"""


def test_tables_sort_by_their_numbers_by_keyboard_too(browser, page):
    browser.open(page)
    slopes = [1.0, 1.2, 0.52, 0.9, 1.05, 1.61, 1.0]
    assert first_numbers(browser.run(f"{COLUMN}(0, 1)")) == slopes
    browser.run(f"{BUTTON}(0, 1).click()")
    assert first_numbers(browser.run(f"{COLUMN}(0, 1)")) == sorted(slopes)
    assert browser.run(f"{SORTS}(0, 1)") == "ascending"
    browser.run(f"{BUTTON}(0, 1).focus()")
    browser.press("Enter")
    assert first_numbers(browser.run(f"{COLUMN}(0, 1)")) == sorted(slopes, reverse=True)
    assert browser.run(f"{SORTS}(0, 1)") == "descending"
    browser.run(f"{BUTTON}(0, 0).click()")
    names = browser.run(f"{COLUMN}(0, 0)")
    assert names[1:] == [
        "bayes",
        "forest",
        "neighbours",
        "pool",
        "pool, recalibrated",
        "tree",
    ]
    assert names[0] == ODD
    assert browser.run(f"{SORTS}(0, 1)") is None


AGAINST_MEAN = 4
"""Column of the comparison that shows "=" for the mean itself."""


def test_what_is_not_a_number_goes_last_either_way(browser, page):
    browser.open(page)
    pools = 4
    for _ in range(2):
        browser.run(f"{BUTTON}({pools}, {AGAINST_MEAN}).click()")
        column = browser.run(f"{COLUMN}({pools}, {AGAINST_MEAN})")
        assert column[-1] == "="
        assert "=" not in column[:-1]


TORN = """
[...document.querySelectorAll(".finding dd, td")].filter(dd => {
  const words = document.createRange(); words.selectNodeContents(dd);
  return new Set([...words.getClientRects()].map(box => box.top)).size > 1;
}).map(dd => dd.textContent)
"""


@pytest.mark.parametrize("width", [1280, 390])
def test_intervals_are_not_torn_apart(browser, page, width):
    browser.open(page, width)
    assert browser.run("document.querySelectorAll('.finding dd').length") > 5
    assert browser.run(TORN) == []


CONTRAST = """
(() => {
  const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const bright = (c) => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const solid = (text) => { const c = parse(text); return c.length < 4 || c[3] === 1 ? c : null; };
  const ground = (e) => { for (; e; e = e.parentElement) {
    const c = getComputedStyle(e).backgroundColor;
    if (c !== "rgba(0, 0, 0, 0)") return solid(c); } return null; };
  const bad = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || ["SCRIPT", "STYLE"].includes(e.tagName)) continue;
    const style = getComputedStyle(e);
    const ink = parse(e instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [bright(ink), bright(ground(e))].sort((x, y) => y - x);
    seen += 1;
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(walk.currentNode.data);
  }
  return { seen, bad };
})()
"""


@pytest.mark.parametrize("dark", [False, True])
def test_every_word_stands_out_from_its_ground(browser, page, dark):
    browser.open(page, dark=dark)
    ground = browser.run("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(20, 24, 31)" if dark else "rgb(255, 255, 255)")
    result = browser.run(CONTRAST)
    assert result["seen"] > 300
    assert result["bad"] == []


def test_those_who_cannot_see_are_told_of_every_figure(browser, page):
    browser.open(page)
    browser.call("Accessibility.enable")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    shown = [node for node in nodes if not node.get("ignored")]
    pictures = [node for node in shown if node["role"]["value"] in ("img", "image")]
    assert len(pictures) == 16
    assert all(len(node["name"]["value"]) > 20 for node in pictures)
    buttons = [node for node in shown if node["role"]["value"] == "button"]
    assert len(buttons) == browser.run("document.querySelectorAll('th button').length")
    assert {"banner", "navigation", "main", "contentinfo"} <= {
        node["role"]["value"] for node in shown
    }


def test_the_first_tab_leads_past_the_links(browser, page):
    browser.open(page)
    browser.press("Tab")
    assert browser.run("document.activeElement.textContent") == "Skip to the findings"


def test_the_page_prints(browser, page):
    browser.open(page, dark=True)
    assert browser.printed().startswith(b"%PDF")
    browser.call(
        "Emulation.setEmulatedMedia",
        media="print",
        features=[{"name": "prefers-color-scheme", "value": "dark"}],
    )
    assert (
        browser.run("getComputedStyle(document.body).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    browser.call("Emulation.setEmulatedMedia", media="")


LETTER = 720
"""Pixels between the margins of a printed page."""


def test_tables_fit_on_paper_with_their_intervals_whole(browser, page):
    browser.open(page, LETTER)
    browser.call("Emulation.setEmulatedMedia", media="print")
    widths = "[...document.querySelectorAll('table')].map(t => t.scrollWidth)"
    assert max(browser.run(widths)) <= LETTER
    assert browser.run(TORN) == []
    browser.call("Emulation.setEmulatedMedia", media="")


def first_numbers(cells):
    return [float(cell.split()[0]) for cell in cells]
