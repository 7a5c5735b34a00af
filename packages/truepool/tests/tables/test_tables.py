import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from truepool import read_panel, read_reports
from truepool.core.errors import (
    AgentError,
    OutcomeError,
    PanelError,
    ReportError,
    SettingError,
    SourceError,
)
from truepool.tables import (
    TableFormat,
    load_panel,
    read_column_names,
    write_table,
)

COLUMNS = {"ada": [0.9, 0.2, 0.5], "bob": [0.6, None, 0.1], "y": [1, 0, 0]}
REPORTS = [[0.9, 0.6], [0.2, np.nan], [0.5, 0.1]]


def csv_file(tmp_path, text, name="panel.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def parquet_file(tmp_path):
    path = tmp_path / "panel.parquet"
    pq.write_table(pa.table(COLUMNS), path)
    return path


def test_a_column_to_ignore_must_be_there(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("a,b,y\n.1,.2,0\n.3,.4,1\n")
    with pytest.raises(SourceError, match="no ignored column 'c'.*--ignore"):
        read_panel(path, ignore=("c",))


def test_the_name_of_a_column_is_text_that_a_file_can_hold():
    with pytest.raises(SettingError, match="--outcome must be valid Unicode"):
        TableFormat("\udcff")


@pytest.mark.parametrize(
    "source",
    [
        lambda tmp: csv_file(tmp, "ada,bob,y\n.9,.6,1\n.2,,0\n.5,.1,0\n"),
        lambda tmp: csv_file(tmp, " ada , bob,y \n.9,.6,1\n.2,NA,0\n.5,.1,0\n"),
        lambda tmp: str(csv_file(tmp, "y,ada,bob\n1,.9,.6\n0,.2,nan\n0,.5,.1\n")),
        parquet_file,
        lambda tmp: pd.DataFrame(COLUMNS),
        lambda tmp: pl.DataFrame(COLUMNS),
        lambda tmp: pa.table(COLUMNS),
    ],
    ids=["csv", "spaced csv", "csv by name", "parquet", "pandas", "polars", "pyarrow"],
)
def test_every_source_reads_the_same(tmp_path, source):
    panel = read_panel(source(tmp_path), outcome="y")
    assert panel.agents == ("ada", "bob")
    assert_array_equal(panel.reports, REPORTS)
    assert panel.outcomes.tolist() == [1, 0, 0]


def test_id_and_time_columns_are_recognised_and_may_be_named():
    day = [datetime.date(2026, 1, d) for d in (3, 1, 2)]
    table = pa.table({**COLUMNS, "id": ["a", "b", "c"], "time": day})
    panel = read_panel(table)
    assert panel.ids.tolist() == ["a", "b", "c"]
    assert panel.sort_by_time().ids.tolist() == ["b", "c", "a"]
    renamed = table.rename_columns(["ada", "bob", "y", "case", "day"])
    panel = read_panel(renamed, id="case", time="day")
    assert panel.sort_by_time().ids.tolist() == ["b", "c", "a"]


def test_columns_can_be_ignored():
    table = pa.table({**COLUMNS, "note": ["x", "y", "z"]})
    assert read_panel(table, ignore=["note"]).agents == ("ada", "bob")


def test_each_class_has_its_own_column():
    table = pa.table({
        "ada:0": [0.5, 0.2], "ada:1": [0.3, 0.3], "ada:2": [0.2, 0.5],
        "bob:0": [0.1, 0.2], "bob:2": [0.1, 0.4], "bob:1": [0.8, 0.4],
        "y": [0, 2],
    })  # fmt: skip
    panel = read_panel(table)
    assert panel.agents == ("ada", "bob")
    assert panel.classes == 3
    assert_array_equal(panel.reports[0, 1], [0.1, 0.8, 0.1])


def test_booleans_and_whole_numbers_are_reports_too():
    table = pa.table({"ada": [True, False], "bob": [1, 0], "y": [True, False]})
    assert_array_equal(read_panel(table).reports, [[1, 1], [0, 0]])


@pytest.mark.parametrize(
    ("text", "kind", "match"),
    [
        ("", SourceError, "is empty"),
        ("ada,bob,y\n", SourceError, "at least one row"),
        ("ada,bob,outcome\n.9,.6,1\n", OutcomeError, "no 'outcomes' .did you mean 'outcome'"),
        ("ada,ada,outcomes\n.9,.6,1\n.2,.1,0\n", AgentError, "got 'ada' more than once"),
        ("ada,bob,outcomes\n.9,.6x,1\n.2,.1,0\n", ReportError, "'bob' has '.6x' in line 2 of the file"),
        ("ada,bob,outcomes\n90,60,1\n20,10,0\n", ReportError, "percentages"),
        ("ada,bob,outcomes\n.9,.6,yes\n.2,.1,no\n", OutcomeError, "of, 'no' or 'yes'.*--positive yes"),
        ("ada,bob,outcomes\n.9,.6,\n.2,.1,\n", OutcomeError, "'outcomes' is empty in all 2 rows"),
        ("ada,outcomes\n.9,1\n.2,0\n", AgentError, "at least 2 agents; got 1, 'ada'"),
        ("outcomes\n1\n0\n", AgentError, "no column is left"),
        ("ada,bob,outcomes\n.9,.6,1\n", PanelError, "at least 2 cases"),
        ("ada:0,ada:1,bob:0,bob:2,outcomes\n.9,.1,.5,.5,1\n.2,.8,.5,.5,0\n", ReportError, "'bob' has bob:0, bob:2"),
        ("ada,bob\n1,2\n3", SourceError, "as many cells as the header, 2"),
    ],
)  # fmt: skip
def test_a_table_that_makes_no_panel_is_refused(tmp_path, text, kind, match):
    with pytest.raises(kind, match=match) as refusal:
        read_panel(csv_file(tmp_path, text), outcome="outcomes")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ("nowhere.csv", "no file 'nowhere.csv'"),
        (np.zeros((2, 2)), "got ndarray. Use Panel"),
        (42, "got int"),
    ],
)
def test_a_source_that_is_not_a_table_is_refused(source, match):
    with pytest.raises(SourceError, match=match):
        read_panel(source)


