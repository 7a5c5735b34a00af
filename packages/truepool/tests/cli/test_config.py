"""A config file gives the options of every verb with a table; the command line wins."""

import json
import re
from pathlib import Path

import pytest
from command import OPTIONS
from messy_tables import write

from truepool.cli import config

PAGE = Path(__file__).parents[4] / "docs" / "config.md"

BANK = """
outcome = "betrug"
positive = "ja"
decimal = ","
percent = true
id = "konto"
time = "datum"
time-format = "%d.%m.%Y"
cost-fn = 10
agents = ["rf", "gbm"]
seed = 3

[compare]
pool = ["vcg"]

[fit]
pool = "mean"
output = "bank.pool"
"""


@pytest.fixture
def bank(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pool.toml").write_text(BANK)
    return write(tmp_path, "semicolons and decimal commas, in percent").name


@pytest.fixture
def refusal(bank, truepool, tmp_path):
    """What compare says of a config file; nothing is written."""

    def run(text, verb="compare"):
        (tmp_path / "pool.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
        before = sorted(tmp_path.iterdir())
        code, out, err = truepool(verb, bank, "--config", "pool.toml")
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert sorted(tmp_path.iterdir()) == before
        return err

    return run


def test_the_files_of_the_documentation_serve_every_verb(tmp_path):
    path = tmp_path / "pool.toml"
    for text in re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL):
        path.write_text(text)
        found = {verb: config.read(path, verb) for verb in config.VERBS}
    costs = {verb: found[verb].get("cost_fn") for verb in ("audit", "fit", "replay")}
    assert costs == {"audit": "Miss Cost", "fit": "Miss Cost", "replay": "10"}
    assert "by" in found["audit"]
    assert "by" not in found["compare"]


def test_every_verb_that_reads_a_panel_takes_a_config_file():
    reading = {v for v, o in OPTIONS if "--outcome" in o.opts and "agent" not in v}
    taking = {v for v, o in OPTIONS if "--config" in o.opts}
    assert reading <= taking == set(config.VERBS)


@pytest.mark.parametrize("verb", config.VERBS)
def test_every_option_of_a_verb_has_its_key(verb):
    options = {
        max(o.opts, key=len): config.Option(o.name, o.type_descriptor.annotation)
        for v, o in OPTIONS
        if v == verb
    }
    assert {f"--{n}": o for n, o in config.VERBS[verb].items()} == options


def test_a_config_file_says_what_the_options_would(bank, truepool):
    words = (
        "--outcome betrug --positive ja --decimal , --percent --id konto --time datum "
        "--time-format %d.%m.%Y --cost-fn 10 --agents rf,gbm --seed 3 --pool vcg"
    )
    code, by_file, err = truepool("compare", bank, "--config", "pool.toml", "--json")
    assert code == 0, err
    assert by_file == truepool("compare", bank, *words.split(), "--json")[1]
    found = json.loads(by_file)
    assert found["agents"] == ["rf", "gbm"]
    assert found["costs"]["fn"] == 10
    assert found["outcome_labels"]["positive"] == "ja"


def test_the_command_line_wins(bank, truepool):
    more = ("--cost-fn", "2", "--agents", "rf,vendor", "--pool", "platt")
    code, out, _ = truepool("compare", bank, "--config", "pool.toml", *more, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["costs"]["fn"] == 2
    assert found["agents"] == ["rf", "vendor"]
    assert {row["pool"] for row in found["rows"]} == {"platt", "mean", "best-agent"}


def test_a_section_belongs_to_one_verb_and_can_give_what_it_requires(bank, truepool):
    code, out, err = truepool("fit", bank, "--config", "pool.toml")
    assert code == 0, err
    assert "Wrote bank.pool" in out
    assert "mean" in truepool("show", "bank.pool")[1]


def test_the_section_of_a_verb_comes_before_what_all_verbs_share(tmp_path):
    path = tmp_path / "pool.toml"
    path.write_text('seed = 1\nfolds = 9\n[audit]\nseed = 2\nfail-on = "error"\n')
    assert config.read(path, "compare") == {"seed": 1, "folds": 9}
    assert config.read(path, "audit") == {"seed": 2, "fail_on": "error"}


def test_numbers_may_stand_for_text_and_one_text_for_a_list(tmp_path):
    path = tmp_path / "pool.toml"
    path.write_text(
        'positive = 2\nignore = "note"\nlong = ["q", "f", "p"]\nplot = "a.svg"\n'
        'cost-fp = 3\nagents = "a,b"\nquiet = true\n'
    )
    assert config.read(path, "replay") == {
        "positive": "2", "ignore": ["note"], "long": ["q", "f", "p"],
        "plot": "a.svg", "cost_fp": "3", "agents": "a,b", "quiet": True,
    }  # fmt: skip


def test_a_byte_order_mark_is_no_key(tmp_path):
    path = tmp_path / "pool.toml"
    path.write_bytes(b"\xef\xbb\xbfseed = 1\n")
    assert config.read(path, "audit") == {"seed": 1}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("cost_fn = 10", "has 'cost_fn', and no command has such an option (did you mean "
         "'cost-fn'?)"),
        ("[fit]\nfolds = 3", "has 'folds', and fit has no such option"),
        ("[adit]\nseed = 3", "has [adit] (did you mean 'audit'?)"),
        ("[zzz]\nseed = 3", "has [zzz]; known: audit,"),
        ("cost-fn = true", "cost-fn in pool.toml must be text or a number; got True"),
        ("level = 'ten'", "level in pool.toml must be a number; got 'ten'"),
        ("folds = 2.5", "folds in pool.toml must be a whole number; got 2.5"),
        ("percent = 1", "percent in pool.toml must be true, false or a list of names; got 1"),
        ("outcome = ['a', 'b']", "outcome in pool.toml must be text or a number"),
        ("outcome = 1979-05-27", "outcome in pool.toml must be text or a number"),
        ("long = ['a', 'b']", "long in pool.toml must be a list of three texts"),
        ("ignore = [1]", "ignore in pool.toml must be a text or a list of texts"),
        ("markdown = 3", "markdown in pool.toml must be the name of a file; got 3"),
        ("seed 3", "a config file must be TOML, as in outcome = \"label\"; 'pool.toml'"),
        ("outcome = 'b\udcfcro'", "a config file must be UTF-8 text; 'pool.toml' is not"),
        ("cost-fn = -1", "a cost must be a positive number; got -1.0 for fn"),
    ],
)  # fmt: skip
def test_a_bad_config_file_is_one_sentence(refusal, text, sentence):
    assert sentence in refusal(text)


