import pytest

from truepool.audits.topics import comparison

COMPARE_AUTO = {"test_recommendation.py", "test_regime.py"}
"""Tests of the recommendation. All others recommend `platt` instead of `auto`, whose
nested cross-validation takes most of the time of an audit of a small panel."""


@pytest.fixture(autouse=True)
def few_pools(request, monkeypatch):
    if request.path.name not in COMPARE_AUTO:
        pools = [name for name in comparison.POOLS if name != comparison.RECOMMENDED]
        monkeypatch.setattr(comparison, "POOLS", tuple(pools))
        monkeypatch.setattr(comparison, "RECOMMENDED", "platt")
