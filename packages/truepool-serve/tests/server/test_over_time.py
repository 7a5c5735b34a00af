"""Weights and credit over time agree with what the library computes from a panel."""

import numpy as np
import pytest
from server.service import FRAUD, Local
from starlette.testclient import TestClient

import truepool as tp
from truepool.core.errors import RequestError
from truepool_serve.messages import Credit
from truepool_serve.server import http
from truepool_serve.server.over_time import credit_over_time, weights_over_time


@pytest.fixture
def local(tmp_path):
    with Local(tmp_path / "ledger.db") as found:
        yield found


def test_the_last_weights_are_those_of_a_stream_before_the_last_case(local):
    local.fill(25, np.random.default_rng(0))
    found = weights_over_time(local.settled("fraud", 100), 5)
    stream = tp.Stream("gradient", ("ada", "bob", "cyd"), costs=tp.Costs(fn=10, fp=1))
    path = []
    for i in range(25):
        known = local.case("fraud", f"case {i}")
        path.append(stream.weights)
        stream.learn_one(known["reports"], int(known["outcome"] == "fraud"))
    assert found.cases == 25
    for agent, weights in found.weights.items():
        expected = [path[i][agent] for i in (0, 6, 12, 18, 24)]
        np.testing.assert_allclose(weights, expected, atol=1e-12)
    assert found.at == sorted(found.at)


def test_credit_is_the_loss_that_others_would_have_had_alone(tmp_path):
    """Two agents of equal weight: without one, the pooled probability is the other's."""
    pool = FRAUD | {"agents": ["ada", "bob"], "learner": "static"}
    reports, outcomes = [(0.2, 0.6), (0.9, 0.5), (0.4, 0.4)], [0, 1, 1]
    with Local(tmp_path / "l.db", pool) as local:
        for i, (row, outcome) in enumerate(zip(reports, outcomes, strict=True)):
            case = f"c{i}"
            local.report("fraud", [(case, "ada", row[0]), (case, "bob", row[1])])
            local.decide("fraud", case, None)
            local.settle("fraud", [(case, FRAUD["labels"][outcome])])
        found = credit_over_time(local.settled("fraud", 100), 3)
    m, y = np.array(reports), np.array(outcomes)
    with_all = (m.mean(axis=1) - y) ** 2
    for agent, other in (("ada", 1), ("bob", 0)):
        expected = (m[:, other] - y) ** 2 - with_all
        np.testing.assert_allclose(found.credit[agent], expected, atol=1e-12)
        summary = found.agents[agent]
        assert summary.credit == pytest.approx(expected.mean())
        assert summary.interval[0] <= summary.credit <= summary.interval[1]


def test_three_classes_have_credit_too(tmp_path):
    pool = {"name": "t", "agents": ["a", "b"], "labels": [0, 1, 2], "learner": "static"}
    with Local(tmp_path / "l.db", pool) as local:
        local.report("t", [("c", "a", [0.2, 0.3, 0.5]), ("c", "b", [0.6, 0.2, 0.2])])
        local.decide("t", "c", None)
        local.settle("t", [("c", 2)])
        found = credit_over_time(local.settled("t", 10), 1)
    both = ((np.array([0.4, 0.25, 0.35]) - [0, 0, 1]) ** 2).sum()
    alone = ((np.array([0.6, 0.2, 0.2]) - [0, 0, 1]) ** 2).sum()
    assert found.credit["a"] == [pytest.approx(alone - both)]
    assert found.agents["a"] == Credit(credit=None, interval=None)  # of one case


def test_an_agent_that_did_not_report_has_no_weight_and_no_credit(local):
    local.report("fraud", [("c", "ada", 0.4), ("c", "bob", 0.1)])
    local.decide("fraud", "c", None)
    local.settle("fraud", [("c", "ok")])
    history = local.settled("fraud", 10)
    assert weights_over_time(history, 9).weights["cyd"] == [None]
    assert credit_over_time(history, 9).credit["cyd"] == [0.0]


def test_before_the_first_outcome_there_is_nothing(local):
    history = local.settled("fraud", 10)
    assert weights_over_time(history, 5).weights["ada"] == []
    assert credit_over_time(history, 5).credit["ada"] == []


@pytest.mark.parametrize("points", [0, 1001])
def test_the_number_of_points_has_limits(local, points):
    for series in (weights_over_time, credit_over_time):
        with pytest.raises(RequestError, match="1 to 1,000 points"):
            series(local.settled("fraud", 10), points)


def test_both_are_asked_over_http(local):
    local.fill(4, np.random.default_rng(0))
    client = TestClient(http.app(local.coordinator))
    found = client.get("/v1/pools/fraud/weights?points=2").json()
    assert len(found["weights"]["ada"]) == 2
    found = client.get("/v1/pools/fraud/credit?points=2&last=3").json()
    assert (found["cases"], len(found["credit"]["ada"])) == (3, 2)
