"""Tables in which some agents report percentages, and others fractions."""

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from truepool.cli.verbs import expand_bare
from truepool.core.errors import AgentError, ReportError, SettingError
from truepool.panel import sparse
from truepool.panel.labels import Labels
from truepool.panel.panel import Panel
from truepool.pools import persistence
from truepool.pools.mean import Mean
from truepool.tables import TableFormat, load_panel, read_panel, read_reports
from truepool.tables.batches import read_batches
from truepool.tables.dataset import open_dataset
from truepool.tables.panel_stream import open_panels

T = 80
RNG = np.random.default_rng(7)
Y = (RNG.uniform(size=T) < 0.4).astype(int)
AGENTS = ("rf", "gbm", "vendor_a", "vendor_b")
SHARES = {name: np.clip(0.2 + 0.5 * Y + RNG.normal(0, 0.15, T), 0.02, 0.99).round(4)
          for name in AGENTS}  # fmt: skip
FRACTIONS = np.stack([*SHARES.values()], axis=1)


def written_in_percent(*names):
    """Columns of a table in which these agents report percentages."""
    return {n: (100 * v).round(2) if n in names else v for n, v in SHARES.items()}


MIXED = written_in_percent("vendor_a", "vendor_b")


def frame(columns=MIXED, **more):
    return pd.DataFrame({**columns, **more, "y": Y})


@pytest.mark.parametrize(
    "percent",
    [
        "vendor_a,vendor_b",
        " vendor_a , vendor_b ",
        ("vendor_a", "vendor_b"),
        ["vendor_*"],
        "vendor_?",
        np.array(["vendor_b", "vendor_a"]),
    ],
)
def test_named_agents_are_in_percent_and_the_others_are_fractions(percent):
    assert_allclose(read_panel(frame(), percent=percent).reports, FRACTIONS)


@given(st.sets(st.sampled_from(AGENTS)))
@settings(deadline=None)
def test_whoever_is_in_percent_the_reports_are_the_same(names):
    table = frame(written_in_percent(*names))
    found = read_panel(table, percent=sorted(names)).reports
    assert_allclose(found, FRACTIONS, atol=1e-9)


def test_every_agent_is_in_percent_or_none():
    every = frame(written_in_percent(*AGENTS))
    for percent in (True, "*", ["rf", "*"]):
        assert TableFormat(percent=percent).percent is True
        assert_allclose(read_panel(every, percent=percent).reports, FRACTIONS)
    for percent in (False, "", (), []):
        assert TableFormat(percent=percent).percent is False
        assert_allclose(read_panel(frame(SHARES), percent=percent).reports, FRACTIONS)


@pytest.mark.parametrize(
    "percent", [3, None, 0.5, "a,,b", ["a", 3], b"a", ",", " ", [""], [None]]
)
def test_what_is_no_name_of_an_agent_is_refused_in_one_sentence(percent):
    with pytest.raises(SettingError, match="percent must be") as refusal:
        TableFormat(percent=percent)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "names", [("a",), ("a b", "it's"), ("vendor_*", "x"), ("a,b",), ("=1", "-x")]
)
def test_the_option_of_a_format_gives_the_format_again(names):
    (option,) = TableFormat(percent=names).options()
    (word,) = expand_bare(shlex.split(option))
    again = TableFormat(percent=word.removeprefix("--percent="))
    assert all(again.in_percent(name) for name in names)
    assert not again.in_percent("other")


def test_the_name_of_an_agent_covers_its_class_columns():
    columns = {}
    for name, scale in (("rf", 1), ("vendor", 100)):
        columns |= {f"{name}:legit": scale * (1 - SHARES["gbm"]),
                    f"{name}:fraud": scale * SHARES["gbm"]}  # fmt: skip
    table = pd.DataFrame(columns | {"y": np.where(Y, "fraud", "legit")})
    panel = read_panel(table, percent="vendor", positive="fraud")
    assert_allclose(panel.reports, np.stack([SHARES["gbm"]] * 2, axis=1))
    with pytest.raises(ReportError, match=r"pass --percent=other,vendor\.") as refusal:
        read_panel(
            table.assign(**{"other:legit": 50, "other:fraud": 50}),
            percent="other",
            positive="fraud",
        )
    assert "column 'vendor:legit' has" in str(refusal.value)


