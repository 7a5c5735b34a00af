"""Numbers that stand for "no report", such as 9999 among scores up to 850."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

T = 300
Y = (np.arange(T) % 3 == 0).astype(int)
CODED = [4, 50, 120]
FIT = (
    "--set",
    "scores.bureau=850-300",
    "--set",
    "percent=vendor",
    "--pool",
    "mean",
    "-o",
    "t.pool",
)
CURE = r"--set missing=\S+?(?=[;.,] )"


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Four agents who know the outcome alike: fractions, scores and percentages."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    known = 0.35 + 0.3 * Y + rng.normal(0, 0.04, (4, T))
    rf, gbm = known[:2].round(3)
    score, share = (850 - 550 * known[2]).round(), (100 * known[3]).round(1)
    return pd.DataFrame(
        {"rf": rf, "gbm": gbm, "bureau": score, "vendor": share, "y": Y}
    )


@pytest.mark.parametrize("kind", ["csv", "parquet", "excel", "json"])
def test_codes_are_refused_together_with_cures_that_work_in_fit_and_score(
    kind, table, truepool
):
    table.loc[CODED, ["bureau", "vendor"]] = 9999, -1
    name = f"t.{ {'excel': 'xlsx', 'json': 'jsonl'}.get(kind, kind) }"
    more = {"orient": "records", "lines": True} if kind == "json" else {"index": False}
    getattr(table, f"to_{kind}")(name, **more)
    code, out, err = truepool("fit", name, *FIT)
    assert (code, out, err.count("3 of 300")) == (2, "", 2)
    cures = [word for cure in re.findall(CURE, err) for word in shlex.split(cure)]
    assert cures[1::2] == ["missing=9999", "missing=-1"]
    code, _, err = truepool("fit", name, *cures, *FIT)
    assert code == 0, err
    code, _, err = truepool("score", "t.pool", name, "-o", "out.csv")
    assert code == 0, err
    found = pd.read_csv("out.csv").pooled[CODED]
    np.testing.assert_allclose(found, table.loc[CODED, ["rf", "gbm"]].mean(axis=1))


def test_one_percentage_out_of_range_is_to_be_corrected(table, truepool):
    table.loc[7, "vendor"] = 104.0
    table.to_csv("t.csv", index=False)
    code, _, err = truepool("fit", "t.csv", *FIT)
    assert (code, err.count("\n")) == (2, 1)
    assert all(
        word in err for word in ("1 of 300", "104", "line 9", "Correct the cell")
    )
