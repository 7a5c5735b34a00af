"""fit, score and show: a pool that is learned once and used later."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from faults import sound
from numpy.testing import assert_allclose
from panels import random_panel

import truepool as tp
from truepool.pools import persistence
from truepool.pools.mean import Mean
from truepool.scoring.scorer import Scorer
from truepool.tables import source

PANEL = random_panel(1, cases=90, silent=0.2)
AGENTS = ["ada", "bob", "cy", "di"]
LABELLED = "--outcome label --positive fraud --quiet -o".split()


def frame(panel=PANEL, **columns):
    return pd.DataFrame(panel.reports, columns=AGENTS).assign(**columns)


def write_as(table, path):
    """Write a table as a file of the kind that its name says."""
    kind = path.split(".", 1)[1]
    if kind == "jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        name = {"csv.gz": "csv", "xlsx": "excel"}.get(kind, kind)
        getattr(table, f"to_{name}")(path, index=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = np.array(["ok", "fraud"])[PANEL.outcomes]
    frame(label=labels).to_csv("train.csv", index=False)
    new = frame(random_panel(2, cases=90, silent=0.2))
    new.insert(0, "id", [f"c{t:03d}" for t in range(90)])
    new.to_csv("new.csv", index=False)
    return tmp_path


@pytest.fixture
def fit(truepool):
    def run(table, *words):
        code, out, err = truepool("fit", table, *words)
        assert (code, out) == (0, ""), err
        return tp.load_pool(words[words.index("-o") + 1])

    return run


@pytest.fixture
def fitted(folder, fit):
    return fit("train.csv", "--cost-fn", 10, "--pool", "vcg", *LABELLED, "v.pool")


@pytest.fixture
def score(truepool):
    """Score a table; a frame of what was written, and what was said of it."""

    def run(pool, new, *words):
        code, out, err = truepool("score", pool, new, "-o", "out.csv", *words)
        assert code == 0, err
        return pd.read_csv("out.csv"), out + err

    return run


def expected(pool):
    new = pd.read_csv("new.csv")[AGENTS]
    return pool.predict_proba(new)[:, 1], pool.predict(new)


def test_fit_learns_what_python_learns(fitted):
    pool = tp.VCG(costs=tp.Costs(fn=10, fp=1)).fit_panel(PANEL)
    assert_allclose(fitted.weights_, pool.weights_, atol=1e-12)
    assert fitted.agents_ == tuple(AGENTS)
    assert fitted.labels_.positive == "fraud"


@pytest.mark.parametrize("given", [["--set", "missing=off"], ["--config", "w.toml"]])
def test_what_is_said_of_new_cases_is_added_to_what_the_pool_knows(
    folder, fit, score, given
):
    rows = "".join(f"0,{i}1;0,{9 - i}2;{i % 2}\n" for i in range(8))
    Path("g.csv").write_text(f"a;b;y\nnot run;0,5;1\n{rows}")
    words = ("--set", "missing=not run", "--pool", "mean", "--quiet", "-o", "g.pool")
    fit("g.csv", *words)
    Path("w.toml").write_text('[score]\nmissing = ["off"]\n')
    Path("points.csv").write_text("a,b\n0.2,0.4\nnot run,0.5\noff,0.25\n")
    Path("quoted.csv").write_text('a,b\n"0,2","0,4"\nnot run,"0,5"\noff,"0,25"\n')
    for new in ("points.csv", "quoted.csv"):
        assert_allclose(score("g.pool", new, *given)[0].pooled, [0.3, 0.5, 0.25])


@pytest.mark.parametrize(
    ("new", "target"),
    [
        ("new.csv", "o.xlsx"),
        ("new.xlsx", "o.csv"),
        ("new.parquet", "o.jsonl"),
        ("new.jsonl", "o.parquet"),
        ("new.csv.gz", "o.csv.gz"),
    ],
)
def test_files_of_every_kind_in_and_out(fitted, truepool, new, target):
    write_as(pd.read_csv("new.csv"), new)
    code, out, err = truepool("score", "v.pool", new, "-o", target)
    assert (code, out, err) == (0, f"Scored 90 cases with vcg. Wrote {target}.\n", "")
    readers = {".parquet": pd.read_parquet, ".xlsx": pd.read_excel,
               ".jsonl": lambda path: pd.read_json(path, lines=True)}  # fmt: skip
    result = readers.get(Path(target).suffix, pd.read_csv)(target)
    assert list(result.columns) == ["id", "pooled", "decision"]
    pooled, decisions = expected(fitted)
    assert_allclose(result.pooled, pooled, atol=1e-9)
    assert result.decision.tolist() == decisions.tolist()
    assert result.id[0] == "c000"


@pytest.mark.parametrize("as_lines", [False, True], ids=["CSV", "JSON lines"])
def test_standard_input_and_output_have_the_same_format(
    fitted, truepool, stdin, as_lines
):
    new = pd.read_csv("new.csv").head(3)
    text = new.to_json(orient="records", lines=True) if as_lines else new.to_csv()
    stdin(text.encode())
    code, out, err = truepool("score", "v.pool", "-")
    assert (code, err) == (0, "Scored 3 cases with vcg.\n")
    stream = io.StringIO(out)
    result = pd.read_json(stream, lines=True) if as_lines else pd.read_csv(stream)
    assert_allclose(result.pooled, expected(fitted)[0][:3], atol=1e-9)


def test_json_lines_are_written_where_they_are_asked_for(fitted, truepool, refused):
    code, out, err = truepool("score", "v.pool", "new.csv", "--json", "-", "--quiet")
    assert (code, err, len(out.splitlines())) == (0, "", 90)
    assert json.loads(out.splitlines()[0])["id"] == "c000"
    assert truepool("score", "v.pool", "new.csv", "--json", "out.txt")[0] == 0
    assert Path("out.txt").read_text() == out
    refused("score", "v.pool", "new.csv", "--json", "-", "-o", "out.csv")


def test_cases_without_a_report_stay_empty_and_are_counted(fitted, score):
    new = pd.read_csv("new.csv")
    new.loc[[1, 4], AGENTS] = np.nan
    new.to_csv("new.csv", index=False)
    result, said = score("v.pool", "new.csv")
    assert "2 cases without any report" in said
    assert result.index[result.pooled.isna()].tolist() == [1, 4]
    assert result.index[result.decision.isna()].tolist() == [1, 4]


def test_contributions_say_why(fitted, score):
    result, _ = score("v.pool", "new.csv", "--contributions")
    columns = [f"contribution:{agent}" for agent in AGENTS]
    assert list(result.columns) == ["id", "pooled", "decision", *columns]
    found = fitted.contributions(pd.read_csv("new.csv")[AGENTS])
    assert_allclose(result[columns], found, atol=1e-15)


def test_classes_have_columns_of_their_own(folder, fit, score):
    panel = random_panel(3, cases=60, classes=3)
    names = [f"{agent}:{k}" for agent in AGENTS for k in range(3)]
    table = pd.DataFrame(panel.reports.reshape(60, 12), columns=names)
    table.assign(y=panel.outcomes).to_csv("three.csv", index=False)
    pool = fit("three.csv", "--pool", "mean", "--quiet", "-o", "m.pool")
    result, _ = score("m.pool", "three.csv", "--contributions")
    pooled = pool.predict_proba(panel.reports)
    assert_allclose(result[["pooled:0", "pooled:1", "pooled:2"]], pooled, atol=1e-9)
    assert "contribution:di:2" in result.columns


def test_a_table_of_any_length_takes_the_memory_of_a_batch(fitted, score, monkeypatch):
    sizes, original = [], Scorer.score

    def counted(self, batch):
        sizes.append(len(batch))
        return original(self, batch)

    monkeypatch.setattr(Scorer, "score", counted)
    monkeypatch.setattr(source, "BLOCK", 2_000)
    write_as(pd.read_csv("new.csv"), "new.jsonl")
    assert len(score("v.pool", "new.jsonl")[0]) == sum(sizes) == 90
    assert max(sizes) < 30


def test_show_prints_the_card_of_a_pool(fitted, truepool):
    code, out, _ = truepool("show", "v.pool")
    assert code == 0
    for part in ("vcg", "ada, bob, cy, di", "10", "0.09091", "fraud", "90", "Weights"):
        assert part in out
    card = json.loads(truepool("show", "v.pool", "--json", "-")[1])
    assert card["pool"] == "vcg"
    assert card["outcome_labels"]["positive"] == "fraud"
    assert card["training"]["cases"] == 90
    assert sum(card["explanation"]["weights"].values()) == pytest.approx(1)
    rows = out.splitlines()[1:]
    column = rows[0].index("vcg")
    values = [row for row in rows if row[:column].endswith("  ")]
    assert len(values) > 5
    assert all(row[column] != " " for row in values)  # read from the left


def test_fit_prints_the_same_card_as_json(folder, truepool):
    words = ("fit", "train.csv", *LABELLED, "a.pool", "--json", "-")
    code, out, err = truepool(*words)
    assert code == 0, err
    assert json.loads(out) == json.loads(truepool("show", "a.pool", "--json", "-")[1])
    assert truepool("show", "a.pool")[1].startswith("Pool: auto\n")


def test_costs_of_several_classes_are_shown(folder, fit, truepool):
    matrix = ("--set", "cost-matrix=0,1; 5,0", "--set", "loss=log", "--pool", "vcg")
    pool = fit("train.csv", *matrix, *LABELLED, "m.pool")
    assert_allclose(pool.costs.matrix, [[0, 1], [5, 0]])
    assert "0, 1; 5, 0" in truepool("show", "m.pool")[1]
    reports = np.random.default_rng(0).dirichlet([1, 1, 1], (9, 2))
    panel = tp.Panel(reports, np.arange(9) % 3)
    Mean(costs=tp.Costs(fn=10, fp=1)).fit_panel(panel).save("k.pool")
    shown = " ".join(truepool("show", "k.pool")[1].split())
    assert "class 0 is the negative class: missing another costs 10" in shown


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("score w.poool new.csv", "'w.poool'"),
        ("score vv.pool new.csv", "(did you mean 'v.pool'?)"),
        ("show . ", "Is a directory"),
        ("score train.csv new.csv", "not a saved pool"),
        ("score new.csv v.pool", "truepool score v.pool new.csv"),
        ("show train.csv", "not a saved pool"),
        ("score v.pool newer.csv", "'new.csv'"),
        ("score v.pool new.csv -o new.csv", "got 'new.csv' twice"),
        ("score v.pool new.csv -o v.pool", "got 'v.pool' twice"),
        ("score v.pool new.csv -o out.xls", ".csv.gz"),
        ("score v.pool own.csv --id pooled", "'pooled' of its own"),
        ("score v.pool new.csv --id idd", "id=id"),
        ("score v.pool strangers.csv", "ada, bob, cy and di"),
        ("score v.pool text.csv", "'x' in line 2"),
        ("export v.pool --onnx v.txt", ".onnx"),
        ("export v.pool --onnx v.pool", "twice"),
        ("export new.csv --onnx v.onnx", "not a saved pool"),
        ("fit train.csv -o train.csv", "twice"),
        ("fit train.csv -o -", "name one instead"),
        ("fit train.csv -o none/x.pool", "no folder"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(fitted, refused, words, named):
    new = pd.read_csv("new.csv")
    new.rename(columns=str.upper).to_csv("strangers.csv", index=False)
    new.rename(columns={"id": "pooled"}).to_csv("own.csv", index=False)
    new.assign(ada="x").to_csv("text.csv", index=False)
    err = refused(*words.split())
    assert named in err
    assert err.count("\n") == 1


def test_a_saved_pool_is_exported_to_onnx(fitted, truepool):
    import onnxruntime

    code, out, _ = truepool("export", "v.pool", "--onnx", "v.onnx", "--json", "-")
    found = json.loads(out)
    assert (code, found["pool"], found["output"]) == (0, "vcg", "v.onnx")
    assert (found["cases"], found["gap"] < 1e-14) == (2000, True)
    session = onnxruntime.InferenceSession("v.onnx")
    (pooled,) = session.run(None, {"reports": pd.read_csv("new.csv")[AGENTS].values})
    assert_allclose(pooled[:, 1], expected(fitted)[0], atol=1e-14)


def test_ids_of_json_lines_are_text_in_a_table(fitted, truepool):
    rows = [{"id": 7, "ada": 0.3}, {"id": "x", "bob": 0.4}, {"cy": 0.1}]
    Path("mixed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert truepool("score", "v.pool", "mixed.jsonl", "-o", "out.parquet")[0] == 0
    assert pd.read_parquet("out.parquet").id.fillna("-").tolist() == ["7", "x", "-"]


# Units


@pytest.mark.parametrize("new", ["p.csv", "p.jsonl", "p.parquet"])
def test_new_cases_may_be_in_percent_if_that_is_said(fitted, score, refused, new):
    table, percent = pd.read_csv("new.csv"), ("--set", "percent=true")
    write_as(table, new)
    assert f"{table.ada.max():g}" in refused("score", "v.pool", new, *percent)
    table[AGENTS] *= 100
    write_as(table, new)
    assert "ada" in refused("score", "v.pool", new)
    assert_allclose(score("v.pool", new, *percent)[0].pooled, expected(fitted)[0])


# One row per report, and one key per agent


def test_a_long_table_may_come_from_standard_input(
    folder, fit, truepool, score, refused, stdin
):
    cases = pd.read_csv("train.csv").rename_axis("case").reset_index()
    table = cases.melt(["case", "label"], var_name="who", value_name="p")
    table.to_csv("long.csv", index=False)
    fit("long.csv", "--set", "long=case,who,p", *LABELLED, "l.pool")
    said = truepool("score", "l.pool", "long.csv")[1]
    content = Path("long.csv").read_bytes()
    stdin(content)
    assert truepool("score", "l.pool", "-")[:2] == (0, said)
    stdin(content + b"0,fraud,ada,lots\n")
    assert "'lots'" in refused("score", "l.pool", "-")
    for nothing in (b"", b"case,who,p\n"):
        stdin(nothing)
        assert "row" in refused("score", "l.pool", "-", "--set", "long=case,who,p")
    stdin(Path("new.csv").read_bytes())  # wide ones may come from there
    assert truepool("score", "l.pool", "-")[0] == 0
    wide = pd.read_csv("new.csv")[AGENTS].rename_axis("case").reset_index()
    melted = wide.melt("case", var_name="who", value_name="p")
    write_as(wide, "wide.jsonl")
    write_as(melted, "new.jsonl")
    tables = [score("l.pool", f"{name}.jsonl")[0].pooled for name in ("wide", "new")]
    pd.testing.assert_series_equal(*tables)
    write_as(melted.rename(columns={"who": "model"}), "other.jsonl")
    assert "model" in refused("score", "l.pool", "other.jsonl")
    score("l.pool", "other.jsonl", "--set", "long=case,model,p")


def test_a_line_of_json_may_hold_the_classes_of_an_agent_in_one_key(
    folder, truepool, refused
):
    Mean().fit_panel(random_panel(1, classes=3)).save("k.pool")
    new, answers = Path("new.jsonl"), []
    keys = {"agent0:0": 0.5, "agent0:1": 0.25, "agent0:2": 0.25, "agent1": None}
    for row in (
        keys,
        {"agent0": [0.5, 0.25, 0.25]},
        {"agent0": {"2": 0.25, "1": 0.25, "0": 0.5}},
    ):
        new.write_text(json.dumps(row))
        answers.append(truepool("score", "k.pool", "new.jsonl")[1])
    assert answers[0] == answers[1] == answers[2] != ""
    for wrong in ([0.5, 0.5], 0.5, {"0": 0.5, "1": 0.5}):
        new.write_text(json.dumps({"agent0": wrong}))
        assert "agent0" in refused("score", "k.pool", "new.jsonl")
    rows = [{"agent0": [0.33, 0.33, 0.33]}, {"agent0": [0.5, 0.25, 0.25]}]
    new.write_text("\n".join(map(json.dumps, rows)))
    assert "1 report " in truepool("score", "k.pool", "new.jsonl")[2]  # rescaled


# Agents that are not there


@pytest.mark.parametrize("new", ["three.csv", "three.jsonl", "three.parquet"])
def test_an_agent_without_a_column_is_named_and_has_no_reports(fitted, score, new):
    table = pd.read_csv("new.csv")
    write_as(table.drop(columns="di"), new)
    found, said = score("v.pool", new)
    assert ("warning" in said, "di" in said) == (True, True)
    partly = fitted.predict_proba(table[AGENTS].assign(di=np.nan))[:, 1]
    assert_allclose(found.pooled, partly, atol=1e-9)
    write_as(table.assign(di=None), new)
    found, said = score("v.pool", new)
    assert "'di'" in said
    assert_allclose(found.pooled, partly, atol=1e-9)


def test_that_no_case_has_a_report_is_never_silent(fitted, truepool, refused):
    Path("none.jsonl").write_text('{"id": 1, "x": 0.2}\n{"id": 2, "x": 0.3}\n')
    refused("score", "v.pool", "none.jsonl", "-o", "out.csv", "--quiet")
    Path("null.jsonl").write_text('{"id": 1, "ada": null}\n{"id": 2, "ada": null}\n')
    words = ("score", "v.pool", "null.jsonl", "-o", "out.csv", "--quiet")
    code, _, err = truepool(*words)
    assert (code, err.startswith("warning: none of the 2 cases")) == (0, True)


def test_no_column_of_another_role_is_suggested_for_a_missing_agent(folder, fit, score):
    """Only a name that the table of the fit did not have can be the agent's."""
    names = {agent: f"score_{agent[0]}" for agent in AGENTS} | {"label": "score_y"}
    train = pd.read_csv("train.csv").rename(columns=names)
    train.to_csv("train.csv", index=False)
    words = ("--outcome", "score_y", "--ignore", "score_d", *LABELLED[2:], "s.pool")
    fit("train.csv", *words)
    train.drop(columns="score_a").to_csv("lack.csv", index=False)
    said = score("s.pool", "lack.csv")[1]
    assert "score_a" in said
    assert "score_y" not in said
    train.rename(columns={"score_a": "score_a1"}).to_csv("lack.csv", index=False)
    assert "'score_a1'" in score("s.pool", "lack.csv")[1]


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
    code, _, err = truepool(*command, "no")
    assert (code, "warning: All 5 agents" in err, "--positive yes" in err) == (0, 1, 1)
    code, out, err = truepool(*command, "yes")
    assert (code, "warning" in out + err) == (0, False)


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


