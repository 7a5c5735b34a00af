"""Times with and without an offset are not compared, and names of zones not read."""

import json
from datetime import UTC, datetime

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import truepool as tp
from truepool.core.errors import PanelError

LONG = ("q", "f", "p")
MADE = [f"2026-03-01T{hour:02d}:30:00" for hour in (6, 7, 8, 9)]
ONE_KIND = "must all have an offset from UTC, such as .01:00, or none; column "


def long_table(made, closes="2026-03-01T12:00:00"):
    return pd.DataFrame(
        {
            "q": ["q1", "q1", "q2", "q2"], "f": ["ann", "bob"] * 2,
            "p": [0.9, 0.8, 0.2, 0.3], "made": made, "closes": closes,
            "y": [1, 1, 0, 0],
        }
    )  # fmt: skip


def wide_table(times):
    count = len(times)
    reports = dict.fromkeys(("a", "b"), [0.2, 0.7] * (count // 2))
    return pd.DataFrame({"time": times, **reports, "y": [0, 1] * (count // 2)})


def as_frame(table, folder):
    return table


def as_dates(table, folder):
    made, closes = (pd.to_datetime(table[name]) for name in ("made", "closes"))
    return table.assign(made=made, closes=closes)


def as_csv(table, folder):
    table.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def as_parquet(table, folder):
    as_dates(table, folder).to_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def as_excel(table, folder):
    dated = table.assign(closes=pd.to_datetime(table["closes"]))
    dated.to_excel(folder / "t.xlsx", index=False)
    return folder / "t.xlsx"


@pytest.mark.parametrize("write", [as_frame, as_dates, as_csv, as_parquet, as_excel])
def test_reports_and_decisions_both_have_an_offset_or_neither_has(write, tmp_path):
    table = long_table([f"{time}-05:00" for time in MADE])
    options = {"long": LONG, "time": "made", "decision_time": "closes"}
    with pytest.raises(PanelError, match=f"{ONE_KIND}'made' .*, and column 'closes'"):
        tp.read_panel(write(table, tmp_path), **options)


@pytest.mark.parametrize("write", [as_frame, as_dates, as_csv, as_parquet])
@pytest.mark.parametrize("zone", ["", "-05:00"])
def test_reports_before_the_decision_count_in_any_zone(write, zone, tmp_path):
    table = long_table([t + zone for t in MADE], f"2026-03-01T12:00:00{zone}")
    options = {"long": LONG, "time": "made", "decision_time": "closes"}
    panel = tp.read_panel(write(table, tmp_path), **options)
    assert panel.reports.tolist() == [[0.9, 0.8], [0.2, 0.3]]


@pytest.mark.parametrize(
    "times",
    [
        ["2026-02-01T01:00+01:00", "2026-02-01T01:23"],
        ["2026-02-01", "2026-02-01T01:23Z"],
        [datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 2, 1)],
        [datetime(2026, 2, 1, tzinfo=UTC), "2026-02-01"],
    ],
)
def test_all_times_of_a_column_have_an_offset_or_none_has(times):
    with pytest.raises(PanelError, match=f"{ONE_KIND}'time' has .* row 0, and column"):
        tp.read_panel(wide_table(pd.Series(times, dtype=object)))


def test_a_column_that_no_option_names_may_mix_times(tmp_path):
    mixed = ["2026-03-01T12:00:00+01:00"] * 2 + ["2026-03-01T12:00:00"] * 2
    panel = tp.read_panel(long_table(MADE, mixed), long=LONG, time="made")
    assert len(panel) == 2


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_later_batches_have_times_like_the_first(kind, tmp_path, monkeypatch, truepool):
    monkeypatch.chdir(tmp_path)
    days = pd.date_range("2026-01-01", periods=200).astype(str)
    wide_table(days).to_csv("old.csv", index=False)
    assert truepool(*"fit old.csv --pool mean -o m.pool".split())[0] == 0
    zones = [""] * 90_000 + ["+01:00"] * 10_000
    new = pd.DataFrame({"time": [f"2026-02-01T01:23:00{zone}" for zone in zones]})
    new["a"] = new["b"] = 0.5
    if kind == "csv":
        new.to_csv("new.csv", index=False)
    elif kind == "parquet":
        pq.write_table(pa.table(dict(new)), "new.parquet", row_group_size=20_000)
    else:
        lines = (json.dumps(row) for row in new.to_dict("records"))
        (tmp_path / "new.jsonl").write_text("\n".join(lines))
    words = f"score m.pool new.{kind} --capacity 5/week -o out.csv"
    code, _, err = truepool(*words.split())
    assert code
    assert "Write an offset in each, or, if all are times of one place" in err


@pytest.mark.parametrize(
    ("time", "cure"),
    [
        ("2026-02-01 01:00 CET", "instead of CET, as in '2026-02-01 01:00+01:00'"),
        ("2026-02-01 01:00 UTC", "instead of UTC, as in '2026-02-01 01:00+00:00'"),
        (
            "2026-02-01T01:00+01:00[Europe/Berlin]",
            "Leave out Europe/Berlin, as in '2026-02-01T01:00+01:00'",
        ),
    ],
)
def test_the_name_of_a_zone_is_refused_with_what_can_be_read(time, cure):
    with pytest.raises(PanelError, match="a zone must be an offset from UTC") as error:
        tp.read_panel(wide_table([time] * 4))
    assert cure in str(error.value)
    read = cure.split("'")[1]
    assert tp.read_panel(wide_table([read] * 4)).times is not None


def test_a_format_with_names_of_zones_is_refused():
    table = wide_table(["01.02.2026 01:00 UTC"] * 4)
    with pytest.raises(PanelError, match="pass --time-format '%d.%m.%Y %H:%M %z'"):
        tp.read_panel(table, time_format="%d.%m.%Y %H:%M %Z")
