"""Tests and examples keep nothing in the user's cache folder."""

import os
import tempfile

CACHE = tempfile.TemporaryDirectory(prefix="truepool-cache-")


def pytest_configure():
    """Name a folder of our own."""
    os.environ["TRUEPOOL_CACHE"] = CACHE.name


def pytest_unconfigure():
    """Leave nothing behind."""
    CACHE.cleanup()
