"""Weights, groups and propensities from the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from command import VERBS
from panels import random_panel

AGENTS = ["a", "b", "c", "d"]
EVERY_CASE_ONCE = [verb for verb in ("replay", "game") if verb in VERBS]
KEYS = {"w": "weight", "customer": "group", "p": "propensity"}


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
    rest.loc[np.repeat(np.arange(90), table["w"])].to_csv("repeated.csv", index=False)
    return tmp_path


def words(*columns):
    """Keys of the columns with a role; the others are left out."""
    given = [("--set", f"{KEYS[column]}={column}") for column in columns]
    given += [("--set", f"ignore={c}") for c in KEYS if c not in columns]
    return [word for pair in given for word in pair]


def value(truepool, *words):
    code, out, err = truepool(*words, "--json", "-")
    assert code == 0, err
    return json.loads(out), err


def test_a_weight_counts_like_copies_of_the_case(folder, truepool):
    fit = ("--pool", "vcg", "-o", "w.pool")
    one, _ = value(truepool, "fit", "t.csv", *words("w"), *fit)
    other, _ = value(truepool, "fit", "repeated.csv", *fit)
    found = one["explanation"]["weights"]
    assert found == pytest.approx(other["explanation"]["weights"])


def test_every_role_goes_through_every_verb(folder, truepool):
    chosen = [*words(*KEYS), "--pool", "vcg"]
    for verb in (
        ["compare", "t.csv", "--set", "folds=3"],
        ["fit", "t.csv", "-o", "v.pool"],
    ):
        _, err = value(truepool, *verb, *chosen)
        assert "Cases of the same customer (29 in all) stay in one fold" in err
        assert "Each case counts by its w." in err
        assert "Each case counts by 1 / p" in err
    found = value(truepool, "audit", "t.csv", *words(*KEYS))[0]["agents"]
    assert [one["who"] for one in found] == AGENTS
    pd.read_csv("t.csv").drop(columns=["w", "p", "y"]).to_csv("new.csv", index=False)
    code, _, err = truepool("pool", "t.csv", "new.csv", *chosen, "-o", "one.csv")
    assert code == 0, err
    code, _, err = truepool("score", "v.pool", "new.csv", "-o", "two.csv")
    assert code == 0, err
    assert (folder / "one.csv").read_bytes() == (folder / "two.csv").read_bytes()


@pytest.mark.parametrize("column", KEYS)
@pytest.mark.parametrize("verb", EVERY_CASE_ONCE)
def test_what_counts_every_case_once_says_so(folder, truepool, verb, column):
    code, out, err = truepool(verb, "t.csv", *words(column))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{KEYS[column]}={column}" in err
    # A file may have them for other commands; they are no agents then either.
    (folder / "pool.toml").write_text(
        "".join(f"{k} = '{c}'\n" for c, k in KEYS.items())
    )
    more = [] if verb == "replay" else ["--set", "rounds=1"]
    _, err = value(truepool, verb, "t.csv", *more)
    assert f"agents {', '.join(AGENTS)}," in err


@pytest.mark.parametrize(
    ("column", "cell"), [("w", 0), ("w", ""), ("customer", ""), ("p", 0), ("p", 50)]
)
def test_what_a_case_cannot_have_is_refused(folder, truepool, column, cell):
    table = pd.read_csv("t.csv").astype({column: object})
    table.loc[5, column] = cell
    table.to_csv("t.csv", index=False)
    code, out, err = truepool("compare", "t.csv", *words(column))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: {column}: ")
    assert "in line 7" in err