def test_a_name_without_an_agent_is_refused_with_the_names_there_are():
    with pytest.raises(AgentError) as refusal:
        read_panel(frame(), percent="vendr_a,vendor_b")
    assert str(refusal.value) == (
        "no agent matches 'vendr_a' (did you mean 'vendor_a'?); columns that could be "
        "agents: rf, gbm, vendor_a, vendor_b (--percent)"
    )
    with pytest.raises(AgentError, match="no agent matches 'y'"):
        read_panel(frame(), percent="vendor_*,y")


def test_an_agent_that_is_left_out_may_be_named():
    for settings_ in ({"ignore": ["vendor_b"]}, {"agents": "rf,gbm,vendor_a"}):
        panel = read_panel(frame(), percent="vendor_a,vendor_b", **settings_)
        assert_allclose(panel.reports, FRACTIONS[:, :3])


def cure(refusal):
    """Names of the option that a refusal tells to pass."""
    words = str(refusal.value).partition("--percent=")[2]
    return shlex.split(words.replace(")", " "))[0].rstrip(".;")


def test_an_agent_above_1_that_is_not_named_is_to_be_added():
    with pytest.raises(ReportError) as refusal:
        read_panel(frame(), percent="vendor_a")
    value = MIXED["vendor_b"][0]
    assert str(refusal.value) == (
        f"a report must lie in [0, 1]; column 'vendor_b' has {value:g} in zero-based "
        "row 0. If it is in percent, pass --percent=vendor_a,vendor_b. A column that "
        "is not an agent is left out with --ignore vendor_b (of a saved pool, in its "
        "fit)."
    )
    assert cure(refusal) == "vendor_a,vendor_b"
    assert_allclose(read_panel(frame(), percent=cure(refusal)).reports, FRACTIONS)


def test_scores_are_not_to_be_added_to_the_percentages():
    whole = frame().assign(news2=(20 * FRACTIONS[:, 0]).round())
    with pytest.raises(ReportError) as refusal:
        read_panel(whole, percent="vendor_a", scores="news2=0-20")
    assert cure(refusal) == "vendor_a,vendor_b"
    read_panel(whole, percent=cure(refusal), scores="news2=0-20")


@pytest.mark.parametrize("percent", [False, True])
def test_the_cure_of_a_table_with_two_units_can_be_pasted(percent):
    with pytest.raises(ReportError) as refusal:
        read_panel(frame(), percent=percent)
    assert cure(refusal) == "vendor_a,vendor_b"
    assert_allclose(read_panel(frame(), percent=cure(refusal)).reports, FRACTIONS)


def test_a_logit_or_an_amount_is_not_called_a_percentage():
    for values in (np.linspace(-3, 3, T), np.linspace(0.5, 250, T)):
        with pytest.raises(ReportError) as refusal:
            read_panel(frame(extra=values), percent="vendor_*")
        assert "--percent" not in str(refusal.value)


def test_fractions_that_are_named_to_be_in_percent_are_refused():
    with pytest.raises(ReportError) as refusal:
        read_panel(frame(), percent="vendor_a,vendor_b,rf")
    assert "column 'rf' only to" in str(refusal.value)
    assert cure(refusal) == "vendor_a,vendor_b"
    with pytest.raises(ReportError, match="some report must be above 1; the largest"):
        read_panel(frame(SHARES), percent="rf")


