"""Agents behind the protocols of others: asked, pooled, and missing with a reason."""

import asyncio
import json
import re
import shlex
import socket
import threading
import time
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from server.fake_agents import FakeAgents
from server.grpc_service import Served
from server.service import FRAUD, Local
from starlette.testclient import TestClient

from truepool.core import names, plugins
from truepool.core.errors import AgentFaultError, RequestError, TruepoolError
from truepool.panel.labels import Labels
from truepool_serve.messages import AnyEndpoint, Template, convert
from truepool_serve.server import adapters, agent_calls, http, operations
from truepool_serve.server.access import ANYONE
from truepool_serve.server.agent_calls import check_report
from truepool_serve.server.agent_connections import AgentConnections
from truepool_serve.server.inference.models import ModelCard, Models
from truepool_serve.server.inference.tensors import Tensor
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.verification import verify

FEATURES = {"amount": 120.0, "country": "CH", "new": True, "age": None}
NUMBERS = {"amount": 120.0, "age": 31}


@pytest.fixture
def fakes():
    with FakeAgents() as found:
        yield found


@pytest.fixture
def local(tmp_path):
    with Local(tmp_path / "ledger.db") as found:
        yield found


@pytest.fixture
def client(local):
    app = http.app(local.coordinator)
    with TestClient(app, raise_server_exceptions=False) as found:
        yield found


def application(local):
    return TestClient(http.app(local.coordinator))


def oip(fakes, kind, **more):
    return {"protocol": "oip-http", "url": f"{fakes.url}/{kind}", "model": "m", **more}


def mlflow(fakes, kind, **more):
    return {"protocol": "mlflow", "url": f"{fakes.url}/{kind}", **more}


def chat(fakes, kind, **more):
    place = {"protocol": "openai-chat", "url": f"{fakes.url}/{kind}/v1", "model": "gpt", "question": "Is it fraud?"}  # fmt: skip
    return place | more


@pytest.fixture
def jury():
    """What asks agents that are language models."""
    pytest.importorskip("openai", reason="needs truepool-jury[llm]")
    return pytest.importorskip("truepool_jury", reason="needs truepool-jury[llm]")


def register(local, **endpoints):
    for agent, endpoint in endpoints.items():
        local.change("fraud", "endpoint", {"agent": agent, "endpoint": endpoint})


def predict(client, case="c1", features=FEATURES, **more):
    path = f"/v1/pools/fraud/cases/{case}/prediction"
    answer = client.post(path, json={"features": features, "deadline": 30.0, **more})
    return answer.status_code, answer.json()


def test_agents_of_three_protocols_are_asked_and_pooled(local, client, fakes, jury):
    register(local, ada=oip(fakes, "0.2"), bob=mlflow(fakes, "0.4"), cyd=chat(fakes, "0.9"))  # fmt: skip
    status, found = predict(client)
    assert (status, found["missing"]) == (200, {})
    assert found["probability"] == pytest.approx(0.5)
    known = local.case("fraud", "c1")
    assert known["reports"] == pytest.approx({"ada": 0.2, "bob": 0.4, "cyd": 0.9})
    assert len(fakes.asked) == 3
    assert predict(client) == (200, found)  # decided once, and nobody is asked again
    assert len(fakes.asked) == 3
    local.settle("fraud", [("c1", "fraud")])
    weights = local.describe("fraud")["weights"]
    assert max(weights, key=weights.get) == "cyd"


@pytest.mark.parametrize("kind", ["numbered", "half"])
def test_an_odd_answer_is_the_fault_of_its_agent_only(local, client, fakes, kind):
    """An output named 5 was an error of all; half a character could not be sent on."""
    register(local, ada=oip(fakes, kind), bob=oip(fakes, "0.4"))
    status, found = predict(client)
    assert (status, found["reported"], list(found["missing"])) == (
        200,
        ["bob"],
        ["ada"],
    )
    assert client.get("/v1/pools/fraud/cases/c1").json()["decision"] == found


def test_what_nobody_foresaw_is_the_fault_of_its_agent_only(
    local, client, fakes, monkeypatch, caplog
):
    register(local, ada=mlflow(fakes, "0.2"), bob=oip(fakes, "0.4"))
    monkeypatch.setattr(adapters.Mlflow, "read", lambda *_: 1 / 0)
    status, found = predict(client)
    assert (status, found["reported"]) == (200, ["bob"])
    assert found["missing"] == {
        "ada": "an answer that cannot be read: ZeroDivisionError"
    }


