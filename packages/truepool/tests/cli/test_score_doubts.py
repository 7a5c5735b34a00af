"""New cases in which an agent no longer reports what it did in the fit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scenarios import bank
from scipy.special import expit

from truepool.pools import persistence
from truepool.tables import source

NAMES = ["acme", "bolt", "corvid", "dray"]
LEARN, NEW = 2000, 300


def frame(reports):
    return pd.DataFrame(reports, columns=NAMES)


def balanced():
    """Agents that are as often right about either of two classes."""
    rng = np.random.default_rng(2)
    outcomes = rng.integers(0, 2, LEARN + NEW)
    noise = 0.5 * rng.normal(size=(LEARN + NEW, 1)) + rng.normal(size=(LEARN + NEW, 4))
    return frame(expit(2 * (noise + 2 * outcomes[:, None] - 1))), outcomes


def rare():
    """Vendors of a bank, of whose payments 2 % are frauds."""
    drawn = bank.make("large", 2, rows=3000, share=0.02)
    some = slice(LEARN + NEW)
    return frame(drawn.reports[some, :4]), drawn.fraud[some]


@pytest.fixture
def new(tmp_path, monkeypatch, truepool):
    """Fit a pool to a kind of panel, and return new cases."""
    monkeypatch.chdir(tmp_path)

    def fit(kind):
        table, outcomes = kind()
        table[:LEARN].assign(y=outcomes[:LEARN]).to_csv("old.csv", index=False)
        words = "fit old.csv --pool mean -o a.pool --quiet".split()
        assert truepool(*words)[0] == 0
        return table[LEARN:].reset_index(drop=True)

    return fit


@pytest.fixture
def score(truepool):
    """Score a table; the exit code, and the agents that are named in what is said."""

    def run(table, *words):
        table.to_csv("new.csv", index=False)
        code, _, err = truepool("score", "a.pool", "new.csv", "-o", "out.csv", *words)
        assert Path("out.csv").exists() == (code == 0)
        assert all(line.startswith(("error", "warning")[code == 0])
                   for line in err.splitlines())  # fmt: skip
        return code, [name for name in NAMES if name in err]

    return run


def other_unit(table, agent):
    return table.assign(**{agent: table[agent] / 1000})


def opposite(table, agent):
    return table.assign(**{agent: 1 - table[agent]})


def noise(table, agent):
    mixed = np.random.default_rng(0).permutation(table[agent])
    return table.assign(**{agent: mixed})


@pytest.mark.parametrize("kind", [balanced, rare])
def test_sound_cases_are_scored_without_a_word(new, score, kind):
    table = new(kind)
    assert score(table, "--strict") == (0, [])
    assert_allclose(pd.read_csv("out.csv").pooled, table.mean(axis=1))


@pytest.mark.parametrize(
    ("kind", "fault"), [(balanced, other_unit), (rare, other_unit), (rare, opposite)]
)
def test_another_unit_is_refused_and_nothing_is_written(
    new, score, truepool, kind, fault
):
    table = fault(new(kind), "corvid")
    assert score(table) == (2, ["corvid"])
    Path("last.csv").write_text("of last month\n")
    assert truepool("score", "a.pool", "new.csv", "-o", "last.csv")[0] == 2
    assert Path("last.csv").read_text() == "of last month\n"


@pytest.mark.parametrize("fault", [opposite, noise])
def test_an_agent_that_is_reversed_or_noise_is_warned_about_or_refused(
    new, score, fault
):
    table = fault(new(balanced), "bolt")
    assert score(table, "--strict") == (2, ["bolt"])
    assert score(table) == (0, ["bolt"])
    assert_allclose(pd.read_csv("out.csv").pooled, table.mean(axis=1))


def test_of_two_agents_that_are_off_both_are_named(new, score):
    table = opposite(other_unit(new(balanced), "corvid"), "acme")
    assert score(table) == (2, ["corvid"])  # the other is a warning
    assert score(table, "--strict") == (2, ["acme", "corvid"])


def test_a_column_that_is_left_empty_is_no_reason_to_refuse(new, score):
    table = new(rare).assign(corvid=np.nan)
    assert score(table, "--strict")[0] == 0
    assert_allclose(pd.read_csv("out.csv").pooled, table.mean(axis=1))


def test_a_unit_that_changes_in_a_later_batch_leaves_nothing_behind(
    new, truepool, monkeypatch
):
    monkeypatch.setattr(source, "BLOCK", 8_000)
    table = new(rare)
    table.loc[200:, "corvid"] /= 1000
    words = ("score", "a.pool", "new.jsonl", "-o", "out.csv")
    for part, expected in ((table, 2), (table[:200], 0)):
        part.to_json("new.jsonl", orient="records", lines=True)
        code, _, err = truepool(*words)
        assert (code, "corvid" in err) == (expected, expected == 2)
        assert Path("out.csv").exists() == (code == 0)


def test_a_part_of_a_data_set_in_another_unit_is_refused(new, truepool):
    table = new(rare)
    Path("parts").mkdir()
    table[:150].to_parquet("parts/a.parquet")
    other_unit(table[150:], "dray").to_parquet("parts/b.parquet")
    code, _, err = truepool("score", "a.pool", "parts", "-o", "scored")
    assert (code, "dray" in err) == (2, True)
    assert not Path("scored/b.parquet").exists()


def test_a_few_cases_are_scored_as_they_are(new, score):
    assert score(other_unit(new(rare), "corvid")[:29], "--strict")[0] == 0
    assert len(pd.read_csv("out.csv")) == 29


# Agents in percent, of which one comes in fractions


T = 300
RNG = np.random.default_rng(5)
Y = (RNG.uniform(size=T) < 0.3).astype(int)
SHARES = pd.DataFrame(
    {name: np.clip(0.01 + 0.4 * Y + RNG.normal(0, 0.1, T), 0.0005, 0.99).round(4)
     for name in NAMES[:3]}
)  # fmt: skip
MIXED = (100 * SHARES).assign(corvid=SHARES.corvid)
PERCENT = ("--set", "percent=true")


@pytest.fixture
def percent(tmp_path, monkeypatch, truepool):
    monkeypatch.chdir(tmp_path)

    def fit(table, *words):
        table.assign(y=Y).to_csv("old.csv", index=False)
        fit = ("fit", "old.csv", "--pool", "mean", "-o", "a.pool", "--quiet")
        assert truepool(*fit, *PERCENT, *words)[0] == 0
        return persistence.load(Path("a.pool"))

    return fit


@pytest.mark.parametrize("cases", [T, 20])
def test_one_agent_in_fractions_is_refused_where_all_were_in_percent(
    percent, score, truepool, cases
):
    """Of few cases too, of which nothing else can be said."""
    percent(100 * SHARES)
    some = SHARES.corvid.sort_values(ascending=False).index[:cases]
    mixed = MIXED.loc[some]
    assert score(mixed) == (2, ["corvid"])
    assert score(mixed, *PERCENT) == (2, ["corvid"])
    words = ("pool", "old.csv", "new.csv", *PERCENT, "--pool", "mean", "-o", "out.csv")
    assert truepool(*words)[0] == 2
    assert score(mixed, "--set", "percent=acme,bolt") == (0, [])
    assert_allclose(pd.read_csv("out.csv").pooled, SHARES.loc[some].mean(axis=1))


@pytest.mark.parametrize("cases", [T, 20])
def test_scores_are_told_from_fractions_too(
    tmp_path, monkeypatch, truepool, score, cases
):
    monkeypatch.chdir(tmp_path)
    table = SHARES.assign(corvid=999 * SHARES.corvid)
    table.assign(y=Y).to_csv("old.csv", index=False)
    fit = ("fit", "old.csv", "--set", "scores.corvid=0-999", "-o", "a.pool", "--quiet")
    assert truepool(*fit, "--pool", "mean")[0] == 0
    some = SHARES.corvid.sort_values(ascending=False).index[:cases]
    assert score(SHARES.loc[some]) == (2, ["corvid"])
    assert score(table.loc[some]) == (0, [])


def test_few_cases_up_to_one_percent_are_no_reason_for_doubt(percent, score):
    percent(100 * SHARES)
    low = 100 * SHARES[SHARES.corvid <= 0.01]
    assert score(low[:3].assign(acme=5.0)) == (0, [])


def test_an_agent_that_never_reported_more_is_not_doubted(percent, score):
    table = pd.DataFrame({"acme": 50 + 40 * Y, "bolt": 30 + 40 * Y, "corvid": 0.6})
    percent(table.round(3).astype(str) + "%")
    assert score(table) == (0, [])


def test_seven_higher_reports_must_have_been_expected(percent, score):
    known = percent(100 * SHARES)
    known.habits_ = None
    table = pd.DataFrame({"acme": 50.0, "bolt": 60.0, "corvid": np.full(100, 0.4)})
    for share, code in ((0.069, 0), (0.0701, 2)):
        known.training_ = replace(known.training_, above_percent=(1.0, 1.0, share))
        known.save("a.pool")
        Path("out.csv").unlink(missing_ok=True)
        assert score(table)[0] == code
