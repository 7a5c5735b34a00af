"""Data sets that a test needs; where one is missing, the test is skipped."""

import pytest

from truepool import datasets
from truepool.core import distributions


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip a test where a data set is not on this machine; a test never downloads one."""
    missing = [name for name in names if not _is_here(name)]
    return pytest.mark.skipif(
        bool(missing),
        reason=f"{', '.join(missing)} not found: TRUEPOOL_DATA names no folder with it, "
        "or its distribution is not installed",
    )


def _is_here(name: str) -> bool:
    if name not in datasets.every() and distributions.home("data set", name):
        return False
    return datasets.find(name).location() is not None
