"""Weights, groups and propensities from the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from command import VERBS
from panels import random_panel

AGENTS = ["a", "b", "c", "d"]
EVERY_CASE_ONCE = [verb for verb in ("replay", "game") if verb in VERBS]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    panel, rng = random_panel(1, cases=90), np.random.default_rng(2)
    table = pd.DataFrame(panel.reports, columns=AGENTS).assign(
        w=rng.integers(1, 4, 90), customer=rng.integers(100, 130, 90),
        p=rng.choice([0.25, 0.5, 1.0], 90), y=panel.outcomes,
    )  # fmt: skip
    table.to_csv("t.csv", index=False)
    rest = table.drop(columns=["w", "customer", "p"])
    repeated = rest.loc[np.repeat(np.arange(90), table["w"])]
    repeated.to_csv("repeated.csv", index=False)
    return tmp_path


IGNORE = {"w": "--weight", "customer": "--group", "p": "--propensity"}


def words(**roles):
    """Options for the columns with a role; the others are left out."""
    given = [roles.get(column, "--ignore") for column in IGNORE]
    return [word for pair in zip(given, IGNORE, strict=True) for word in pair]


def test_a_weight_counts_like_copies_of_the_case(folder, truepool):
    code, out, err = truepool(
        "fit", "t.csv", *words(w="--weight"), "--pool", "vcg", "-o", "w.pool", "--json"
    )
    assert code == 0, err
    one = json.loads(out)["explanation"]["weights"]
    code, out, _ = truepool(
        "fit", "repeated.csv", "--pool", "vcg", "-o", "r.pool", "--json"
    )
    assert one == pytest.approx(json.loads(out)["explanation"]["weights"])


def test_every_option_goes_through_every_verb(folder, truepool):
    every = words(**IGNORE)
    new = pd.read_csv("t.csv").drop(columns=["w", "p", "y"])
    new.to_csv("new.csv", index=False)
    chosen = [*every, "--pool", "vcg"]
    for verb in (["compare", "t.csv", "--folds", 3], ["fit", "t.csv", "-o", "v.pool"]):
        code, _, err = truepool(*verb, *chosen, "--json")
        assert code == 0, err
        assert "Agents: a, b, c, d." in err
        assert "Cases of the same customer (29 in all) stay in one fold" in err
        assert "Each case counts by its w." in err
        assert "Each case counts by 1 / p, the chance that it was reviewed." in err
    code, _, err = truepool("pool", "t.csv", "new.csv", *chosen, "-o", "out.csv")
    assert code == 0, err
    code, _, err = truepool("score", "v.pool", "new.csv", "-o", "out.csv")
    assert code == 0, err


def test_an_audit_takes_weights_and_groups(folder, truepool):
    code, out, err = truepool("audit", "t.csv", *words(**IGNORE), "--json")
    assert code == 0, err
    assert json.loads(out)["agents"] == AGENTS


@pytest.mark.parametrize("option", ["--weight", "--group", "--propensity"])
@pytest.mark.parametrize("verb", EVERY_CASE_ONCE)
def test_what_counts_every_case_once_says_so(folder, truepool, verb, option):
    column = next(name for name, given in IGNORE.items() if given == option)
    code, out, err = truepool(verb, "t.csv", *words(**{column: option}))
    assert (code, out) == (2, "")
    assert f"every case once, as independent; got {option} {column}" in err


@pytest.mark.parametrize("verb", EVERY_CASE_ONCE)
def test_help_lists_no_option_that_is_refused(truepool, verb):
    _, out, _ = truepool(verb, "--help")
    assert "--decision-time" in out
    for option in ("--group", "--propensity", "--weight"):
        assert option not in out


def test_a_config_file_may_have_them_for_other_commands(folder, truepool):
    names = [f"{option[2:]} = '{column}'\n" for column, option in IGNORE.items()]
    (folder / "pool.toml").write_text("".join(names))
    code, _, err = truepool("replay", "t.csv", "--config", "pool.toml", "--json")
    assert code == 0, err
    assert f"Agents: {', '.join(AGENTS)}." in err


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("w", 0, "the weight of a case must be positive; line 7 of the file has 0"),
        ("w", "", "the weight of a case must be a number; line 7 of the file has none"),
        ("customer", "", "every case needs a group; line 7 of the file has none"),
        ("p", 0, "line 7 of the file has 0. A case that could not be reviewed"),
        ("p", 50, "line 7 of the file has 50. If these are percentages"),
    ],
)
def test_what_a_case_cannot_have_is_refused(folder, truepool, column, value, message):
    table = pd.read_csv("t.csv").astype({column: object})
    table.loc[5, column] = value
    table.to_csv("t.csv", index=False)
    code, out, err = truepool("compare", "t.csv", *words(**{column: IGNORE[column]}))
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
