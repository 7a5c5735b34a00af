"""The page in a real browser: nothing is fetched, rows open, the slider moves the figures."""

from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from example_audit import AGENTS, EVERY, audit, with_prices
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
  steps: [...document.querySelectorAll(".steps .item")].filter(e => e.checkVisibility() && e.offsetHeight > 20).length,
  rows: [...document.querySelectorAll(".openable summary")].filter(e => e.checkVisibility() && e.offsetHeight > 20).length }))()
"""


@pytest.mark.parametrize(
    "name",
    ["</style><script>alert(1)</script>", 'x style="}ol{zoom:0"', '"><img src=x onerror=alert(1)>', "a{display:none}"],
)  # fmt: skip
def test_no_name_of_an_agent_hides_a_row_or_runs(browser, tmp_path, name):
    one = audit(tuple(name + agent for agent in AGENTS))
    one.to_html(tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    assert browser.run(SHAPE) == {
        "scripts": 1, "images": 0, "styles": 1, "steps": len(one.plan.steps), "rows": len(AGENTS) + 1,
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


TABLE = """
(title => [...document.querySelectorAll("table.sortable")].findIndex(t => t.caption?.textContent.startsWith(title)))
"""


def test_tables_sort_by_their_numbers_by_keyboard_too(browser, page):
    browser.open(page)
    table = browser.run(f"{TABLE}('Calibration')")
    slopes = [1.61, 1.0, 1.0, 0.62, 1.05, 0.9, 1.2]
    column = f"{COLUMN}({table}, 1)"
    assert first_numbers(browser.run(column)) == slopes
    browser.run(f"{BUTTON}({table}, 1).click()")
    assert first_numbers(browser.run(column)) == sorted(slopes)
    assert browser.run(f"{SORTS}({table}, 1)") == "ascending"
    browser.run(f"{BUTTON}({table}, 1).focus()")
    browser.press("Enter")
    assert first_numbers(browser.run(column)) == sorted(slopes, reverse=True)
    assert browser.run(f"{SORTS}({table}, 1)") == "descending"
    browser.run(f"{BUTTON}({table}, 0).click()")
    names = browser.run(f"{COLUMN}({table}, 0)")
    assert names == [ODD, *sorted([*AGENTS[1:], "pool", "pool, recalibrated"])]
    assert browser.run(f"{SORTS}({table}, 1)") is None


AGAINST_MEAN = 4
"""Column of the comparison that shows "=" for the mean itself."""


def test_what_is_not_a_number_goes_last_either_way(browser, page):
    browser.open(page)
    pools = browser.run(f"{TABLE}('10 pools')")
    for _ in range(2):
        browser.run(f"{BUTTON}({pools}, {AGAINST_MEAN}).click()")
        column = browser.run(f"{COLUMN}({pools}, {AGAINST_MEAN})")
        assert column[-1] == "="
        assert "=" not in column[:-1]


# Rows that open


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_a_row_opens_to_its_findings_by_keyboard(browser, page, width, dark):
    browser.open(page, width, dark=dark)
    row = "document.querySelector('.openable details')"
    browser.run(f"{row}.querySelector('summary').focus()")
    assert not browser.run(f"{row}.open")
    browser.press("Enter")
    assert browser.run(f"{row}.open")
    assert browser.run(f"{row}.querySelector('.inside').checkVisibility()")
    assert browser.run("document.documentElement.scrollWidth") == width
    assert "dead" in browser.run(f"{row}.querySelector('.inside').textContent")


def test_on_a_phone_every_cell_of_a_row_has_its_header(browser, page):
    browser.open(page, 390)
    cells = """[...document.querySelector('.openable summary').children].slice(2)
      .filter(e => e.checkVisibility()).map(e => e.querySelector('.label').checkVisibility({ opacityProperty: true })
        && e.querySelector('.label').getBoundingClientRect().left >= 0)"""
    assert browser.run(cells) == [True] * 4


# The slider

READ = """
(() => { const box = document.getElementById("tradeoff");
  const rows = Object.fromEntries([...box.querySelectorAll("tr[data-row]")].map(r =>
    [r.dataset.row, [...r.cells].slice(1).map(c => parseFloat(c.textContent.replaceAll(",", "")))]));
  return { ...rows, ratio: parseFloat(box.querySelector("output").textContent.replaceAll(",", "")),
    threshold: box.querySelector(".threshold").textContent, reset: !box.querySelector("button").disabled,
    at: Number(box.querySelector("input").value), said: box.querySelector("input").getAttribute("aria-valuetext"),
    mark: document.querySelector("#figure-ratio .mark.chosen").getAttribute("x1") }; })()