def test_an_unreadable_parquet_file_is_refused(tmp_path):
    path = csv_file(tmp_path, "not parquet at all", "panel.parquet")
    with pytest.raises(SourceError, match="cannot be read as parquet"):
        read_panel(path)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.xlsx"])
def test_names_of_columns_are_those_of_the_table(tmp_path, name):
    frame = pd.DataFrame({"ada": [0.1], " bob": [0.2], "y": [1]})
    path = tmp_path / name
    match path.suffix:
        case ".parquet":
            frame.to_parquet(path)
        case ".xlsx":
            frame.to_excel(path, index=False)
        case suffix:
            frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    assert read_column_names(path) == ["ada", "bob", "y"]


def test_an_unknown_kind_of_file_is_refused(tmp_path):
    path = csv_file(tmp_path, "x", "panel.doc")
    with pytest.raises(SourceError, match=r"is read as .csv, .csv.gz, .tsv"):
        read_panel(path)


@pytest.mark.parametrize("role", ["id", "time"])
def test_a_named_column_must_be_there(role):
    with pytest.raises(SourceError, match=f"no {role} column 'yy' .did you mean 'y'"):
        read_panel(pa.table(COLUMNS), **{role: "yy"})


def test_new_reports_are_matched_by_name():
    table = pa.table({"bob": [0.1], "id": [7], "ada": [0.9], "y": [1]})
    reports = read_reports(table, ("ada", "bob"))
    assert_array_equal(reports.values, [[0.9, 0.1]])
    assert reports.ids.tolist() == [7]


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"ada": [0.9]}, "missing: 'bob'"),
        ({"ada": [0.9], "bob": [0.1], "eve": [0.5]}, "not known: 'eve'"),
        (
            {"ada": [0.9], "bbo": [0.1]},
            r"missing: 'bob' \(rename a column, or add an empty one .*not known: 'bbo'",
        ),
    ],
)
def test_other_agents_are_refused(columns, match):
    with pytest.raises(AgentError, match=match):
        read_reports(pa.table(columns), ("ada", "bob"))


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_what_is_written_can_be_read(tmp_path, name):
    columns = {k: np.array(v, dtype=float) for k, v in COLUMNS.items()}
    write_table(tmp_path / name, columns)
    assert_array_equal(read_panel(tmp_path / name).reports, REPORTS)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_text("what was there")

    def fail(*arguments, **options):
        raise OSError(28, "what a library says of it")

    monkeypatch.setattr("truepool.tables.files.csv.write_csv", fail)
    with pytest.raises(SourceError, match="cannot be written: No space left"):
        write_table(path, {"x": np.zeros(3)})
    assert path.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_must_exist_to_be_written_into(tmp_path):
    with pytest.raises(SourceError, match="no folder"):
        write_table(tmp_path / "no" / "out.csv", {"x": np.zeros(3)})
    with pytest.raises(SourceError, match="is written as"):
        write_table(tmp_path / "out.txt", {"x": np.zeros(3)})


