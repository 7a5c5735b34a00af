"""What an engine is refused for, in one sentence, before anything is started."""

import pyarrow as pa
import pytest
from command import needs_verb
from panels import random_panel
from pyarrow import parquet
from ray_nodes import need_ray

import truepool as tp

RAY = ("--set", "engine=ray")


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


def score(*words):
    return ("score", "v.pool", "set", "-o", "out", *words)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("score", "v.pool", "set", "-o", "out.csv", *RAY), "a folder"),
        (("score", "v.pool", "t.csv", *RAY), "a folder"),
        (score("--set", "address=a:1"), "a:1"),
        (score("--set", "engine=spark"), "local, ray"),
        (score(*RAY, "--set", "address=a"), "HOST:PORT"),
        (score(*RAY, "--set", "address=127.0.0.1:1"), "Connection refused"),
        (("fit", "t.csv", "-o", "w.pool", *RAY), "1,000,000 rows"),
        (("fit", "set", "-o", "w.pool", *RAY), "got 40"),
        pytest.param(("game", *RAY), "--sweep", marks=needs_verb("game")),
        pytest.param(
            ("game", "--sweep", "n=2,3", "--set", "jobs=2", *RAY), "jobs",
            marks=needs_verb("game"),
        ),
        pytest.param(
            ("reproduce", "tab:poa", "--set", "jobs=2", *RAY), "jobs",
            marks=needs_verb("reproduce"),
        ),
    ],
    ids=lambda value: " ".join(map(str, value[:1])) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_an_engine_without_work_for_it_is_refused(words, named, place, refused):
    assert named in refused(*words)


def test_a_pool_without_sums_is_fitted_here(place, refused, monkeypatch):
    monkeypatch.setattr("truepool.tables.sample.MOST_ROWS", 10)
    assert "'platt'" in refused("fit", "set", "--pool", "platt", "-o", "w.pool", *RAY)