@pytest.mark.parametrize("percent", ["rf", "rf,gbm", "rf,vendor_a", "gbm,vendor_b"])
def test_the_first_cure_of_wrong_names_works(percent):
    with pytest.raises(ReportError) as refusal:
        read_panel(frame(), percent=percent)
    assert {*cure(refusal).split(",")} == {"vendor_a", "vendor_b"}
    assert_allclose(read_panel(frame(), percent=cure(refusal)).reports, FRACTIONS)


def test_small_percentages_beside_still_smaller_fractions_are_rare_events():
    y = (RNG.uniform(size=2000) < 0.003).astype(int)
    share = np.clip(0.002 + 0.004 * y + RNG.normal(0, 0.001, 2000), 1e-4, 0.009)
    table = pd.DataFrame({"rf": share, "vendor": 100 * share, "y": y})
    assert_allclose(read_panel(table, percent="vendor").reports[:, 1], share)
    with pytest.raises(ReportError, match="some report must be above 1"):
        read_panel(table.assign(rf=90 * share), percent="vendor")


def test_an_agent_in_percent_with_fractions_among_its_numbers_is_refused():
    mixed = MIXED["vendor_a"].copy()
    mixed[::2] /= 100
    with pytest.raises(ReportError, match="'vendor_a' mixes percentages and probab"):
        read_panel(frame({**MIXED, "vendor_a": mixed}), percent="vendor_*")


def signs(values):
    return [f"{value:.2f}%" for value in values]


def test_percent_signs_of_one_agent_may_stand_beside_bare_percentages():
    table = frame({**MIXED, "vendor_a": signs(MIXED["vendor_a"])})
    panel = read_panel(table, percent="vendor_*")
    assert_allclose(panel.reports, FRACTIONS)
    every = written_in_percent(*AGENTS)
    table = frame({**every, "vendor_a": signs(every["vendor_a"])})
    assert_allclose(read_panel(table, percent=True).reports, FRACTIONS)


def test_percent_signs_of_some_agents_name_them_in_the_cure():
    table = frame({**SHARES, "rf": signs(100 * SHARES["rf"])})
    for percent in (False, True):
        with pytest.raises(ReportError) as refusal:
            read_panel(table, percent=percent)
        assert cure(refusal) == "rf"
    assert_allclose(read_panel(table, percent="rf").reports, FRACTIONS)


def test_percent_signs_of_an_agent_that_is_not_named_add_it():
    table = frame({**MIXED, "rf": signs(100 * SHARES["rf"])})
    with pytest.raises(ReportError) as refusal:
        read_panel(table, percent="vendor_*")
    assert cure(refusal) == "vendor_*,rf"


def test_a_single_percent_sign_among_fractions_is_to_be_written_as_one():
    cells = [str(value) for value in SHARES["rf"]]
    cells[5] = "61%"
    with pytest.raises(
        ReportError, match=r"'61%' in zero-based row 5\. Write 0\.61, w"
    ):
        read_panel(frame({**SHARES, "rf": cells}))


# Long tables

LONG = ("case", "who", "p")


def long_frame(columns=MIXED):
    wide = pd.DataFrame(columns).assign(case=np.arange(T), y=Y)
    return wide.melt(["case", "y"], var_name="who", value_name="p")


ORDER = [AGENTS.index(name) for name in sorted(AGENTS)]


@pytest.mark.parametrize("sparsely", [False, True])
def test_agents_of_a_long_table_may_report_percentages(monkeypatch, sparsely):
    if sparsely:
        monkeypatch.setattr(sparse, "SPARSE_CELLS", 0)
        monkeypatch.setattr(sparse, "SPARSE_FILL", 2.0)
    panel = read_panel(long_frame(), long=LONG, percent="vendor_*")
    assert (panel.sparse is not None) is sparsely
    assert panel.agents == tuple(sorted(AGENTS))
    assert_allclose(panel.reports, FRACTIONS[:, ORDER])