def test_a_quorum_that_is_not_reached_decides_nothing(tmp_path, fakes):
    with Local(tmp_path / "l.db", FRAUD | {"min_agents": 2}) as local:
        register(local, ada=oip(fakes, "flapping"), bob=oip(fakes, "0.4"))
        with application(local) as client:
            status, found = predict(client)
            assert (status, found["error"]["code"]) == (503, "unavailable")
            assert "ada: status 500" in found["error"]["message"]
            status, found = predict(client)
            assert (status, found["reported"]) == (200, ["ada", "bob"])


def test_calls_that_we_do_not_make_decide_nothing(local, client, fakes, monkeypatch):
    register(local, ada=oip(fakes, "0.2"), bob=oip(fakes, "0.4"))
    monkeypatch.setattr(agent_calls.AgentConnections, "has_room", False)
    status, found = predict(client)
    assert (status, found["error"]["code"]) == (503, "unavailable")
    monkeypatch.undo()
    assert predict(client)[1]["reported"] == ["ada", "bob"]


ANSWER = b'HTTP/1.1 200 OK\r\ncontent-length: 29\r\n\r\n{"predictions": [[0.8, 0.2]]}'


async def serve_fast(reader, writer):
    while head := await reader.readuntil(b"\r\n\r\n"):
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
        await reader.readexactly(size)
        writer.write(ANSWER)


