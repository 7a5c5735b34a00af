"""The page of a jury in a real browser."""

import numpy as np
import pytest
from fixtures import browser
from simulated_juries import simulate

import truepool as tp

__all__ = ["browser"]

ODD = "<script>alert(1)</script>"


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_of_a_jury_is_as_silent_and_as_narrow(browser, tmp_path, width):
    reports, truth = simulate(np.random.default_rng(1), items=120)
    agents = (ODD, "x" * 60, "c", "d", "e")
    panel = tp.Panel(reports[:50], truth[:50], agents=agents)
    path = tmp_path / "jury.html"
    tp.jury(panel.with_pending(reports[50:]), label_next=10).to_html(path)
    browser.open(path, width, dark=width == 390)
    assert browser.run("document.documentElement.scrollWidth") == width
    assert browser.run("document.scripts.length") == 1
    assert not browser.happened(
        "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening"
    )
    assert len(browser.happened("Network.requestWillBeSent")) == 1
