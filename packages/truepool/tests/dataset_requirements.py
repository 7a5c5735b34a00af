"""Data sets that a test needs; where one is missing, the test is skipped."""

import pytest

from truepool import datasets


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip a test where a data set is not on this machine; a test never downloads one."""
    missing = [name for name in names if datasets.find(name).location() is None]
    return pytest.mark.skipif(
        bool(missing),
        reason=f"{', '.join(missing)} not found: TRUEPOOL_DATA names no folder with it",
    )