"""


def expected(found, at):
    """What the slider must show, by the definition of a tradeoff."""
    ratio = np.exp(found.edges[at])
    shown = {"alerts": [], "recall": [], "cost": []}
    for p in range(len(found.pools)):
        yes = slice(at, None) if found.by_amount else slice(None, at)
        hits, alarms = found.positives[p][yes].sum(), found.negatives[p][yes].sum()
        every, cases = (
            found.positives[p].sum(),
            found.positives[p].sum() + found.negatives[p].sum(),
        )
        missed = found.stakes[p].sum() - found.stakes[p][yes].sum()
        cost = (
            missed + ratio * alarms
            if found.by_amount
            else ratio * (every - hits) + alarms
        )
        shown["alerts"].append(1000 * (hits + alarms) / cases)
        shown["recall"].append(100 * hits / every)
        shown["cost"].append(1000 * cost / cases)
    return shown


def check(read, found):
    for name, values in expected(found, read["at"]).items():
        np.testing.assert_allclose(read[name], values, rtol=0.006, atol=0.06)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("make", [audit, with_prices])
def test_the_slider_moves_decisions_and_costs(browser, tmp_path, make, width, dark):
    one = make()
    one.to_html(tmp_path / "report.html")
    browser.open(tmp_path / "report.html", width, dark=dark)
    now = browser.run(READ)
    assert now["ratio"] == one.tradeoff.now
    assert not now["reset"]
    check(now, one.tradeoff)
    browser.run("document.getElementById('ratio').scrollIntoView({ block: 'center' })")
    box = browser.run(
        "(({ x, y, width, height }) => [x, y, width, height])(document.getElementById('ratio').getBoundingClientRect())"
    )
    browser.drag(
        (box[0] + box[2] / 2, box[1] + box[3] / 2),
        (box[0] + box[2] * 0.8, box[1] + box[3] / 2),
    )
    moved = browser.run(READ)
    assert moved["at"] > now["at"] + 20
    assert moved["reset"]
    check(moved, one.tradeoff)
    assert float(moved["mark"]) > float(now["mark"])
    assert (moved["alerts"][0] < now["alerts"][0]) == one.tradeoff.by_amount
    assert moved["said"].startswith(f"{moved['ratio']:,g}"[:3])
    browser.run("document.querySelector('#tradeoff button').click()")
    assert browser.run(READ) == now


def test_the_slider_works_by_keyboard_and_names_the_threshold(browser, tmp_path):
    one = audit()
    one.to_html(tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    before = browser.run(READ)
    assert before["threshold"] == "9.1 %"
    browser.run("document.getElementById('ratio').focus()")
    for _ in range(3):
        browser.press("ArrowLeft")
    after = browser.run(READ)
    assert after["at"] == before["at"] - 3
    ratio = np.exp(one.tradeoff.edges[after["at"]])
    assert float(after["threshold"].split()[0]) == pytest.approx(
        100 / (1 + ratio), abs=0.05
    )
    check(after, one.tradeoff)


def test_without_a_script_the_slider_is_not_there_and_the_tables_are(browser, page):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert not browser.run("document.getElementById('tradeoff').checkVisibility()")
    assert browser.run("document.querySelector('#operation table').checkVisibility()")


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("width", [1280, 390])
def test_every_kind_of_audit_fits_and_runs(browser, tmp_path, name, width):
    EVERY[name]().to_html(tmp_path / "report.html")
    browser.open(tmp_path / "report.html", width)
    assert browser.run("document.documentElement.scrollWidth") == width
    assert browser.happened("Runtime.exceptionThrown", "Log.entryAdded") == []


TORN = """
(() => {
  const lines = (range) => new Set([...range.getClientRects()].map(box => box.top)).size;
  const torn = [];
  for (const e of document.querySelectorAll(".item dd, td:not(.words), .plot .value")) {
    const range = document.createRange(), text = e.firstChild;
    const found = text && /-?[\\d.,]+(\\s%)?\\s\\[.*?\\]/.exec(text.data || "");
    if (found && e.matches("dd")) {  // a sentence may go on in the next line
      range.setStart(text, found.index);
      range.setEnd(text, found.index + found[0].length);
    } else range.selectNodeContents(e);
    if (lines(range) > 1) torn.push(e.textContent);
  }
  return torn;
})()
"""


@pytest.mark.parametrize("width", [1280, 390])
def test_intervals_are_not_torn_apart(browser, page, width):
    browser.open(page, width)
    browser.run("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    assert browser.run("document.querySelectorAll('.item dd').length") > 5
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
    assert len(pictures) == 12
    assert all(len(node["name"]["value"]) > 20 for node in pictures)
    buttons = [node for node in shown if node["role"]["value"] == "button"]
    assert len(buttons) == browser.run(
        "document.querySelectorAll('th button, .control button').length"
    )
    assert {"banner", "navigation", "main", "contentinfo"} <= {
        node["role"]["value"] for node in shown
    }


def test_the_first_tab_leads_past_the_links(browser, page):
    browser.open(page)
    browser.press("Tab")
    assert browser.run("document.activeElement.textContent") == "Skip to the evidence"


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
