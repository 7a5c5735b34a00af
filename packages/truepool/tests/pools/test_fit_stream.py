"""Pools that learn from a data set batch by batch: as from the panel in memory."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from panels import random_panel
from pyarrow import parquet

import truepool as tp
from truepool.core.errors import CostError, PanelError
from truepool.pools import every, make
from truepool.tables import Declared, Place, TableFaults, dataset, load_panel
from truepool.tables.dataset import open_dataset
from truepool.tables.sample import read_sample, sample_rows
from truepool.tables.stream import open_panels

AGENTS = ("ada", "bob", "cy", "di")
COSTS = tp.Costs(fn=4, fp=1)
POOLS = {
    "mean": tp.Mean,
    "median": lambda: make("median"),
    "brier": lambda: make("brier"),
    "vcg": tp.VCG,
    "vcg log": lambda: tp.VCG(loss="log"),
    "vcg cost": lambda: tp.VCG(loss="cost", costs=COSTS),
    "vcg cost-brier": lambda: tp.VCG(loss="cost-brier", costs=COSTS),
    "convex": lambda: make("convex"),
    "convex cost-brier": lambda: make("convex", loss="cost-brier", costs=COSTS),
}


def columns(panel, outcomes=None, names=AGENTS):
    cells = panel.reports if panel.reports.ndim == 3 else panel.reports[:, :, None]
    found = {}
    for i, name in enumerate(names):
        for k in range(cells.shape[2]):
            label = name if cells.shape[2] == 1 else f"{name}:{k}"
            found[label] = pa.array(cells[:, i, k], from_pandas=True)
    return found | {"y": panel.outcomes if outcomes is None else outcomes}


def write(folder, cells, parts=3, group=7):
    folder.mkdir(exist_ok=True)
    table = pa.table(cells)
    size = -(-len(table) // parts)
    for n in range(parts):
        path = folder / f"{n}.parquet"
        parquet.write_table(table.slice(n * size, size), path, row_group_size=group)
    return open_dataset(folder)


def same(pool, folder, cells, written=None, **settings):
    """Fit both ways, and return both."""
    written = written or Declared()
    data = write(folder, cells, **settings)
    whole, _ = load_panel(pa.table(cells), written)
    streamed = pool().fit_stream(open_panels(data, written))
    fitted = pool().fit_panel(whole)
    assert streamed.labels_ == fitted.labels_
    assert streamed.agents_ == fitted.agents_
    assert streamed.training_.counts == fitted.training_.counts
    assert streamed.training_.cases == fitted.training_.cases
    assert streamed.training_.missing == pytest.approx(
        fitted.training_.missing, abs=1e-15
    )
    p = whole.reports[:20]
    assert_allclose(
        streamed.predict_proba(p), fitted.predict_proba(p), rtol=0, atol=1e-12
    )
    for name in ("weights_", "credit_"):
        if name in vars(fitted):
            learned = vars(streamed)[name]
            assert_allclose(learned, vars(fitted)[name], rtol=0, atol=1e-12)
    return streamed, fitted


@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
@pytest.mark.parametrize("silent", [0.0, 0.5])
def test_weights_are_those_of_the_panel_in_memory(pool, silent, tmp_path):
    panel = random_panel(3, cases=120, silent=silent)
    same(pool, tmp_path / "set", columns(panel))


STREAMING = [name for name, cls in every().items() if cls().streams(4)]


@pytest.mark.parametrize("name", STREAMING)
def test_every_pool_that_streams_learns_all_that_it_learns_in_memory(name, tmp_path):
    panel = random_panel(15, cases=90, silent=0.2)
    streamed, fitted = same(lambda: make(name), tmp_path / "set", columns(panel))
    assert vars(streamed).keys() == vars(fitted).keys()
    streamed.save(tmp_path / "v.pool")
    tp.load_pool(tmp_path / "v.pool")


def test_the_page_on_scale_lists_the_pools_that_stream():
    page = (Path(__file__).parents[4] / "docs" / "scale.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `fit --pool")]
    listed = [name for row in rows for name in re.findall(r"[a-z-]+(?=`)", row)]
    assert {*STREAMING} <= {*listed}


@pytest.mark.parametrize("name", ["mean", "brier", "vcg", "vcg log", "convex"])
def test_so_they_are_for_three_classes(name, tmp_path):
    panel = random_panel(4, cases=90, classes=3, silent=0.3)
    names = [f"agent{i}" for i in range(len(panel.agents))]
    same(POOLS[name], tmp_path / "set", columns(panel, names=names))


@pytest.mark.parametrize("name", ["brier", "vcg", "convex"])
def test_weights_and_propensities_of_cases_count(name, tmp_path):
    panel, rng = random_panel(5, cases=100, silent=0.4), np.random.default_rng(0)
    more = {"w": rng.uniform(0.5, 3, 100), "q": rng.uniform(0.1, 1, 100)}
    written = Declared(weight="w", propensity="q")
    weighted, _ = same(POOLS[name], tmp_path / "set", columns(panel) | more, written)
    plain = POOLS[name]().fit_panel(load_panel(pa.table(columns(panel)), Declared())[0])
    assert np.abs(weighted.weights_ - plain.weights_).max() > 1e-6


def test_cases_without_outcome_or_report_do_not_count(tmp_path):
    panel = random_panel(6, cases=100, silent=0.4)
    cells = columns(panel, pa.array([None if t % 3 == 0 else int(y)
                                     for t, y in enumerate(panel.outcomes)]))  # fmt: skip
    for name in AGENTS:
        blank = cells[name].to_pylist()
        blank[4] = blank[9] = blank[50] = blank[51] = None
        cells[name] = pa.array(blank)
    for pool in ("vcg", "brier"):
        same(POOLS[pool], tmp_path / "set", cells)
    panels = open_panels(open_dataset(tmp_path / "set"), Declared())
    POOLS["vcg"]().fit_stream(panels)
    assert panels.totals.pending == 32
    assert panels.totals.empty == 4


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (("ok", "fraud"), "fraud"),
        ((2, 1), 1),
        ((False, True), None),
        ((0.0, 1.0), None),
    ],
    ids=["text", "numbers", "booleans", "floats"],
)
def test_labels_are_those_of_the_whole_data_set(labels, positive, tmp_path):
    panel = random_panel(7, cases=60)
    outcomes = [labels[y] for y in np.sort(panel.outcomes)]  # a batch has one of them
    written = Declared(positive=positive)
    same(tp.VCG, tmp_path / "set", columns(panel, outcomes), written)


def test_classes_may_have_names(tmp_path):
    panel = random_panel(8, cases=60, classes=3)
    cells = columns(panel, names=[f"a{i}" for i in range(len(panel.agents))])
    names = ("low", "mid", "high")
    cells = {n[:-1] + names[int(n[-1])] if n[-1].isdigit() else n: c
             for n, c in cells.items()}  # fmt: skip
    cells["y"] = [f" {names[y]}" for y in panel.outcomes]
    same(tp.VCG, tmp_path / "set", cells)


def test_an_agent_that_never_reports_gets_no_weight(tmp_path):
    cells = columns(random_panel(9, cases=60))
    cells["di"] = pa.nulls(60, pa.float64())
    streamed, _ = same(tp.VCG, tmp_path / "set", cells, Declared(agents=AGENTS))
    assert streamed.weights_[3] == 0


@pytest.mark.parametrize(("parts", "group", "numbers"), [(1, 60, 1), (5, 3, 1 << 20)])
def test_how_the_rows_are_divided_changes_only_rounding(
    parts, group, numbers, tmp_path, monkeypatch
):
    monkeypatch.setattr(dataset, "BATCH_NUMBERS", numbers)  # one case per batch
    cells = columns(random_panel(10, cases=61, silent=0.3))
    for n, pool in enumerate(("vcg", "brier", "convex")):
        folder = tmp_path / str(n)
        same(POOLS[pool], folder, cells, parts=parts, group=group)


def test_pools_without_sums_say_so():
    assert not make("platt").streams(3)
    assert not tp.VCG(iterations=2).streams(3)
    assert not tp.VCG(removals=1).streams(3)
    assert not tp.VCG(loss="cost", costs=tp.Costs(fn="amount", fp=1)).streams(3)
    assert tp.VCG(costs=tp.Costs(fn="amount", fp=1)).streams(3)
    assert not make("convex", loss="log").streams(3)
    assert make("convex").streams(1000)
    assert not make("convex").streams(1001)


def test_the_costs_of_each_case_are_checked_as_they_come(tmp_path):
    cells = columns(random_panel(11, cases=40)) | {"amount": [5.0] * 39 + [-1.0]}
    pool = tp.VCG(costs=tp.Costs(fn="amount", fp=1))
    written = Declared(columns=("amount",))
    with pytest.raises(CostError, match="amount"):
        pool.fit_stream(open_panels(write(tmp_path / "set", cells), written))


@pytest.mark.parametrize(
    ("change", "codes", "place"),
    [
        ({"y": pa.nulls(40)}, ("no-outcomes",), None),
        ({"label": ["a", "b"] * 20, "y": None}, ("which-positive",), None),
        ({"y": ["a", "b"] * 20}, ("which-positive",), None),
        ({"y": ["a", "b", "c", "d"] * 10}, ("three-labels",), None),
        ({"ada": [0.5] * 39 + [7.0]}, ("report-outside",), (11, "2.parquet")),
        ({"w": [1.0] * 39 + [-1.0]}, ("weight-range",), (11, "2.parquet")),
    ],
    ids=["empty", "missing", "positive", "labels", "report", "weight"],
)
def test_bad_input_is_named(change, codes, place, tmp_path):
    cells = columns(random_panel(12, cases=40)) | change
    cells = {name: column for name, column in cells.items() if column is not None}
    declared = Declared(weight="w" if "w" in cells else None)
    data = write(tmp_path / "set", cells)
    with pytest.raises(TableFaults) as refusal:
        tp.VCG().fit_stream(open_panels(data, declared))
    assert refusal.value.codes == codes
    if place is not None:
        row, name = place
        assert refusal.value.faults[0].place == Place("part-row", (row, name))


def test_one_case_is_too_few(tmp_path):
    cells = columns(random_panel(12, cases=40)) | {"y": [1] + [None] * 39}
    data = write(tmp_path / "set", cells)
    with pytest.raises(PanelError, match="at least 2 cases; got 1"):
        tp.VCG().fit_stream(open_panels(data, Declared()))


@pytest.mark.parametrize("parts", [1, 3])
def test_a_column_of_numbers_is_no_outcome(parts, tmp_path):
    cells = columns(random_panel(13, cases=2000), np.arange(2000))
    data = write(tmp_path / "set", cells, parts=parts, group=700)
    with pytest.raises(TableFaults) as refusal:
        open_panels(data, Declared("y"))
    assert refusal.value.codes == ("many-labels",)


def test_a_sample_is_uniform_and_has_exactly_its_size():
    counts = np.zeros(200)
    for seed in range(2000):
        places = sample_rows(200, 20, seed)
        assert len(set(places.tolist())) == 20
        counts[places] += 1
    # Each row is in a tenth of the samples: binomial, within five standard errors.
    assert np.abs(counts - 200).max() < 5 * np.sqrt(2000 * 0.1 * 0.9)


def test_blocks_change_no_sample(monkeypatch):
    whole = sample_rows(5000, 300, seed=7)
    monkeypatch.setattr("truepool.tables.sample.BLOCK", 64)
    assert sample_rows(5000, 300, seed=7).tolist() == whole.tolist()
    assert sample_rows(5000, 300, seed=2**70).tolist() != whole.tolist()


def test_the_division_into_parts_changes_no_sample(tmp_path, monkeypatch):
    cells = columns(random_panel(14, cases=300))
    one = read_sample(write(tmp_path / "a", cells, parts=1, group=300), 50, seed=3)
    monkeypatch.setattr(dataset, "BATCH_NUMBERS", 10)
    many = read_sample(write(tmp_path / "b", cells, parts=4, group=11), 50, seed=3)
    assert one.to_pydict() == many.to_pydict()
    assert len(one) == 50
    assert read_sample(open_dataset(tmp_path / "b"), 300).equals(
        read_sample(open_dataset(tmp_path / "a"), 1000).combine_chunks()
    )


@pytest.mark.parametrize("name", ["brier", "vcg"])
def test_rare_agents_cannot_be_shrunk_by_sums(name, tmp_path):
    T, N = 60, 20
    reports = np.full((T, N), np.nan)
    reports[np.arange(T), np.arange(T) % N] = 0.4
    names = [f"agent{i}" for i in range(N)]
    cells = {
        name: pa.array(column, from_pandas=True)
        for name, column in zip(names, reports.T, strict=True)
    }
    data = write(tmp_path / "set", cells | {"y": np.arange(T) % 2})
    with pytest.raises(PanelError, match=r"in this data set 5\.0% have"):
        make(name).fit_stream(open_panels(data, Declared()))
