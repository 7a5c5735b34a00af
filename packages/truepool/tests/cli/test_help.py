"""The list of verbs: printed at once, and what the parser would print."""

import subprocess
import sys
from importlib.metadata import EntryPoints

import pytest
from distributions import install

from truepool import cli
from truepool.cli import PAGE_WIDTH, verbs
from truepool.core import registry

SLOW = ("typer", "typing", "importlib.metadata", "numpy")
"""What may not be imported for the list: each takes as long as Python to start."""


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", str(PAGE_WIDTH))


@pytest.fixture
def parsed(monkeypatch, capsys):
    """What the parser prints, whether or not the stored page would do."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["truepool", *words])
        with pytest.raises(SystemExit):
            verbs.run()
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("word", ["--help", "-h"])
@pytest.mark.parametrize("columns", ["50", "79", "80", "200", "many", "0"])
def test_the_help_is_what_the_parser_prints(
    monkeypatch, truepool, parsed, word, columns
):
    monkeypatch.setenv("COLUMNS", columns)
    assert truepool(word) == (0, parsed(word), "")


def test_it_is_the_same_without_the_reproduction(monkeypatch, truepool, parsed):
    shown = truepool("--help")[1]
    monkeypatch.setattr(
        "truepool.core.plugins.entry_points", lambda **group: EntryPoints()
    )
    assert parsed("--help") == shown


def test_it_imports_no_parser():
    code = (
        "import sys; sys.argv = ['truepool', '--help']\nfrom truepool.cli import main\n"
        f"try: main()\nexcept SystemExit: print([m for m in {SLOW} if m in sys.modules])"
    )
    command = [sys.executable, "-S", "-c", code]  # -S: .pth files may import anything
    path = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    shown = subprocess.run(
        command, env=path, capture_output=True, text=True, check=True
    )
    assert shown.stdout.splitlines()[-1] == "[]"


def test_a_command_builds_the_parser_of_its_own_verb(monkeypatch, truepool):
    built, build = [], verbs._command
    monkeypatch.setattr(
        verbs, "_command", lambda *of: built.append(of[0]) or build(*of)
    )
    assert truepool("data", "list")[0] == 0
    assert built == ["data"]


@pytest.mark.parametrize("group", ["truepool.verbs", "truepool.pool"])
def test_a_plugin_is_listed_or_warned_of(
    monkeypatch, tmp_path, truepool, parsed, group
):
    before = truepool("--help")[1]
    folder = install(tmp_path, "snap-tools", {}, {group: {"snap": "nowhere:snap"}})
    monkeypatch.syspath_prepend(folder)
    shown = truepool("--help")[1]
    assert "snap" in shown
    assert shown == parsed("--help") != before


def test_a_plugin_in_an_archive_is_looked_for(monkeypatch, tmp_path, truepool):
    archive = tmp_path / "plugins.zip"
    archive.write_bytes(b"")
    monkeypatch.syspath_prepend(archive)
    asked = []
    monkeypatch.setattr(verbs, "run", lambda: asked.append(1) or sys.exit())
    truepool("--help")
    assert asked == [1]


def test_the_quick_page_knows_the_verbs_and_groups_that_the_parser_knows():
    """It is printed without importing them, so it has their names of its own."""
    ours = {verb.encode() for verb in verbs.ELSEWHERE if "." not in verb}
    groups = {group.removeprefix("truepool.").encode() for group in registry.GROUPS}
    assert ours == cli.LISTED
    assert groups - {b"verbs"} == cli.READ
