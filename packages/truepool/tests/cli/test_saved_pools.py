"""fit, score and show: a pool that is learned once and used later."""

import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from faults import sound
from numpy.testing import assert_allclose
from panels import random_panel
from pyarrow import parquet

import truepool as tp
from truepool.panel.panel import Panel
from truepool.pools import persistence
from truepool.pools.mean import Mean
from truepool.pools.scorer import Scorer
from truepool.tables import TableFormat, batch_writer, batches

PANEL = random_panel(1, cases=90, silent=0.2)
AGENTS = ["ada", "bob", "cy", "di"]


def frame(panel=PANEL, **columns):
    return pd.DataFrame(panel.reports, columns=AGENTS).assign(**columns)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = np.array(["ok", "fraud"])[PANEL.outcomes]
    frame(label=labels).to_csv("train.csv", index=False)
    new = frame(random_panel(2, cases=90, silent=0.2))
    new.insert(0, "id", [f"c{t:03d}" for t in range(90)])
    new.assign(amount=3.5, note="x").to_csv("new.csv", index=False)
    return tmp_path


@pytest.fixture
def fitted(folder, truepool):
    words = "fit train.csv --outcome label --positive fraud --cost-fn 10".split()
    code, out, err = truepool(*words, "--pool", "vcg", "-o", "v.pool")
    assert code == 0, err
    assert "Wrote v.pool" in out
    return tp.load_pool("v.pool")


@pytest.fixture
def stdin(monkeypatch):
    def give(content):
        stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
        monkeypatch.setattr(sys, "stdin", stream)

    return give


def expected(pool):
    new = pd.read_csv("new.csv")
    return pool.predict_proba(new[AGENTS])[:, 1], pool.predict(new[AGENTS])


def test_words_for_no_report_are_added_to_those_of_the_fit(folder, truepool):
    table = frame(label=np.array(["ok", "fraud"])[PANEL.outcomes]).astype(object)
    table.loc[3, "ada"] = "not run"
    table.to_csv("words.csv", index=False)
    words = "fit words.csv --outcome label --positive fraud --pool mean -o w.pool"
    assert truepool(*words.split(), "--missing", "not run")[0] == 0
    new = pd.DataFrame([["not run", 0.2, 0.4, 0.6], [0.5, "offline", 0.4, 0.6]])
    new.columns = AGENTS
    new.to_csv("off.csv", index=False)
    lines = (json.dumps(row) for row in new.to_dict("records"))
    Path("off.jsonl").write_text("".join(f"{line}\n" for line in lines))
    Path("w.toml").write_text('missing = ["offline"]\n')
    for name in ("off.csv", "off.jsonl"):
        for more in (["--missing", "offline"], ["--config", "w.toml"]):
            code, _, err = truepool("score", "w.pool", name, *more, "-o", "o.csv")
            assert code == 0, err
            pooled = pd.read_csv("o.csv").pooled
            assert_allclose(pooled, [0.4, 0.5], rtol=1e-12)


def test_words_for_no_report_are_added_to_those_of_a_config_file(folder, truepool):
    table = frame(label=PANEL.outcomes).astype(object)
    table.loc[3, "ada"], table.loc[4, "bob"] = "not run", "offline"
    table.to_csv("words.csv", index=False)
    Path("w.toml").write_text('outcome = "label"\nmissing = ["not run"]\n')
    words = "audit words.csv --config w.toml --missing offline --json"
    code, _, err = truepool(*words.split())
    assert code == 0, err


def test_fit_learns_what_python_learns(fitted):
    pool = tp.VCG(costs=tp.Costs(fn=10, fp=1)).fit_panel(PANEL)
    assert_allclose(fitted.weights_, pool.weights_, atol=1e-12)
    assert fitted.agents_ == tuple(AGENTS)
    assert fitted.labels_.positive == "fraud"


@pytest.mark.parametrize(
    "target", ["out.csv", "out.csv.gz", "out.parquet", "out.jsonl", "out.xlsx"]
)
def test_files_in_files_out(fitted, truepool, target):
    code, out, _ = truepool("score", "v.pool", "new.csv", "-o", target)
    assert code == 0
    assert out == f"Scored 90 cases with vcg. Wrote {target}.\n"
    readers = {
        "csv": pd.read_csv,
        "gz": pd.read_csv,
        "parquet": pd.read_parquet,
        "xlsx": pd.read_excel,
    }
    kind = target.rsplit(".", maxsplit=1)[1]
    read = readers.get(kind, lambda path: pd.read_json(path, lines=True))
    result = read(target)
    assert list(result.columns) == ["id", "pooled", "decision"]
    pooled, decisions = expected(fitted)
    assert_allclose(result.pooled, pooled, atol=1e-15)
    assert result.decision.tolist() == decisions.tolist()
    assert result.id[0] == "c000"


