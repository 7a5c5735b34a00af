"""The command, for tests of any folder: `from command import truepool`."""

import sys

import pytest

from truepool.cli import main
from truepool.cli.verbs import every_command
from truepool.core import distributions, plugins

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


def is_installed(words):
    """Whether a verb is here: those of other distributions may be missing."""
    every, found = distributions.names("verb"), plugins.every(plugins.VERBS)
    missing = {name.replace(".", " ") for name in every if name not in found}
    parts = words.split()
    return missing.isdisjoint(" ".join(parts[:n]) for n in range(1, len(parts) + 1))


def needs_verb(words):
    """Skip a test of a verb where its distribution is not installed."""
    reason = f"truepool {words} is not installed"
    return pytest.mark.skipif(not is_installed(words), reason=reason)


VERBS = {
    words: verb
    for words, verb in every_command()
    if not hasattr(verb, "commands") and is_installed(words)
}
"""Every verb by its words, those in groups too."""
OPTIONS = [
    (name, parameter)
    for name, verb in VERBS.items()
    for parameter in verb.params
    if parameter.param_type_name == "option" and parameter.name != "help"
]
