"""The command, for tests of any folder: `from command import truepool`."""

import sys

import pytest
from typer.main import get_command

from truepool.cli import main
from truepool.cli.verbs import app

ROOT = get_command(app)
EXAMPLE_NOTE = "No table was given: these are the cases of the bundled example.\n"
"""What a command that reads a table prints on standard error where none is given."""


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


def verbs():
    """Every verb by its words, those in groups too."""
    for name in ROOT.list_commands(None):
        command = ROOT.get_command(None, name)
        for part, verb in getattr(command, "commands", {"": command}).items():
            yield f"{name} {part}".strip(), verb


VERBS = dict(verbs())
OPTIONS = [
    (name, parameter)
    for name, verb in VERBS.items()
    for parameter in verb.params
    if parameter.param_type_name == "option" and parameter.name != "help"
]