def test_a_workbook_holds_no_formula_and_no_more_rows_than_excel(
    fitted, truepool, monkeypatch
):
    new = pd.read_csv("new.csv", dtype={"id": str})
    new.loc[0, "id"] = "=1+1"
    new.to_csv("new.csv", index=False)
    assert truepool("score", "v.pool", "new.csv", "-o", "out.xlsx")[0] == 0
    cell = openpyxl.load_workbook("out.xlsx").active["A2"]
    assert (cell.value, cell.data_type) == ("=1+1", "s")
    assert batch_writer.SHEET_ROWS == 1_048_576
    monkeypatch.setattr(batch_writer, "SHEET_ROWS", 90)
    code, _, err = truepool("score", "v.pool", "new.csv", "-o", "more.xlsx")
    assert (code, err) == (
        2,
        "error: a sheet of Excel has at most 90 rows; more.xlsx would have more. Name "
        "a CSV or Parquet file.\n",
    )
    assert not Path("more.xlsx").exists()
    new.loc[0, "id"] = "a\x01"
    new.to_csv("new.csv", index=False)
    code, _, err = truepool("score", "v.pool", "new.csv", "-o", "more.xlsx")
    assert (code, err) == (
        2,
        "error: a cell of Excel must be text without control characters; got "
        "'a\\x01'. Name a CSV or Parquet file.\n",
    )


@pytest.mark.parametrize("source", ["new.parquet", "new.jsonl", "new.csv.gz"])
def test_every_kind_of_table_is_scored_alike(fitted, truepool, source):
    new = pd.read_csv("new.csv")
    if source == "new.parquet":
        parquet.write_table(pa.Table.from_pandas(new), source)
    elif source == "new.jsonl":
        new.to_json(source, orient="records", lines=True)
    else:
        with gzip.open(source, "wt") as file:
            new.to_csv(file, index=False)
    assert truepool("score", "v.pool", source, "-o", "out.csv")[0] == 0
    assert_allclose(pd.read_csv("out.csv").pooled, expected(fitted)[0], atol=1e-9)


@pytest.mark.parametrize("lines", [False, True], ids=["CSV", "JSON lines"])
def test_standard_input_and_output_have_the_same_format(fitted, truepool, stdin, lines):
    new = pd.read_csv("new.csv").head(3)
    text = new.to_json(orient="records", lines=True) if lines else new.to_csv()
    stdin(text.encode())
    code, out, err = truepool("score", "v.pool", "-")
    assert code == 0
    assert err == "Scored 3 cases with vcg.\n"
    stream = io.StringIO(out)
    result = pd.read_json(stream, lines=True) if lines else pd.read_csv(stream)
    assert_allclose(result.pooled, expected(fitted)[0][:3], atol=1e-9)


def test_json_lines_are_written_where_they_are_asked_for(fitted, truepool):
    code, out, err = truepool("score", "v.pool", "new.csv", "--json", "--quiet")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 90
    assert json.loads(out.splitlines()[0])["id"] == "c000"
    assert truepool("score", "v.pool", "new.csv", "--json=out.txt")[0] == 0
    with open("out.txt") as file:
        assert file.read() == out
    code, _, err = truepool("score", "v.pool", "new.csv", "--json", "-o", "out.csv")
    assert code == 2
    assert "either --output or --json" in err


def test_cases_without_a_report_stay_empty_and_are_counted(fitted, truepool):
    new = pd.read_csv("new.csv")
    new.loc[[1, 4], AGENTS] = np.nan
    new.to_csv("new.csv", index=False)
    code, out, _ = truepool("score", "v.pool", "new.csv", "-o", "out.csv")
    assert code == 0
    assert "2 cases without any report" in out
    result = pd.read_csv("out.csv")
    assert len(result) == 90
    assert result.pooled.isna().to_numpy().nonzero()[0].tolist() == [1, 4]
    assert result.decision.isna().sum() == 2


def test_contributions_say_why(fitted, truepool):
    words = ("v.pool", "new.csv", "-o", "out.csv", "--contributions")
    assert truepool("score", *words)[0] == 0
    result = pd.read_csv("out.csv")
    columns = [f"contribution:{agent}" for agent in AGENTS]
    assert list(result.columns) == ["id", "pooled", "decision", *columns]
    found = fitted.contributions(pd.read_csv("new.csv")[AGENTS])
    assert_allclose(result[columns], found, atol=1e-15)


def test_classes_have_columns_of_their_own(folder, truepool):
    panel = random_panel(3, cases=60, classes=3)
    names = [f"{agent}:{k}" for agent in AGENTS for k in range(3)]
    table = pd.DataFrame(panel.reports.reshape(60, 12), columns=names)
    table.assign(y=panel.outcomes).to_csv("three.csv", index=False)
    assert truepool("fit", "three.csv", "-o", "m.pool", "--pool", "mean")[0] == 0
    words = ("m.pool", "three.csv", "-o", "out.csv", "--contributions")
    assert truepool("score", *words)[0] == 0
    result = pd.read_csv("out.csv")
    pooled = tp.load_pool("m.pool").predict_proba(panel.reports)
    assert_allclose(result[["pooled:0", "pooled:1", "pooled:2"]], pooled, atol=1e-9)
    assert "contribution:di:2" in result.columns


def test_a_table_of_any_length_takes_the_memory_of_a_batch(
    fitted, truepool, monkeypatch
):
    sizes = []
    original = Scorer.score

    def score(self, batch):
        sizes.append(len(batch))
        return original(self, batch)

    monkeypatch.setattr(Scorer, "score", score)
    monkeypatch.setattr(batches, "BATCH_SIZE", 40)
    pd.read_csv("new.csv").to_json("new.jsonl", orient="records", lines=True)
    assert truepool("score", "v.pool", "new.jsonl", "-o", "out.jsonl")[0] == 0
    assert sizes == [40, 40, 10]
    assert len(pd.read_json("out.jsonl", lines=True)) == 90


