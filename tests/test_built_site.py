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
