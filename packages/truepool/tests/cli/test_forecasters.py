"""A forecasting platform, from the long table to pooled probabilities."""

import json
from io import StringIO

import numpy as np
import pandas as pd
import pytest

import truepool as tp
from truepool.core.errors import AgentError, OutcomeError, ReportError
from truepool.panel import sparse
from truepool.panel.sparse import SparseReports
from truepool.tables.reader import TableWarning

LONG = ("--long", "question", "forecaster", "probability")
OUTCOME = ("--outcome", "happened")
POOLS = ["mean", "log-odds", "brier", "vcg", "shrunk"]


@pytest.fixture
def tournament(tmp_path):
    """Answers of 40 forecasters, two or three to a question."""
    rng = np.random.default_rng(0)
    rows = []
    for q in range(60):
        p = rng.uniform(0.1, 0.9)
        happened = int(rng.random() < p)
        for f in rng.choice(40, 2 + q % 2, replace=False):
            report = np.clip(p + rng.normal(0, 0.1), 0.01, 0.99).round(3)
            rows.append((f"q{q}", f"f{f:02}", report, happened))
    columns = ["question", "forecaster", "probability", "happened"]
    table = pd.DataFrame(rows, columns=columns)
    table.to_csv(tmp_path / "answers.csv", index=False)
    table.drop(columns="happened").to_csv(tmp_path / "open.csv", index=False)
    return tmp_path


@pytest.fixture
def in_both_layouts(monkeypatch, truepool):
    """Run a command on a table and on sparse reports; what each wrote."""

    def run(output, *words):
        written = []
        for cells in (10**9, 1_000):
            monkeypatch.setattr(sparse, "SPARSE_CELLS", cells)
            code, _, err = truepool(*words)
            assert code == 0, err
            written.append(output.read_text())
        return written

    return run


@pytest.mark.parametrize("pool", POOLS)
def test_open_questions_are_pooled_alike_in_either_layout(
    tournament, in_both_layouts, truepool, pool
):
    answers, new = tournament / "answers.csv", tournament / "open.csv"
    out, saved = tournament / "pooled.csv", tournament / "crowd.pool"
    rule = (*LONG, *OUTCOME, "--pool", pool)
    dense, cells = in_both_layouts(out, "pool", answers, new, *rule, "-o", out)
    assert truepool("fit", answers, *rule, "-o", saved)[0] == 0
    assert truepool("score", saved, new, "-o", out)[0] == 0
    tables = [pd.read_csv(StringIO(text)) for text in (dense, cells, out.read_text())]
    assert len(tables[0]) == 60
    for table in tables[1:]:
        np.testing.assert_allclose(table["pooled"], tables[0]["pooled"], atol=1e-12)


def test_a_replay_is_the_same_in_either_layout(tournament, in_both_layouts):
    out = tournament / "replay.json"
    dense, cells = in_both_layouts(
        out, "replay", tournament / "answers.csv", *LONG, *OUTCOME, f"--json={out}"
    )
    expected, found = json.loads(dense), json.loads(cells)
    assert found["weights"] == expected["weights"]
    np.testing.assert_allclose(found["regret"], expected["regret"], atol=1e-12)


def test_no_verb_of_the_path_writes_the_whole_table_out(
    tournament, truepool, monkeypatch
):  # fmt: skip
    monkeypatch.setattr(sparse, "SPARSE_CELLS", 1_000)
    monkeypatch.setattr("truepool.core.arrays.BLOCK", 400)
    monkeypatch.setattr("truepool.tables.batches.LONG_BLOCKS", 1)
    dense = SparseReports.dense
    sizes = []

    def watched(self, part=None):
        table = dense(self, part)
        sizes.append(table.size)
        return table

    monkeypatch.setattr(SparseReports, "dense", watched)
    saved = tournament / "crowd.pool"
    answers, new = tournament / "answers.csv", tournament / "open.csv"
    for words in (
        ("fit", answers, *LONG, *OUTCOME, "--pool", "vcg", "-o", saved),
        ("score", saved, new, "-o", tournament / "pooled.csv"),
        ("replay", answers, *LONG, *OUTCOME),
    ):
        assert truepool(*words)[0] == 0
    assert len(sizes) > 2
    assert max(sizes) <= 400


def test_newcomers_are_named_and_those_who_left_change_nothing(
    tournament,
    truepool,
):
    saved, new = tournament / "crowd.pool", tournament / "new.csv"
    answers = tournament / "answers.csv"
    assert (
        truepool("fit", answers, *LONG, *OUTCOME, "--pool", "mean", "-o", saved)[0] == 0
    )
    new.write_text(
        "question,forecaster,probability\n"
        "n1,f00,0.25\nn1,stranger,0.9\nn2,another,0.5\n"
    )
    code, _, err = truepool("score", saved, new, "-o", tournament / "out.csv")
    assert code == 0
    assert "'another', 'stranger' are not agents of the pool: left out." in err
    pooled = pd.read_csv(tournament / "out.csv")["pooled"]
    assert pooled[0] == 0.25
    assert np.isnan(pooled[1])


