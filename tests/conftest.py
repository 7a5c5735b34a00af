import os

import hypothesis
import pytest

from truepool.pools import auto

FULL_AUTO = {
    "test_auto.py",
    "test_demo.py",
    "test_pools.py",
    "test_walkthrough.py",
    "test_the_pool_in_use_may_be_auto",
}
"""Files and tests of `auto` itself, and of commands whose output the docs show. For all others
it combines fewer pools: gradient boosting alone takes most of its time."""
FEW_CANDIDATES = (
    "mean",
    "log-odds",
    "best-agent",
    "extremized",
    "platt",
    "vcg",
    "stacked-lr",
    "shrunk",
)

# Compiled kernels take longer than hypothesis' deadline on their first call only.
hypothesis.settings.register_profile("truepool", deadline=None, max_examples=60)
hypothesis.settings.register_profile(
    "ci", deadline=None, max_examples=60, derandomize=True
)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "truepool")


@pytest.fixture(autouse=True)
def quick_auto(request, monkeypatch):
    names = {request.path.name, request.node.name}
    if not names & FULL_AUTO and request.path.suffix == ".py":
        monkeypatch.setattr(auto, "CANDIDATES", FEW_CANDIDATES)
        monkeypatch.setattr(auto, "TWO_CLASSES", ())