def test_an_agent_of_a_long_table_is_named_in_the_cure():
    with pytest.raises(ReportError, match="agent 'vendor_b' has") as refusal:
        read_panel(long_frame(), long=LONG, percent="vendor_a")
    assert cure(refusal) == "vendor_a,vendor_b"
    with pytest.raises(AgentError, match="no agent matches 'vendor_c' .did you mean"):
        read_panel(long_frame(), long=LONG, percent="vendor_c")
    with pytest.raises(ReportError, match="some report must be above 1; the largest"):
        read_panel(long_frame(SHARES), long=LONG, percent="vendor_a")
    with pytest.raises(ReportError) as refusal:
        read_panel(long_frame(), long=LONG)
    assert cure(refusal) == "vendor_a,vendor_b"


def test_sparse_reports_in_percent_have_the_same_cure(monkeypatch):
    monkeypatch.setattr(sparse, "SPARSE_CELLS", 0)
    monkeypatch.setattr(sparse, "SPARSE_FILL", 2.0)
    with pytest.raises(ReportError, match="If these are percentages") as refusal:
        read_panel(long_frame(), long=LONG)
    assert cure(refusal) == "vendor_a,vendor_b"


def test_percent_signs_of_a_long_table_belong_to_its_agents():
    table = long_frame({**MIXED, "vendor_a": signs(MIXED["vendor_a"])})
    panel, summary = load_panel(table, TableFormat(long=LONG, percent="vendor_*"))
    assert_allclose(panel.reports, FRACTIONS[:, ORDER])
    assert summary.signed == ("vendor_a",)
    for percent in (False, True):
        with pytest.raises(ReportError) as refusal:
            read_panel(table, long=LONG, percent=percent)
        assert cure(refusal).startswith("vendor_a")
    half = signs(MIXED["vendor_a"])
    half[3] = "41.5"
    with pytest.raises(
        ReportError, match="agent 'vendor_a' has '.*%' in .* and '41.5'"
    ):
        read_panel(long_frame({**MIXED, "vendor_a": half}), long=LONG, percent="v*")


@pytest.mark.parametrize("sparsely", [False, True])
@pytest.mark.parametrize("percent", [True, "rf,vendor_*"])
def test_fractions_of_one_agent_of_a_long_table_are_no_percentages(
    monkeypatch, sparsely, percent
):
    if sparsely:
        monkeypatch.setattr(sparse, "SPARSE_CELLS", 0)
        monkeypatch.setattr(sparse, "SPARSE_FILL", 2.0)
    with pytest.raises(ReportError, match="must report percentages; agent") as refusal:
        read_panel(long_frame(), long=LONG, percent=percent)
    assert cure(refusal) == "vendor_a,vendor_b"


def test_one_small_percentage_of_a_rare_agent_of_a_long_table_is_no_fraction():
    rare = np.full(T, np.nan)
    rare[0] = 0.5
    table = long_frame({**written_in_percent(*AGENTS), "rare": rare}).dropna()
    panel = read_panel(table, long=LONG, percent=True)
    assert panel.reports[0, panel.agents.index("rare")] == 0.005


# Batches, and data sets larger than memory

LABELS = Labels((0, 1))


def batches(source, **written):
    found = read_batches(source, AGENTS, LABELS, TableFormat(**written))
    return np.concatenate([batch.values[:, :, 0] for batch in found])


def write(path, table):
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".xlsx":
        table.to_excel(path, index=False)
    else:
        table.to_json(path, orient="records", lines=True)
    return path


KINDS = pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "xlsx"])


@KINDS
def test_every_reader_of_new_cases_knows_who_is_in_percent(tmp_path, kind):
    path = write(tmp_path / f"new.{kind}", frame())
    assert_allclose(batches(path, percent="vendor_*"), FRACTIONS)
    with pytest.raises(ReportError) as refusal:
        batches(path, percent="vendor_a")
    assert cure(refusal) == "vendor_a,vendor_b"
    assert_allclose(batches(path, percent=cure(refusal)), FRACTIONS)


