"""A forecasting platform, from the long table to pooled probabilities."""

import json
from io import StringIO

import numpy as np
import pandas as pd
import pytest

import truepool as tp
from truepool.core.errors import ReportError
from truepool.panel import sparse
from truepool.panel.sparse import SparseReports
from truepool.tables import TableFaults, TableWarning

LONG = ("--set", "long=question,forecaster,probability")
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
    rule = (*LONG, "--pool", pool)
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
        out, "replay", tournament / "answers.csv", *LONG, "--json", out
    )
    expected, found = json.loads(dense), json.loads(cells)
    assert found["weights"] == expected["weights"]
    np.testing.assert_allclose(found["regret"], expected["regret"], atol=1e-12)


def test_no_verb_of_the_path_writes_the_whole_table_out(
    tournament, truepool, monkeypatch
):
    monkeypatch.setattr(sparse, "SPARSE_CELLS", 1_000)
    monkeypatch.setattr("truepool.core.arrays.BLOCK", 400)
    monkeypatch.setattr("truepool.tables.read.LONG_BLOCKS", 1)
    dense, sizes = SparseReports.dense, []

    def watched(self, part=None):
        table = dense(self, part)
        sizes.append(table.size)
        return table

    monkeypatch.setattr(SparseReports, "dense", watched)
    saved = tournament / "crowd.pool"
    answers, new = tournament / "answers.csv", tournament / "open.csv"
    for words in (
        ("fit", answers, *LONG, "--pool", "vcg", "-o", saved),
        ("score", saved, new, "-o", tournament / "pooled.csv"),
        ("replay", answers, *LONG),
    ):
        assert truepool(*words)[0] == 0
    assert len(sizes) > 2
    assert max(sizes) <= 400


def test_a_tournament_needs_no_option(tournament, truepool):
    """Its layout is seen, and so is the outcome; the saved pool knows both."""
    saved, out = tournament / "crowd.pool", tournament / "pooled.csv"
    fit = ("fit", tournament / "answers.csv", "--pool", "mean", "-o", saved)
    assert truepool(*fit)[0] == 0
    assert truepool("score", saved, tournament / "open.csv", "-o", out)[0] == 0
    found = pd.read_csv(out).set_index("question").pooled
    table = pd.read_csv(tournament / "open.csv")
    expected = table.groupby("question").probability.mean()
    pd.testing.assert_series_equal(
        found.sort_index(), expected, check_names=False, rtol=1e-12
    )


def test_newcomers_are_named_and_those_who_left_change_nothing(tournament, truepool):
    saved, new = tournament / "crowd.pool", tournament / "new.csv"
    words = (tournament / "answers.csv", *LONG, "--pool", "mean", "-o", saved)
    assert truepool("fit", *words)[0] == 0
    new.write_text(
        "question,forecaster,probability\n"
        "n1,f00,0.25\nn1,stranger,0.9\nn2,another,0.5\n"
    )
    code, _, err = truepool("score", saved, new, "-o", tournament / "out.csv")
    assert (code, "stranger" in err, "another" in err) == (0, True, True)
    pooled = pd.read_csv(tournament / "out.csv")["pooled"]
    assert pooled[0] == 0.25
    assert np.isnan(pooled[1])


@pytest.mark.parametrize(
    ("cells", "words"), [(100, ("replay", "--plot", "p.svg")), (1_000, ("audit",))]
)
def test_what_needs_every_cell_is_refused_where_there_are_too_many(
    tournament, refused, monkeypatch, cells, words
):
    monkeypatch.setattr(sparse, "SPARSE_CELLS", 1_000)
    monkeypatch.setattr(sparse, "DENSE_CELLS", cells)
    monkeypatch.chdir(tournament)
    assert f"{cells:,}" in refused(words[0], "answers.csv", *LONG, *words[1:])


@pytest.mark.parametrize("pool", ["mean", "vcg"])
def test_of_thousands_of_weights_the_largest_are_printed(
    tournament, truepool, monkeypatch, pool
):
    monkeypatch.setattr("truepool.pages.weights.SHOWN", 5)
    monkeypatch.setattr("truepool.pages.pool_card.SHOWN", 5)
    words = (*LONG, "--pool", pool, "-o", tournament / "crowd.pool")
    code, out, _ = truepool("fit", tournament / "answers.csv", *words)
    assert code == 0
    assert "other agents share" in out
    assert "f00, f01, f02, f03, f04, f05 and" in out


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
    with pytest.warns(TableWarning, match="zoe"):
        reports = tp.read_reports(new, pool.agents_, long=long)
    assert reports.ids.tolist() == [7, 8]
    assert pool.predict_proba(reports.values)[:, 1].tolist() == [0.3, 0.6]
    with pytest.raises(TableFaults) as refusal:
        tp.read_panel(new, long=long)
    assert refusal.value.codes == ("no-outcome",)
    with pytest.raises(TableFaults) as refusal:
        tp.read_reports(new[2:], pool.agents_, long=long)
    assert refusal.value.codes == ("no-agents",)


def test_reports_that_were_not_checked_are_for_predict_proba():
    panel = tp.datasets.example()
    with pytest.raises(ReportError, match="or .T, N, K. to predict_proba"):
        tp.Mean().fit_panel(panel).probabilities(panel.reports)
