"""Few options, spelled alike in every verb of truepool and of its plug-ins."""

import json
import os
import subprocess
import sys
from importlib.metadata import version

import pytest
from command import OPTIONS, VERBS

from truepool.cli import keys, outputs

OUTPUTS = {
    "--output", "--json", "--html", "--markdown", "--plot", "--quiet", "--verbose",
    "--fail-on", "--force", "--help",
}  # fmt: skip
MOST = 12
"""Options of a verb beside its outputs. What most runs do not need is a key: so many can
be read at a glance, where 39 of an audit could not."""
WIDTH = 78 - 6
"""Of a name and a sentence in a list of verbs on a terminal of 80 columns."""


def flag(option):
    return max(option.opts, key=len)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_has_few_options(verb):
    own = {flag(option) for name, option in OPTIONS if name == verb}
    assert len(own - OUTPUTS) <= MOST, sorted(own - OUTPUTS)


@pytest.mark.parametrize(
    ("verb", "option"), OPTIONS, ids=[f"{v} {o.opts[0]}" for v, o in OPTIONS]
)
def test_an_option_is_spelled_as_in_every_other_verb(verb, option):
    """One that a single verb has is its own; another is shared in cli/keys.py."""
    name = flag(option).removeprefix("--")
    users = [each for each, other in OPTIONS if flag(other) == flag(option)]
    known = keys.KEYS.get(name)
    assert known is not None or users == [verb], "share it in cli/keys.py"
    if known is not None:
        assert set(option.opts) == {flag(option), known.short} - {None}
    assert option.help.removesuffix("  [required]").endswith(".")


def test_no_option_has_an_optional_value():
    for verb, option in OPTIONS:
        assert option.is_flag or option.nargs == 1, (verb, flag(option))
        assert not getattr(option, "_flag_needs_value", False), (verb, flag(option))


@pytest.mark.parametrize("verb", [v for v in ("game", "replay") if v in VERBS])
def test_where_costs_must_be_constant_the_help_names_no_column_for_them(truepool, verb):
    shown = [
        line for line in truepool(verb, "-h")[1].splitlines() if "--cost-f" in line
    ]
    assert len(shown) == 2
    assert all(" NUMBER " in line for line in shown)
    assert "NUMBER|COLUMN" in truepool("audit", "-h")[1]


@pytest.mark.parametrize("verb", VERBS)
def test_the_first_sentence_of_a_verb_fits_the_list(verb):
    group = verb.split()[:-1]
    siblings = [name.split() for name in VERBS if name.split()[:-1] == group]
    longest = max(len(words[-1]) for words in siblings)
    assert not VERBS[verb].get_short_help_str(WIDTH - longest).endswith("...")


@pytest.mark.parametrize("verb", ["", "agent", *VERBS])
def test_h_is_short_for_help(truepool, verb):
    code, out, err = truepool(*verb.split(), "-h")
    assert (code, err) == (0, "")
    assert out == truepool(*verb.split(), "--help")[1]
    assert "-h" in out


def test_json_goes_to_a_file_or_to_standard_output(truepool, tmp_path):
    path = tmp_path / "sets.json"
    code, out, _ = truepool("data", "list", "--json", path)
    assert code == 0
    assert out.endswith(f"Wrote {path}.\n")
    assert json.loads(path.read_text()) == json.loads(
        truepool("data", "list", "--json", "-")[1]
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("demo --out x", "no such option: --out"),
        ("demo -o -", "name a folder instead of -"),
        ("fit", "missing argument 'PANEL'; see truepool fit --help"),
        ("fit t.csv", "missing option '--output'; see truepool fit --help"),
        ("score new.csv f.pool", "try truepool score f.pool new.csv"),
        ("data list --json", "requires an argument"),
        ("replay --learner hedge --learner boa", "--learner takes one value; got 2"),
        ("audit --by country --by channel", "--by takes one value; got 2"),
        ("help nothing", "'keys'"),
        ("nonsense", "'nonsense'"),
    ],
)
def test_words_that_are_not_understood_get_one_line(truepool, words, expected):
    code, out, err = truepool(*words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: ")
    assert expected in err


def test_without_a_verb_the_help_is_shown(truepool):
    code, _, err = truepool()
    assert code == 2
    assert err.startswith("Usage: truepool")


def test_a_sentence_has_no_endless_word(capsys):
    outputs.print_note(f"there is no column {'x' * 5000}")
    assert capsys.readouterr().err == f"there is no column {'x' * 100}...{'x' * 100}\n"


def test_only_what_was_written_is_listed(tmp_path, capsys):
    outputs.print_files(None, outputs.STDOUT, tmp_path / "a.svg")
    assert capsys.readouterr().out == f"Wrote {tmp_path / 'a.svg'}.\n"


def test_a_pipe_is_as_wide_as_it_is_told(truepool, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    assert "COLUMNS=" in truepool("replay", "--all")[1]
    monkeypatch.setenv("COLUMNS", "many")
    assert "COLUMNS=" not in truepool("replay", "--all")[1]


# The process


COMMAND = "import sys; from truepool.cli import main; main()"


def test_the_version_is_that_of_the_distribution(truepool):
    shown = f"truepool {version('truepool')}\n"
    assert truepool("--version") == (0, shown, "")
    words = [sys.executable, "-m", "truepool", "--version"]
    run = subprocess.run(words, capture_output=True, text=True, check=True)
    assert run.stdout == shown


def test_an_error_is_no_traceback():
    answer = subprocess.run(
        [sys.executable, "-c", COMMAND, "compare", "no.csv"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == 2
    assert answer.stderr == "error: there is no file no.csv.\n"


@pytest.mark.parametrize("words", [("data", "list"), ("--version",)])
def test_standard_output_that_is_full_is_one_sentence(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, *words],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "error: No space left on device\n")


def complete(words):
    """What bash is offered after these words."""
    position = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    shown = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.argv = ['truepool']; {COMMAND}"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "_TRUEPOOL_COMPLETE": "complete_bash", **position},
    )  # fmt: skip
    return shown.stdout.split()


def test_a_shell_completes_verbs_and_options():
    assert complete("truepool au") == ["audit"]
    assert complete("truepool compare --cost-f") == ["--cost-fn", "--cost-fp"]


def test_completion_can_be_installed(truepool, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    code, out, _ = truepool("--show-completion")
    assert code == 0
    assert "complete_bash" in out
    code, out, _ = truepool("--install-completion")
    assert code == 0
    assert list(tmp_path.rglob("*truepool*"))
