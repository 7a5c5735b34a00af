"""One spelling per option, in every verb of truepool and of its plug-ins."""

import json
import os
import subprocess
import sys
from importlib.metadata import version

import pytest
from command import OPTIONS, VERBS, is_installed

from truepool.cli import outputs
from truepool.cli.options import SPELLINGS
from truepool.cli.verbs import expand_bare
from truepool.core.errors import SettingError

OWN = {
    "agent export": {"--check-on", "--tolerance"},
    "agent llm": {
        "--answer-format", "--answers", "--base-url", "--budget-calls", "--budget-money",
        "--budget-tokens", "--concurrency", "--key-variable", "--price-in", "--price-out",
        "--probability", "--question", "--request", "--retries", "--samples", "--stream",
        "--template", "--timeout", "--train",
    },
    "agent train": {"--calibration", "--disjoint", "--features", "--unseen"},
    "audit": {"--fail-on", "--since", "--trusted"},
    "compare": {"--folds"},
    "export": {"--onnx"},
    "game": {
        "--agent-count", "--beliefs", "--cases", "--concentration", "--correlation",
        "--mean", "--offset", "--order", "--random-outcomes", "--repetitions",
        "--response", "--rounds", "--sees", "--separation", "--sweep", "--truth",
    },
    "jury": {
        "--budget", "--confidence", "--label-next", "--labels", "--max-error",
        "--repeated", "--swapped", "--tool",
    },
    "ledger compact": {"--before"},
    "ledger statement": {"--from", "--to"},
    "ledger token": {"--role"},
    "replay": {"--all", "--delay", "--recalibrate"},
    "reproduce": {"--full"},
    "score": {"--contributions", "--explore", "--strict"},
    "serve": {"--demo", "--log", "--rate-limit", "--tls-client-ca", "--traces"},
}  # fmt: skip
"""Options that only one verb has."""
WIDTH = 78 - 6
"""Of a name and a sentence in a list of verbs on a terminal of 80 columns."""


@pytest.mark.parametrize(
    ("verb", "option"), OPTIONS, ids=[f"{v} {o.opts[0]}" for v, o in OPTIONS]
)
def test_an_option_is_spelled_as_in_every_other_verb(verb, option):
    long = max(option.opts, key=len)
    if long in OWN.get(verb, ()):
        assert long not in SPELLINGS
        return
    assert long in SPELLINGS, "share it in cli/options.py, or declare it here"
    known = SPELLINGS[long]
    assert set(option.opts) == {long, known.short} - {None}
    assert option.type_descriptor.annotation in (known.type, list[known.type])


@pytest.mark.parametrize("verb", [v for v in ("game", "jury", "replay") if v in VERBS])
def test_where_costs_must_be_constant_the_help_names_no_column_for_them(truepool, verb):
    shown = [
        line for line in truepool(verb, "-h")[1].splitlines() if "--cost-f" in line
    ]
    assert len(shown) == 2
    assert all(" NUMBER " in line for line in shown)
    assert "column that has it" not in truepool(verb, "-h")[1]
    assert "NUMBER|COLUMN" in truepool("audit", "-h")[1]


def test_no_two_verbs_declare_the_same_option_as_their_own():
    names = [name for own in OWN.values() for name in own]
    assert len(names) == len(set(names))
    assert {verb for verb in OWN if is_installed(verb)} <= set(VERBS)


@pytest.mark.parametrize("verb", [verb for verb in OWN if verb in VERBS])
def test_what_a_verb_declares_it_has(verb):
    long = {max(o.opts, key=len) for v, o in OPTIONS if v == verb}
    assert OWN[verb] <= long


def test_a_sentence_has_no_endless_word(capsys):
    outputs.print_note(f"there is no column {'x' * 5000}")
    assert capsys.readouterr().err == f"there is no column {'x' * 100}...{'x' * 100}\n"


def test_one_spelling_has_one_name_in_every_verb():
    names = {}
    for _, option in OPTIONS:
        names.setdefault(max(option.opts, key=len), set()).add(option.name)
    assert {flag: found for flag, found in names.items() if len(found) > 1} == {}


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


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_is_explained_in_a_sentence(verb):
    for parameter in VERBS[verb].params:
        if parameter.name != "help":
            assert parameter.help.endswith("."), parameter.name


def test_json_alone_goes_to_standard_output_and_with_a_file_to_the_file():
    assert expand_bare(["audit", "--json"]) == ["audit", "--json=-"]
    assert expand_bare(["audit", "--json=a.json"]) == ["audit", "--json=a.json"]
    assert expand_bare(["pool", "--", "--json"]) == ["pool", "--", "--json"]
    with pytest.raises(SettingError, match="write --json=out.json"):
        expand_bare(["audit", "--json", "out.json"])


