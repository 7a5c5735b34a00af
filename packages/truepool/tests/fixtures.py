"""Fixtures for tests of any package: a conftest imports those that its folder uses."""

import gzip
import os

import hypothesis
import pytest
from browser import Browser, find_browser

from truepool.audits import comparison
from truepool.pools import auto

FULL_AUTO = {
    "test_auto.py",
    "test_corpus.py",
    "test_demo.py",
    "test_few_cases.py",
    "test_pools.py",
    "test_walkthrough.py",
    "test_the_pool_in_use_may_be_auto",
    "test_agents_in_another_order_are_pooled_alike_where_trees_are_grown[auto]",
    "test_thousands_of_agents_are_pooled_or_refused_with_the_limit[auto]",
    "test_a_draw_that_is_measured_again_has_the_loss_of_its_row[diabetes-40]",
    "test_a_draw_that_is_measured_again_has_the_loss_of_its_row[wine-K3]",
    "test_by_default_only_pools_that_scale_are_tried_on_a_mostly_empty_panel",
    "test_auto_costs_hardly_more_than_the_best_linear_pool",
    "test_examples.py",
    "test_ray_nodes.py",
}
"""Files and tests of `auto` itself, and of commands whose output the docs show. For all others
it combines four pools: fitted in folds within folds, they take most of the time of an audit."""
FEW_CANDIDATES = ("mean", "log-odds", "platt", "vcg")

COMPARE_AUTO = {"test_corpus.py"}
"""Whole audits as users make them. All others recommend `platt` instead of `auto`, whose
nested cross-validation takes most of the time of an audit of a small panel."""

# Compiled kernels take longer than hypothesis' deadline on their first call only.
hypothesis.settings.register_profile("truepool", deadline=None, max_examples=60)
hypothesis.settings.register_profile(
    "ci", deadline=None, max_examples=20, derandomize=True
)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "truepool")


@pytest.fixture(autouse=True)
def quick_auto(request, monkeypatch):
    names = {request.path.name, request.node.name}
    if not names & FULL_AUTO and request.path.suffix == ".py":
        monkeypatch.setattr(auto, "CANDIDATES", FEW_CANDIDATES)
        monkeypatch.setattr(auto, "TWO_CLASSES", ())


@pytest.fixture(autouse=True)
def no_screen(monkeypatch):
    """Tables as wide as in a pipe, whatever a library has set."""
    monkeypatch.delenv("COLUMNS", raising=False)


BROWSER_NEEDED = "TRUEPOOL_NEED_BROWSER"


@pytest.fixture(scope="module")
def browser():
    """A real browser; where there is none, the test is skipped unless it is needed."""
    path = find_browser()
    if path is None:
        if os.environ.get(BROWSER_NEEDED):
            pytest.fail(f"{BROWSER_NEEDED} is set and there is no Chromium")
        pytest.skip(
            "there is no Chromium to look at the page with; apt-get install chromium"
        )
    one = Browser(path)
    yield one
    one.close()


@pytest.fixture(autouse=True)
def few_pools(request, monkeypatch):
    if request.path.name not in COMPARE_AUTO:
        pools = [name for name in comparison.POOLS if name != comparison.RECOMMENDED]
        monkeypatch.setattr(comparison, "POOLS", tuple(pools))
        monkeypatch.setattr(comparison, "RECOMMENDED", "platt")


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No folder of data, an empty cache, and no proxy before loopback."""
    monkeypatch.delenv("TRUEPOOL_DATA", raising=False)
    monkeypatch.setenv("TRUEPOOL_CACHE", str(tmp_path / "caches" / "truepool"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "caches" / "truepool"


@pytest.fixture
def given(nowhere, tmp_path, monkeypatch):
    """Put lines into the file of a data set, in a folder that TRUEPOOL_DATA names."""
    monkeypatch.setenv("TRUEPOOL_DATA", str(tmp_path))

    def put(dataset, *lines):
        path = tmp_path / f"{dataset.files[0].name}.gz"
        path.write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
        return path

    return put
