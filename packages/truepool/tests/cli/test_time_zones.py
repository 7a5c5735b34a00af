"""Times with and without an offset are not compared, and names of zones not read."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

LONG = ("--set", "long=q,f,p", "--time", "made", "--set", "decision-time=closes")
MADE = [f"2026-03-01T{hour:02d}:30:00" for hour in range(2, 10)]


@pytest.fixture
def fit(tmp_path, monkeypatch, truepool):
    """Fit a pool on a table; exit code and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(columns, *words):
        pd.DataFrame(columns).to_csv("t.csv", index=False)
        code, _, err = truepool(
            "fit", "t.csv", "--pool", "mean", "-o", "m.pool", *words
        )
        return code, err

    return run


def long_table(made, closes):
    return {"q": [f"q{t // 2}" for t in range(8)], "f": ["ann", "bob"] * 4,
            "p": [0.9, 0.8, 0.2, 0.3] * 2, "made": made, "closes": closes,
            "y": [1, 1, 0, 0] * 2}  # fmt: skip


def wide_table(times):
    half = len(times) // 2
    return {
        "time": times,
        "a": [0.2, 0.7] * half,
        "b": [0.3, 0.8] * half,
        "y": [0, 1] * half,
    }


@pytest.mark.parametrize("made", ["", "-05:00"])
@pytest.mark.parametrize("closes", ["", "-05:00"])
def test_reports_and_decisions_both_have_an_offset_or_neither_has(fit, made, closes):
    table = long_table([t + made for t in MADE], f"2026-03-01T12:00:00{closes}")
    code, err = fit(table, *LONG)
    assert code == (0 if made == closes else 2), err
    assert code == 0 or ("made" in err and "closes" in err)


def test_a_column_that_nobody_names_may_mix_times(fit):
    mixed = ["2026-03-01T12:00:00+01:00"] * 4 + ["2026-03-01T12:00:00"] * 4
    assert fit(long_table(MADE, mixed), *LONG[:4])[0] == 0


@pytest.mark.parametrize(("times", "line"), [
    (["2026-02-01T01:00+01:00", "2026-02-01T01:23"] * 2, 3),
    (["2026-02-01", "2026-02-01T01:23Z"] * 2, 3),
    (["2026-02-01 01:00 CET"] * 4, 2),
    (["2026-02-01T01:00+01:00[Europe/Berlin]"] * 4, 2),
])  # fmt: skip
def test_odd_zones_are_named_with_their_line(fit, times, line):
    code, err = fit(wide_table(times))
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("error: time: ")
    assert f"in line {line}" in err
    assert fit(wide_table(["2026-02-01T01:00+01:00"] * 4))[0] == 0


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_later_batches_have_times_like_the_first(kind, fit, truepool):
    assert fit(wide_table(pd.date_range("2026-01-01", periods=200).astype(str)))[0] == 0
    zones = [""] * 90_000 + ["+01:00"] * 10_000
    new = pd.DataFrame({"time": [f"2026-02-01T01:23:00{zone}" for zone in zones]})
    new["a"] = new["b"] = 0.5
    if kind == "csv":
        new.to_csv("new.csv", index=False)
    elif kind == "parquet":
        pq.write_table(pa.table(dict(new)), "new.parquet", row_group_size=20_000)
    else:
        lines = (json.dumps(row) for row in new.to_dict("records"))
        Path("new.jsonl").write_text("\n".join(lines))
    words = f"score m.pool new.{kind} --set capacity=5/week -o out.csv"
    code, _, err = truepool(*words.split())
    assert (code, err.count("\n")) == (2, 1)
    assert "offset from UTC" in err
    assert not Path("out.csv").exists()
