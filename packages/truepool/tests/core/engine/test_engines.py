"""Engines: the same results in the same order, and what cannot be used is refused."""

import pickle
import socket
from operator import neg

import pytest
from ray_nodes import need_ray

from truepool.core import engine
from truepool.core.engine import Processes, make_engine, map_with_progress
from truepool.core.errors import (
    EngineError,
    MissingExtraError,
    SettingError,
    SourceError,
    UnknownNameError,
)


@pytest.mark.parametrize("jobs", [1, 2])
def test_processes_give_results_in_the_order_of_the_items(jobs):
    with Processes(jobs) as processes:
        assert [*processes.map(neg, iter(range(7)))] == [-n for n in range(7)]
        assert sorted(processes.map_unordered(neg, [5, 6])) == [(0, -5), (1, -6)]


def count(item, progress):
    for _ in range(item):
        progress(1)
    return item


@pytest.mark.parametrize(("jobs", "steps"), [(1, [1] * 5), (2, [2, 3])])
def test_progress_is_shown_by_the_work_or_by_the_item(jobs, steps):
    seen = []
    done = map_with_progress(Processes(jobs), count, [2, 3], int, seen.append)
    assert [*done] == [2, 3]
    assert seen == steps


def test_the_default_is_this_process():
    assert make_engine() == Processes(1)
    assert make_engine().in_process
    assert not make_engine(jobs=2).in_process


def test_an_unknown_engine_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'ray'"):
        make_engine("rai")


def test_an_address_needs_ray():
    with pytest.raises(SettingError, match="Set engine=ray, or leave out the address"):
        make_engine("local", "10.0.0.1:6379")


def test_without_ray_its_extra_is_named(monkeypatch):
    monkeypatch.setattr("truepool.core.engine.ray_cluster.find_spec", lambda name: None)
    with pytest.raises(
        MissingExtraError, match=r"engine 'ray' needs ray.*'truepool\[ray\]'"
    ):
        make_engine("ray")


@pytest.mark.parametrize(
    "address", ["head", ":6379", "head:0", "head:65536", "head:x", "ray://head:10001"]
)
def test_an_address_has_a_host_and_a_port(address):
    need_ray()
    with pytest.raises(SettingError, match="must be HOST:PORT .* got '"):
        make_engine("ray", address)


def test_the_address_may_come_from_the_environment(monkeypatch):
    need_ray()
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert make_engine("ray").address == "10.0.0.1:6379"
    assert make_engine("ray", "10.0.0.2:6379").address == "10.0.0.2:6379"
    monkeypatch.setenv("RAY_ADDRESS", "")
    assert make_engine("ray").address is None


def test_a_head_node_that_does_not_answer_is_named():
    need_ray()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with (
        pytest.raises(EngineError, match=f"at {address}; .*refused. Start it, or"),
        make_engine("ray", address),
    ):
        pass


@pytest.mark.parametrize(
    "error",
    [
        SourceError("the part is corrupt"),
        UnknownNameError("pool", "vgc", ["vcg"]),
        MissingExtraError("drift", "river", "drift"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_come_back_from_another_process_as_they_were(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy)) == (type(error), str(error))


def test_engines_are_public():
    assert {"Engine", "Processes", "make_engine"} <= {*engine.__all__}