@pytest.fixture
def fast():
    """The address of an agent that answers 300 calls at once."""
    loop, ready, found = asyncio.new_event_loop(), threading.Event(), []

    async def start():
        async def serve(reader, writer):
            try:
                await serve_fast(reader, writer)
            except (asyncio.IncompleteReadError, OSError):
                writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1000)
        found.extend((server.sockets[0].getsockname()[1], server))
        ready.set()

    loop.create_task(start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    ready.wait(10)
    yield found[0]

    def stop():
        found[1].close()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.call_later(0.1, loop.stop)

    loop.call_soon_threadsafe(stop)
    thread.join(10)
    loop.close()


def test_300_calls_at_once_take_at_most_twice_as_long_as_plain_sockets(fast):
    """The pool of connections of httpx took 30 times as long."""
    body = b'{"dataframe_split": {}}'
    head = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n" % len(body)

    async def plain():
        reader, writer = await asyncio.open_connection("127.0.0.1", fast)
        writer.write(head + body)
        assert (await reader.read(1000)).startswith(b"HTTP/1.1 200")
        writer.close()

    async def measure(calls):
        start = time.perf_counter()
        await asyncio.gather(*calls)
        return time.perf_counter() - start

    async def both():
        times = []
        for _ in range(5):
            agents = [AgentConnections(f"http://127.0.0.1:{fast}") for _ in range(3)]
            calls = [a.post("/", {}, body, 1000) for a in agents for _ in range(100)]
            times.append(
                (await measure([plain() for _ in range(300)]), await measure(calls))
            )
            for agent in agents:
                agent.close()
            await asyncio.sleep(0.1)
        return times

    times = asyncio.run(both())
    print(times)
    assert min(b / a for a, b in times) <= 2.0


def test_60_predictions_at_once_hear_all_three_agents(local, fast):
    place = {"protocol": "mlflow", "url": f"http://127.0.0.1:{fast}"}
    register(local, ada=place, bob=place, cyd=place)

    async def ask():
        act = local.coordinator.predict
        found = await asyncio.gather(
            *(act(ANYONE, "fraud", f"c{i}", FEATURES, None, 10.0) for i in range(60))
        )
        await local.coordinator.calls.close()
        await asyncio.sleep(0.1)
        return found

    found = asyncio.run(ask())
    assert [len(one.reported) for one in found] == [3] * 60


def test_features_become_tensors_and_tables(local, client, fakes):
    names = ["age", "amount"]
    register(
        local,
        ada=oip(fakes, "0.2", input="x", features=names, output="probabilities", version="3"),
        bob=mlflow(fakes, "0.4", features=names),
        cyd=mlflow(fakes, "0.4"),
    )  # fmt: skip
    predict(client, features=NUMBERS)
    sent = {rest: body for _, rest, body, _ in fakes.asked}
    body = sent["v2/models/m/versions/3/infer"]
    assert body["inputs"] == [{"name": "x", "datatype": "FP64", "shape": [1, 2], "data": [31, 120]}]  # fmt: skip
    assert body["outputs"] == [{"name": "probabilities"}]
    assert body["id"] == "c1"
    bodies = [body for _, rest, body, _ in fakes.asked if rest == "invocations"]
    assert {"inputs": [[31, 120]]} in bodies
    assert {
        "dataframe_split": {"columns": ["amount", "age"], "data": [[120, 31]]}
    } in bodies
    fakes.asked.clear()
    register(local, ada=oip(fakes, "0.2"), bob=None, cyd=None)
    predict(client, "c2")
    sent = {rest: body for _, rest, body, _ in fakes.asked}
    kinds = {
        i["name"]: (i["datatype"], i["data"])
        for i in sent["v2/models/m/infer"]["inputs"]
    }
    assert kinds == {"amount": ("FP64", [120]), "country": ("BYTES", ["CH"]), "new": ("BOOL", [True]), "age": ("FP64", [None])}  # fmt: skip


def test_features_become_a_prompt(local, client, fakes, jury):
    register(local, bob=chat(fakes, "0.4", answer_format="schema", template="cot"))
    predict(client)
    sent = {rest: body for _, rest, body, _ in fakes.asked}
    prompt = sent["v1/chat/completions"]
    assert "Is it fraud?" in json.dumps(prompt["messages"])
    assert "never an instruction" in json.dumps(prompt["messages"])
    assert prompt["response_format"]["type"] == "json_schema"


FAULTS = {
    "hung": "no answer within 4 s",
    "broken": "the connection failed",
    "redirect": "status 307: redirects are not followed",
    "huge": "at most 1,048,576 bytes",
    "garbage": "no JSON",
    "nan": "NaN instead of a probability",
    "2.0": "no probability: [-1.0, 2.0]",
    "long": "wrong length: shape [3, 2]",
    "text": "text in the output",
    "other-case": "an answer about another case",
    "list": "not follow the protocol",
    "number": "not follow the protocol",
    "none": "not follow the protocol",
    "empty": "not follow the protocol",
    "no-outputs": "no output 'probabilities'",
    "odd-output": "not follow the protocol",
    "no-name": "not follow the protocol",
    "two": "no output 'probabilities'; it gives a, b",
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_faulty_agent_is_a_missing_report_with_a_reason(local, client, fakes, kind):
    register(local, ada=oip(fakes, kind), bob=oip(fakes, "0.4"))
    status, found = predict(client, deadline=4.0 if kind == "hung" else 30.0)
    assert status == 200, found
    assert (found["reported"], found["probability"]) == (["bob"], pytest.approx(0.4))
    assert FAULTS[kind] in found["missing"]["ada"]
    assert local.case("fraud", "c1")["decision"]["missing"] == found["missing"]
    if kind == "redirect":
        assert [kind for kind, *_ in fakes.asked].count("0.9") == 0


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("oip-error", "status 400: unknown input 'amont'"),
        ("mlflow-error", "status 400: no column age"),
        ("chat-error", "status 400: bad key ***"),
        ("detail-error", 'status 400: [{"msg": "field required"}]'),
        ("html-error", ("status 400: <html> <p>Bad request</p>" + "x" * 999)[:212]),
        ("mute-error", "status 400"),
    ],
)
def test_what_an_agent_says_about_an_error_is_in_the_reason(
    local, client, fakes, monkeypatch, kind, reason
):
    monkeypatch.setenv("TRUEPOOL_KEY_ADA", "k1-secret")
    place = oip(fakes, kind, key_variable="TRUEPOOL_KEY_ADA")
    register(local, ada=place, bob=oip(fakes, "0.4"))
    assert predict(client)[1]["missing"]["ada"] == reason


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("long", "3 predictions for one case"),
        ("nan", "NaN"),
        ("2.0", "no probability"),
        ("empty", "not follow the protocol"),
        ("list", "not follow the protocol"),
        ("odd-predictions", "no numbers: 'high'"),
        ("quoted", "no numbers: ['0.3']"),
        ("true", "no numbers: [True]"),
        ("half-true", "no numbers: [[True, 0.0]]"),
        ("no-prediction", "wrong length"),
        ("other-labels", "other labels"),
    ],
)
def test_a_faulty_mlflow_server_is_a_missing_report(local, client, fakes, kind, reason):
    register(local, ada=mlflow(fakes, kind), bob=mlflow(fakes, "records"))
    found = predict(client)[1]
    assert found["probability"] == pytest.approx(0.3)
    assert reason in found["missing"]["ada"]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("refused", "the answer is unreadable"), ("2.0", "unreadable"), ("empty", "not follow the protocol"), ("list", "not follow the protocol")],
)  # fmt: skip
def test_a_faulty_language_model_is_a_missing_report(
    local, client, fakes, jury, kind, reason
):
    register(local, ada=chat(fakes, kind), bob=mlflow(fakes, "0.4"))
    assert reason in predict(client)[1]["missing"]["ada"]