def test_a_path_of_too_many_weights_is_not_drawn(
    tournament,
    truepool,
    monkeypatch,
):
    monkeypatch.setattr(sparse, "DENSE_CELLS", 100)
    words = ("replay", tournament / "answers.csv", *LONG, *OUTCOME)
    code, _, err = truepool(*words, "--plot", tournament / "path.svg")
    assert code == 2
    assert "--plot draws at most 100 weights" in err


def test_an_audit_of_too_many_cells_is_refused_in_one_sentence(
    tournament,
    truepool,
    monkeypatch,
):
    monkeypatch.setattr(sparse, "SPARSE_CELLS", 1_000)
    monkeypatch.setattr(sparse, "DENSE_CELLS", 1_000)
    code, _, err = truepool("audit", tournament / "answers.csv", *LONG, *OUTCOME)
    assert code == 2
    assert "an audit needs every cell of the table, at most 1,000" in err


def test_of_thousands_of_weights_the_largest_are_printed(
    tournament,
    truepool,
    monkeypatch,
):
    monkeypatch.setattr("truepool.render.tables.weights.SHOWN", 5)
    monkeypatch.setattr("truepool.render.tables.pool_card.SHOWN", 5)
    answers, saved = tournament / "answers.csv", tournament / "crowd.pool"
    for pool in ("mean", "vcg"):
        code, out, _ = truepool(
            "fit", answers, *LONG, *OUTCOME, "--pool", pool, "-o", saved
        )
        assert code == 0
        assert "other agents share" in out
        assert "f00, f01, f02, f03, f04, f05 and" in out


def test_spaces_around_names_are_no_part_of_them(tournament, truepool):
    answers, new = tournament / "answers.csv", tournament / "open.csv"
    out, saved = tournament / "pooled.csv", tournament / "crowd.pool"
    written = []
    for spaced in (False, True):
        for path in (answers, new):
            table = pd.read_csv(path)
            in_percent = table["forecaster"].isin(["f01", "f02"])
            if not spaced:
                table.loc[in_percent, "probability"] *= 100
            else:
                names = table["forecaster"].mask(in_percent, " " + table["forecaster"])
                table["forecaster"] = names
                table.loc[::7, "question"] += " "
            table.to_csv(path, index=False)
        words = (*LONG, *OUTCOME, "--percent=f01,f02", "--pool", "mean")
        code, _, err = truepool("fit", answers, *words, "-o", saved)
        assert code == 0, err
        assert ("Spaces around 2 names of column 'forecaster' are" in err) == spaced
        assert ("names of column 'question' are left out." in err) == spaced
        code, _, err = truepool("score", saved, new, "-o", out)
        assert code == 0, err
        written.append(out.read_text())
    assert written[0] == written[1]


def test_score_says_which_reports_were_replaced_or_late(
    tmp_path, monkeypatch, truepool
):
    monkeypatch.chdir(tmp_path)
    said = [("a", 0.4, 1), ("a", 0.6, 2), ("b", 0.7, 5), ("b", 0.3, 1)]
    rows = [(f"q{i}", *each, 5, i % 2) for i in range(4) for each in said]
    names = ["question", "forecaster", "probability", "day", "closes", "y"]
    pd.DataFrame(rows, columns=names).to_csv("t.csv", index=False)
    how = "--long question forecaster probability --time day --decision-time closes"
    fit = f"fit t.csv {how} --pool mean -o t.pool"
    _, _, learned = truepool(*fit.split())
    _, _, scored = truepool(*"score t.pool t.csv -o out.csv".split())
    for note in (
        "4 reports replaced by a later one of the same agent on the same case.",
        "4 reports made at or after the decision time: left out.",
    ):
        assert note in learned
        assert scored.count(note) == 1


def test_python_reads_open_questions_as_score_does():
    long = ("q", "f", "p")
    known = pd.DataFrame(
        {
            "q": [1, 1, 2, 2], "f": ["a", "b"] * 2, "p": [0.9, 0.8, 0.2, 0.4],
            "y": [1, 1, 0, 0],
        }
    )  # fmt: skip
    new = pd.DataFrame({"q": [7, 8, 8], "f": ["a", "a", "zoe"], "p": [0.3, 0.6, 0.9]})
    pool = tp.Mean().fit_panel(tp.read_panel(known, long=long))
    with pytest.warns(TableWarning, match="'zoe' is not an agent of the pool: left"):
        reports = tp.read_reports(new, pool.agents_, long=long)
    assert reports.ids.tolist() == [7, 8]
    assert pool.predict_proba(reports.values)[:, 1].tolist() == [0.3, 0.6]
    with pytest.raises(OutcomeError, match="in Python for truepool.read_reports"):
        tp.read_panel(new, long=long)
    with pytest.raises(OutcomeError, match="got None. .*truepool.read_reports"):
        tp.read_panel(new, None, long=long)
    with pytest.raises(AgentError, match="must have the agents that were learned"):
        tp.read_reports(new[2:], pool.agents_, long=long)


def test_reports_that_were_not_checked_are_for_predict_proba():
    panel = tp.datasets.example()
    with pytest.raises(ReportError, match="or .T, N, K. to predict_proba"):
        tp.Mean().fit_panel(panel).probabilities(panel.reports)
