"""Numbers that stand for "no report", such as 9999 among scores up to 850."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import truepool as tp
from truepool.core.errors import ReportError
from truepool.tables.column_profile import profile_columns

T = 300
Y = (np.arange(T) % 3 == 0).astype(int)
CODED = [4, 50, 120]


def table(code=9999.0, percent=None):
    """Four agents who know the outcome alike: fractions, scores and percentages."""
    rng = np.random.default_rng(5)
    known = 0.35 + 0.3 * Y + rng.normal(0, 0.04, (4, T))
    rf, gbm = known[:2].round(3)
    score, share = (850 - 550 * known[2]).round(), (100 * known[3]).round(1)
    score[CODED] = code
    if percent is not None:
        share[CODED] = percent
    found = {"rf": rf, "gbm": gbm, "bureau": score, "vendor": share}
    return pd.DataFrame({**found, "y": Y})


UNITS = {"scores": "bureau=850-300", "percent": ["vendor"]}


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet", "xlsx"])
def test_a_code_among_scores_is_refused_with_a_cure_that_works(kind, tmp_path):
    source = table()
    path = tmp_path / f"t.{kind}"
    if kind != "frame":
        write = {"csv": "to_csv", "parquet": "to_parquet", "xlsx": "to_excel"}[kind]
        getattr(source, write)(path, index=False)
        source = path
    with pytest.raises(
        ReportError,
        match="If it means no report, pass --missing 9999; else correct it, change --s",
    ):
        tp.read_panel(source, **UNITS)
    panel = tp.read_panel(source, **UNITS, missing="9999")
    assert np.flatnonzero(np.isnan(panel.reports[:, 2])).tolist() == CODED


@pytest.mark.parametrize("code", [-1.0, 999.0])
def test_a_code_among_percentages_is_refused_with_a_cure_that_works(code):
    source = table(percent=code)
    cure = f"If it means no report, pass --missing {code:g}; else correct it, change -"
    with pytest.raises(ReportError, match=cure):
        tp.read_panel(source, **UNITS, missing="9999")
    panel = tp.read_panel(source, **UNITS, missing=["9999", f"{code:g}"])
    assert np.isnan(panel.reports[CODED, 3]).all()


def test_one_percentage_out_of_range_is_a_mistake_and_no_code():
    source = table()
    source.loc[7, "vendor"] = 104.0
    with pytest.raises(ReportError, match="104 in .*Correct it, change --percent, or"):
        tp.read_panel(source, **UNITS, missing="9999")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_new_cases_have_the_code_too(kind, tmp_path, monkeypatch, truepool):
    monkeypatch.chdir(tmp_path)
    table().to_csv("t.csv", index=False)
    table().to_parquet("t.parquet")
    words = (
        "fit t.csv --scores bureau=850-300 --percent=vendor --missing 9999 -o t.pool"
    )
    assert truepool(*words.split(), "--pool", "mean")[0] == 0
    assert truepool(*f"score t.pool t.{kind} -o out.csv".split())[0] == 0
    assert pd.read_csv("out.csv")["pooled"].between(0, 1).all()


def test_a_code_is_asked_about_as_a_word_is(tmp_path, monkeypatch, truepool):
    monkeypatch.chdir(tmp_path)
    table().to_csv("t.csv", index=False)
    _, out, _ = truepool("init", "t.csv")
    assert "does '9999' mean no report (3 cells of 'bureau')? Then pass" in out
    assert "is 'bureau' an agent with scores? Its numbers go from" in out
    words = "audit t.csv --config pool.toml --agents rf,gbm,vendor,bureau --missing"
    options = ["9999", "--percent=vendor", "--scores", "bureau=850-300"]
    assert truepool(*words.split(), *options)[0] == 0


def words_of(*numbers):
    column = pd.DataFrame({"x": [str(number) for number in numbers]})
    return dict(profile_columns(pa.table(column))["x"].words)


def test_a_code_is_repeated_and_far_from_all_other_numbers():
    scores = [*range(300, 850, 5)]
    assert words_of(*scores, 9999, 9999) == {"9999": 2}
    assert words_of(*scores, -1, -1, -1) == {"-1": 3}
    assert words_of(*scores, 9999) == {}
    assert words_of(*scores, 999, 999) == {}
    assert words_of(*scores, 9997, 9997) == {}
    assert words_of(*range(0, 20000, 100), 9999, 9999) == {}