@KINDS
def test_more_than_a_hundred_percent_is_refused_by_every_reader(tmp_path, kind):
    table = frame()
    table.loc[4, "vendor_b"] = 101.5
    path = write(tmp_path / f"new.{kind}", table)
    with pytest.raises(ReportError, match=r"column 'vendor_b' has 101\.5 in"):
        batches(path, percent="vendor_*")


def json_lines(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_json_lines_may_write_numbers_as_text(tmp_path):
    path = json_lines(
        tmp_path / "new.jsonl",
        {"rf": "0.5", "vendor_a": "61%", "vendor_b": "n/d"},
        {"rf": 0.25, "vendor_a": "7 %", "vendor_b": None},
        {"rf": None, "vendor_a": None, "vendor_b": " 0.125 "},
    )
    rf, _, first, second = batches(path, percent="vendor_a", missing="n/d").T
    assert_allclose(rf, [0.5, 0.25, np.nan])
    assert_allclose(first, [0.61, 0.07, np.nan])
    assert_allclose(second, [np.nan, np.nan, 0.125])


def test_json_lines_may_have_decimal_commas_beside_numbers(tmp_path):
    rows = {"rf": "0,5", "vendor_a": 0.5}, {"rf": 0.25, "vendor_a": 1}
    path = json_lines(tmp_path / "new.jsonl", *rows)
    rf, _, vendor, _ = batches(path, decimal=",").T
    assert_allclose(rf, [0.5, 0.25])
    assert_allclose(vendor, [0.5, 1.0])


@pytest.mark.parametrize("value", [True, [0.5], {"p": 0.5}])
def test_a_line_of_json_must_have_numbers(tmp_path, value):
    path = json_lines(tmp_path / "new.jsonl", {"rf": 0.5}, {"rf": value})
    with pytest.raises(ReportError, match="must be a number; 'rf' has .* in line 2"):
        batches(path)


def test_an_integer_of_400_digits_is_refused(tmp_path):
    path = json_lines(tmp_path / "new.jsonl", {"rf": 10**400})
    with pytest.raises(ReportError, match="'rf' has 10{400} in line 1"):
        batches(path, percent="rf")


def test_a_data_set_knows_who_is_in_percent(tmp_path):
    path = write(tmp_path / "train.parquet", frame())
    stream = open_panels(open_dataset(path), TableFormat(percent="vendor_*"))
    read = np.concatenate([panel.reports for panel in stream.in_order()])
    assert_allclose(read, FRACTIONS)
    with pytest.raises(AgentError, match="no agent matches 'vndor_a'"):
        open_panels(open_dataset(path), TableFormat(percent="vndor_a"))


def test_reports_of_known_agents_are_read_alike():
    found = read_reports(frame(), AGENTS[::-1], percent="vendor_*").values
    assert_allclose(found, FRACTIONS[:, ::-1])


# Saved pools


@pytest.mark.parametrize("percent", [False, True, ("vendor_a",), ("vendor_*", "rf")])
def test_a_saved_pool_remembers_who_is_in_percent(tmp_path, percent):
    pool = Mean().fit_panel(Panel(FRACTIONS, Y, AGENTS))
    written, path = TableFormat(percent=percent), tmp_path / "a.pool"
    persistence.save(pool, path, written)
    assert persistence.table_format(path) == written
    assert persistence.load(path).table.percent == percent


def test_a_column_whose_name_has_a_comma_is_matched_by_a_question_mark():
    columns = {**SHARES, "vendor, inc": MIXED["vendor_a"]}
    with pytest.raises(ReportError) as refusal:
        read_panel(frame(columns))
    assert cure(refusal) == "vendor? inc"
    panel = read_panel(frame(columns), percent=cure(refusal))
    assert_allclose(panel.reports[:, 4], SHARES["vendor_a"])


def test_decimal_commas_and_percent_signs_are_read_together(tmp_path):
    rows = ["rf;vendor_a;vendor_b;y"]
    for t in range(T):
        cells = (SHARES["rf"][t], f"{MIXED['vendor_a'][t]} %", MIXED["vendor_b"][t])
        rows.append(";".join([*(str(c).replace(".", ",") for c in cells), str(Y[t])]))
    path = Path(tmp_path / "t.csv")
    path.write_text("\n".join(rows) + "\n")
    panel = read_panel(path, decimal=",", percent="vendor_*")
    assert_allclose(panel.reports, FRACTIONS[:, [0, 2, 3]])


def test_missing_percentages_stay_missing():
    table = pa.table({
        "rf": [0.5, None, 0.2], "a": ["61%", None, "n/d"], "b": [None, 3.0, 60.0],
        "y": [1, 0, 1],
    })  # fmt: skip
    panel = read_panel(table, percent="a,b", missing=["n/d"])
    expected = [[0.5, 0.61, np.nan], [np.nan, np.nan, 0.03], [0.2, np.nan, 0.6]]
    assert_allclose(panel.reports, expected)


def test_only_percentages_are_held_against_the_outcomes():
    """An agent in fractions may be far too low: the audit says so."""
    low = np.where(np.arange(T) % 2, SHARES["rf"], SHARES["rf"] / 100)
    table = frame({**MIXED, "rf": low})
    assert_allclose(read_panel(table, percent="vendor_*").reports[:, 0], low)
    mixed = np.where(np.arange(T) % 2, MIXED["vendor_a"], SHARES["vendor_a"])
    two = {"vendor_a": mixed, "vendor_b": MIXED["vendor_b"]}
    with pytest.raises(ReportError, match="fit the outcomes only as probabilities"):
        read_panel(frame(two), percent="vendor_*")


def test_small_percentages_with_signs_leave_no_doubt_in_a_long_table():
    small = {**SHARES, "vendor_a": signs(SHARES["vendor_a"])}
    panel = read_panel(long_frame(small), long=LONG, percent="vendor_a")
    found = panel.reports[:, panel.agents.index("vendor_a")]
    assert_allclose(found, SHARES["vendor_a"] / 100, atol=1e-4)


@pytest.mark.parametrize(("top", "offered"), [(20, True), (21, False)])
def test_small_whole_numbers_may_be_scores_too(top, offered):
    """Pasted, --percent counted 5 points of 10 as 5 %, without a word."""
    points = np.arange(60) % (top + 1)
    columns = {"a": [0.1, 0.2] * 30, "v": [12.5, 70.0] * 30, "points": points}
    table = pa.table(columns | {"y": [0, 1] * 30})
    with pytest.raises(ReportError, match="pass --percent=v,points") as refusal:
        read_panel(table, percent="v")
    cure = f"if these are scores, --scores points=0-{top} (lowest-highest)."
    assert (cure in str(refusal.value)) == offered
    panel = read_panel(table, percent="v", scores=f"points=0-{top}")
    assert panel.reports[1, 2] == 1 / top


def test_small_whole_numbers_are_offered_as_scores_without_any_unit():
    """Only --percent was offered, which counts 5 points of 20 as 5 %."""
    points = np.arange(60) % 21
    table = {"a": points, "b": points[::-1] % 19, "y": [0, 1] * 30}
    said = r"\(--percent\). If they are scores, pass --scores 0-20 \(lowest-highest\)"
    with pytest.raises(ReportError, match=said):
        read_panel(pa.table(table))
    assert read_panel(pa.table(table), scores="0-20").reports.max() == 1
    said = "--percent=a.. If they are scores, pass --scores a=0-20"
    with pytest.raises(ReportError, match=said):
        read_panel(pa.table(table | {"b": [0.25, 0.5] * 30}))
    with pytest.raises(ReportError, match=r"by 100 \(--percent\).$"):
        read_panel(pa.table(table | {"b": points + 1}))