def test_numbers_written_as_text_are_numbers():
    table = pa.table(
        {"ada": [" 0.9", "NA", ""], "bob": [0.6, 0.1, 0.2], "y": [1, 0, 0]}
    )
    assert_array_equal(read_panel(table).reports[:, 0], [0.9, np.nan, np.nan])


def test_ids_are_kept_unchanged(tmp_path):
    text = "id,ada,bob,y\n007,.9,.6,1\n9007199254740993,.2,.1,0\n"
    panel = read_panel(csv_file(tmp_path, text))
    assert panel.ids.tolist() == ["007", "9007199254740993"]
    day = datetime.datetime(
        2026, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=2))
    )
    table = pa.table({**COLUMNS, "id": [day, None, day + datetime.timedelta(1)]})
    assert read_panel(table).ids[0] == day
    with pytest.raises(SourceError, match="one plain value per case"):
        read_panel(pa.table({**COLUMNS, "id": [[1], [2], [3]]}))


@pytest.mark.parametrize("index", ["", "Unnamed: 0", "__index_level_0__"])
def test_a_row_index_that_pandas_wrote_is_no_agent(tmp_path, index):
    text = f"{index},ada,bob,y\n0,.9,.6,1\n1,.2,.1,0\n"
    assert read_panel(csv_file(tmp_path, text)).agents == ("ada", "bob")


def test_classes_and_plain_reports_do_not_mix():
    table = pa.table(
        {"a:0": [0.5, 0.2], "a:1": [0.5, 0.8], "b": [0.1, 0.3], "y": [0, 1]}
    )
    with pytest.raises(ReportError, match="'a:0' is of a class, 'b' is not"):
        read_panel(table)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("a:low,a:mid,a:high,b:low,b:mid,b:high,d:low,d:mid,d:hgh",
         "as 'a' has a:low, a:mid, a:high; 'd' has d:low, d:mid, d:hgh (did you mean "
         "'d:high'?)."),
        ("a:low,a:mid,b:low,b:mid,b:high,c:low,c:mid,c:high",
         "as 'b' has b:low, b:mid, b:high; 'a' has a:low, a:mid. Correct"),
        ("a:legit,a:fraud,b:legit,b:frau", "'b' has b:legit, b:frau (did you mean"),
    ],
)  # fmt: skip
def test_a_class_that_is_misspelt_or_missing_is_named(header, message):
    table = {name: [0.5, 0.5] for name in header.split(",")}
    with pytest.raises(ReportError, match=re.escape(message)):
        read_panel(pa.table({**table, "y": ["low", "mid"]}))


def test_names_with_a_colon_are_no_classes_unless_agents_share_them():
    table = {f"{vendor}:{model}": [0.2, 0.6]
             for vendor, model in ("xa", "xb", "yc", "yd")}  # fmt: skip
    assert len(read_panel(pa.table({**table, "y": [0, 1]})).agents) == 4


def test_a_column_that_is_already_an_agent_is_not_what_was_meant():
    table = pa.table({"alpha": [0.2, 0.6], "beta": [0.3, 0.7], "y": [0, 1]})
    with pytest.raises(AgentError, match="no agent matches 'betta'; columns"):
        read_panel(table, agents="alpha,beta,betta")
    with pytest.raises(AgentError, match="mean 'beta'"):
        read_panel(table, agents="alpha,betta")


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("encounter", "the id column (--id)"),
        ("at", "the time column (--time)"),
        ("y", "the outcome column (--outcome)"),
        (
            "amount",
            "a column of the cases (--cost-fn, --cost-fp, --cost-tp, --cost-tn "
            "or --by)",
        ),
        ("chance", "the propensity column (--propensity)"),
    ],
)
def test_a_column_with_another_meaning_is_no_agent(name, role):
    columns = {"encounter": ["e1", "e2"], "at": [1, 2], "amount": [5, 6], "y": [0, 1]}
    columns["chance"] = [0.5, 1.0]
    table = pa.table({**columns, "alpha": [0.2, 0.6], "beta": [0.3, 0.7]})
    how = {"id": "encounter", "time": "at", "columns": "amount"}
    how["propensity"] = "chance"
    two = (
        f"one role; {name!r} is both an agent (--agents) and {role}. If it is not an "
        "agent, pass --agents alpha,beta; if"
    )
    with pytest.raises(AgentError, match=re.escape(two)):
        read_panel(table, agents=["alpha", "beta", name], **how)