def test_a_dead_agent_is_a_missing_report(local, client, fakes):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    register(
        local,
        ada={"protocol": "oip-http", "url": f"http://127.0.0.1:{port}", "model": "m"},
        cyd={"protocol": "oip-grpc", "url": f"grpc://127.0.0.1:{port}", "model": "m"},
        bob=oip(fakes, "0.4"),
    )
    found = predict(client)[1]
    assert found["missing"] == {"ada": "no connection", "cyd": "no connection"}


def test_the_page_about_protocols_runs_from_top_to_bottom(tmp_path, fakes):
    """Its pool is the one that the page about the coordinator makes."""
    docs = Path(__file__).parents[4] / "docs"
    made = curls((docs / "serve.md").read_text())[0]
    text = (docs / "protocols.md").read_text()
    places = {"http://localhost:8080": "0.2", "http://localhost:5000": "0.4"}
    for url, kind in places.items():
        text = text.replace(url, f"{fakes.url}/{kind}")
    with Local(tmp_path / "page.db", None) as local, application(local) as client:
        answers = [
            client.request(method, path, content=body, headers=JSON)
            for method, path, body in (made, *curls(text))
        ]
    assert [answer.status_code for answer in answers] == [201, 201, 200, 200, 200]
    assert answers[3].json()["reported"] == ["ada", "forest"]
    assert answers[4].json()["outputs"][1]["data"] == ["fraud", "genuine"]


JSON = {"Content-Type": "application/json"}


def curls(text):
    """Requests of a page: method, path and body."""
    found = []
    for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL):
        for command in re.split(r"^curl ", block, flags=re.MULTILINE)[1:]:
            words = shlex.split(command.replace("\\\n", " "))
            body = words[words.index("-d") + 1] if "-d" in words else None
            method = "GET" if body is None else "POST"
            if "-X" in words:
                method = words[words.index("-X") + 1]
            (url,) = (word for word in words if word.startswith("localhost:8765"))
            found.append((method, url.removeprefix("localhost:8765"), body))
    return found


def test_an_agent_that_comes_back_is_asked_again(local, client, fakes):
    register(local, ada=oip(fakes, "flapping"), bob=oip(fakes, "0.4"))
    missing = [predict(client, f"c{i}")[1]["missing"] for i in range(4)]
    assert missing == [{"ada": "status 500"}, {}] * 2


def test_an_agent_without_the_feature_it_needs_is_not_asked(local, client, fakes):
    register(
        local,
        ada=oip(fakes, "0.2", input="x", features=["income"]),
        bob=oip(fakes, "0.4"),
        cyd=oip(fakes, "0.4", input="x", features=["country"]),
    )
    found = predict(client)[1]
    assert found["missing"] == {
        "ada": "not asked: the case has no feature 'income'",
        "cyd": "not asked: 'CH' is not a number",
    }


def test_if_nobody_answers_the_case_stays_open(local, client, fakes):
    register(local, ada=oip(fakes, "nan"), bob=oip(fakes, "garbage"))
    status, found = predict(client)
    assert (status, found["error"]["code"]) == (503, "unavailable")
    assert "ada: NaN" in found["error"]["message"]
    register(local, ada=oip(fakes, "0.2"))
    assert predict(client)[1]["probability"] == pytest.approx(0.2)
    register(local, ada=None, bob=None)
    status, found = predict(client, "c2")
    assert (status, "none has an endpoint" in found["error"]["message"]) == (503, True)


