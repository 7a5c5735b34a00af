"""New cases in which an agent no longer reports what it did in the fit."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scenarios import bank
from scipy.special import expit

from truepool.tables import batches

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
        words = "fit old.csv --outcome y --pool mean -o a.pool --quiet".split()
        assert truepool(*words)[0] == 0
        return table[LEARN:].reset_index(drop=True)

    return fit


def score(truepool, table, *words):
    table.to_csv("new.csv", index=False)
    return truepool("score", "a.pool", "new.csv", "-o", "out.csv", *words)


def named(err):
    return [name for name in NAMES if name in err]


@pytest.mark.parametrize("kind", [balanced, rare])
def test_sound_cases_are_scored_without_a_word(new, truepool, kind):
    table = new(kind)
    assert score(truepool, table, "--strict")[::2] == (0, "")
    assert_allclose(pd.read_csv("out.csv").pooled, table.mean(axis=1))


def other_unit(table, agent):
    return table.assign(**{agent: table[agent] / 1000})


def opposite(table, agent):
    return table.assign(**{agent: 1 - table[agent]})


def noise(table, agent):
    mixed = np.random.default_rng(0).permutation(table[agent])
    return table.assign(**{agent: mixed})


@pytest.mark.parametrize(
    ("kind", "fault"), [(balanced, other_unit), (rare, other_unit), (rare, opposite)]
)
def test_another_unit_is_refused_and_nothing_is_written(new, truepool, kind, fault):
    table = fault(new(kind), "corvid")
    code, out, err = score(truepool, table)
    assert (code, out, named(err)) == (2, "", ["corvid"])
    assert not Path("out.csv").exists()
    Path("out.csv").write_text("of last month\n")
    assert score(truepool, table)[0] == 2
    assert Path("out.csv").read_text() == "of last month\n"


@pytest.mark.parametrize("fault", [opposite, noise])
def test_an_agent_that_is_reversed_or_noise_is_warned_about(new, truepool, fault):
    table = fault(new(balanced), "bolt")
    code, out, err = score(truepool, table)
    assert (code, named(out), named(err)) == (0, [], ["bolt"])
    assert err.startswith("warning: ")
    assert_allclose(pd.read_csv("out.csv").pooled, table.mean(axis=1))


@pytest.mark.parametrize("fault", [opposite, noise])
def test_with_strict_such_an_agent_is_refused(new, truepool, fault):
    table = fault(new(balanced), "bolt")
    code, out, err = score(truepool, table, "--strict")
    assert (code, out, named(err)) == (2, "", ["bolt"])
    assert err.startswith("error: ")
    assert not Path("out.csv").exists()


def test_of_two_agents_that_are_off_both_are_named(new, truepool):
    table = opposite(other_unit(new(balanced), "corvid"), "acme")
    code, _, err = score(truepool, table)
    assert (code, named(err)) == (2, ["corvid"])  # the other is a warning
    code, _, err = score(truepool, table, "--strict")
    assert (code, named(err)) == (2, ["acme", "corvid"])


def test_a_column_that_is_left_empty_is_no_reason_to_refuse(new, truepool):
    table = new(rare)
    table = table.assign(corvid=np.nan)
    assert score(truepool, table, "--strict")[0] == 0
    assert_allclose(pd.read_csv("out.csv").pooled, table.mean(axis=1))


def test_a_unit_that_changes_in_a_later_batch_leaves_nothing_behind(
    new, truepool, monkeypatch
):
    monkeypatch.setattr(batches, "BATCH_SIZE", 100)
    table = new(rare)
    table.loc[200:, "corvid"] /= 1000
    table.to_json("new.jsonl", orient="records", lines=True)
    code, _, err = truepool("score", "a.pool", "new.jsonl", "-o", "out.csv")
    assert (code, named(err)) == (2, ["corvid"])
    assert not Path("out.csv").exists()
    table[:200].to_json("new.jsonl", orient="records", lines=True)
    assert truepool("score", "a.pool", "new.jsonl", "-o", "out.csv")[0] == 0


def test_a_part_of_a_data_set_in_another_unit_is_refused(new, truepool):
    table = new(rare)
    Path("parts").mkdir()
    table[:150].to_parquet("parts/a.parquet")
    other_unit(table[150:], "dray").to_parquet("parts/b.parquet")
    code, _, err = truepool("score", "a.pool", "parts", "-o", "scored")
    assert (code, named(err)) == (2, ["dray"])
    assert not Path("scored/b.parquet").exists()


def test_a_few_cases_are_scored_as_they_are(new, truepool):
    table = other_unit(new(rare), "corvid")[:29]
    assert score(truepool, table, "--strict")[0] == 0
    assert len(pd.read_csv("out.csv")) == 29
