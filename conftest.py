"""Tests and examples keep nothing in the user's cache folder."""

import os
import tempfile

CACHE = tempfile.TemporaryDirectory(prefix="truepool-cache-")


def pytest_configure():
    os.environ["TRUEPOOL_CACHE"] = CACHE.name


def pytest_unconfigure():
    CACHE.cleanup()