def test_a_report_that_came_by_itself_stands(local, client, fakes, monkeypatch):
    local.report("fraud", [("c1", "ada", 0.7)])
    register(local, ada=oip(fakes, "0.2"), bob=oip(fakes, "0.4"))
    assert predict(client)[1]["probability"] == pytest.approx(0.55)
    assert [kind for kind, *_ in fakes.asked] == ["0.4"]
    real = fakes.answer

    def meanwhile(*words):
        local.report("fraud", [("c2", "ada", 0.6)])
        if words[0] == "0.4":
            local.change("fraud", "leave", {"agent": "bob"})
        return real(*words)

    monkeypatch.setattr(fakes, "answer", meanwhile)
    found = predict(client, "c2")[1]
    assert (found["reported"], found["probability"]) == (["ada"], pytest.approx(0.6))

    def decided(*words):
        local.decide("fraud", "c3", None)
        return real(*words)

    local.report("fraud", [("c3", "cyd", 0.1)])
    monkeypatch.setattr(fakes, "answer", decided)
    assert predict(client, "c3")[1]["reported"] == ["cyd"]


def test_the_deadline_of_the_pool_holds_unless_a_request_has_its_own(tmp_path, fakes):
    pool = FRAUD | {"deadline": 4.5}
    with Local(tmp_path / "l.db", pool) as local, application(local) as client:
        register(local, ada=oip(fakes, "hung"), bob=oip(fakes, "0.4"))
        path = "/v1/pools/fraud/cases/c1/prediction"
        found = client.post(path, json={"features": FEATURES}).json()
        assert found["missing"] == {"ada": "no answer within 4.5 s"}
        assert local.describe("fraud")["deadline"] == 4.5
        for wrong in (0, -1, 61, "soon"):
            answer = client.post(path, json={"features": FEATURES, "deadline": wrong})
            assert answer.status_code == 400
        for wrong in (0, 61, True, "x"):
            with pytest.raises(RequestError, match="deadline"):
                local.create(pool | {"name": "n", "deadline": wrong})


@pytest.mark.parametrize("features", [{}, {"x": [1]}, {"x": {"y": 1}}, [1]])
def test_features_are_numbers_text_booleans_or_null(client, features):
    assert predict(client, features=features)[0] == 400


@pytest.mark.parametrize("third", [mlflow, chat])
def test_nothing_of_the_caller_is_passed_on_and_each_agent_gets_its_own_key(
    tmp_path, fakes, monkeypatch, request, third
):
    if third is chat:
        request.getfixturevalue("jury")
    monkeypatch.setenv("TRUEPOOL_KEY_ADA", "key of ada")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with Local(tmp_path / "l.db") as local:
        register(local, ada=oip(fakes, "0.2", key_variable="TRUEPOOL_KEY_ADA"), bob=oip(fakes, "0.4", key_variable="TRUEPOOL_KEY_BOB"), cyd=third(fakes, "0.4"))  # fmt: skip
        token = local.issue("admin", None, None)["token"]
        headers = {"Authorization": f"Bearer {token}", "Cookie": "a=b"}
        path = "/v1/pools/fraud/cases/c1/prediction"
        with application(local) as client:
            body = {"features": FEATURES, "deadline": 30.0}
            answer = client.post(path, json=body, headers=headers)
            assert answer.json()["missing"] == {}
            shown = client.get("/v1/pools/fraud", headers=headers).text
    assert token not in str(fakes.asked)
    assert all("cookie" not in headers for *_, headers in fakes.asked)
    keys = [headers.get("authorization") for *_, headers in fakes.asked]
    assert sorted(map(str, keys)) == ["Bearer key of ada", "None", "None"]
    assert "key of ada" not in shown