def test_columns_of_text_are_not_said_to_be_possible_agents():
    columns = {"ward": ["a", "b"], "at": ["04/01/2026", "04/02/2026"], "y": [0, 1]}
    table = pa.table({**columns, "alpha": [0.2, 0.6], "beta": ["n/d", "3,5 %"]})
    with pytest.raises(AgentError, match=r"could be agents: alpha, beta \(--agents\)$"):
        read_panel(table, agents="alpha,gamma")


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "panel.csv"
    path.write_bytes(b"zo\x81,bob,y\n.9,.6,1\n.2,.1,0\n")
    with pytest.raises(SourceError, match=r"UTF-8 or Windows-1252; .* Save it as CSV"):
        read_panel(path)


def test_new_reports_are_blamed_on_their_agent():
    with pytest.raises(ReportError, match="agent 'ada' has 90"):
        read_reports(pa.table({"bob": [0.6], "ada": [90.0]}), ("ada", "bob"))


def test_single_precision_is_forgiven():
    table = pa.table({"ada": [1.0000001, 0.2], "bob": [-1e-8, 0.1], "y": [1, 0]})
    assert read_panel(table).reports.tolist() == [[1.0, 0.0], [0.2, 0.1]]


@pytest.mark.parametrize(
    ("path", "match"),
    [("folder.csv", "is a folder"), ("/proc/nowhere.csv", "cannot be written")],
)
def test_places_that_cannot_be_written_to_are_refused(tmp_path, path, match):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(SourceError, match=match):
        write_table(tmp_path / path, {"x": np.zeros(3)})


def test_a_folder_that_may_not_be_written_into_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("truepool.core.files.os.access", lambda path, mode: False)
    with pytest.raises(SourceError, match="cannot be written into"):
        write_table(tmp_path / "out.csv", {"x": np.zeros(3)})


@pytest.mark.parametrize("text", [True, False], ids=["file", "frame"])
def test_rows_with_an_empty_outcome_become_pending_cases(tmp_path, text):
    if text:
        rows = "id,ada,bob,y\na,.9,.6,1\nb,.3,.4,\nc,.2,.1,0\nd,.5,.5,\n"
        panel = read_panel(csv_file(tmp_path, rows))
    else:
        columns = {
            "id": list("abcd"),
            "ada": [0.9, 0.3, 0.2, 0.5],
            "bob": [0.6, 0.4, 0.1, 0.5],
        }
        panel = read_panel(pa.table({**columns, "y": [1.0, None, 0.0, float("nan")]}))
    assert panel.outcomes.tolist() == [1, 0]
    assert panel.ids.tolist() == ["a", "c"]
    assert panel.pending.reports.tolist() == [[0.3, 0.4], [0.5, 0.5]]
    assert panel.pending.ids.tolist() == ["b", "d"]
    assert panel.pending.position.tolist() == [1, 2]


def test_an_empty_string_is_a_missing_outcome():
    frame = {"ada": [0.9, 0.3, 0.2], "bob": [0.6, 0.4, 0.1], "y": ["1", " ", "0"]}
    panel = read_panel(pa.table(frame), positive="1")
    assert (len(panel), len(panel.pending)) == (2, 1)


# Words that mean "no report"


def test_a_word_that_means_no_report_is_refused_with_the_option_that_accepts_it():
    table = pa.table({"a": ["0.9", "n/d", "0.3"], "b": [0.8, 0.2, 0.1], "y": [1, 0, 0]})
    cure = "pass --missing n/d; an empty cell, NA, NaN or null means that already"
    with pytest.raises(ReportError, match=cure):
        read_panel(table)
    panel = read_panel(table, missing=["n/d"])
    assert_array_equal(np.isnan(panel.reports[:, 0]), [False, True, False])


def test_words_of_no_report_may_stand_between_percentages():
    table = pa.table({"a": ["90 %", "n/d"], "b": ["80 %", "10 %"], "y": [1, 0]})
    panel = read_panel(table, percent=True, missing=["n/d"])
    assert_array_equal(panel.reports, [[0.9, 0.8], [np.nan, 0.1]])


# Two columns of times


def forecasts(closes="04/14/2025"):
    return pa.table(
        {
            "case": ["q1", "q1", "q2", "q2"],
            "agent": ["a", "b", "a", "b"],
            "report": [0.9, 0.8, 0.1, 0.2],
            "at": ["04/07/2025 07:50 PM"] * 4,
            "end": [closes] * 4,
            "y": [1, 1, 0, 0],
        }
    )


LONG_TIMES = {
    "long": ("case", "agent", "report"),
    "time": "at",
    "decision_time": "end",
}
FORMS = "%m/%d/%Y %I:%M %p | %m/%d/%Y"


