"""Tests and examples keep nothing in the user's cache folder."""

import os
import tempfile

CACHE = tempfile.TemporaryDirectory(prefix="truepool-cache-")
VARIABLE = "TRUEPOOL_CACHE"


def pytest_configure():
    """Name a folder of our own; parallel workers inherit it and share its contents."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        os.environ[VARIABLE] = CACHE.name


def pytest_unconfigure():
    """Leave nothing behind."""
    CACHE.cleanup()
