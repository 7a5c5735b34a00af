"""The dashboard of a running coordinator, in a real browser."""

import numpy as np
import pytest
from fixtures import browser
from server.service import FRAUD, Local, serving

from truepool_serve.server.demo import POOL, World

__all__ = ["browser"]

ODD = '<img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    place = tmp_path_factory.mktemp("served") / "l.db"
    world = World(np.random.default_rng(0))
    with Local(place, POOL) as local, serving(local) as url:
        for number in range(60):
            fraud, reports = world.next(number)
            case = f"p{number}"
            local.report("demo", [(case, agent, r) for agent, r in reports.items()])
            local.decide("demo", case, None)
            if number > 5:
                local.settle("demo", [(case, "fraud" if fraud else "genuine")])
        local.create(FRAUD | {"name": ODD, "agents": [ODD, "bob"]})
        local.report(ODD, [("c0", ODD, 0.5)])
        local.decide(ODD, "c0", None)
        local.url = url
        yield local


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("path", ["/", "/pools/demo"])
def test_the_console_is_silent_and_nothing_is_loaded(
    browser, service, path, width, dark
):
    browser.open(service.url + path, width, dark=dark)
    assert not browser.happened(
        "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"
    )
    asked = [r["request"]["url"] for r in browser.happened("Network.requestWillBeSent")]
    assert [url for url in asked if not url.startswith("data:")] == [service.url + path]
    assert browser.run("document.documentElement.scrollWidth") == width


def test_no_name_runs_or_loads_anything(browser, service):
    browser.open(f"{service.url}/")
    browser.run("document.querySelectorAll('tbody a')[0].click()")
    browser.wait(lambda message: message.get("method") == "Page.loadEventFired")
    assert browser.run("document.querySelector('h1').textContent") == ODD
    assert browser.run("document.images.length") == 0
    assert not browser.happened("Page.javascriptDialogOpening", "Log.entryAdded")


def test_every_chart_has_words_and_every_line_can_be_told_apart(browser, service):
    browser.open(f"{service.url}/pools/demo")
    charts = "[...document.querySelectorAll('svg.chart')]"
    labels = browser.run(f"{charts}.map(chart => chart.ariaLabel)")
    assert len(labels) == 5
    assert all(len(label) > 40 for label in labels)
    lines = "[...document.querySelectorAll('svg.chart')[0].querySelectorAll('.line')]"
    styles = browser.run(
        f"{lines}.map(e => getComputedStyle(e).stroke + getComputedStyle(e).strokeDasharray)"
    )
    assert len(styles) == len(set(styles)) == 5


SEEN = "document.querySelector('main').textContent.includes('my case')"
TICK = "refresh().then(() => document.getElementById('state').textContent)"


def test_a_new_case_appears_by_itself(browser, service):
    browser.open(f"{service.url}/pools/demo")
    assert not browser.run(SEEN)
    service.report("demo", [("my case", "ada", 0.5)])
    service.decide("demo", "my case", None)
    browser.run("new Promise(done => setTimeout(done, 2100))")  # until a page is old
    assert browser.run(TICK) == ""
    assert browser.run(SEEN)
    browser.run("document.querySelector('th button').click()")
    assert browser.run("document.querySelector('th').ariaSort") == "ascending"


def test_a_page_that_is_read_stays_as_it_is(browser, service):
    browser.open(f"{service.url}/pools/demo")
    browser.run("document.querySelector('main .scroll').focus()")
    assert browser.run(TICK).startswith("Paused while you read")


def test_the_page_is_whole_without_a_script(browser, service):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(f"{service.url}/pools/demo")
        count = "document.querySelectorAll('section').length"
        assert browser.run(count) == 6
        assert (
            browser.run("document.querySelectorAll('svg.chart path.line').length") > 10
        )
        assert browser.run("document.querySelector('noscript meta').content") == "10"
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_a_coordinator_that_is_gone_is_said_to_be(browser, tmp_path):
    with Local(tmp_path / "l.db") as local, serving(local) as url:
        browser.open(f"{url}/pools/fraud")
    assert browser.run(TICK).startswith("The coordinator does not answer")
    assert browser.run("document.querySelector('h1').textContent") == "fraud"
