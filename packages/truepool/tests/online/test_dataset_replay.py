"""A replay batch by batch is the replay in memory, to the last bit of the weights."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel
from pyarrow import parquet

from truepool import learners, read_panel
from truepool import replay as replay_panel
from truepool.core import kernels
from truepool.core.arrays import thin
from truepool.core.errors import PanelError
from truepool.measures.losses import Loss
from truepool.online import dataset_replay
from truepool.online.dataset_replay import replay_dataset
from truepool.online.replays import as_learner
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.tables import Declared, TableFaults, dataset
from truepool.tables.dataset import open_dataset
from truepool.tables.sample import read_sample
from truepool.tables.stream import open_panels

CASES = 1_000


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(dataset, "BATCH_NUMBERS", 300)


def panel_with_gaps(classes=2):
    """A panel with missing reports, and some cases without any."""
    whole = random_panel(3, cases=CASES, classes=classes, silent=0.3)
    reports = whole.reports.copy()
    reports[[5, 6, 400, CASES - 1]] = np.nan
    return Panel(reports, whole.outcomes, allow_empty_cases=True)


def write(folder, panel, parts=3, **more):
    """Write a panel as parts with small row groups."""
    columns = {}
    for i, agent in enumerate(panel.agents):
        for k in range(panel.classes) if panel.classes > 2 else [None]:
            cells = panel.reports[:, i] if k is None else panel.reports[:, i, k]
            columns[agent if k is None else f"{agent}:{k}"] = pa.array(
                cells, from_pandas=True
            )
    table = pa.table(columns | {"y": panel.outcomes} | more)
    ends = np.linspace(0, len(panel), parts + 1).astype(int)
    for n in range(parts):
        rows = table.slice(ends[n], ends[n + 1] - ends[n])
        parquet.write_table(rows, folder / f"{n}.parquet", row_group_size=77)
    return folder


def stream(folder, **written):
    return open_panels(open_dataset(folder), Declared("y", **written))


def in_memory(folder):
    """The same cases, read whole."""
    return read_panel(read_sample(open_dataset(folder)), "y", allow_empty_cases=True)


def agree(found, trace):
    """Whether totals are those of a trace, and the state at the end is the same."""
    expected = trace.summary
    assert_array_equal(found.state.unnormalised, trace.state.unnormalised)
    for ours, theirs in zip(found.state.memory, trace.state.memory, strict=True):
        assert_array_equal(ours, theirs)
    exact = ("name", "cases", "counts", "best_agent", "bound", "skipped", "unsettled")
    for name in exact:
        assert getattr(found, name) == getattr(expected, name), name
    for name in ("mean_loss", "regret", "regret_to_agent"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert (ours is None) == (theirs is None), name
        if ours is not None:
            assert_allclose(ours, theirs, rtol=1e-12, atol=1e-10, err_msg=name)
    if expected.best_weights is not None:
        assert_allclose(found.best_weights, expected.best_weights, atol=1e-9)


@pytest.mark.parametrize("delay", [0, 1, 40, 2_000])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_learner_ends_with_the_bits_of_a_replay_in_memory(
    tmp_path, classes, delay
):
    panels = stream(write(tmp_path, panel_with_gaps(classes)))
    panel, names = in_memory(tmp_path), learners.every()
    chosen = [as_learner(name, None, None, None, {}, panels.cases) for name in names]
    for name, found in zip(
        names, replay_dataset(chosen, panels, delay=delay), strict=True
    ):
        agree(found, replay_panel(name, panel, delay=delay))


@pytest.mark.parametrize("delay", [0, 40])
def test_without_compiled_code_too(tmp_path, monkeypatch, delay):
    monkeypatch.setattr(kernels, "online", None)
    panel = panel_with_gaps()
    panels = stream(write(tmp_path, panel))
    chosen = learners.make("gradient", horizon=CASES)
    (found,) = replay_dataset([chosen], panels, delay=delay)
    agree(found, replay_panel("gradient", panel, delay=delay))


@pytest.mark.parametrize("delay", [0, 40])
def test_recalibration_goes_on_from_batch_to_batch(tmp_path, delay):
    panel = panel_with_gaps()
    panels = stream(write(tmp_path, panel))
    chosen = learners.make("gradient", horizon=CASES)
    (found,) = replay_dataset([chosen], panels, delay=delay, recalibrate=True)
    agree(found, replay_panel("gradient", panel, delay=delay, recalibrate=True))


def test_pooled_probabilities_and_losses_have_the_same_bits(tmp_path, monkeypatch):
    panel, kept = panel_with_gaps(), []
    advance = dataset_replay.LearnerRun.advance

    def keep(self, block):
        kept.append(advance(self, block))
        return kept[-1]

    monkeypatch.setattr(dataset_replay.LearnerRun, "advance", keep)
    panels = stream(write(tmp_path, panel))
    replay_dataset([learners.make("boa", horizon=CASES)], panels, delay=7)
    trace = replay_panel("boa", panel, delay=7)
    assert len(kept) > 10
    assert_array_equal(np.concatenate([p for p, _ in kept])[:, 0], trace.pooled)
    assert_array_equal(np.concatenate([lost for _, lost in kept]), trace.losses)


def test_a_loss_that_is_not_squared_has_no_regret_to_best_weights(tmp_path):
    panel = panel_with_gaps()
    panels = stream(write(tmp_path, panel))
    (found,) = replay_dataset([learners.make("gradient", loss=Loss("log"))], panels)
    assert found.regret is None
    assert found.best_weights is None
    trace = replay_panel("gradient", panel, loss="log", horizon=10_000)
    assert_allclose(found.regret_to_agent, trace.regret_to_agent[-1], rtol=1e-11)


def test_costs_weigh_the_errors(tmp_path):
    panel, costs = panel_with_gaps(), Costs(fn=10, fp=1)
    panels = stream(write(tmp_path, panel))
    chosen = as_learner("gradient", "cost-brier", costs, None, {}, CASES)
    (found,) = replay_dataset([chosen], panels)
    agree(found, replay_panel("gradient", panel, loss="cost-brier", costs=costs))


def test_the_path_has_the_weights_of_evenly_spaced_cases(tmp_path):
    panel = panel_with_gaps()
    panels = stream(write(tmp_path, panel))
    chosen = learners.make("gradient", horizon=CASES)
    (found,) = replay_dataset([chosen], panels, drawn=0)
    trace = replay_panel("gradient", panel)
    cases = thin(CASES + 1)
    assert_array_equal(found.path.cases, cases)
    assert_array_equal(found.path.weights, trace.weights[cases])
    best = trace.losses - np.diff(trace.regret_to_agent, prepend=0.0)
    best[np.isnan(trace.losses)] = np.nan
    for found_means, series in (
        (found.path.losses, trace.losses),
        (found.path.agent_losses, best),
    ):
        parts = [part[~np.isnan(part)] for part in np.split(series, cases[1:-1])]
        means = [part.mean() if part.size else np.nan for part in parts]
        assert_allclose(found_means, means, atol=1e-11)


def test_parts_are_replayed_in_the_order_of_their_times(tmp_path):
    panel = panel_with_gaps()
    times = np.arange(CASES) // 2
    write(tmp_path, panel, parts=4, time=times)
    (tmp_path / "0.parquet").rename(tmp_path / "z.parquet")
    (found,) = replay_dataset([learners.make("boa", horizon=CASES)], stream(tmp_path))
    agree(found, replay_panel("boa", panel))


@pytest.mark.parametrize("when", ["dates", "text", "numbers"])
def test_cases_out_of_order_are_refused_by_row_group_and_part(tmp_path, when):
    panel, times = panel_with_gaps(), np.arange(CASES)
    times[[100, 101]] = [101, 100]
    if when != "numbers":
        times = np.datetime64("2026-01-01", "s") + times
    if when == "text":
        times = times.astype(str)
    write(tmp_path, panel, at=times)
    panels = stream(tmp_path, time="at")
    with pytest.raises(TableFaults) as refusal:
        replay_dataset([learners.make("boa")], panels)
    (fault,) = refusal.value.faults
    assert (fault.code, fault.place.number[0]) == ("time-order", 101)
    assert fault.place.number[1].endswith("0.parquet")


def test_parts_that_overlap_in_time_are_refused(tmp_path):
    panel = panel_with_gaps()
    times = np.arange(CASES)
    times[400:] -= 100
    write(tmp_path, panel, parts=5, time=times)
    with pytest.raises(TableFaults) as refusal:
        replay_dataset([learners.make("boa")], stream(tmp_path))
    (fault,) = refusal.value.faults
    assert (fault.code, float(fault.found), fault.place.number[0]) == (
        "time-order", 300, 0,
    )  # fmt: skip


def test_a_part_whose_first_time_is_missing_is_named(tmp_path):
    times = [float(t) for t in range(CASES)]
    times[500] = None
    write(tmp_path, panel_with_gaps(), parts=2, time=pa.array(times))
    with pytest.raises(TableFaults) as refusal:
        replay_dataset([learners.make("boa")], stream(tmp_path))
    (fault,) = refusal.value.faults
    assert (fault.code, fault.place.number[0]) == ("time-missing", 0)
    assert fault.place.number[1].endswith("1.parquet")


def test_cases_without_an_outcome_are_left_out(tmp_path):
    panel = panel_with_gaps()
    known = np.arange(CASES) % 5 != 0
    outcomes = pa.array(panel.outcomes, mask=~known)
    write(tmp_path, panel, parts=1, happened=outcomes)
    panels = open_panels(open_dataset(tmp_path), Declared("happened", ignore=("y",)))
    kept = panel.take(np.flatnonzero(known))
    assert panels.cases == len(kept)
    chosen = learners.make("gradient", horizon=len(kept))
    (found,) = replay_dataset([chosen], panels, delay=3)
    agree(found, replay_panel("gradient", kept, delay=3))


def test_a_replay_needs_a_case_with_a_report(tmp_path):
    panel = random_panel(1)
    panels = stream(write(tmp_path, panel))
    empty = pa.nulls(len(panel), pa.float64())
    gone = pa.table(dict.fromkeys(panel.agents, empty) | {"y": panel.outcomes})
    for part in tmp_path.iterdir():
        parquet.write_table(gone, part)
    panels = replace(panels, dataset=open_dataset(tmp_path))
    with pytest.raises(PanelError, match="needs a case with a report; none of the 240"):
        replay_dataset([learners.make("boa")], panels)
