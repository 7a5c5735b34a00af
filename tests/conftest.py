import os

import hypothesis
import pytest

from truepool.pools import auto

FULL_AUTO = {"test_auto.py", "test_demo.py", "test_pools.py", "test_walkthrough.py"}
"""Tests of `auto` itself, and of commands whose output the docs show. For all others
it combines fewer pools: gradient boosting alone takes most of its time."""
FEW_CANDIDATES = (
    "mean",
    "log-odds",
    "best-agent",
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
    if request.path.name not in FULL_AUTO and request.path.suffix == ".py":
        monkeypatch.setattr(auto, "CANDIDATES", FEW_CANDIDATES)
        monkeypatch.setattr(auto, "TWO_CLASSES", ())
