"""Agents behind servers say, bit for bit, what they say in one process."""

import socket
import subprocess
import sys

import numpy as np
import pytest

from truepool import agents
from truepool_lab.paper.edge import (
    CallError,
    agent_servers,
    calls,
    open_inference,
    team,
)
from truepool_lab.paper.edge.agent_servers import announced, serve
from truepool_lab.paper.edge.remote_calls import ask_one_by_one
from truepool_lab.paper.synthetic_task import task

pytest.importorskip("skl2onnx", reason="export needs truepool[onnx]")
pytest.importorskip("truepool_serve", reason="agents are served by truepool-serve")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A tree and a regression behind servers, and themselves."""
    folder = tmp_path_factory.mktemp("agents")
    X, y = task(400, 0)
    trained = agents.train(X[:200], y[:200], ["tree", "logistic"], cache=False)
    paths = {"tree": folder / "tree.onnx", "logistic": folder / "logistic.joblib"}
    agents.export(trained["tree"], paths["tree"])
    agents.save(trained["logistic"], paths["logistic"])
    with serve(paths) as servers:
        known = {n: agents.load(p, trust=n == "logistic") for n, p in paths.items()}
        yield servers, known, X[200:]


@pytest.mark.parametrize("protocol", open_inference.PROTOCOLS)
def test_reports_are_the_same_bit_for_bit(served, protocol):
    servers, known, cases = served
    for name, server in servers.items():
        client = server.connect(protocol)
        one_by_one, milliseconds = ask_one_by_one(client, cases[:5])
        together = client.ask(cases)
        client.close()
        right = known[name].predict_proba(cases)[:, 1]
        np.testing.assert_array_equal(together, right)
        alone = [known[name].predict_proba(case[None])[0, 1] for case in cases[:5]]
        assert one_by_one == alone
        assert len(milliseconds) == 5


@pytest.mark.parametrize("protocol", open_inference.PROTOCOLS)
def test_at_once_and_one_by_one_give_the_same_reports(served, protocol):
    servers, _, cases = served
    with calls.connected(servers, protocol) as (at_once, in_turn):
        np.testing.assert_array_equal(at_once(cases), in_turn(cases))
        assert at_once(cases).shape == (200, 2)


def test_a_refusal_is_told_with_its_status(served):
    servers, _, cases = served
    server = servers["tree"]
    client = open_inference.HttpClient(server.host, server.ports["HTTP"], "other")
    with pytest.raises(CallError, match="status 404: .*no model"):
        client.ask(cases)
    client.close()


def test_a_connection_that_was_closed_while_idle_is_opened_again(served):
    servers, known, cases = served
    client = servers["tree"].connect("HTTP")
    client.ask(cases[:1])
    client._connection.sock.shutdown(socket.SHUT_RDWR)
    right = known["tree"].predict_proba(cases)[:, 1]
    np.testing.assert_array_equal(client.ask(cases), right)
    client.close()


def test_a_server_that_never_answers_is_given_up(monkeypatch):
    monkeypatch.setattr(open_inference, "PATIENCE", 0.1)
    with pytest.raises(ConnectionRefusedError):
        open_inference.wait_until_ready("127.0.0.1", 1)


def test_a_server_that_does_not_start_is_quoted(tmp_path):
    words = agent_servers.command(tmp_path / "none.onnx", "10.0.0.1")
    assert "--insecure" in words
    process = subprocess.Popen([*agent_servers.TRUEPOOL, *words[3:]], stderr=-1, text=True)  # fmt: skip
    with pytest.raises(CallError, match="no agent serves none.onnx: .*no file"):
        announced(process, tmp_path / "none.onnx", "10.0.0.1")
    process.wait()
    process.stderr.close()


def test_a_wrong_report_would_be_counted(served):
    cases = served[2]
    trained = team.Team({}, {}, Mean(), cases, {})

    def right(asked):
        return np.full((len(asked), 2), 0.5)

    def wrong(asked):
        return right(asked) + np.array([0.0, np.spacing(0.5)])

    found = calls.measure(trained, wrong, right, (), calls=3, batches=1)
    assert found.wrong == 3 + 200
    assert len(found.milliseconds) == 3
    assert calls.measure(trained, right, right, (), calls=3, batches=1).wrong == 0


class Mean:
    """Stands for a pool."""

    def combine(self, values):
        return values.mean(axis=1)


def test_the_command_runs_where_this_python_is():
    assert agent_servers.TRUEPOOL[0] == sys.executable
