"""fit, compare, audit and replay on data sets, larger than memory or not."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from faults import sound
from numpy.testing import assert_allclose
from panels import random_panel
from pyarrow import parquet

import truepool as tp
from truepool.cli import screen
from truepool.tables import sample, stream

PANEL = random_panel(1, cases=240, silent=0.1)
AGENTS = ("ada", "bob", "cy", "di")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = {
        name: pa.array(PANEL.reports[:, i], from_pandas=True)
        for i, name in enumerate(AGENTS)
    }
    table = pa.table(cells | {"y": PANEL.outcomes, "id": np.arange(240)})
    for n in range(3):
        path = Path(f"set/month={n}/p.parquet")
        path.parent.mkdir(parents=True)
        parquet.write_table(table.slice(80 * n, 80), path, row_group_size=30)
    parquet.write_table(table, "one.parquet")
    return tmp_path


@pytest.fixture
def small_memory(monkeypatch):
    monkeypatch.setattr(sample, "MOST_ROWS", 100)


def fit(truepool, *words):
    code, _, err = truepool("fit", *words, "-o", "v.pool")
    assert code == 0, err
    return tp.load_pool("v.pool"), err


@pytest.mark.parametrize("source", ["set", "set/*/*.parquet"])
def test_a_data_set_that_fits_into_memory_is_the_table_of_its_parts(
    place, truepool, source
):
    pool, err = fit(truepool, source, "--pool", "vcg")
    one, _ = fit(truepool, "one.parquet", "--pool", "vcg")
    assert "sample" not in err
    assert pool.weights_.tolist() == one.weights_.tolist()


def test_vcg_learns_from_all_rows_of_a_larger_one(place, truepool, small_memory):
    pool, err = fit(truepool, "set", "--pool", "vcg")
    assert [line[:8] for line in err.splitlines()] == ["read set", "All 240 "]
    assert pool.training_.cases == 240
    assert pool.table.agents == AGENTS
    whole = tp.VCG(costs=tp.Costs()).fit_panel(PANEL)
    assert_allclose(pool.weights_, whole.weights_, rtol=0, atol=1e-12)
    one, _ = fit(truepool, "one.parquet", "--pool", "vcg")
    assert_allclose(one.weights_, whole.weights_, rtol=0, atol=1e-12)


def large(folder, spoil):
    """Write parts of 600 cases of which blocks are read."""
    panel = sound(cases=600)
    table = pd.DataFrame(panel.reports, columns=list(panel.agents))
    table["y"] = np.array(["no", "yes"])[panel.outcomes]
    spoil(table)
    Path(folder).mkdir()
    for n in range(3):
        part = table[200 * n : 200 * n + 200]
        part.to_parquet(f"{folder}/{n}.parquet", index=False, row_group_size=10)


def test_a_data_set_of_any_size_is_checked_for_what_an_audit_finds(
    place, truepool, small_memory, monkeypatch
):
    def die(table):
        table.loc[400:, "agent1"] = 0.05

    def add(table):
        table["discount"] = np.arange(600) % 3 / 10

    monkeypatch.setattr(sample, "BLOCKS", 5)
    monkeypatch.setattr(sample, "BLOCK_ROWS", 50)
    for name, spoil, positive, said in (
        ("sound", lambda table: None, "yes", None),
        ("reversed", lambda table: None, "no", "All 5 agents"),
        ("dead", die, "yes", "case 151 of 250"),
        ("shares", add, "yes", "'discount'"),
    ):
        large(name, spoil)
        pool, err = fit(truepool, name, "--pool", "vcg", "--positive", positive)
        assert "250 of them, in 5 blocks" in err
        warnings = [line for line in err.splitlines() if "warning" in line]
        assert len(warnings) == (said is not None)
        assert said is None or said in warnings[0]
        assert len(pool.training_.commonest) == len(pool.agents_)


def test_too_few_events_to_check_are_no_error(
    place, truepool, small_memory, monkeypatch
):
    def rare(table):
        table["y"] = "no"
        table.loc[[60, 61], "y"] = "yes"

    monkeypatch.setattr(sample, "BLOCKS", 2)
    monkeypatch.setattr(sample, "BLOCK_ROWS", 50)
    large("rare", rare)
    pool, err = fit(truepool, "rare", "--pool", "vcg", "--positive", "yes")
    assert pool.training_.counts == (598, 2)
    assert "warning" not in err


class Interrupted(BaseException):
    """As an interruption by the user is: no error of the library."""


@pytest.fixture
def interrupted(place, truepool, small_memory, monkeypatch):
    """A fit that ended when its last part was to be read."""
    read, last = stream.read_part, Path("set/month=2/p.parquet")

    def stop(part, columns, start=0):
        if part.path == last and len(columns) > 1:  # not where labels are looked for
            raise Interrupted
        return read(part, columns, start)

    with monkeypatch.context() as patch:
        patch.setattr(stream, "read_part", stop)
        with pytest.raises(Interrupted):
            truepool("fit", "set", "--pool", "vcg", "-o", "v.pool")
    assert not Path("v.pool").exists()
    seen = []

    def note(part, columns, start=0):
        seen.extend([part.name] if len(columns) > 1 else [])
        return read(part, columns, start)

    monkeypatch.setattr(stream, "read_part", note)
    return seen


def test_what_an_interrupted_fit_has_summed_up_is_not_read_again(interrupted, truepool):
    _, err = fit(truepool, "set", "--pool", "vcg")
    assert "2 parts were summed up before an interruption" in err
    assert interrupted == ["month=2/p.parquet"]
    resumed = Path("v.pool").read_bytes()
    assert not Path("v.pool.unfinished").exists()
    _, err = fit(truepool, "set", "--pool", "vcg")
    assert "interruption" not in err
    assert Path("v.pool").read_bytes() == resumed
    assert len(interrupted) == 4


@pytest.mark.parametrize("change", ["pool", "part", "schema", "content"])
def test_a_fit_of_something_else_starts_again(interrupted, truepool, change):
    words = ["set", "--pool", "brier" if change == "pool" else "vcg"]
    if change == "part":
        path = Path("set/month=0/p.parquet")
        parquet.write_table(parquet.ParquetFile(path).read(), path)
    if change == "schema":
        words += ["--ignore", "di"]
    if change == "content":
        Path("v.pool.unfinished").write_text("{")
    _, err = fit(truepool, *words)
    assert "interruption" not in err
    assert len(interrupted) == 3


@pytest.mark.parametrize(
    ("words", "seed"),
    [
        (("fit", "set", "--pool", "platt", "-o", "p.pool"), 0),
        (("compare", "set", "--pool", "mean,vcg"), 0),
        (("replay", "set", "--learner", "auto"), 0),
        (("audit", "set", "--set", "seed=5"), 5),
    ],
)
def test_what_cannot_be_read_batch_by_batch_is_sampled_by_its_seed(
    place, truepool, small_memory, words, seed
):
    code, out, err = truepool(*words)
    assert (code, "100" in out + err) == (0, True), err
    assert f"100 of the 240 rows (seed {seed})" in err
    assert truepool(*words)[1] == out


@pytest.mark.parametrize(
    "words", [(), ("--all",), ("--set", "delay=7", "--set", "recalibrate=true")]
)
def test_a_replay_reads_all_rows_of_a_larger_one(place, truepool, monkeypatch, words):
    command = ("replay", "set", *words, "--json", "-")
    whole = json.loads(truepool(*command)[1])
    monkeypatch.setattr(sample, "MOST_ROWS", 100)
    code, out, err = truepool(*command)
    assert code == 0, err
    assert [line[:8] for line in err.splitlines()] == ["read set", "All 240 "]
    for found, expected in zip(*map(as_list, (json.loads(out), whole)), strict=True):
        assert found["weights"] == expected["weights"]
        assert found["mean_loss"] == pytest.approx(expected["mean_loss"], rel=1e-12)
        assert found["regret"] == pytest.approx(expected["regret"], abs=1e-9)
        assert found["unsettled"] == expected["unsettled"]


def as_list(replays):
    return replays if isinstance(replays, list) else [replays]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--plot", "w.svg"), "241 points"),
        (("--set", "loss=log"), "best fixed weights"),
    ],
)
def test_a_replay_says_what_differs_from_one_in_memory(
    place, truepool, small_memory, words, said
):
    code, _, err = truepool("replay", "set", *words)
    assert (code, said in err) == (0, True), err


def test_a_replay_out_of_order_is_refused(place, truepool, refused, small_memory):
    words = ("replay", "set", "--time", "id", "--id", "month")
    assert truepool(*words)[0] == 0
    path = Path("set/month=1/p.parquet")
    table = parquet.ParquetFile(path).read()
    parquet.write_table(table.take(list(range(79, -1, -1))), path)
    said = refused(*words)
    for part in ("158", "'id'", "row 1 of month=1/p.parquet"):
        assert part in said


@pytest.mark.parametrize("quiet", [False, True])
def test_reading_a_sample_shows_its_progress_unless_quiet(
    place, truepool, small_memory, monkeypatch, quiet
):
    terminal = screen.Screen(force_terminal=True, record=True, width=200, stderr=True)
    console = screen.console
    monkeypatch.setattr(
        screen,
        "console",
        lambda stderr=False: terminal if stderr else console(),
    )
    monkeypatch.setattr(screen, "PATIENCE", 0.0)
    words = ("compare", "set", "--pool", "mean,vcg", *(["--quiet"] * quiet))
    assert truepool(*words)[0] == 0
    shown = terminal.export_text()
    for text in ("Reading", "rows/s", "a sample of 100", "Comparing pools"):
        assert (text in shown) != quiet


def test_a_long_table_larger_than_memory_is_refused(place, truepool, small_memory):
    names = {"id": np.arange(300) // 2, "who": ["a", "b"] * 150, "p": np.tile(0.5, 300)}
    table = pd.DataFrame(names | {"y": np.arange(300) // 2 % 2})
    table.to_parquet("long.parquet")
    for words in ([], ["--set", "long=id,who,p"]):
        code, out, err = truepool("fit", "long.parquet", "-o", "v.pool", *words)
        assert (code, out) == ((2, "") if not words else (0, out)), err


@pytest.mark.parametrize("pool", ["vcg", "platt"])
def test_a_part_without_the_outcome_is_named(place, refused, small_memory, pool):
    path = Path("set/month=1/q.parquet")
    parquet.write_table(pa.table({name: [0.5] for name in (*AGENTS, "id")}), path)
    assert str(path) in refused("fit", "set", "--pool", pool, "-o", "v.pool")


def test_ten_thousand_agents_are_replayed_without_a_matrix_of_all_pairs(
    truepool, tmp_path, monkeypatch
):
    # The best fixed weights were once sought with an N x N matrix, which never ended.
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 20)
    skill = 0.5 + 0.2 * (2 * outcomes - 1)[:, None]
    reports = np.clip(skill + rng.normal(0, 0.2, (20, 10_000)), 0, 1)
    lines = [",".join(["y", *(f"a{i}" for i in range(10_000))])]
    for outcome, row in zip(outcomes, reports, strict=True):
        lines.append(",".join([str(outcome), *(f"{p:.2f}" for p in row)]))
    table = tmp_path / "wide.csv"
    table.write_text("\n".join(lines))
    eigh = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda a: eigh(a) if len(a) < 99 else 1 / 0)
    code, out, _ = truepool("replay", table, "--outcome", "y")
    assert code == 0
    assert "9,950 other agents share" in out


PEAKS = """
import pathlib, sys
from truepool.cli import main
from truepool.tables import dataset, sample
dataset.BATCH_NUMBERS, sample.MOST_ROWS = 1 << 15, 1_000
for words in (line.split() for line in sys.argv[1:]):
    sys.argv[1:] = words
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    try:
        main()
    except SystemExit as stop:
        assert not stop.code
    status = pathlib.Path("/proc/self/status").read_text()
    print(int(status.partition("VmHWM:")[2].split()[0]) * 1024)
"""


@pytest.mark.no_cover
def test_the_memory_of_fit_and_replay_does_not_grow_with_the_rows(place):
    rng = np.random.default_rng(0)
    # Both are large enough for the full sample of rows in which faults are looked for.
    for name, rows in (("few", 200_000), ("many", 2_000_000)):
        y = rng.integers(0, 2, rows, dtype=np.int8)
        cells = {n: rng.random(rows, dtype=np.float32) for n in AGENTS}
        table = pa.table(cells | {"y": y})
        parquet.write_table(table, f"{name}.parquet", row_group_size=20_000)
    verbs = ("fit {} --pool vcg -o v.pool --quiet", "replay {} --quiet")
    commands = [verb.format(f"{n}.parquet") for n in ("few", "many") for verb in verbs]
    done = subprocess.run(
        [sys.executable, "-c", PEAKS, *commands], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    peaks = np.array(done.stdout.split(), dtype=int).reshape(2, 2)
    # All rows in memory would take 64 MB as a panel alone; batches that wait for a busy
    # processor take up to 35.
    assert (peaks[1] - peaks[0] < 40_000_000).all(), peaks