def constant(table, value=0.05):
    table["agent1"] = value


def warnings(err):
    return [line for line in err.splitlines() if line.startswith("warning")]


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
    (warning,) = warnings(err)
    for part in ("agent1", "251 of 400 (id 250)", "--ignore agent1"):
        assert part in warning
    words = [word.replace("train", "spoilt") for word in words]
    code, _, err = truepool(verb, "train.csv", *words)
    assert (code, "from case" in err) == (0, False)


def test_two_dead_feeds_have_one_cure(tmp_path, monkeypatch, truepool):
    def both(table):
        die(table)
        table.loc[200:, "agent3"] = np.nan

    monkeypatch.chdir(tmp_path)
    tables(tmp_path, both)
    _, _, err = truepool("fit", "spoilt.csv", "--pool", "mean", "-o", "p.pool")
    (warning,) = warnings(err)
    assert "201 of 400 (id 200)" in warning
    assert warning.count("--ignore agent1 --ignore agent3)") == 1


@pytest.mark.parametrize("new", ["new.csv", "new.jsonl", "new.parquet"])
def test_new_cases_of_a_dead_feed_are_scored_with_a_warning(
    tmp_path, monkeypatch, truepool, score, new
):
    monkeypatch.chdir(tmp_path)
    tables(tmp_path, constant)
    assert truepool("fit", "train.csv", "--pool", "vcg", "-o", "p.pool")[0] == 0
    for name, dead in (("spoilt", True), ("train", False)):
        write_as(pd.read_csv(f"{name}.csv").drop(columns="y"), new)
        said = warnings(score("p.pool", new)[1])
        assert any("agent1 reported 0.05 in all 400" in line for line in said) == dead


