"""Data sets the tests need: held here, or the test says why it is skipped."""

import pytest

from truepool import datasets


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip where a data set is not here; a test never fetches one."""
    gone = [name for name in names if datasets.find(name).where() is None]
    return pytest.mark.skipif(
        bool(gone),
        reason=f"{', '.join(gone)} not here: TRUEPOOL_DATA names no folder that has it",
    )
