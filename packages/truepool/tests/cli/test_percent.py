"""Percentages: seen by their sign, declared, remembered by a pool, never guessed."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

T = 120
RNG = np.random.default_rng(11)
Y = (RNG.uniform(size=T) < 0.4).astype(int)
AGENTS = ["rf", "gbm", "mlp", "vendor_a", "vendor_b"]
SHARES = {name: np.clip(0.2 + 0.5 * Y + RNG.normal(0, 0.2, T), 0.02, 0.99).round(3)
          for name in AGENTS}  # fmt: skip
FEW = {name: values[:7] for name, values in SHARES.items()}
MEAN = np.mean([*FEW.values()], axis=0)
NAMED = ("--set", "percent=vendor_*")
FIT = ("--pool", "mean", "-o", "bank.pool", "--quiet")


def bank(shares):
    """Semicolons and decimal commas; of two agents in percent one writes signs."""
    table = {n: [f"{v:.3f}" for v in shares[n]] for n in AGENTS[:3]}
    table["vendor_a"] = [f"{100 * v:.1f}%" for v in shares["vendor_a"]]
    table["vendor_b"] = [f"{100 * v:.1f}" for v in shares["vendor_b"]]
    return pd.DataFrame(table).map(lambda cell: cell.replace(".", ","))


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bank(SHARES).assign(fraud=Y).to_csv("bank.csv", sep=";", index=False)
    pd.DataFrame(SHARES).assign(fraud=Y).to_csv("fractions.csv", index=False)
    bank(FEW).to_csv("new.csv", sep=";", index=False)
    return tmp_path


@pytest.fixture
def pool(place, truepool):
    code, _, err = truepool("fit", "bank.csv", *NAMED, *FIT)
    assert code == 0, err
    return "bank.pool"


def pooled(truepool, *words):
    code, out, err = truepool("score", *words, "--json", "-", "--quiet")
    assert code == 0, err
    return [json.loads(line)["pooled"] for line in out.splitlines()]


def refused(truepool, *words):
    code, out, err = truepool(*words)
    assert (code, out) == (2, ""), err
    return err


def cures(err):
    """Settings that each line of an error offers."""
    return [re.findall(r"--set \S+?(?=[;.,] |\.$)", line) for line in err.splitlines()]


def test_a_table_with_two_units_is_read_like_one_of_fractions(place, truepool):
    words = ["--pool", "mean", "--pool", "vcg", "--json", "-"]
    found = []
    for table in (["bank.csv", *NAMED], ["bank.csv", "--set", "percent=vendor_b"],
                  ["fractions.csv"]):  # fmt: skip
        code, out, err = truepool("compare", *table, *words)
        assert code == 0, err
        found.append([row["brier"] for row in json.loads(out)["rows"]])
    assert_allclose(found[0], found[2])
    assert found[0] == found[1]  # the signs of vendor_a say it


@pytest.mark.parametrize("verb", ["audit", "score"])
def test_a_name_that_no_agent_has_is_refused_with_a_cure_that_works(
    pool, truepool, verb
):
    words = [verb, "bank.csv"] if verb == "audit" else [verb, pool, "new.csv"]
    (cure,), *_ = cures(refused(truepool, *words, "--set", "percent=vendr_b"))
    code, _, err = truepool(*words, *shlex.split(cure))
    assert code == 0, err


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "long"])
def test_a_saved_pool_applies_what_it_remembers(pool, truepool, kind):
    lines = pd.DataFrame(FEW)
    lines[["vendor_a", "vendor_b"]] *= 100
    name, more = f"new.{kind}", []
    if kind == "jsonl":
        lines.to_json(name, orient="records", lines=True)
    elif kind == "parquet":
        lines.to_parquet(name)
    elif kind == "long":
        name, more = "long.csv", ["--set", "long=case,who,p"]
        long = lines.assign(case=np.arange(7)).melt(
            "case", var_name="who", value_name="p"
        )
        long.to_csv(name, index=False)
    assert_allclose(pooled(truepool, pool, name, *more), MEAN, atol=6e-4)
    card = json.loads(truepool("show", pool, "--json", "-")[1])
    assert card["table"]["units"] == {"vendor_a": [0, 100], "vendor_b": [0, 100]}


def test_what_is_said_of_new_cases_wins(pool, truepool):
    new = pd.DataFrame(FEW)
    new.to_csv("new.csv", index=False)
    words = [pool, "new.csv", "--set"]
    assert_allclose(pooled(truepool, *words, "percent=false"), MEAN)
    new.assign(rf=100 * new.rf).to_csv("new.csv", index=False)
    assert_allclose(pooled(truepool, *words, "percent=rf"), MEAN)
    (100 * new).to_csv("new.csv", index=False)
    assert_allclose(pooled(truepool, *words, "percent=true"), MEAN)


SMALL = {"rf": 0.1, "gbm": 0.2, "mlp": 0.1, "vendor_a": 0.4, "vendor_b": 0.7}
FRACTIONS = 0.4 / 5
"""What the agents add to the mean that report fractions."""


@pytest.mark.parametrize("cases", [1, 20])
def test_small_numbers_of_agents_in_percent_may_be_probabilities(pool, truepool, cases):
    """Neither is taken for granted, and each answer that is offered gives what it says."""
    pd.DataFrame([SMALL] * cases).to_csv("new.csv", index=False)
    first, second = cures(refused(truepool, "score", pool, "new.csv"))
    assert first[0] == second[0] == "--set percent=false"
    (value, *_) = pooled(truepool, pool, "new.csv", *first[0].split())
    assert value == pytest.approx(0.3)
    if cases == 1:  # in so many others, the fit had none as low
        both = " ".join((first[1], second[1])).split()
        (value,) = pooled(truepool, pool, "new.csv", *both)
        assert value == pytest.approx(FRACTIONS + 0.011 / 5)
    pd.DataFrame([SMALL | {"vendor_b": 1.5}]).to_csv("new.csv", index=False)
    (value,) = pooled(truepool, pool, "new.csv")
    assert value == pytest.approx(FRACTIONS + 0.019 / 5)


def test_percent_signs_leave_no_doubt_about_their_own_agent(pool, truepool):
    Path("new.csv").write_text("rf;gbm;mlp;vendor_a;vendor_b\n0,1;0,2;0,1;0,4%;0,7\n")
    ((fraction, percent),) = cures(refused(truepool, "score", pool, "new.csv"))
    for cure, more in ((fraction, 0.7), (percent, 0.007)):
        (value,) = pooled(truepool, pool, "new.csv", *cure.split())
        assert value == pytest.approx(FRACTIONS + (0.004 + more) / 5)


def test_percentages_of_agents_in_fractions_are_refused_with_a_cure_that_works(
    pool, truepool
):
    row = SMALL | {"vendor_a": 40, "vendor_b": 70, "rf": 10}
    pd.DataFrame([row] * 20).to_csv("new.csv", index=False)
    err = refused(truepool, "score", pool, "new.csv")
    assert "--ignore" not in err  # score has no such option
    (cure,) = (each for each in cures(err)[0] if "=0-100" in each)
    (value, *_) = pooled(truepool, pool, "new.csv", *shlex.split(cure))
    assert value == pytest.approx(FRACTIONS + 1.1 / 5)


def test_pool_reads_both_tables_alike(place, truepool):
    words = ["bank.csv", "new.csv", *NAMED, "--pool", "mean", "-o", "out.csv"]
    code, _, err = truepool("pool", *words)
    assert code == 0, err
    assert_allclose(pd.read_csv("out.csv").pooled, MEAN, atol=6e-4)
    bank(FEW).assign(vendor_b="0,5").to_csv("new.csv", sep=";", index=False)
    err = refused(truepool, "pool", *words)
    assert ("vendor_b" in err, "--set" in err) == (True, False)  # keys are about TRAIN


@pytest.mark.parametrize("line", ['["vendor_a", "vendor_b"]', '"vendor_*"'])
def test_a_file_names_the_agents_in_percent_of_tables_that_are_fitted(
    place, truepool, line
):
    Path("pool.toml").write_text(f"percent = {line}")
    for more in ((), ("--ignore", "vendor_b"), ("--agents", "rf,vendor_a")):
        code, _, err = truepool("fit", "bank.csv", *FIT, *more)  # it may name others
        assert code == 0, err
        assert len(pooled(truepool, "bank.pool", "new.csv")) == 7
    err = refused(truepool, "fit", "fractions.csv", *FIT)
    assert err.count("error: ") == 2
    assert truepool("fit", "fractions.csv", *FIT, "--set", "percent=false")[0] == 0
