import os

import hypothesis
import pytest

from truepool.pools import auto
from truepool.render.html import svg

FULL_AUTO = {
    "test_auto.py",
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


@pytest.fixture
def empty_figures(monkeypatch):
    """Pages with figures that have labels and nothing in them.

    Drawing takes four fifths of the time of a page, so a claim about its words does
    without.
    """
    monkeypatch.setattr(
        svg, "_draw_svg", lambda figure, key: '<svg viewBox="0 0 100 100"/>'
    )
