"""The service on the wire: fan-out against a bare gather, and what a dead agent costs.

Five agents in a process of their own answer over HTTP; each call is timed in turns.
"""

import asyncio
import socket
import statistics
import subprocess
import sys
import time

import httpx
import msgspec
import pytest

from truepool.panel.labels import Labels
from truepool_serve.messages import AnyEndpoint, Pool, convert
from truepool_serve.server.access import ANYONE
from truepool_serve.server.agent_calls import AgentCalls
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.records import SetEndpoint

AGENTS = tuple("abcde")
FEATURES = {f"x{j}": j / 10 for j in range(10)}
LABELS = Labels.of_two(0, 1)
ROUNDS = 300
AGENT = """
import sys, uvicorn, msgspec
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

async def infer(request):
    asked = msgspec.json.decode(await request.body())
    output = {"name": "probabilities", "datatype": "FP64", "shape": [1, 2], "data": [0.7, 0.3]}
    return Response(msgspec.json.encode({"model_name": "m", "id": asked["id"], "outputs": [output]}))

app = Starlette(routes=[Route("/v2/models/{model}/infer", infer, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def url():
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", AGENT, str(port)])
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.1)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(30)


def endpoint(url):
    names = list(FEATURES)
    given = {
        "protocol": "oip-http",
        "url": url,
        "model": "m",
        "input": "x",
        "features": names,
    }
    return convert(given, AnyEndpoint)


async def bare(client, url):
    """The same five calls, by nothing but the client."""
    row = {
        "name": "x",
        "datatype": "FP64",
        "shape": [1, 10],
        "data": list(FEATURES.values()),
    }
    content = msgspec.json.encode({"id": "c", "inputs": [row]})
    headers = {"content-type": "application/json"}

    async def call():
        answer = await client.post(
            f"{url}/v2/models/m/infer", content=content, headers=headers
        )
        return msgspec.json.decode(answer.content)["outputs"][0]["data"]

    return await asyncio.gather(*(call() for _ in AGENTS))


async def timed(act):
    start = time.perf_counter()
    await act()
    return time.perf_counter() - start


def test_a_fan_out_is_nearly_as_fast_as_a_bare_gather(url, record):
    endpoints = dict.fromkeys(AGENTS, endpoint(url))

    async def measure():
        calls, ours, theirs = AgentCalls(), [], []
        async with httpx.AsyncClient(trust_env=False) as client:
            for i in range(ROUNDS + 20):
                t = await timed(lambda: bare(client, url))
                o = await timed(
                    lambda: calls.fan_out(endpoints, LABELS, "c", FEATURES, 5.0)
                )
                if i >= 20:
                    ours.append(o), theirs.append(t)
            reports, missing = await calls.fan_out(
                endpoints, LABELS, "c", FEATURES, 5.0
            )
        await calls.close()
        assert (len(reports), missing) == (5, {})
        return statistics.median(ours), statistics.median(theirs)

    ours, theirs = asyncio.run(measure())
    record(
        "fan-out to 5 agents / gather of the same calls, p50",
        ours / theirs,
        at_most=1.3,
    )
    record("the same gather, p50 ms", theirs * 1000)


def test_a_prediction_costs_a_fan_out_and_a_commit(url, record, tmp_path):
    pool = Pool(name="p", agents=list(AGENTS))

    async def measure(coordinator):
        spent, numbers = [], iter(range(10**6))

        def predict():
            return coordinator.predict(ANYONE, "p", f"c{next(numbers)}", FEATURES)

        for _ in range(ROUNDS):
            spent.append(await timed(predict))
        await coordinator.calls.close()
        return statistics.median(spent)

    with Coordinator(tmp_path / "ledger.db") as coordinator:
        coordinator.create(ANYONE, pool).result()
        for agent in AGENTS:
            record = SetEndpoint(agent=agent, endpoint=endpoint(url))
            coordinator.change(ANYONE, "p", record).result()
        found = asyncio.run(measure(coordinator))
    record("whole prediction with its commit, p50 ms", found * 1000)


@pytest.mark.parametrize("kind", ["hung", "refused"])
def test_one_dead_agent_costs_at_most_the_deadline(url, record, kind):
    deadline = 0.5
    with socket.create_server(("127.0.0.1", 0)) as listener:
        dead = f"http://127.0.0.1:{listener.getsockname()[1]}"
        if kind == "refused":
            listener.close()
        endpoints = dict.fromkeys(AGENTS, endpoint(url)) | {"a": endpoint(dead)}

        async def measure():
            calls, spent = AgentCalls(), []
            for _ in range(10):
                act = lambda: calls.fan_out(endpoints, LABELS, "c", FEATURES, deadline)  # noqa: E731
                spent.append(await timed(act))
                reports, missing = await act()
                assert (len(reports), list(missing)) == (4, ["a"])
            await calls.close()
            return statistics.median(spent)

        found = asyncio.run(measure())
    record(f"one agent {kind}: time / deadline, p50", found / deadline, at_most=1.1)
