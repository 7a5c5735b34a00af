import io
import sys
from pathlib import Path

import pytest
from command import truepool

__all__ = ["truepool"]


@pytest.fixture
def refused(truepool, tmp_path, monkeypatch):
    """Run a command that is refused: it says why, and changes no file."""
    monkeypatch.chdir(tmp_path)

    def contents():
        files = [path for path in Path().rglob("*") if path.is_file()]
        return {path: path.read_bytes() for path in files}

    def run(*words):
        before = contents()
        code, out, err = truepool(*words)
        assert (code, out) == (2, ""), err
        assert all(line.startswith("error: ") for line in err.splitlines()), err
        assert contents() == before
        return err

    return run


@pytest.fixture
def stdin(monkeypatch):
    """Give bytes to the next command on standard input."""

    def give(content):
        stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
        monkeypatch.setattr(sys, "stdin", stream)

    return give