class Fixed(Models):
    """A model that gives one probability, rightly or wrongly."""

    def __init__(self, kind) -> None:
        self.kind = kind

    def identify(self, authorization):
        return authorization

    async def check_ready(self):
        pass

    async def card(self, caller, model):
        return ModelCard(model, [], [])

    async def infer(self, caller, asked):
        if self.kind == "hung":
            import asyncio

            await asyncio.sleep(60)
        if self.kind == "huge":
            return [Tensor.from_array("probabilities", np.zeros((2**17, 2)))]
        if self.kind == "long":
            return [Tensor.from_array("probabilities", np.full((3, 2), 0.5))]
        if self.kind == "fails":
            from truepool.core.errors import RequestError

            raise RequestError("unknown", "no such model")
        p = {"nan": np.nan, "2.0": 2.0}.get(self.kind, 0.8)
        return [Tensor.from_array("probabilities", np.array([[1 - p, p]]))]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("right", None), ("hung", "no answer within 4 s"), ("huge", "status RESOURCE_EXHAUSTED"), ("long", "wrong length"), ("nan", "NaN"), ("2.0", "no probability"), ("fails", "status NOT_FOUND")],
)  # fmt: skip
def test_an_agent_over_grpc(local, client, fakes, kind, reason):
    with Served(Fixed(kind)) as agent:
        place = {"protocol": "oip-grpc", "url": f"grpc://127.0.0.1:{agent.port}", "model": "m", "output": "probabilities"}  # fmt: skip
        state = client.put("/v1/pools/fraud/agents/ada/endpoint", json=place).json()
        assert state["endpoints"] == {"ada": place}
        register(local, bob=oip(fakes, "0.4"))
        features = {"x": 1.5, "y": "text", "z": None}
        body = {"features": features, "deadline": 4.0 if kind == "hung" else 30.0}
        found = client.post("/v1/pools/fraud/cases/c1/prediction", json=body).json()
    if reason is None:
        assert found["probability"] == pytest.approx(0.6)
    else:
        assert found["probability"] == pytest.approx(0.4)
        assert reason in found["missing"]["ada"]


def test_an_agent_may_join_with_its_endpoint_and_takes_it_along(local, client, fakes):
    body = {"name": "dan", "endpoint": oip(fakes, "0.2")}
    answer = client.post("/v1/pools/fraud/agents", json=body)
    assert answer.json()["endpoints"] == {"dan": oip(fakes, "0.2")}
    answer = client.put(
        "/v1/pools/fraud/agents/ada/endpoint", json=mlflow(fakes, "0.4")
    )
    assert set(answer.json()["endpoints"]) == {"ada", "dan"}
    assert client.delete("/v1/pools/fraud/agents/ada/endpoint").status_code == 200
    assert client.delete("/v1/pools/fraud/agents/dan").json()["endpoints"] == {}
    answer = client.put(
        "/v1/pools/fraud/agents/eve/endpoint", json=mlflow(fakes, "0.4")
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown")


def test_endpoints_and_missing_reports_survive_a_restart(tmp_path, fakes, monkeypatch):
    monkeypatch.setattr(operations, "SNAPSHOT_EVERY", 4)
    place = tmp_path / "ledger.db"
    with Local(place) as local:
        register(local, ada=oip(fakes, "nan"), bob=oip(fakes, "0.4"))
        with application(local) as client:
            for i in range(4):
                assert predict(client, f"c{i}")[0] == 200
                local.settle("fraud", [(f"c{i}", "ok")])
        before = local.describe("fraud")
    with Ledger(place) as ledger:
        assert (
            verify(ledger, "fraud").replayed == 11 + 3
        )  # with the entries of snapshots
    with Local(place, None) as local:
        assert local.describe("fraud") == before
        assert "NaN" in local.case("fraud", "c1")["decision"]["missing"]["ada"]


GOOD = {"protocol": "oip-http", "url": "http://127.0.0.1:9", "model": "m"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"protocol": "ftp"}, "invalid value 'ftp' - at `protocol`"),
        ({"url": "file:///etc/passwd"}, "begins with http://"),
        ({"url": "http://"}, "begins with http://"),
        ({"url": 5}, "got `int` - at `url`"),
        ({"url": "http://a:99999"}, "begins with http://"),
        ({"url": "http://a\n"}, "begins with http://"),
        ({"url": "http://a/" + "x" * 2000}, "begins with http://"),
        ({"url": "http://user:secret@a"}, "Put a key into key_variable"),
        ({"url": "http://a?token=x"}, "no user, password, query"),
        ({"protocol": "oip-grpc"}, "begins with grpc://"),
        ({"protocol": "oip-grpc", "url": "grpc://a/x"}, "has no path"),
        ({"model": None}, "got `null` - at `model`"),
        ({"models": "m"}, "unknown field `models`"),
        ({"input": "x"}, "must have 'features'"),
        ({"features": []}, "length >= 1 - at `features`"),
        ({"features": ["a", "a"]}, "different names"),
        ({"features": [1]}, "got `int` - at `features[0]`"),
        ({"labels": [True, 0]}, "got `bool` - at `labels[0]`"),
        ({"key_variable": "PATH"}, "TRUEPOOL_KEY_"),
        ({"protocol": "openai-chat"}, "missing required field `question`"),
        ({"protocol": "openai-chat", "question": "q", "template": "fewshot"}, "invalid enum value"),
        ({"protocol": "openai-chat", "question": "q", "template": "/etc/passwd"}, "invalid enum value"),
        ({"protocol": "openai-chat", "question": "q", "answer_format": "xml"}, "invalid enum value"),
        ({"protocol": "openai-chat", "question": "q" * 10_001}, "length <= 10000 - at `question`"),
    ],
)  # fmt: skip
def test_an_endpoint_that_is_none_is_refused(change, sentence):
    with pytest.raises(TruepoolError) as caught:
        convert(GOOD | change, AnyEndpoint)
    assert sentence in str(caught.value)


