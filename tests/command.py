"""The command, for tests of any folder: `from command import truepool`."""

import sys

import pytest

from truepool.cli import main


@pytest.fixture
def truepool(monkeypatch, capsys):
    """Run the command in this process; exit code, standard output, standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["truepool", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        shown = capsys.readouterr()
        return stop.value.code or 0, shown.out, shown.err

    return run