def test_show_prints_the_card_of_a_pool(fitted, truepool):
    code, out, _ = truepool("show", "v.pool")
    assert code == 0
    for part in ("vcg", "ada, bob, cy, di", "a missed case costs 10", "0.09091",
                 "fraud = positive", "90", "Weights"):  # fmt: skip
        assert part in out
    code, out, _ = truepool("show", "v.pool", "--json")
    card = json.loads(out)
    assert card["pool"] == "vcg"
    assert card["outcome_labels"]["positive"] == "fraud"
    assert card["training"]["cases"] == 90
    assert sum(card["explanation"]["weights"].values()) == pytest.approx(1)


def test_fit_prints_the_same_card_as_json(folder, truepool):
    words = "fit train.csv --outcome label --positive fraud -o a.pool --json".split()
    code, out, _ = truepool(*words)
    assert code == 0
    _, shown, _ = truepool("show", "a.pool", "--json")
    assert json.loads(out) == json.loads(shown)
    _, text, _ = truepool("show", "a.pool")
    assert "candidates are combined" in text
    assert text.startswith("Pool: auto\n")
    assert "table options" in text
    assert "value" not in text.split()


def test_a_matrix_of_costs_is_shown(folder, truepool):
    words = "fit train.csv --outcome label --positive fraud -o m.pool".split()
    assert (
        truepool(*words, "--cost-matrix", "0,1; 5,0", "--loss", "log", "--pool", "vcg")[
            0
        ]
        == 0
    )
    assert "0, 1; 5, 0" in truepool("show", "m.pool")[1]


def test_the_costs_of_three_classes_are_named_as_in_the_audit(tmp_path, truepool):
    reports = np.random.default_rng(0).dirichlet([1, 1, 1], (9, 2))
    panel = Panel(reports, np.arange(9) % 3)
    Mean(costs=tp.Costs(fn=10, fp=1)).fit_panel(panel).save(tmp_path / "k.pool")
    shown = " ".join(truepool("show", tmp_path / "k.pool")[1].split())
    assert "class 0 is the negative class: missing another costs 10" in shown


NOT_SAVED = (
    "is not a saved pool, or it is damaged. Pass a file that truepool fit wrote."
)