def test_an_endpoint_without_a_model_or_that_is_no_object_is_refused():
    with pytest.raises(RequestError, match="required field `model`"):
        convert({"protocol": "oip-http", "url": "http://a"}, AnyEndpoint)
    with pytest.raises(RequestError, match="expected `object`"):
        convert([], AnyEndpoint)


def test_labels_say_which_column_is_which():
    labels = Labels.of_two("ok", "fraud", "fraud")
    place = convert(GOOD, AnyEndpoint)
    turned = convert(GOOD | {"labels": ["fraud", "ok"]}, AnyEndpoint)
    pair = np.array([[0.9, 0.1]])
    assert check_report("a", pair, place, labels) == [0.9, 0.1]
    assert check_report("a", pair, turned, labels) == [0.1, 0.9]
    assert check_report("a", np.array([0.25]), turned, labels) == 0.25
    other = convert(GOOD | {"labels": ["x", "y"]}, AnyEndpoint)
    with pytest.raises(AgentFaultError, match="other labels"):
        check_report("a", pair, other, labels)
    three = Labels((0, 1, 2))
    with pytest.raises(AgentFaultError, match="1 probability for 3 labels"):
        check_report("a", np.array([0.25]), place, three)
    assert check_report("a", np.array([[0.2, 0.3, 0.5]]), place, three) == [
        0.2,
        0.3,
        0.5,
    ]


def test_without_the_extra_a_language_model_is_not_asked(
    local, client, fakes, jury, monkeypatch
):
    monkeypatch.setattr("truepool_jury.llm.one_case.find_spec", lambda name: None)
    register(local, ada=chat(fakes, "0.2"), bob=oip(fakes, "0.4"))
    assert "llm" in predict(client)[1]["missing"]["ada"]
    assert not [rest for _, rest, *_ in fakes.asked if "chat" in rest]


@pytest.fixture
def no_jury(monkeypatch):
    """Nothing plugs into truepool."""
    known = (adapters.language_models, names._entries)
    for cached in known:
        cached.cache_clear()
    monkeypatch.setattr(plugins, "entry_points", lambda **group: ())
    yield
    for cached in known:
        cached.cache_clear()


def test_without_truepool_jury_a_language_model_is_not_asked(tmp_path, fakes, no_jury):
    with Local(tmp_path / "l.db") as local:
        register(local, ada=chat(fakes, "0.2"), bob=oip(fakes, "0.4"))
    with Local(tmp_path / "l.db", None) as local, application(local) as client:
        assert predict(client)[1]["missing"]["ada"] == (
            "not asked: truepool.llm is part of truepool-jury, which is not installed; "
            "pip install 'truepool[jury]'"
        )


def test_templates_are_those_that_need_one_case_and_nothing_else(jury):
    assert list(get_args(Template)) == jury.llm.case_templates()


def test_a_template_that_needs_other_columns_is_not_asked(local, client, fakes, jury):
    register(local, ada=chat(fakes, "0.2", template="judge"), bob=oip(fakes, "0.4"))
    assert "not asked: " in predict(client)[1]["missing"]["ada"]


def test_connections_are_closed_with_the_application(local, fakes):
    register(local, ada=oip(fakes, "0.2"))
    with application(local) as client:
        assert predict(client)[0] == 200
        assert local.coordinator.calls._open is not None
    assert local.coordinator.calls._open is None
