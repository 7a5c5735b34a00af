"""--percent on the command line: all agents, some of them, or none."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from truepool.cli.verbs import BARE, expand_bare
from truepool.core.errors import PoolFileError, SettingError
from truepool.pools import persistence
from truepool.tables import TableFormat

T = 120
RNG = np.random.default_rng(11)
Y = (RNG.uniform(size=T) < 0.4).astype(int)
AGENTS = ["rf", "gbm", "mlp", "vendor_a", "vendor_b"]
SHARES = {name: np.clip(0.2 + 0.5 * Y + RNG.normal(0, 0.2, T), 0.02, 0.99).round(3)
          for name in AGENTS}  # fmt: skip
NAMED = "--percent=vendor_a,vendor_b"


def comma(value):
    return f"{value:.1f}".replace(".", ",")


def bank(shares):
    """Semicolons and decimal commas; of two agents in percent one writes signs."""
    table = pd.DataFrame({n: [f"{v:.3f}".replace(".", ",") for v in shares[n]]
                          for n in AGENTS[:3]})  # fmt: skip
    table["vendor_a"] = [f"{comma(100 * v)}%" for v in shares["vendor_a"]]
    table["vendor_b"] = [comma(100 * v) for v in shares["vendor_b"]]
    return table


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = bank(SHARES).assign(fraud=Y)
    table.to_csv("bank.csv", sep=";", index=False)
    fractions = pd.DataFrame(SHARES).assign(fraud=Y)
    fractions.to_csv("fractions.csv", index=False)
    return tmp_path


WORDS = ["--outcome", "fraud", "--decimal", ","]


def pooled(truepool, *words):
    code, out, err = truepool("score", *words, "--json", "--quiet")
    assert code == 0, err
    return [json.loads(line)["pooled"] for line in out.splitlines()]


@pytest.fixture
def pool(place, truepool):
    words = ["--pool", "mean", "-o", "bank.pool", "--quiet"]
    code, _, err = truepool("fit", "bank.csv", *WORDS, NAMED, *words)
    assert code == 0, err
    return "bank.pool"


def refused(truepool, *words):
    code, out, err = truepool(*words)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    return err


def test_an_option_that_stands_alone_has_a_value_of_its_own():
    assert expand_bare(["a", "--percent", "--json"]) == ["a", "--percent=*", "--json=-"]
    assert expand_bare(["a", "--no-percent"]) == ["a", "--percent="]
    assert expand_bare(["a", "--percent=b,c"]) == ["a", "--percent=b,c"]
    assert expand_bare(["a", "--", "--percent"]) == ["a", "--", "--percent"]
    for option in ("--percent", "--json"):
        with pytest.raises(SettingError, match=f"{option}= must be followed by its"):
            expand_bare(["audit", f"{option}="])
    assert set(BARE) == {"--json", "--percent", "--no-percent"}


def test_names_need_an_equals_sign(place, truepool):
    cure = "--percent takes its names after an equals sign; write --percent=vendor_a"
    for words in (["bank.csv", "--percent", "vendor_a"],
                  ["--percent", "vendor_a", "bank.csv"]):  # fmt: skip
        assert cure in refused(truepool, "audit", *words, *WORDS)


def test_a_table_with_two_units_is_read_like_one_of_fractions(place, truepool):
    words = ["--outcome", "fraud", "--pool", "mean", "--pool", "vcg", "--json"]
    table = ["bank.csv", "--decimal", ","]
    found = []
    for given in ([*table, NAMED], [*table, "--percent=vendor_*"], ["fractions.csv"]):
        code, out, err = truepool("compare", *given, *words)
        assert code == 0, err
        found.append([row["brier"] for row in json.loads(out)["rows"]])
    assert_allclose(found[0], found[2])
    assert found[0] == found[1]


def test_a_name_that_no_agent_has_is_refused_with_a_suggestion(pool, truepool):
    expected = (
        "error: no agent matches 'vendr_a' (did you mean 'vendor_a'?); columns that "
        "could be agents: rf, gbm, mlp, vendor_a, vendor_b (--percent)\n"
    )
    option = "--percent=vendr_a"
    assert refused(truepool, "audit", "bank.csv", *WORDS, option) == expected
    bank(SHARES).to_csv("new.csv", sep=";", index=False)
    assert refused(truepool, "score", pool, "new.csv", option) == expected


def test_a_saved_pool_applies_what_it_remembers(pool, truepool, place):
    new = {name: values[:7] for name, values in SHARES.items()}
    expected = np.mean([*new.values()], axis=0)
    bank(new).to_csv("new.csv", sep=";", index=False)
    assert_allclose(pooled(truepool, pool, "new.csv"), expected, atol=6e-4)
    lines = pd.DataFrame(new)
    lines[["vendor_a", "vendor_b"]] *= 100
    lines.to_json("new.jsonl", orient="records", lines=True)
    assert_allclose(pooled(truepool, pool, "new.jsonl"), expected)
    lines.to_parquet("new.parquet")
    assert_allclose(pooled(truepool, pool, "new.parquet"), expected)
    lines["case"] = np.arange(7)
    long = lines.melt("case", var_name="who", value_name="p")
    long.to_csv("long.csv", index=False)
    words = ["long.csv", "--long", "case", "who", "p", "--decimal", "."]
    assert_allclose(pooled(truepool, pool, *words), expected)


def test_options_about_new_cases_win(pool, truepool, place):
    new = pd.DataFrame({name: values[:7] for name, values in SHARES.items()})
    expected = new.mean(axis=1)
    new.to_csv("new.csv", index=False)
    words = ["new.csv", "--decimal", ".", "--sep", ","]
    assert_allclose(pooled(truepool, pool, *words, "--no-percent"), expected)
    new.assign(rf=100 * new.rf).to_csv("new.csv", index=False)
    assert_allclose(pooled(truepool, pool, *words, "--percent=rf"), expected)
    (100 * new).to_csv("new.csv", index=False)
    assert_allclose(pooled(truepool, pool, *words, "--percent"), expected)


SMALL = {"rf": 0.1, "gbm": 0.2, "mlp": 0.1, "vendor_a": 0.4, "vendor_b": 0.7}


def test_small_numbers_of_agents_in_percent_are_asked_about(pool, truepool, place):
    Path("one.jsonl").write_text(json.dumps(SMALL) + "\n")
    assert refused(truepool, "score", pool, "one.jsonl") == (
        "error: the pool was fitted on percentages, and here all reports of 'vendor_a' "
        "and 'vendor_b' on the first case are at most 1 (the largest is 0.7), so they "
        "may be probabilities. Pass --percent=vendor_a,vendor_b if they are "
        "percentages, or --no-percent if not.\n"
    )
    (value,) = pooled(truepool, pool, "one.jsonl", NAMED)
    assert value == pytest.approx((0.1 + 0.2 + 0.1 + 0.004 + 0.007) / 5)
    (value,) = pooled(truepool, pool, "one.jsonl", "--no-percent")
    assert value == pytest.approx(0.3)
    Path("one.jsonl").write_text(json.dumps(SMALL | {"vendor_b": 1.5}) + "\n")
    (value,) = pooled(truepool, pool, "one.jsonl")
    assert value == pytest.approx((0.1 + 0.2 + 0.1 + 0.004 + 0.015) / 5)


def test_percent_signs_leave_no_doubt_about_their_own_agent(pool, truepool, place):
    Path("new.csv").write_text(
        "rf;gbm;mlp;vendor_a;vendor_b\n0,1;0,2;0,1;0,4%;0,7\n0,1;0,2;0,1;0,3%;0,5\n"
    )
    err = refused(truepool, "score", pool, "new.csv")
    assert "all reports of 'vendor_b' on the first 2 cases are at most 1" in err
    assert err.endswith(
        f"Pass {NAMED} if they are percentages, or --percent=vendor_a if not.\n"
    )
    first = (0.1 + 0.2 + 0.1 + 0.004) / 5
    assert pooled(truepool, pool, "new.csv", NAMED)[0] == pytest.approx(first + 0.0014)
    found = pooled(truepool, pool, "new.csv", "--percent=vendor_a")
    assert found[0] == pytest.approx(first + 0.14)


def test_an_agent_that_the_pool_knows_in_fractions_is_asked_about(
    pool, truepool, place
):
    Path("one.jsonl").write_text(json.dumps(SMALL | {"vendor_b": 70}) + "\n")
    err = refused(truepool, "score", pool, "one.jsonl", "--percent")
    assert (
        "with --percent some report must be above 1, and here all reports of 'rf'"
        in err
    )
    assert f"Pass {NAMED} instead" in err
    assert truepool("score", pool, "one.jsonl", NAMED)[0] == 0


def test_a_new_percentage_of_an_agent_in_fractions_adds_it_to_the_option(
    pool, truepool, place
):
    Path("one.jsonl").write_text(json.dumps(SMALL | {"vendor_b": 70, "rf": 10}) + "\n")
    err = refused(truepool, "score", pool, "one.jsonl")
    assert "column 'rf' has 10 in line 1. If it is in percent, pass" in err
    assert f"pass {NAMED},rf." in err
    (value,) = pooled(truepool, pool, "one.jsonl", f"{NAMED},rf")
    assert value == pytest.approx((0.1 + 0.2 + 0.1 + 0.004 + 0.7) / 5)


def test_the_card_shows_the_option(pool, truepool):
    assert NAMED in " ".join(truepool("show", pool)[1].split())
    known = json.loads(truepool("show", pool, "--json")[1])["table"]
    assert known["percent"] == ["vendor_a", "vendor_b"]


def test_pool_reads_both_tables_alike(place, truepool):
    bank({name: values[:5] for name, values in SHARES.items()}).to_csv(
        "new.csv", sep=";", index=False
    )
    words = ["bank.csv", "new.csv", *WORDS, NAMED, "--pool", "mean", "-o", "out.csv"]
    code, _, err = truepool("pool", *words)
    assert code == 0, err
    expected = np.mean([values[:5] for values in SHARES.values()], axis=0)
    assert_allclose(pd.read_csv("out.csv").pooled, expected, atol=6e-4)
    small = bank({name: values[:5] for name, values in SHARES.items()})
    small.assign(vendor_b="0,5").to_csv("new.csv", sep=";", index=False)
    err = refused(truepool, "pool", *words)
    assert "the table to fit has percentages, and here all reports of 'vendor_b'" in err


# Config files


@pytest.mark.parametrize(
    "line",
    ['percent = ["vendor_a", "vendor_b"]', 'percent = "vendor_*"'],
)
def test_a_config_file_names_the_agents_in_percent(place, truepool, line):
    Path("pool.toml").write_text(f'outcome = "fraud"\ndecimal = ","\n{line}\n')
    words = ["bank.csv", "--config", "pool.toml", "--pool", "mean", "-o", "a.pool"]
    assert truepool("fit", *words)[0] == 0
    bank(SHARES).to_csv("new.csv", sep=";", index=False)
    found = pooled(truepool, "a.pool", "new.csv", "--config", "pool.toml")
    assert_allclose(found, np.mean([*SHARES.values()], axis=0), atol=6e-4)
    words = [
        "fractions.csv",
        "--config",
        "pool.toml",
        "--decimal",
        ".",
        "--pool",
        "mean",
    ]
    assert "some report must be above 1" in refused(truepool, "compare", *words)
    assert truepool("compare", *words, "--no-percent")[0] == 0  # the command line wins


@pytest.mark.parametrize("line", ["percent = false", "percent = []", ""])
def test_a_config_file_may_name_nobody(place, truepool, line):
    Path("pool.toml").write_text(f'outcome = "fraud"\n{line}\n')
    words = ["fractions.csv", "--config", "pool.toml", "--pool", "mean"]
    assert truepool("compare", *words)[0] == 0
    named = ["bank.csv", "--config", "pool.toml", "--pool", "mean", "--decimal", ","]
    assert truepool("compare", *named, NAMED)[0] == 0


@pytest.mark.parametrize(
    "value", ["1", "[1, 2]", '[""]', "[[]]", "{a = 1}", "1979-05-27"]
)
def test_a_config_file_with_another_value_is_refused(place, truepool, value):
    Path("pool.toml").write_text(f'[compare]\noutcome = "fraud"\npercent = {value}\n')
    err = refused(truepool, "compare", "bank.csv", "--config", "pool.toml")
    assert "percent in pool.toml must be true, false or a list of names; got" in err


def test_an_agent_that_is_ignored_may_stay_in_the_config_file(place, truepool):
    Path("pool.toml").write_text(
        'outcome = "fraud"\ndecimal = ","\npercent = ["vendor_a", "vendor_b"]\n'
    )
    config = ["--config", "pool.toml"]
    for i, less in enumerate((["--ignore", "vendor_b"], ["--agents", "rf,vendor_a"])):
        words = ["bank.csv", *config, *less, "--pool", "mean", "-o", f"{i}.pool"]
        code, _, err = truepool("fit", *words, "--quiet")
        assert code == 0, err
        bank(SHARES).to_csv("new.csv", sep=";", index=False)
        assert len(pooled(truepool, f"{i}.pool", "new.csv", *config)) == T


# init, then everything else


def test_what_init_says_can_be_pasted(place, truepool, monkeypatch):
    code, out, _ = truepool("init", "bank.csv")
    assert code == 0
    assert "  percent: vendor_a (percent signs, which the others do not have)" in out
    assert "To check: is 'vendor_b' an agent in percent? Its numbers go from" in out
    option = f"--agents rf,gbm,mlp,vendor_a,vendor_b {NAMED}"
    assert (
        f"If it is an agent, add {option}, or use the lines that the file has for it."
        in out
    )
    words = ["bank.csv", "--config", "pool.toml", "--pool", "mean", "--quiet"]
    assert truepool("fit", *words, "-o", "four.pool")[0] == 0
    code, _, err = truepool("fit", *words, *option.split(), "-o", "five.pool")
    assert code == 0, err
    assert persistence.load("four.pool").agents_ == tuple(AGENTS[:4])
    assert persistence.load("five.pool").agents_ == tuple(AGENTS)
    line = json.dumps(SMALL | {"vendor_a": 40, "vendor_b": 70})
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(line.encode())))
    monkeypatch.setattr(sys, "stdin", stream)
    (value,) = pooled(truepool, "five.pool", "-")
    assert value == pytest.approx((0.1 + 0.2 + 0.1 + 0.4 + 0.7) / 5)


def test_init_names_percentages_where_one_column_is_surely_fractions(place, truepool):
    noise = RNG.uniform(0, 0.01, T)  # every row has its own numbers
    table = pd.DataFrame({"a": 100 * SHARES["rf"] + noise, "b": 50 + 40 * noise})
    table.assign(c=SHARES["mlp"], y=Y).to_csv("t.csv", index=False)
    code, out, _ = truepool("init", "t.csv", "-o", "t.toml")
    assert code == 0
    assert "those of the other agents at most to 1. If so, pass --percent=a,b.\n" in out
    assert out.endswith("--agents a,b,c --percent=a,b\n")
    words = ["t.csv", "--config", "t.toml", "--agents", "a,b,c", "--pool", "mean"]
    assert truepool("compare", *words, "--percent=a,b")[0] == 0


def test_init_offers_both_where_percentages_may_be_small(place, truepool):
    table = pd.DataFrame({"a": 5 * SHARES["rf"], "b": SHARES["mlp"], "y": Y})
    table.to_csv("t.csv", index=False)
    _, out, _ = truepool("init", "t.csv", "-o", "t.toml")
    assert "percentages? All (--percent), or some (--percent=a).\n" in out


# Hostile input


def test_a_saved_pool_with_an_impossible_unit_is_refused(pool, monkeypatch):
    """As a file would be that somebody else wrote."""
    loaded = persistence.load(pool)
    broken = TableFormat()
    object.__setattr__(broken, "percent", 3)
    persistence.save(loaded, "broken.pool", broken)
    with pytest.raises(PoolFileError, match="its table is not described"):
        persistence.table_format("broken.pool")


@pytest.mark.parametrize(
    "option",
    ["--percent=,", "--percent=[", "--percent=vendor_a,", "--percent=\x1b[31m", "--percent=" + "x" * 9000,
     "--percent=vendor_a:", "--percent=**x"],
)  # fmt: skip
def test_hostile_names_are_one_sentence(place, truepool, option):
    err = refused(truepool, "compare", "bank.csv", *WORDS, option)
    assert "\x1b" not in err
    assert len(err) < 1000
