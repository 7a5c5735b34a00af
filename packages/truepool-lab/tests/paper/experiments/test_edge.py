"""The edge tables: rows of this machine, none in the place of another's."""

import pytest

from truepool.core.engine import Cell
from truepool_lab.paper.edge import UnavailableError, impairment, team
from truepool_lab.paper.edge.calls import Calls
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.experiments import edge_network, edge_summary
from truepool_lab.paper.experiments.edge_inference import EdgeInference
from truepool_lab.paper.experiments.edge_network import EdgeNetwork
from truepool_lab.paper.experiments.edge_summary import EdgeSummary, missing, summary
from truepool_lab.paper.verdicts import judge, summarise

pytest.importorskip("skl2onnx", reason="export needs truepool[onnx]")
pytest.importorskip("truepool_serve", reason="agents are served by truepool-serve")


def columns(rows, name):
    return {r["column"]: r["value"] for r in rows if r["key"] == [f"this machine, {name}"]}  # fmt: skip


def cell(way):
    return next(c for c in EdgeSummary().cells("quick") if c["way"] == way)


@pytest.mark.parametrize("kind", [EdgeInference, EdgeNetwork, EdgeSummary])
def test_no_printed_cell_is_compared(kind):
    ((label, reading),) = kind.readings.items()
    cells = judge(paper_tables()[label], {}, reading)
    assert {c.verdict for c in cells.values()} == {"not at hand"}


def test_counts_are_bounded_at_both_sizes():
    assert edge_summary.CALLS == {"quick": 20, "full": 100}
    assert edge_summary.BATCHES == {"quick": 2, "full": 5}
    assert edge_summary.STARTS == {"quick": 1, "full": 5}
    assert edge_summary.IMPAIRED == {"quick": 4, "full": 50}
    assert [c["times"] for c in EdgeInference().cells("full")] == [20]
    assert [c["packets"] for c in EdgeNetwork().cells("full")] == [200]


def test_the_worst_link_is_the_papers():
    worst = impairment.CONDITIONS["200 ms delay and 5 % loss"]
    assert (2 * worst[0], worst[1]) == (0.2, 0.05)


def test_models_are_asked_in_both_forms_and_agree():
    rows = EdgeInference.measure(Cell("edge-inference", (("times", 1),), 0))
    for name in team.MODELS:
        native, onnx = columns(rows, name), columns(rows, f"{name}, ONNX")
        assert native["us per sample"] == pytest.approx(native["time (ms)"] * 2)
        assert onnx["gain, 1 case"] == pytest.approx(
            native["1 case (ms)"] / onnx["1 case (ms)"]
        )
        assert onnx["max |dp| (1e-6)"] <= 1
        assert native["machine"] == onnx["machine"]
    assert len({r["key"][0] for r in rows}) == 10


def test_a_summary_has_shares_of_calls_within_limits():
    spent = [5.0] * 98 + [60.0, 250.0]
    rows = summary("x", Calls(spent, 0, 200.0, 10.0, [100.0]))
    found = columns(rows, "x")
    assert found["within 10 ms (%)"] == found["within 50 ms (%)"] == 98
    assert found["within 100 ms (%)"] == found["within 200 ms (%)"] == 99
    assert found["meets 200 ms"] == "yes"
    assert found["processor time (ms)"] == 2.0
    assert found["throughput, 500 per call"] == 5000.0
    assert found["predictions"] == 5 * (100 + 500)
    means = [r["value"] for r in rows if r["column"] == "per-sample (ms)"]
    assert means == [5.0, 5.0, 5.0, 5.0, pytest.approx((18 * 5 + 310) / 20)]
    worse = columns(summary("x", Calls([*spent[1:], 250.0], 0, 0.0)), "x")
    assert worse["meets 200 ms"] == "no"
    assert "memory (MB)" not in worse
    assert "processor time (ms)" not in worse


def test_in_one_process_nothing_is_wrong():
    rows = EdgeSummary.measure(cell("one process"))
    for form in ("scikit-learn", "ONNX"):
        found = columns(rows, f"{form}, one process")
        assert found["wrong predictions"] == 0
        assert found["predictions"] == 5 * (20 + 2 * 500)
        assert found["memory (MB)"] > 0


def test_a_process_per_call_gives_the_same_reports_and_ssh_says_if_it_is_missing(
    monkeypatch,
):
    def refuse(folder):
        raise UnavailableError("no command sshd")

    monkeypatch.setattr(edge_summary, "ssh_server", refuse)
    rows = EdgeSummary.measure(cell("a process per call"))
    name = "scikit-learn, a process per call"
    assert columns(rows, name)["wrong predictions"] == 0
    assert columns(rows, name)["predictions"] == 5
    assert columns(rows, f"{name}, SSH") == {
        "per-sample (ms)": "not measured: no command sshd",
        "machine": columns(rows, name)["machine"],
    }


@pytest.mark.slow
def test_over_connections_reports_are_the_same(monkeypatch):
    rows = EdgeSummary.measure(cell("connections, ONNX"))
    for protocol in ("HTTP", "gRPC"):
        for name in (f"ONNX, {protocol}", f"ONNX, {protocol}, one by one"):
            assert columns(rows, name)["wrong predictions"] == 0
            assert columns(rows, name)["predictions"] == 5 * (20 + 2 * 500)
            assert columns(rows, name)["processor time (ms)"] > 0


@pytest.mark.slow
def test_a_link_that_delays_and_loses_packets_changes_no_prediction():
    rows = EdgeSummary.measure(cell("an impaired link"))
    names = {r["key"][0].removeprefix("this machine, ") for r in rows}
    if names == {"ONNX, one agent, impaired link"}:
        pytest.skip(rows[0]["value"])
    lost = 0
    for name in names:
        found = columns(rows, name)
        assert (found["wrong predictions"], found["predictions"]) == (0, 504)
        assert found["per-sample (ms)"] >= (200 if "200 ms" in name else 0)
        assert ("5 % loss" in name) or found["packets lost"] == 0
        lost += found["packets lost"]
    assert len(names) == 8
    assert lost > 0


def test_without_namespaces_the_row_says_why(monkeypatch):
    def refuse(*_):
        raise UnavailableError("no network namespace: not permitted")

    monkeypatch.setattr(edge_summary.impairment, "far_agent", refuse)
    (first, _) = edge_summary._impaired(None, "quick", None, 0)
    assert first["value"] == "not measured: no network namespace: not permitted"
    monkeypatch.setattr(edge_network.link, "laid", refuse)
    (only,) = edge_network._links(3, 0)
    assert only["value"].startswith("not measured: no network namespace")
    assert missing("x", "y")[0]["value"] == "not measured: y"


def test_round_trips_have_times_unless_they_are_lost():
    rows = EdgeNetwork.measure(Cell("edge-network", (("packets", 3),), 0))
    found = columns(rows, "loopback")
    assert 0 < found["min"] <= found["avg"] <= found["max"]
    assert (found["packets"], found["lost (%)"]) == (3, 0)
    lost = edge_network._rows("x", [None, None])
    assert columns(lost, "x")["avg"] is None
    assert columns(lost, "x")["lost (%)"] == 100
    means = summarise(rows, "tab:jetson_rtt")
    assert all(key[0].startswith("this machine, ") for key, _ in means)
    delayed = columns(rows, "200 ms delay")
    assert not delayed or delayed["min"] >= 200
