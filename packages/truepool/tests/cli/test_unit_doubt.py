"""New cases of which one agent comes in another unit than the pool was fitted on."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from truepool.core.errors import ReportError
from truepool.pools import persistence
from truepool.pools.unit_doubt import doubt_likeness
from truepool.tables import TableFormat

T = 300
RNG = np.random.default_rng(5)
Y = (RNG.uniform(size=T) < 0.3).astype(int)
SHARES = pd.DataFrame(
    {name: np.clip(0.01 + 0.4 * Y + RNG.normal(0, 0.1, T), 0.0005, 0.99).round(4)
     for name in ("acme", "bolt", "corvid")}
)  # fmt: skip
RARE = pd.DataFrame({"acme": 0.5 + 0.4 * Y, "bolt": 0.3 + 0.4 * Y, "corvid": 0.006})


@pytest.fixture
def pool(tmp_path, monkeypatch, truepool):
    monkeypatch.chdir(tmp_path)
    (100 * SHARES).assign(y=Y).to_csv("old.csv", index=False)
    words = ["--percent", "--pool", "mean", "-o", "a.pool", "--quiet"]
    assert truepool("fit", "old.csv", *words)[0] == 0
    new = 100 * SHARES
    new.assign(corvid=SHARES.corvid).to_csv("new.csv", index=False)
    return "a.pool"


def pooled(truepool, *words):
    code, out, err = truepool("score", *words, "--json", "--quiet")
    assert code == 0, err
    return np.array([json.loads(line)["pooled"] for line in out.splitlines()])


def test_one_agent_in_fractions_is_refused_where_all_were_in_percent(pool, truepool):
    code, out, err = truepool("score", pool, "new.csv")
    share = 100 * (SHARES.corvid > 0.01).mean()
    assert (code, out) == (2, "")
    assert err == (
        "error: the pool was fitted on percentages, and here all reports of 'corvid' "
        f"on the first 300 cases are at most 1 (the largest is {SHARES.corvid.max():g})"
        f", while in the fit {share:.2g} % were above 1, so they may be probabilities. "
        "Pass --percent if they are percentages, or --percent=acme,bolt if not.\n"
    )
    found = pooled(truepool, pool, "new.csv", "--percent=acme,bolt")
    np.testing.assert_allclose(found, SHARES.mean(axis=1))
    code, out, err = truepool("score", pool, "new.csv", "--percent")
    assert (code, out) == (2, "")  # a hundredth of what corvid reported in the fit
    assert "'corvid' has another unit or range" in err


def test_few_cases_up_to_one_percent_are_no_reason_for_doubt(pool, truepool):
    low = 100 * SHARES[SHARES.corvid <= 0.01]
    low[:3].assign(acme=5.0).to_csv("new.csv", index=False)
    assert len(pooled(truepool, pool, "new.csv")) == 3


def test_a_pool_that_remembers_no_reports_compares_with_the_other_agents(
    pool, truepool
):
    known, written = persistence.load(Path(pool)), persistence.table_format(Path(pool))
    known.training_ = replace(known.training_, above_percent=())
    persistence.save(known, "b.pool", written)
    code, _, err = truepool("score", "b.pool", "new.csv")
    assert code == 2
    top = 100 * SHARES[["acme", "bolt"]].to_numpy().max()
    assert "'corvid' on the first 300 cases are at most 1" in err
    assert f", while other agents go up to {top:g}, so they may be prob" in err
    pd.read_csv("new.csv")[:19].to_csv("new.csv", index=False)
    assert truepool("score", "b.pool", "new.csv")[0] == 0


def test_an_agent_that_never_reported_more_is_not_doubted(pool, truepool):
    signs = (100 * RARE).round(3).astype(str) + "%"
    signs.assign(y=Y).to_csv("old.csv", index=False)
    words = ["--percent", "--pool", "mean", "-o", "rare.pool", "--quiet"]
    assert truepool("fit", "old.csv", *words)[0] == 0
    (100 * RARE).round(3).to_csv("new.csv", index=False)
    assert len(pooled(truepool, "rare.pool", "new.csv")) == T


def test_a_table_to_pool_is_compared_with_the_table_of_the_fit(pool, truepool):
    words = ["--percent", "--pool", "mean", "-o", "out.csv"]
    code, _, err = truepool("pool", "old.csv", "new.csv", *words)
    assert code == 2
    assert "the table to fit has percentages, and here all reports of 'corvid'" in err


def test_seven_higher_reports_must_have_been_expected():
    written = TableFormat(percent=True)
    new = np.full((100, 2, 1), 0.004)
    new[:, 1] = 0.5
    doubt_likeness(("a", "b"), written, (0.069, 1.0)).check_reports(new, ())
    with pytest.raises(ReportError, match="while in the fit 7 % were above 1"):
        doubt_likeness(("a", "b"), written, (0.0701, 1.0)).check_reports(new, ())