@pytest.mark.parametrize("file", ["sets.json", "sets.txt"])
def test_a_file_for_json_needs_an_equals_sign(truepool, tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    code, out, err = truepool("data", "list", "--json", file)
    assert (code, out) == (2, "")
    assert err == (
        f"error: --json takes its file after an equals sign; write --json={file}\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_json_in_a_file_leaves_the_table_on_the_screen(truepool, tmp_path):
    path = tmp_path / "sets.json"
    code, out, _ = truepool("data", "list", f"--json={path}")
    assert code == 0
    assert "licence" in out
    assert out.endswith(f"Wrote {path}.\n")
    assert json.loads(path.read_text()) == json.loads(
        truepool("data", "list", "--json")[1]
    )


def test_the_number_of_processes_has_a_limit(truepool):
    train = ("agent", "train", "t.csv", "--model", "logistic", "-o", "x.joblib")
    code, out, err = truepool(*train, "--jobs", 100_000)
    assert (code, out) == (2, "")
    assert (
        err == "error: --jobs may be at most 1,000; got 100,000. -1 uses all cores.\n"
    )


@pytest.mark.parametrize("jobs", [0, -2])
def test_a_number_of_processes_is_positive_or_all(truepool, jobs):
    train = ("agent", "train", "t.csv", "--model", "logistic", "-o", "x.joblib")
    code, out, err = truepool(*train, "--jobs", jobs)
    assert (code, out) == (2, "")
    assert err == (
        f"error: --jobs must be 1 or more, or -1 for all cores; got {jobs}\n"
    )


def test_a_folder_is_not_standard_output(truepool):
    code, _, err = truepool("demo", "-o", "-")
    assert (code, err) == (
        2,
        "error: several files are written; name a folder instead of -\n",
    )


def test_only_what_was_written_is_listed(tmp_path, capsys):
    outputs.print_files(None, outputs.STDOUT, tmp_path / "a.svg")
    assert capsys.readouterr().out == f"Wrote {tmp_path / 'a.svg'}.\n"


def test_the_version_is_that_of_the_distribution(truepool):
    assert truepool("--version") == (0, f"truepool {version('truepool')}\n", "")


def test_the_module_runs_the_command():
    words = [sys.executable, "-m", "truepool", "--version"]
    run = subprocess.run(words, capture_output=True, text=True, check=True)
    assert run.stdout == f"truepool {version('truepool')}\n"


def complete(words):
    """What bash is offered after these words."""
    command = (
        "import sys; sys.argv = ['truepool']; from truepool.cli import main; main()"
    )
    position = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    shown = subprocess.run(
        [sys.executable, "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "_TRUEPOOL_COMPLETE": "complete_bash", **position},
    )
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
    assert "bash completion installed" in out
    assert list(tmp_path.rglob("*truepool*"))


@pytest.mark.parametrize(
    "words",
    [
        ("replay", "--learner", "hedge", "--learner", "gradient"),
        ("fit", "--pool", "mean", "--pool", "vcg"),
        ("audit", "--by", "country", "--by", "channel"),
    ],
)
def test_a_second_name_does_not_silently_replace_the_first(truepool, words):
    code, out, err = truepool(*words)
    assert (code, out) == (2, "")
    assert err == f"error: {words[1]} takes one name; got 2\n"


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        ("--agents a --agents=b", "Separate them by commas: --agents a,b."),
        ("--percent=a --percent=b", "Separate them by commas: --percent=a,b."),
        ("--percent --percent=b", "Leave one out."),
        ("--percent --no-percent", "Leave one out."),
    ],
)
def test_names_given_in_two_options_are_not_half_forgotten(truepool, words, cure):
    code, out, err = truepool("audit", "t.csv", *words.split())
    assert (code, out) == (2, "")
    assert "got it 2 times" in err
    assert err.endswith(f"{cure}\n")


def test_a_pipe_is_as_wide_as_it_is_told(truepool, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    assert "COLUMNS=" in truepool("replay", "--all")[1]
    monkeypatch.setenv("COLUMNS", "many")
    assert "COLUMNS=" not in truepool("replay", "--all")[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--threshold", "0,5"], "--threshold must be a number with a decimal point"),
        (["--threshold=12%"], "no sign after it, such as 0.5; got '12%'; see truepool"),
        (["--seed", "1,5"], "--seed must be a whole number, such as 5; got '1,5'; see"),
    ],
)
def test_an_option_that_is_no_number_is_refused_in_our_words(truepool, words, sentence):
    code, _, err = truepool("audit", *words)
    assert code == 2
    assert sentence in err
    assert "parse" not in err