def test_two_columns_of_times_may_be_written_differently():
    assert len(read_panel(forecasts(), time_format=FORMS, **LONG_TIMES)) == 2


def test_the_error_of_the_second_column_names_formats_for_both():
    with pytest.raises(PanelError, match="differently, ") as error:
        read_panel(forecasts(), time_format="%m/%d/%Y %I:%M %p", **LONG_TIMES)
    assert f"{FORMS!r}." in str(error.value)


def test_formats_that_both_fit_and_differ_are_refused():
    both = f"{FORMS} | %d/%m/%Y"
    with pytest.raises(PanelError, match="both fit and give different times"):
        read_panel(forecasts("05/04/2025"), time_format=both, **LONG_TIMES)
    assert len(read_panel(forecasts(), time_format=both, **LONG_TIMES)) == 2


# Reports after a date that may be the decision time

MADE = ["01/04/2026 10:00", "05/04/2026 10:00", "01/04/2026 10:00", "01/04/2026 11:00"]
CLOSES = ["04/04/2026 00:00"] * 2 + ["03/04/2026 00:00"] * 2


def questions(**columns):
    return pa.table(
        {
            "case": ["q1", "q1", "q2", "q2"],
            "agent": ["a", "b", "a", "b"],
            "report": [0.9, 0.8, 0.1, 0.2],
            "at": MADE,
            "y": [1, 1, 0, 0],
            **columns,
        }
    )


def late_reports(**columns):
    how = {"layout": "long", "time": "at", "time_format": "%d/%m/%Y %H:%M"}
    return load_panel(questions(**columns), TableFormat(**how))[1]


@pytest.mark.parametrize(
    "closes",
    [
        CLOSES,
        [datetime.datetime.strptime(text, "%d/%m/%Y %H:%M") for text in CLOSES],
        [datetime.datetime.strptime(text, "%d/%m/%Y %H:%M").date() for text in CLOSES],
        [text[:10] for text in CLOSES],  # days, in the order of the reports' days
        ["2026-04-04"] * 2 + ["2026-04-03"] * 2,
        [*CLOSES[:2], None, None],  # a question that is still open
    ],
)
def test_reports_after_another_date_of_their_case_are_counted(closes):
    found = late_reports(closes=closes)
    assert found.after == {"closes": 1}
    assert found.warnings() == [
        "1 report was made at or after 'closes' of their case and may know the "
        "outcome. If that is when a case was closed or decided, pass --decision-time "
        "closes."
    ]


@pytest.mark.parametrize(
    "other",
    [
        ["01/03/2026 00:00"] * 4,  # before all reports: when the question opened
        ["09/05/2026 00:00"] * 4,  # after all of them
        ["04/04/2026 00:00", "06/04/2026 00:00", *CLOSES[2:]],  # differs in a case
        ["yes", "yes", "no", "no"],
        ["", "", "", ""],
        [datetime.time(12)] * 4,
        [1, 1, 2, 2],
        pa.array([None] * 4, pa.timestamp("us")),
    ],
)
def test_columns_that_cannot_be_decision_times_raise_no_question(other):
    assert late_reports(other=other).after == {}


def test_dates_that_have_a_meaning_already_raise_no_question():
    how = {"time": "at", "time_format": "%d/%m/%Y %H:%M", "layout": "long"}
    table = questions(closes=CLOSES)
    for more in ({"decision_time": "closes"}, {"ignore": ["closes"]}):
        assert load_panel(table, TableFormat(**how, **more))[1].after == {}


def test_dates_are_not_compared_with_numbers():
    table = questions(at=[datetime.datetime(2026, 1, 1)] * 4)
    with pytest.raises(SourceError, match="'at' holds dates and 'y' numbers"):
        read_panel(table, layout="long", time="at", decision_time="y")


def test_propensities_may_carry_percent_signs():
    table = {"a": [0.9, 0.2], "b": [0.8, 0.1], "y": [1, 0], "p": ["100 %", "12,5 %"]}
    panel = read_panel(pa.table(table), propensity="p", decimal=",")
    assert_array_equal(panel.propensity, [1, 0.125])
    mixed = pa.table(table | {"p": ["1", "12,5 %"]})
    with pytest.raises(PanelError, match="must be a number"):
        read_panel(mixed, propensity="p", decimal=",")


def test_swapped_columns_of_a_long_table_have_a_cure():
    swapped = ("agent", "case", "report")
    with pytest.raises(OutcomeError, match="columns: --long CASE AGENT REPORT"):
        read_panel(forecasts(), long=swapped)