def test_a_feed_is_dead_only_if_other_reports_were_to_be_expected(
    tmp_path, monkeypatch, truepool, score
):
    monkeypatch.chdir(tmp_path)
    tables(tmp_path, lambda table: constant(table, 0))
    train, new = pd.read_csv("train.csv"), pd.read_csv("spoilt.csv").drop(columns="y")
    new.to_csv("new.csv", index=False)
    for share, warned in ((0.2, False), (0.3, True)):  # of 400: 80, or 120 others
        train["agent1"] = (np.arange(400) < 400 * share).astype(int)
        train.sample(frac=1, random_state=0).to_csv("rounded.csv", index=False)
        truepool("fit", "rounded.csv", "--pool", "vcg", "-o", "p.pool")
        said = score("p.pool", "new.csv")[1]
        assert ("agent1 reported 0 in all 400 cases" in said) == warned
    new.assign(agent0=0.1, agent2=0.2, agent3=0.3, agent4=0.4).to_csv("new.csv")
    assert "dead" not in score("p.pool", "new.csv")[1]  # one case, many times


def test_parts_of_a_data_set_tell_a_dead_feed_together(tmp_path, monkeypatch, truepool):
    monkeypatch.chdir(tmp_path)
    tables(tmp_path, constant)
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


# The file


def test_a_pool_that_is_saved_again_still_knows_its_table(tmp_path):
    panel = tp.Panel([[0.9, 0.5], [0.1, 0.5]] * 5, [1, 0] * 5)
    agents = ("agent0", "agent1")
    known = tp.tables.Schema(
        agents, {a: (a,) for a in agents}, units={"agent1": tp.tables.Unit(0, 100)},
        outcome="label",
    )  # fmt: skip
    one, two, three = (tmp_path / f"{name}.pool" for name in ("one", "two", "three"))
    persistence.save(Mean().fit_panel(panel), one, known)
    again = persistence.load(one)
    again.save(two)
    assert persistence.load(two).table == known
    assert one.read_bytes() == two.read_bytes()
    again.fit_panel(panel).save(three)  # another table, not described
    assert persistence.load(three).table is None