def test_a_severity_is_one_of_the_known_ones(refusal):
    assert "fail-on in pool.toml must be 'warning' or 'error'; got 'errors'" in refusal(
        "fail-on = 'errors'", verb="audit"
    )


def test_a_config_file_that_is_not_there_is_named(bank, truepool):
    code, out, err = truepool("audit", bank, "--config", "polo.toml")
    assert (code, out) == (2, "")
    assert err == (
        "error: there is no config file 'polo.toml' (did you mean 'pool.toml'?). Write "
        "one with truepool init TABLE.\n"
    )
    assert "cannot be read" in truepool("audit", bank, "--config", ".")[2]


def test_a_config_file_without_a_table_is_refused(bank, truepool):
    code, _, err = truepool("audit", "--config", "pool.toml")
    assert code == 2
    assert "options that describe a table need one" in err


def test_a_number_in_a_file_is_a_number(tmp_path):
    path = tmp_path / "pool.toml"
    path.write_text("threshold = 0.25\nlevel = 1\n")
    assert config.read(path, "audit") == {"threshold": 0.25, "level": 1.0}


# Agents that one names and the other ignores


def agents_of(truepool, bank, text, *words):
    with open("pool.toml", "w") as file:
        file.write(BANK.replace('agents = ["rf", "gbm"]', text))
    code, _, err = truepool("fit", bank, "--config", "pool.toml", *words)
    return err if code else err.splitlines()[0]


def test_ignoring_an_agent_of_the_config_takes_it_out(bank, truepool):
    listed = 'agents = ["rf", "gbm", "vendor"]'
    found = agents_of(truepool, bank, listed, "--ignore", "gbm")
    assert found == "Agents: rf, vendor."
    every = ("--ignore", "rf", "--ignore", "gbm", "--ignore", "vendor")
    assert agents_of(truepool, bank, listed, *every) == (
        "error: an agent must be left; all of rf, gbm, vendor are ignored. Take "
        "one out of --ignore.\n"
    )


def test_ignoring_one_more_keeps_what_the_config_ignores(bank, truepool):
    """What an audit advises can be pasted after what init wrote."""
    both = 'agents = ["rf", "gbm", "vendor"]\nignore = ["vendor"]'
    assert agents_of(truepool, bank, both) == "Agents: rf, gbm."
    found = agents_of(truepool, bank, both, "--ignore", "gbm")
    assert found.startswith("error: pooling needs at least 2 agents; got 1, 'rf'")


def test_naming_an_agent_that_the_config_ignores_takes_it_in(bank, truepool):
    ignored = 'ignore = ["gbm"]'
    assert "gbm" not in agents_of(truepool, bank, f'{ignored}\nagents = ["rf", "ven*"]')
    found = agents_of(truepool, bank, ignored, "--agents", "rf, gbm")
    assert found == "Agents: rf, gbm."


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_key_that_stands_twice_is_named_with_its_lines(refusal, end):
    text = f'outcome = "y"\n\n[fit]\ncost-fn = 5\n\n[audit]\ncost-fn = 9\ncost-fn = 10{end}'
    assert refusal(text) == (
        "error: a key of a config file must stand once; 'pool.toml' has 'cost-fn' on "
        "lines 7 and 8. Leave one of them out.\n"
    )


@pytest.mark.parametrize("verb", ["game", "jury", "serve"])
def test_a_section_of_a_plug_in_is_read_past_installed_or_not(verb, tmp_path):
    path = tmp_path / "pool.toml"
    path.write_text(f"seed = 1\n[{verb}]\n")
    assert config.read(path, "audit") == {"seed": 1}
