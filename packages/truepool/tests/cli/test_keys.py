"""Keys: a pool.toml that is found, --set, and the command line, in every verb."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from command import VERBS
from messy_tables import write

from truepool.cli import keys, verbs

PAGE = Path(__file__).parents[4] / "docs" / "config.md"
BANK = """
outcome = "betrug"
positive = "ja"
time-format = "%d.%m.%Y"
cost-fn = 10
agents = ["rf", "gbm"]
seed = 3

[compare]
pool = ["vcg"]

[fit]
pool = "mean"
output = "a.pool"
"""
SAME = (
    "--outcome betrug --positive ja --set time-format=%d.%m.%Y --cost-fn 10 "
    "--agents rf,gbm --set seed=3 --pool vcg"
)
verbs.describe_all()


@pytest.fixture
def bank(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, "semicolons and decimal commas, in percent").name


@pytest.fixture
def refusal(bank, truepool, tmp_path):
    """What a verb says of a file of keys, or of other words; nothing is written."""

    def run(text, *words, verb="compare"):
        Path("pool.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
        before = sorted(tmp_path.iterdir())
        code, out, err = truepool(verb, bank, *words)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert err.startswith("error: ")
        assert len(err) < 1000
        assert sorted(tmp_path.iterdir()) == before
        return err

    return run


def value(truepool, *words):
    code, out, err = truepool(*words, "--json", "-")
    assert code == 0, err
    return json.loads(out), err


def card(truepool, *words):
    """What a fitted pool knows."""
    value(truepool, "fit", *words, "--pool", "mean", "-o", "a.pool")
    return value(truepool, "show", "a.pool")[0]


# The file


def test_a_file_says_what_the_command_line_would(bank, truepool):
    by_words, _ = value(truepool, "compare", bank, *SAME.split())
    Path("pool.toml").write_text(BANK)
    by_file, err = value(truepool, "compare", bank)
    assert by_file == by_words
    assert "keys from pool.toml" in err.splitlines()[0]
    assert by_file["agents"] == ["rf", "gbm"]
    assert (by_file["costs"]["fn"], by_file["outcome_labels"]["positive"]) == (10, "ja")


def test_the_file_beside_the_table_comes_before_that_of_the_folder(
    bank, truepool, tmp_path, monkeypatch
):
    def positive(*words):
        found, err = value(truepool, "compare", f"../{bank}", "--pool", "mean", *words)
        return found["outcome_labels"]["positive"], re.findall(
            r"keys from (\S+)\.\n", err
        )

    Path("pool.toml").write_text(BANK)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("pool.toml").write_text("positive = 'nein'")
    assert positive() == ("ja", ["../pool.toml"])
    assert positive("--config", "pool.toml") == ("nein", ["pool.toml"])
    Path("../pool.toml").unlink()
    assert positive() == ("nein", ["pool.toml"])


def test_the_command_line_and_set_win_over_the_file_and_a_section_within(
    bank, truepool
):
    Path("pool.toml").write_text(BANK + "[audit]\ncost-fn = 7\n")
    words = (
        "--cost-fn 2 --agents rf,vendor --pool platt --set currency=EUR --set seed=4"
    )
    here, _ = value(truepool, "compare", bank, *words.split())
    assert (here["costs"]["fn"], here["costs"]["currency"]) == (2, "EUR")
    assert here["agents"] == ["rf", "vendor"]
    assert {row["pool"] for row in here["rows"]} == {"platt", "mean", "best-agent"}
    assert value(truepool, "audit", bank)[0]["costs"]["fn"] == 7
    assert value(truepool, "audit", bank, "--set", "cost-fn=3")[0]["costs"]["fn"] == 3


def test_a_section_can_give_what_its_verb_requires(bank, truepool):
    Path("pool.toml").write_text(BANK)
    value(truepool, "fit", bank)
    assert value(truepool, "show", "a.pool")[0]["pool"] == "mean"
    value(truepool, "fit", bank, "-o", "other.pool")
    assert Path("other.pool").exists()


def test_a_file_for_tables_with_outcomes_says_nothing_of_new_cases(bank, truepool):
    """The pool knows them; a section may say what they are written like."""
    Path("pool.toml").write_text(BANK)
    value(truepool, "fit", bank)
    Path("new.csv").write_text("rf;gbm;datum\n61%;50%;1/2/2026\n")
    found = value(truepool, "score", "a.pool", "new.csv")
    assert found[0]["pooled"] == pytest.approx(0.555)
    Path("pool.toml").write_text(BANK + "[score]\npercent = false\n")
    Path("new.csv").write_text("rf;gbm\n0,61;0,5\n")
    assert value(truepool, "score", "a.pool", "new.csv")[0] == found[0]


def test_the_files_of_the_documentation_serve_every_verb(tmp_path):
    path = tmp_path / "pool.toml"
    for text in re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL):
        path.write_text(text)
        for verb in keys.VERBS:
            keys.read_file(path, verb)


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("cost_fn = 10", "'cost_fn'", "'cost-fn'?"),
        ("[fit]\nfolds = 3", "'folds'", "fit has no such key"),
        ("[adit]\nseed = 3", "[adit]", "'audit'?"),
        ("[zzz]\nseed = 3", "[zzz]", "audit"),
        ("[agent.trian]\nseed = 3", "[agent.trian]", "'agent.train'?"),
        ("cost-fn = true", "cost-fn", "text or a number"),
        ("level = 'ten'", "level", "a number"),
        ("folds = 2.5", "folds", "a whole number"),
        ("percent = 1", "percent", "true, false or names"),
        ("percent = ['']", "percent", "true, false or names"),
        ("outcome = ['a', 'b']", "outcome", "text or a number"),
        ("outcome = 1979-05-27", "outcome", "text or a number"),
        ("long = ['a', 'b']", "long", "three columns"),
        ("ignore = [[1]]", "ignore", "a list of texts"),
        ("scores = 3", "scores", "a range such as 0-999"),
        ("markdown = 3", "markdown", "the name of a file"),
        ("seed = -1", "seed", "from 0 on"),
        ("seed 3", "pool.toml", "must be TOML"),
        ("outcome = 'b\udcfcro'", "pool.toml", "must be UTF-8"),
        ("seed = 1\n[fit]\nloss = 'log'\nloss = 'brier'", "'loss'", "on lines 3 and 4"),
        ("cost-fn = -1", "fn", "positive"),
    ],
)  # fmt: skip
def test_a_bad_file_is_one_sentence(refusal, text, key, words):
    said = refusal(text)
    assert key in said
    assert words in said


def test_a_file_that_is_not_there_is_named(bank, truepool):
    Path("pool.toml").write_text(BANK)
    code, out, err = truepool("audit", bank, "--config", "polo.toml")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "'pool.toml'?" in err
    assert truepool("audit", bank, "--config", ".")[0] == 2


def test_a_file_may_have_a_byte_order_mark_and_spell_values_in_two_ways(tmp_path):
    path = tmp_path / "pool.toml"
    path.write_bytes(
        b"\xef\xbb\xbfpositive = 2\nignore = 'note, other'\nlong = ['q', 'f', 'p']\n"
        b"plot = 'a.svg'\ncost-fp = 3\nagents = 'a,b'\nquiet = true\nthreshold = 1\n"
        b"[agent.train]\njobs = 2\n[jury]\n[serve]\n[game]\n"  # installed or not
    )
    assert keys.read_file(path, "replay") == ({
        "positive": "2", "ignore": ["note", "other"], "long": ("q", "f", "p"),
        "plot": Path("a.svg"), "cost-fp": "3", "agents": ["a", "b"], "quiet": True,
        "threshold": 1.0,
    }, {})  # fmt: skip
    assert keys.read_file(path, "agent.train")[1] == {"jobs": 2}


@pytest.mark.parametrize("verb", ["audit", "compare", "replay"])
def test_columns_without_a_table_are_refused(bank, truepool, verb):
    code, out, err = truepool(verb, "--set", "percent=true")
    assert (code, out) == (2, "")
    assert "percent describes a table" in err
    Path("pool.toml").write_text(BANK)  # a file may say it of another table
    assert truepool(verb, "--quiet")[0] == 0


# --set


def test_set_takes_every_type_as_the_file_spells_it(bank, truepool):
    words = (
        "positive=ja threshold=.2 seed=5 percent=true missing=n/d missing=-9 "
        "decimal=, sep=; time_format=%d.%m.%Y long=false currency=EUR"
    )
    found = card(
        truepool, bank, *(w for each in words.split() for w in ("--set", each))
    )
    assert found["table"]["missing"] == ["n/d", "-9"]
    assert (found["threshold"], found["costs"]["currency"]) == (0.2, "EUR")
    Path("pool.toml").write_text(
        "positive = 'ja'\nthreshold = 0.2\nseed = 5\npercent = true\ndecimal = ','\n"
        "missing = ['n/d', '-9']\nsep = ';'\nlong = false\ncurrency = 'EUR'\n"
        "time-format = '%d.%m.%Y'\n"
    )
    assert card(truepool, bank)["table"] == found["table"]


@pytest.mark.parametrize("agent", ["vendor_a", "Pat, HR", "v-1.2"])
def test_scores_are_set_agent_by_agent_whatever_they_are_called(
    truepool, tmp_path, monkeypatch, agent
):
    monkeypatch.chdir(tmp_path)
    table = {"rf": [0.2, 0.7, 0.8, 0.4] * 10, agent: [0, 999, 500, 99] * 10}
    pd.DataFrame({**table, "y": [0, 1, 1, 0] * 10}).to_csv("t.csv", index=False)
    for span in ("0-999", "999-0"):
        words = ("t.csv", "--set", f"scores.{agent}={span}", "--set", "scores.rf=0-1")
        units = card(truepool, *words)["table"]["units"]
        assert units[agent] == [float(end) for end in span.split("-")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--set seed", "KEY=VALUE"),
        ("--set sed=3", "'seed'"),
        ("--set strict=true", "compare has no such key"),
        ("--set seed=1 --set seed=2", "got seed twice"),
        ("--set seed=1,5", "a whole number"),
        ("--set threshold=0,5", "a number with a decimal point"),
        ("--set threshold=12%", "a number with a decimal point"),
        ("--set percent=,", "true, false or names"),
        ("--set percent=**x", "'**x'"),
        ("--set percent=\x1b[31m", "x1b"),
        ("--set percent=" + "x" * 9000, "..."),
        ("--set percent.rf=true", "only scores and price are set for each agent"),
        ("--set scores=high", "a range such as 0-999"),
        ("--set scores.rf=5-5", "a range such as 0-999"),
        ("--set decimal=;", "'.' or ','"),
        ("--set updates=first", "time-weighted"),
        ("--set time-format=%I:%M", "%p"),
        ("--positive ja --set positive=nein", "--positive and --set positive"),
        ("--percent", "--set percent="),
        ("--percent=rf", "--set percent="),
        ("--seed 3", "--set seed="),
        ("--fold 3", "no such option"),
        ("--json", "requires an argument"),
    ],
)  # fmt: skip
def test_what_set_does_not_take_is_one_sentence(refusal, words, expected):
    said = refusal("positive = 'ja'", *words.split(" "))
    assert expected in said
    assert "\x1b" not in said


def test_some_keys_have_limits(refusal, truepool):
    assert "'warning' or 'error'" in refusal("fail-on = 'errors'", verb="audit")
    for jobs in (100_000, 0, -2):
        words = "agent train t.csv --model logistic -o x.joblib --set"
        code, out, err = truepool(*words.split(), f"jobs={jobs}")
        assert (code, out) == (2, "")
        assert f"1 to {keys.MOST_JOBS:,} processes" in err


# Agents that one source names and another ignores


@pytest.mark.parametrize(
    ("text", "words", "agents"),
    [
        ('agents = ["rf", "gbm", "vendor"]', "--ignore gbm", ["rf", "vendor"]),
        ('agents = ["rf", "gbm", "vendor"]\nignore = ["vendor"]', "", ["rf", "gbm"]),
        ('ignore = ["gbm"]\nagents = ["rf", "ven*", "gbm"]', "", ["rf", "vendor"]),
        ('ignore = ["gbm"]', "--agents rf,gbm", ["rf", "gbm"]),
        ('ignore = ["v*"]', "--agents rf,vendor", ["rf", "vendor"]),
        ('ignore = ["datum"]', "--ignore konto", ["rf", "gbm", "vendor"]),
        ("", "--ignore v* --set time=datum", ["rf", "gbm"]),
    ],
)
def test_who_speaks_later_has_the_say_on_agents(bank, truepool, text, words, agents):
    Path("pool.toml").write_text(f'positive = "ja"\n{text}\n')
    assert card(truepool, bank, *words.split())["table"]["agents"] == agents


def test_too_few_agents_are_refused(refusal):
    both = 'positive = "ja"\nagents = ["rf", "gbm", "vendor"]\nignore = ["vendor"]'
    assert "found rf" in refusal(both, "--ignore", "gbm")
    assert "found none" in refusal(both, "--ignore", "gbm", "--ignore", "rf")


# One source


def test_help_lists_every_key_of_every_verb(truepool, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    code, out, err = truepool("help", "keys")
    assert (code, err) == (0, "")
    rows = {line.split()[0]: line for line in out.splitlines()[3:] if line[:1].strip()}
    for verb, own in keys.VERBS.items():
        for key in own:
            assert re.search(rf"\b{verb}\b", rows[key]), (verb, key)


def test_every_key_has_a_meaning_and_one_only():
    for name, _, text, users in keys.every():
        assert text.endswith("."), name
        assert name in keys.KEYS or len(users) == 1, f"{name}: share it in cli/keys.py"


@pytest.mark.parametrize("verb", keys.VERBS)
def test_every_option_of_a_verb_is_a_key_of_it(verb):
    params = VERBS[verb.replace(".", " ")].params
    options = {max(o.opts, key=len) for o in params if o.param_type_name == "option"}
    own = {f"--{key}" for key, each in keys.VERBS[verb].items() if each.option}
    assert options - {"--help", "--config", "--set"} == own
