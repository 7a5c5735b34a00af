"""The built site in a real browser, without a network: ``make docs`` runs this."""

import json
import os
import time
from base64 import b64decode
from pathlib import Path

import pytest
from browser import PATIENCE, Browser, find_browser

SITE = Path(__file__).parents[1] / "build" / "site"
PAGES = (
    "index", "install", "tutorial", "guides/fraud", "concepts/under_confidence", "audit", "reference/cli",
    "reference/http", "reference/layers", "reference/python/pools", "reproduction", "decisions",
)  # fmt: skip
WIDTHS = {"desktop": 1280, "phone": 390}

pytestmark = pytest.mark.site


@pytest.fixture(scope="module")
def browser():
    path = find_browser()
    if path is None:
        assert not os.environ.get("TRUEPOOL_NEED_BROWSER"), "no Chromium here"
        pytest.skip("no Chromium here")
    browser = Browser(path)
    yield browser
    browser.close()


def fetched(browser):
    sent = browser.happened("Network.requestWillBeSent")
    urls = {event["request"]["url"] for event in sent}
    return {url for url in urls if not url.startswith(("file:", "data:", "about:"))}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_needs_no_network_and_fits(browser, page, width, dark):
    browser.open(SITE / f"{page}.html", width, dark=dark)
    assert fetched(browser) == set()
    assert not browser.happened("Runtime.exceptionThrown")
    assert browser.run("document.documentElement.scrollWidth") <= width
    theme = browser.run("document.documentElement.dataset.theme")
    assert theme == ("dark" if dark else "light")
    folder = os.environ.get("TRUEPOOL_SCREENSHOTS")
    if folder:
        name = f"{page.replace('/', '-')}-{width}-{theme}.png"
        shown = browser.call("Page.captureScreenshot", format="png")["data"]
        (Path(folder) / name).write_bytes(b64decode(shown))


CUT = "[...document.querySelectorAll('div.highlight pre')].find(e => e.scrollWidth > e.clientWidth + 1)"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_code_that_is_cut_has_a_shadow_where_more_can_be_scrolled_to(
    browser, width, dark
):
    browser.open(SITE / "tutorial.html", width, dark=dark)
    style = browser.run(f"JSON.stringify([getComputedStyle({CUT}).backgroundAttachment, getComputedStyle({CUT}).backgroundImage])")  # fmt: skip
    attachment, image = json.loads(style)
    # Covers move with the text, shadows stay at the edges.
    assert attachment.startswith("local, local, scroll, scroll")
    shadow = "rgba(255, 255, 255, 0.45)" if dark else "rgba(0, 0, 0, 0.35)"
    assert image.count(shadow) == 2


@pytest.mark.parametrize(
    ("width", "least", "most"), [(1280, 740, 780), (1600, 800, 860)]
)
def test_the_text_is_wide_enough_for_code_and_no_wider_than_can_be_read(
    browser, width, least, most
):
    browser.open(SITE / "serve.html", width)
    found = browser.run("document.querySelector('.bd-article p').clientWidth")
    assert least <= found <= most
    inside = "document.querySelector('.bd-article h2')"
    browser.open(SITE / "reference" / "http.html", width)
    assert browser.run(f"{inside}.scrollWidth <= {inside}.clientWidth")


CELLS = """JSON.stringify([...document.querySelectorAll('table.evidence')].map(table => ({
  fits: table.scrollWidth <= table.parentElement.clientWidth,
  last: table.rows[0].cells[table.rows[0].cells.length - 1].textContent.trim(),
  prose: Math.min(...[...table.querySelectorAll('td.prose:not(:first-child)')].map(e => e.clientWidth)),
})))"""


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("page", ["reproduction", "errata"])
def test_a_table_of_tests_leaves_room_for_its_sentences(browser, page, width):
    browser.open(SITE / f"{page}.html", width)
    tables = json.loads(browser.run(CELLS))
    assert tables
    for table in tables:
        assert table["last"] in ("decided by", "why")
        assert table["fits"] or width < 1280
        assert table["prose"] > 170


ASIDE = ("/decisions/", "/errata.html", "/reference/python/")
FOUND = "JSON.stringify([...document.querySelectorAll('#search-results a')].map(a => a.href))"


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("dead feed", "monitoring"),
        ("drift alarm", "monitoring"),
        ("add a pool", "extending"),
        ("own learner", "extending"),
        ("llm judge", "llm"),
        ("brier", "costs"),
    ],
)
def test_a_page_for_users_is_found_before_decisions_and_objects(browser, words, page):
    browser.open(f"file://{SITE}/search.html?q={words.replace(' ', '+')}")
    end = time.monotonic() + PATIENCE
    found = []
    while time.monotonic() < end and not found:
        found = json.loads(browser.run(FOUND))
        time.sleep(0.5)
    assert f"/{page}.html" in found[0]
    pages = [link.partition("#")[0].partition("?")[0] for link in found]
    for_users = [not any(part in link for part in ASIDE) for link in pages]
    assert all(for_users[:5])


@pytest.mark.parametrize(
    ("words", "page"),
    [("propensity", "case_columns.html"), ("PooledClassifier", "classifier.html")],
)
def test_search_works_offline(browser, words, page):
    browser.open(f"file://{SITE}/search.html?q={words}")
    end = time.monotonic() + PATIENCE
    found = []
    while time.monotonic() < end and not any(page in link for link in found):
        found = json.loads(browser.run("JSON.stringify([...document.querySelectorAll('#search-results a')].map(a => a.href))"))  # fmt: skip
        time.sleep(0.1)
    assert any(page in link for link in found)
    assert fetched(browser) == set()


def test_a_formula_has_a_size(browser):
    browser.open(SITE / "reference/python/measures.html")
    assert browser.run("document.querySelectorAll('math').length") > 0
    assert browser.run("document.querySelector('math').getBoundingClientRect().height") > 5  # fmt: skip