def test_new_cases_may_have_points_where_the_fit_had_decimal_commas(
    tmp_path, truepool, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i};0,{i}1;0,{9 - i}2;{i % 2}\n" for i in range(8))
    Path("g.csv").write_text(f"id;a;b;y\n{rows}")
    Path("new.csv").write_text("id,a,b\n1,0.2,0.4\n")
    words = "fit g.csv --sep ; --decimal , --pool mean -o g.pool".split()
    assert truepool(*words)[0] == 0
    code, plain, _ = truepool("score", "g.pool", "new.csv", "--sep", ",")
    assert code == 0
    ways = ("--sep", ",", "--decimal", ".")
    assert truepool("score", "g.pool", "new.csv", *ways)[1] == plain
    Path("quoted.csv").write_text('id,a,b\n1,"0,2","0,4"\n')
    assert truepool("score", "g.pool", "quoted.csv", "--sep", ",")[1] == plain


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "score w.poool new.csv",
            "there is no file 'w.poool'. Pass a file that truepool fit wrote.",
        ),
        ("score vv.pool new.csv", "no file 'vv.pool' (did you mean 'v.pool'?). Pass"),
        ("show . ", ". cannot be read: Is a directory"),
        ("score train.csv new.csv", NOT_SAVED),
        ("show train.csv", NOT_SAVED),
        ("score v.pool none.csv", "there is no file 'none.csv'"),
        ("score v.pool newer.csv", "there is no file 'newer.csv' (did you mean 'new."),
        ("score v.pool empty.csv", "names of its columns; empty.csv is empty"),
        ("score v.pool new.xls", "a table is read as"),
        ("score v.pool new.csv -o new.csv", "got 'new.csv' twice"),
        ("score v.pool new.csv -o v.pool", "got 'v.pool' twice"),
        (
            "score v.pool new.csv -o out.xls",
            "a table is written as .csv, .csv.gz, .parquet, .pq, .jsonl, .ndjson, .xlsx; ",
        ),
        ("score v.pool new.csv --id pooled", "has a column 'pooled' of its own"),
        ("score v.pool new.csv --id idd", "no id column 'idd' (did you mean 'id'?)"),
        ("score v.pool lacking.csv", "1 of 4 missing: 'di'"),
        ("score v.pool percent.csv", "a report must lie in [0, 1]"),
        (
            "score v.pool text.csv",
            "column 'ada' has 'x' in line 2 of the file. If it means no report, pass --missing x",
        ),
        ("score v.pool ragged.csv", "as many cells as the header"),
        ("score v.pool text.parquet", "a report must be a number"),
        ("score v.pool broken.parquet", "cannot be read as parquet"),
        ("score v.pool twice.csv", "'ada' more than once"),
        ("score v.pool header.csv", "at least one row"),
        ("score v.pool text.jsonl", "'ada' has 'x' in line 1"),
        ("score v.pool list.jsonl", "line 1 is [1]"),
        ("score v.pool broken.jsonl", "line 1 is not: Expecting"),
        ("export v.pool --onnx v.txt", "must end in .onnx"),
        ("export v.pool --onnx v.pool", "twice. Name another file"),
        ("export new.csv --onnx v.onnx", NOT_SAVED),
        (
            "fit train.csv -o train.csv --outcome label --positive fraud",
            "twice. Name another file",
        ),
        ("fit train.csv -o - --outcome label --positive fraud", "name one instead"),
        ("fit train.csv -o none/x.pool --outcome label --positive fraud", "no folder"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(
    fitted, folder, truepool, words, message
):
    new = pd.read_csv("new.csv")
    new.drop(columns="di").to_csv("lacking.csv", index=False)
    Path("empty.csv").write_text("\n")
    new.assign(ada=new.ada * 100).to_csv("percent.csv", index=False)
    new.assign(ada="x").to_csv("text.csv", index=False)
    Path("ragged.csv").write_text(Path("new.csv").read_text() + "1,2,3,4,5,6,7,8,9\n")
    new.assign(ada="x").to_parquet("text.parquet")
    new.head(0).to_csv("header.csv", index=False)
    (folder / "broken.parquet").write_bytes(b"PAR1")
    (folder / "twice.csv").write_text("ada,bob,cy,di,ada\n.1,.1,.1,.1,.1\n")
    (folder / "text.jsonl").write_text('{"ada": "x"}\n')
    (folder / "new.xls").write_text("x")
    (folder / "list.jsonl").write_text("[1]\n")
    (folder / "broken.jsonl").write_text("{\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, err = truepool(*words.split())
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert message in err
    assert "Traceback" not in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_saved_pool_is_exported_to_onnx(fitted, truepool):
    import onnxruntime

    code, out, _ = truepool("export", "v.pool", "--onnx", "v.onnx")
    assert code == 0
    assert out.startswith("Wrote v.onnx: its probabilities differ from those of vcg")
    session = onnxruntime.InferenceSession("v.onnx")
    (pooled,) = session.run(None, {"reports": pd.read_csv("new.csv")[AGENTS].values})
    assert_allclose(pooled[:, 1], expected(fitted)[0], atol=1e-14)


def test_an_export_says_in_json_how_close_it_is(fitted, truepool):
    code, out, _ = truepool("export", "v.pool", "--onnx", "v.onnx", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["pool"], found["output"], found["cases"]) == ("vcg", "v.onnx", 2000)
    assert found["gap"] < 1e-14


def test_ids_of_json_lines_are_text_in_a_table(fitted, truepool):
    rows = [{"id": 7, "ada": 0.3}, {"id": "x", "bob": 0.4}, {"cy": 0.1}]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    with open("mixed.jsonl", "w") as file:
        file.write(text)
    assert truepool("score", "v.pool", "mixed.jsonl", "-o", "out.parquet")[0] == 0
    assert pd.read_parquet("out.parquet").id.fillna("-").tolist() == ["7", "x", "-"]


def test_new_cases_by_class_name_are_the_same_cases(fitted, truepool):
    new = pd.read_csv("new.csv")
    names = {f"{a}:{label}": new[a] if label == "fraud" else 1 - new[a]
             for a in AGENTS for label in ("ok", "fraud")}  # fmt: skip
    pd.DataFrame(names).to_csv("named.csv", index=False)
    pd.DataFrame(names).to_json("named.jsonl", orient="records", lines=True)
    for source in ("named.csv", "named.jsonl"):
        assert truepool("score", "v.pool", source, "-o", "out.csv")[0] == 0
        assert_allclose(pd.read_csv("out.csv").pooled, expected(fitted)[0], atol=1e-9)


def test_json_lines_may_hold_percentages(fitted, truepool):
    new = pd.read_csv("new.csv")
    new[AGENTS] *= 100
    new.to_json("new.jsonl", orient="records", lines=True)
    assert truepool("score", "v.pool", "new.jsonl", "-o", "o.csv", "--percent")[0] == 0
    assert_allclose(pd.read_csv("o.csv").pooled, expected(fitted)[0], atol=1e-9)


def write_signed(table, path):
    signed = table.copy()
    signed[AGENTS] = signed[AGENTS].map(lambda p: f"{p:.4f}%")
    signed.to_csv(path, index=False)


@pytest.mark.parametrize("row", ["7,1,2,3,4,5,6,7,8,9", "7,0.5"])
def test_an_uneven_row_deep_in_a_table_is_named(fitted, truepool, stdin, row):
    """Of a file by its line, of standard input by its row: a cell may have lines."""
    names = "id,ada,bob,cy,di"
    rows = ["7,0.5,0.5,0.5,0.5"] * 120_000  # two megabytes: several blocks
    rows[3], rows[90_000] = '"7\n8",0.5,0.5,0.5,0.5', row
    text = "\n".join([names, *rows])
    Path("deep.csv").write_text(text)
    places = {"deep.csv": "line 90003 of deep.csv"}
    places["-"] = "row 90001 below the header of standard input"
    for source, place in places.items():
        stdin(text.encode())
        code, _, err = truepool("score", "v.pool", source, "-o", "out.csv")
        assert code == 2
        assert (
            "every line must have as many cells as the header, 5; "
            f"{place} has {len(row.split(','))}: {row!r}. Correct it: "
        ) in err


def test_percent_is_refused_where_no_report_is_above_1(fitted, truepool, stdin):
    """Fractions divided by 100 would decide nothing positive."""
    new = pd.read_csv("new.csv")
    new.to_json("new.jsonl", orient="records", lines=True)
    new.to_parquet("new.parquet")
    long = new[AGENTS].rename_axis("case").reset_index()
    long.melt("case", var_name="who", value_name="p").to_csv("long.csv", index=False)
    largest = f"the largest is {new[AGENTS].max().max():g}"
    for source in ("new.csv", "new.jsonl", "new.parquet", "long.csv"):
        layout = "--long case who p".split() if source == "long.csv" else []
        code, _, err = truepool("score", "v.pool", source, "--percent", *layout)
        assert code == 2
        assert "with --percent some report must be above 1" in err
        assert largest in err
        assert "Leave out --percent" in err
    stdin(Path("new.csv").read_bytes())
    assert truepool("score", "v.pool", "-", "--percent")[0] == 2
    with_zeros = new.head(5).assign(**dict.fromkeys(AGENTS, 0.0))
    with_zeros.to_csv("zeros.csv", index=False)
    assert truepool("score", "v.pool", "zeros.csv", "--percent")[0] == 0
    few = new.head(20)  # a hundredth of what was reported in the fit
    write_signed(few, "signed.csv")
    assert truepool("score", "v.pool", "signed.csv", "--percent", "-o", "s.csv")[0] == 0
    as_shares = few.assign(**{a: few[a].map("{:.4f}".format).astype(float) / 100
                              for a in AGENTS})  # fmt: skip
    as_shares.to_csv("shares.csv", index=False)
    assert truepool("score", "v.pool", "shares.csv", "-o", "p.csv")[0] == 0
    assert_allclose(pd.read_csv("s.csv").pooled, pd.read_csv("p.csv").pooled)


def test_new_cases_in_another_unit_than_those_of_the_fit_are_refused(folder, truepool):
    new, train = pd.read_csv("new.csv"), pd.read_csv("train.csv")
    train[AGENTS] *= 100
    train.to_csv("train.csv", index=False)
    words = "--outcome label --positive fraud --percent -o out.csv".split()
    words += ["--ignore", "amount", "--ignore", "note"]
    code, _, err = truepool("pool", "train.csv", "new.csv", *words)
    assert code == 2
    assert "the table to fit has percentages, and here all reports" in err
    new.assign(**{a: 100 * new[a] for a in AGENTS}).to_csv("new.csv", index=False)
    assert truepool("pool", "train.csv", "new.csv", *words)[0] == 0


def test_a_long_table_may_come_from_standard_input(folder, truepool, stdin):
    train = pd.read_csv("train.csv")
    cases = train.rename_axis("case").reset_index()
    long = cases.melt(["case", "label"], var_name="who", value_name="p")
    long.to_csv("long.csv", index=False)
    words = "--outcome label --positive fraud --long case who p -o l.pool".split()
    assert truepool("fit", "long.csv", *words)[0] == 0
    expected = truepool("score", "l.pool", "long.csv")[1]
    stdin(Path("long.csv").read_bytes())
    code, out, err = truepool("score", "l.pool", "-")
    assert (code, out) == (0, expected), err
    stdin(Path("long.csv").read_bytes() + b"0,fraud,ada,lots\n")
    code, out, err = truepool("score", "l.pool", "-")
    assert (code, out) == (2, "")
    assert f"has 'lots' in line {len(long) + 2} of the input." in err
    stdin(b"")
    code, out, err = truepool("score", "l.pool", "-", "--long", "case", "who", "p")
    assert (code, out, "standard input is empty" in err) == (2, "", True)
    stdin(Path("new.csv").read_bytes())  # wide ones may come from there
    assert truepool("score", "l.pool", "-")[0] == 0


def test_json_lines_are_long_or_wide_by_their_keys(folder, truepool, stdin):
    train = pd.read_csv("train.csv").rename_axis("case").reset_index()
    long = train.melt(["case", "label"], var_name="who", value_name="p")
    long.to_csv("long.csv", index=False)
    words = "--outcome label --positive fraud --long case who p -o l.pool".split()
    assert truepool("fit", "long.csv", *words)[0] == 0
    wide = pd.read_csv("new.csv").rename_axis("case").reset_index()
    wide = wide[["case", *AGENTS]]
    wide.to_json("wide.jsonl", orient="records", lines=True)
    melted = wide.melt("case", var_name="who", value_name="p")
    melted.to_json("new.jsonl", orient="records", lines=True)
    tables = []
    for name in ("wide.jsonl", "new.jsonl"):
        assert truepool("score", "l.pool", name, "-o", "out.csv")[0] == 0
        tables.append(pd.read_csv("out.csv").pooled)
    assert tables[0].notna().any()
    pd.testing.assert_series_equal(*tables)
    stdin(Path("new.jsonl").read_bytes())
    code, out, err = truepool("score", "l.pool", "-")
    assert code == 0, err
    lines = [json.loads(line)["pooled"] for line in out.splitlines()]
    assert_allclose(np.array(lines, dtype=float), tables[1], atol=1e-15)
    stdin(Path("new.jsonl").read_bytes() + b'{"case": 1, "who"')
    code, out, err = truepool("score", "l.pool", "-")
    assert (code, out) == (2, "")
    assert f"line {len(melted) + 1} of standard input" in err
    other = melted.rename(columns={"who": "model"})
    other.to_json("other.jsonl", orient="records", lines=True)
    code, _, err = truepool("score", "l.pool", "other.jsonl")
    assert code == 2
    assert "JSON lines must have the keys case, who, p, as the table of the fit" in err
    cure = "--long case model p".split()
    assert truepool("score", "l.pool", "other.jsonl", *cure)[0] == 0


@pytest.mark.parametrize("words", [[], ["--quiet"]])
def test_that_no_case_has_a_report_is_never_silent(folder, truepool, words):
    Path("none.jsonl").write_text('{"id": 1, "x": 0.2}\n{"id": 2, "x": 0.3}\n')
    train = "train.csv --outcome label --positive fraud -o v.pool".split()
    assert truepool("fit", *train)[0] == 0
    code, _, err = truepool("score", "v.pool", "none.jsonl", "-o", "out.csv", *words)
    assert code == 0
    assert "warning: none of the 2 cases has a report of an agent of the pool" in err


def test_no_column_of_another_role_is_suggested_for_a_missing_agent(folder, truepool):
    """Only a name that the table of the fit did not have can be the agent's."""
    names = ["score_a", "score_b", "score_c", "score_d"]
    train = pd.read_csv("train.csv").rename(
        columns=dict(zip(AGENTS, names, strict=True))
    )
    train = train.rename(columns={"label": "score_y"})
    train.to_csv("train.csv", index=False)
    words = "--outcome score_y --positive fraud --ignore score_d -o s.pool".split()
    assert truepool("fit", "train.csv", *words)[0] == 0
    train.drop(columns="score_a").to_csv("lack.csv", index=False)
    err = truepool("score", "s.pool", "lack.csv")[2]
    assert "missing: 'score_a'. Add an empty column of that name" in err
    train.rename(columns={"score_a": "score_a1"}).to_csv("lack.csv", index=False)
    err = truepool("score", "s.pool", "lack.csv")[2]
    assert (
        "missing: 'score_a' (did you mean 'score_a1'?); columns without a use: "
        "score_a1. Rename the column that has these reports, add an empty column"
    ) in err


def test_an_agent_absent_from_a_long_table_has_no_report(fitted, truepool, stdin):
    new = pd.read_csv("new.csv").head(3).fillna(0.5)
    long = new.melt("id", ["ada", "cy"], "agent", "p")
    long.to_csv("long.csv", index=False)
    options = ("--long", "id", "agent", "p")
    assert truepool("score", "v.pool", "long.csv", "-o", "out.csv", *options)[0] == 0
    partly = new[AGENTS].assign(bob=np.nan, di=np.nan)
    found = pd.read_csv("out.csv").set_index("id").loc[new.id]
    assert_allclose(found.pooled, fitted.predict_proba(partly)[:, 1], atol=1e-15)
    long.replace({"ada": "eve", "cy": "flo"}).to_csv("long.csv", index=False)
    code, _, err = truepool("score", "v.pool", "long.csv", *options)
    assert code == 2
    assert (
        "agents that the pool learned from, by name: ada, bob, cy, di; got eve, flo"
        in err
    )
    stdin(b"id,agent,p\n")
    code, _, err = truepool("score", "v.pool", "-", *options)
    assert code == 2
    assert "the table must have at least one row below its header" in err


def test_the_card_names_the_pool_that_simplest_chose(folder, truepool):
    words = "fit train.csv --outcome label --positive fraud -o s.pool --pool simplest"
    code, out, _ = truepool(*words.split())
    assert code == 0
    _, card, _ = truepool("show", "s.pool", "--json")
    assert f"chosen {json.loads(card)['explanation']['name']}" in " ".join(out.split())


def test_a_pool_that_is_saved_again_still_knows_its_table(tmp_path):
    panel = Panel([[0.9, 0.5], [0.1, 0.5]] * 5, [1, 0] * 5)
    written = TableFormat("label", percent=True)
    pool = Mean().fit_panel(panel)
    persistence.save(pool, tmp_path / "one.pool", written)
    again = persistence.load(tmp_path / "one.pool")
    again.save(tmp_path / "two.pool")
    assert persistence.table_format(tmp_path / "two.pool") == written
    same = (tmp_path / "one.pool").read_bytes() == (tmp_path / "two.pool").read_bytes()
    assert same
    again.fit_panel(panel).save(tmp_path / "three.pool")  # another table, not described
    assert persistence.table_format(tmp_path / "three.pool") is None


def test_the_card_is_read_from_the_left(fitted, truepool):
    lines = truepool("show", "v.pool")[1].splitlines()
    column = lines[1].index("vcg")
    rows = [line for line in lines[1:] if line[:column].endswith("  ")]
    assert len(rows) > 5
    assert all(row[column] != " " for row in rows)


# The other label called positive


@pytest.mark.parametrize("verb", ["fit", "pool", "compare"])
def test_reports_that_rank_the_wrong_way_round_are_never_accepted_in_silence(
    tmp_path, monkeypatch, truepool, verb
):
    monkeypatch.chdir(tmp_path)
    panel = sound(cases=300)
    table = pd.DataFrame(panel.reports, columns=list(panel.agents))
    table.to_csv("new.csv", index=False)
    labels = np.array(["no", "yes"])[panel.outcomes]
    table.assign(label=labels).to_csv("train.csv", index=False)
    words = {
        "fit": ["train.csv", "--pool", "platt", "-o", "p.pool"],
        "pool": ["train.csv", "new.csv", "--pool", "platt", "-o", "out.csv"],
        "compare": ["train.csv", "--pool", "mean"],
    }[verb]
    command = [verb, *words, "--outcome", "label", "--positive"]
    code, out, err = truepool(*command, "no")
    assert code == 0, err
    assert (
        "warning: All 5 agents rank cases the wrong way round: is no the positive "
        "label? Say --positive yes if the reports are probabilities of yes."
    ) in " ".join(err.split())
    if verb == "fit":
        text = " ".join(out.split())
        assert "mean ranks cases the wrong way round" in text
        assert "over-confident" not in text
    code, out, err = truepool(*command, "yes")
    assert code == 0
    assert "wrong way round" not in out + err


def test_of_many_missing_agents_the_first_are_named(tmp_path, truepool):
    reports = np.random.default_rng(0).uniform(size=(60, 50))
    names = [f"model_{i}" for i in range(50)]
    panel = tp.Panel(reports, np.arange(60) % 2, names)
    Mean().fit_panel(panel).save(tmp_path / "m.pool")
    pd.DataFrame(reports[:, :4], columns=names[:4]).to_csv(tmp_path / "new.csv")
    err = truepool("score", tmp_path / "m.pool", tmp_path / "new.csv")[2]
    assert "46 of 50 missing: 'model_4', 'model_5'" in err
    assert " and 40 others" in err
    assert len(err) < 400


def test_the_cure_for_a_missing_agent_works(fitted, truepool):
    new = pd.read_csv("new.csv").drop(columns="di")
    new.to_csv("three.csv", index=False)
    code, _, err = truepool("score", "v.pool", "three.csv")
    assert code == 2
    assert "missing: 'di'" in err
    assert (
        "add an empty column of that name if there are no reports, or send JSON lines "
        "(.jsonl), which may leave agents out."
    ) in err
    assert len(err) < 400
    new.to_json("three.jsonl", orient="records", lines=True)
    assert truepool("score", "v.pool", "three.jsonl")[0] == 0
    new.assign(di="").to_csv("three.csv", index=False)
    code, out, err = truepool("score", "v.pool", "three.csv")
    assert (code, len(out.splitlines())) == (0, 91), err
    assert "no case has a report of 'di'" in err


# Dead feeds


def tables(folder, spoil, cases=400):
    """Write train.csv, and train.csv with a spoilt column of agent1 as spoilt.csv."""
    panel = sound(cases=cases)
    table = pd.DataFrame(panel.reports, columns=list(panel.agents))
    table.insert(0, "id", np.arange(cases))
    spoilt = table.copy()
    spoil(spoilt)
    for name, made in (("train", table), ("spoilt", spoilt)):
        made.assign(y=panel.outcomes).to_csv(folder / f"{name}.csv", index=False)


def die(table):
    table.loc[250:, "agent1"] = 0.05


@pytest.mark.parametrize("verb", ["fit", "pool", "compare", "replay"])
def test_a_dead_feed_is_never_accepted_in_silence(
    tmp_path, monkeypatch, truepool, verb
):
    monkeypatch.chdir(tmp_path)
    tables(tmp_path, die)
    words = {
        "fit": ["--pool", "mean", "-o", "p.pool"],
        "pool": ["train.csv", "--pool", "mean", "-o", "out.csv"],
        "compare": ["--pool", "mean"],
        "replay": [],
    }[verb]
    code, _, err = truepool(verb, "spoilt.csv", *words)
    assert code == 0, err
    assert (
        "warning: The feed of agent1 is dead: from case 251 of 400 (id 250) on it only "
        "reports 5 %. Have its feed fixed, or leave agent1 out (--ignore agent1); "
        "truepool audit says what that costs or saves.\n"
    ) in err
    words = [word.replace("train", "spoilt") for word in words]
    code, _, err = truepool(verb, "train.csv", *words)
    assert code == 0, err
    assert "feed" not in err


def test_two_dead_feeds_have_one_cure(tmp_path, monkeypatch, truepool):
    def both(table):
        die(table)
        table.loc[200:, "agent3"] = np.nan

    monkeypatch.chdir(tmp_path)
    tables(tmp_path, both)
    _, _, err = truepool("fit", "spoilt.csv", "--pool", "mean", "-o", "p.pool")
    (warning,) = [line for line in err.splitlines() if line.startswith("warning")]
    assert (
        "agent3 stopped reporting at case 201 of 400 (id 200). Have their feeds fixed, "
        "or leave agent1 and agent3 out (" in warning
    )
    assert warning.count("--ignore agent1 --ignore agent3)") == 1


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_new_cases_of_a_dead_feed_are_scored_with_a_warning(
    tmp_path, monkeypatch, truepool, ending
):
    monkeypatch.chdir(tmp_path)
    tables(tmp_path, lambda table: table.__setitem__("agent1", 0.05))
    assert truepool("fit", "train.csv", "--pool", "vcg", "-o", "p.pool")[0] == 0
    for name in ("train", "spoilt"):
        new = pd.read_csv(f"{name}.csv").drop(columns="y")
        if ending == "csv":
            new.to_csv(f"{name}.new.csv", index=False)
        elif ending == "jsonl":
            new.to_json(f"{name}.new.jsonl", orient="records", lines=True)
        else:
            new.to_parquet(f"{name}.new.parquet", index=False)
    code, _, err = truepool("score", "p.pool", f"spoilt.new.{ending}", "-o", "out.csv")
    assert (code, err) == (
        0,
        "warning: agent1 reported 0.05 in all 400 cases while other agents' reports "
        "vary: its feed may be dead. Leave its column empty until it is fixed.\n",
    )
    code, _, err = truepool("score", "p.pool", f"train.new.{ending}", "-o", "out.csv")
    assert (code, err) == (0, "")


def test_a_feed_is_dead_only_if_other_reports_were_to_be_expected(
    tmp_path, monkeypatch, truepool
):
    def judge(table):
        table["agent1"] = 0

    monkeypatch.chdir(tmp_path)
    tables(tmp_path, judge)
    train = pd.read_csv("train.csv")
    new = pd.read_csv("spoilt.csv").drop(columns="y")
    for share, warned in ((0.2, False), (0.3, True)):  # of 400: 80, or 120 others
        train["agent1"] = (np.arange(400) < 400 * share).astype(int)
        train.sample(frac=1, random_state=0).to_csv("rounded.csv", index=False)
        truepool("fit", "rounded.csv", "--pool", "vcg", "-o", "p.pool")
        new.to_csv("new.csv", index=False)
        err = truepool("score", "p.pool", "new.csv", "-o", "out.csv")[2]
        assert ("agent1 reported 0 in all 400 cases" in err) == warned
    new.assign(agent0=0.1, agent2=0.2, agent3=0.3, agent4=0.4).to_csv("new.csv")
    err = truepool("score", "p.pool", "new.csv", "-o", "out.csv")[2]
    assert "dead" not in err  # one case, written many times


def test_parts_of_a_data_set_tell_a_dead_feed_together(tmp_path, monkeypatch, truepool):
    monkeypatch.chdir(tmp_path)
    tables(tmp_path, lambda table: table.__setitem__("agent1", 0.05))
    truepool("fit", "train.csv", "--pool", "vcg", "-o", "p.pool")
    new = pd.read_csv("spoilt.csv").drop(columns="y")
    Path("new").mkdir()
    for part in range(8):  # 50 cases each, too few alone
        new[50 * part : 50 * part + 50].to_parquet(f"new/{part}.parquet", index=False)
    for _ in range(2):  # the second time all parts are done already
        err = truepool("score", "p.pool", "new", "-o", "out")[2]
        assert "agent1 reported 0.05 in all 400 cases" in err
    new.loc[399, "agent1"] = 0.06
    new[350:].to_parquet("new/7.parquet", index=False)
    assert "dead" not in truepool("score", "p.pool", "new", "-o", "out")[2]


def test_a_line_of_json_may_hold_the_classes_of_an_agent_in_one_key(truepool, tmp_path):
    path = tmp_path / "k.pool"
    Mean().fit_panel(random_panel(1, classes=3)).save(path)
    new = tmp_path / "new.jsonl"
    keys = {"agent0:0": 0.5, "agent0:1": 0.25, "agent0:2": 0.25, "agent1": None}
    answers = []
    for row in (
        keys,
        {"agent0": [0.5, 0.25, 0.25]},
        {"agent0": {"2": 0.25, "1": 0.25, "0": 0.5}},
    ):
        new.write_text(json.dumps(row))
        answers.append(truepool("score", str(path), str(new))[1])
    assert answers[0] == answers[1] == answers[2] != ""
    for wrong in ([0.5, 0.5], 0.5, {"0": 0.5, "1": 0.5}):
        new.write_text(json.dumps({"agent0": wrong}))
        code, _, err = truepool("score", str(path), str(new))
        assert code == 2
        assert "the keys agent0:0, agent0:1, agent0:2." in err


def test_score_says_how_many_reports_were_rescaled(truepool, tmp_path):
    path, new = tmp_path / "k.pool", tmp_path / "new.jsonl"
    Mean().fit_panel(random_panel(1, classes=3)).save(path)
    rows = [{"agent0": [0.33, 0.33, 0.33]}, {"agent0": [0.5, 0.25, 0.25]}]
    new.write_text("\n".join(map(json.dumps, rows)))
    said = truepool("score", str(path), str(new))[2]
    assert "1 report summed to nearly 1 and was rescaled." in said


@pytest.mark.parametrize("words", [("true", "false"), ("True", "False")])
def test_votes_in_truth_values_are_scored_as_they_were_fitted(
    words, tmp_path, monkeypatch, truepool
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 60)
    votes = np.where(rng.random(60) < 0.8, y, 1 - y)
    table = pd.DataFrame({"a": np.round(0.2 + 0.5 * y, 2), "b": 0.4, "y": y})
    named = table.assign(flag=np.where(votes == 1, *words))
    named.to_csv("words.csv", index=False)
    table.assign(flag=votes).to_csv("numbers.csv", index=False)
    found = []
    for name in ("words", "numbers"):
        fit = ("fit", f"{name}.csv", "--pool", "mean", "-o", f"{name}.pool", "--quiet")
        assert truepool(*fit)[0] == 0
        code, out, err = truepool("score", f"{name}.pool", f"{name}.csv", "--quiet")
        assert code == 0, err
        found.append(out)
    assert found[0] == found[1]
    lines = table.assign(flag=votes == 1).to_json(orient="records", lines=True)
    (tmp_path / "new.jsonl").write_text(lines)
    code, out, err = truepool("score", "words.pool", "new.jsonl", "--quiet")
    assert code == 0, err
    pooled = [json.loads(line)["pooled"] for line in out.splitlines()]
    assert pooled == pytest.approx(pd.read_csv(io.StringIO(found[0])).pooled.tolist())
    named.assign(flag="true").head(3).replace({"flag": {"true": "maybe"}}).to_csv(
        "odd.csv", index=False
    )
    code, _, err = truepool("score", "words.pool", "odd.csv", "-o", "out.csv")
    assert (code, "column 'flag' has 'maybe'" in err) == (2, True)
