"""What ``--engine`` is refused for, in one sentence, before anything is started."""

import pyarrow as pa
import pytest
from command import needs_verb
from panels import random_panel
from pyarrow import parquet
from ray_nodes import need_ray

import truepool as tp

RAY = ("--engine", "ray")


@pytest.fixture
def place(tmp_path, monkeypatch):
    need_ray()
    monkeypatch.chdir(tmp_path)
    panel = random_panel(1, cases=40)
    tp.VCG().fit_panel(tp.Panel(panel.reports, panel.outcomes, tuple("abcd"))).save(
        "v.pool"
    )
    cells = dict(zip("abcd", panel.reports.T, strict=True)) | {"y": panel.outcomes}
    (tmp_path / "set").mkdir()
    parquet.write_table(pa.table(cells), "set/0.parquet")
    (tmp_path / "t.csv").write_text("a,b,y\n0.1,0.2,0\n0.9,0.8,1\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("score", "v.pool", "set", "-o", "out.csv", *RAY), "a part of its own; got other input or output. Name a data set"),
        (("score", "v.pool", "t.csv", *RAY), "Name a data set of Parquet files, and a folder for --output."),
        (("score", "v.pool", "set", "-o", "out", "--address", "a:1"), "Pass --engine ray, or leave out --address."),
        (("score", "v.pool", "set", "-o", "out", "--engine", "spark"), "no engine is called 'spark'; known: local, ray"),
        (("score", "v.pool", "set", "-o", "out", *RAY, "--address", "a"), "must be HOST:PORT"),
        (("score", "v.pool", "set", "-o", "out", *RAY, "--address", "127.0.0.1:1"), "the connection failed: Connection refused. Start it, or correct --address."),
        (("fit", "t.csv", "-o", "w.pool", *RAY), "more than 1,000,000 rows; got another table. Leave it out"),
        (("fit", "set", "-o", "w.pool", *RAY), "more than 1,000,000 rows; got 40. Leave it out"),
        pytest.param(("game", *RAY), "solves the games of a sweep; got none. Pass --sweep", marks=needs_verb("game")),
        pytest.param(("game", "--sweep", "n=2,3", "--jobs", 2, *RAY), "--jobs counts processes of this machine; got 2 with --engine ray", marks=needs_verb("game")),
        pytest.param(("reproduce", "tab:poa", "--jobs", 2, *RAY), "--jobs counts processes of this machine; got 2 with --engine ray", marks=needs_verb("reproduce")),
    ],
    ids=lambda value: " ".join(map(str, value[:1])) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_an_engine_without_work_for_it_is_refused(words, sentence, place, truepool):
    code, out, err = truepool(*words)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("error: ")
    assert sentence in err


def test_a_pool_without_sums_is_fitted_here(place, truepool, monkeypatch):
    monkeypatch.setattr("truepool.tables.row_sample.MOST_ROWS", 10)
    code, _, err = truepool("fit", "set", "--pool", "platt", "-o", "w.pool", *RAY)
    assert code == 2
    assert "more than 10 rows; got the pool 'platt'. Leave it out" in err
