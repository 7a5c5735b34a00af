"""The coordinator against an echo of the same framework, and against its own front alone.

Latencies are medians of requests in turns. Throughput is measured in processor time of the
server, to which every commit adds the 0.2 ms that a disk may take: other work on the machine,
and its disk, then count for neither side.
"""

import asyncio
import json
import sqlite3
import statistics
import time
import urllib.request
from pathlib import Path

import psutil
import pytest
from server.service import FRAUD, Local, Nursery

SYNC = 0.0002
"""Seconds of a commit on the disk that throughput is stated for."""
POOL = FRAUD | {"agents": ["ada", "bob", "cyd", "dan", "eve"], "open_cases": 10_000_000}
ECHO = """
import gc, socket, sys
gc.freeze()
import uvicorn
import msgspec
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
async def echo(request):
    return Response(msgspec.json.encode(ANSWER), media_type="application/json")
api = Starlette(routes=[Route("/v1/pools/{pool}/cases/{case}/decision", echo, methods=["POST"])])
listener = socket.create_server(("127.0.0.1", 0))
listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
print(f"Serving echo on http://127.0.0.1:{listener.getsockname()[1]}; stop", file=sys.stderr, flush=True)
uvicorn.Server(uvicorn.Config(api, log_level="critical", access_log=False)).run([listener])
sys.exit(0)
"""
WITHOUT_LEDGER = """
from truepool_serve.messages import Receipt
from truepool_serve.server.answers import Answer, give
from truepool_serve.server.coordinator import Coordinator
def report(self, caller, pool, reports):
    caller.check("report", pool)
    answer = Answer()
    give([(answer, Receipt(stored=len(reports), repeated=0))])
    return answer
Coordinator.report = report
"""


@pytest.fixture(scope="module")
def nursery():
    with Nursery() as found:
        yield found


@pytest.fixture
def service(nursery, tmp_path):
    found = start(nursery, tmp_path / "ledger.db")
    yield found
    found.kill()


def start(nursery, place, patch=""):
    found = nursery.start(place, patch=patch)
    found.wait_until_ready()
    assert found.ask("POST", "/v1/pools", POOL)[0] == 201
    return found


class Connection:
    """A connection that is kept open, and counts nothing but the answer."""

    async def open(self, url):
        host, port = url.removeprefix("http://").split(":")
        self.reader, self.writer = await asyncio.open_connection(host, int(port))
        return self

    async def close(self):
        self.writer.close()
        await self.writer.wait_closed()

    async def ask(self, request):
        self.writer.write(request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head.partition(b"\r\n")[0], head
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        return await self.reader.readexactly(length)


def request(method, path, body=b"", kind="application/json"):
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def send(url, requests, connections):
    """Send all requests, over so many connections at once."""

    async def work(queue):
        connection = await Connection().open(url)
        for each in queue:
            await connection.ask(each)
        await connection.close()

    async def everything():
        parts = [requests[i::connections] for i in range(connections)]
        await asyncio.gather(*map(work, parts))

    asyncio.run(everything())


def cost(service, requests, connections):
    """Processor seconds of the server, how often it committed, and seconds of the clock."""
    before, commits_before = processor_time(service.pid), commits(service)
    begin = time.perf_counter()
    send(service.url, requests, connections)
    seconds = time.perf_counter() - begin
    after, commits_after = processor_time(service.pid), commits(service)
    return after - before, commits_after - commits_before, seconds


def processor_time(pid):
    """Seconds that the threads of a process have run, by the clock of the scheduler.

    The usual counters go by hundredths of a second: a tenth of what a turn takes.
    """
    times = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in times) / 1e9


def commits(service):
    with urllib.request.urlopen(f"{service.url}/metrics") as answer:
        text = answer.read().decode()
    line = next(
        x for x in text.splitlines() if x.startswith("truepool_commit_seconds_count")
    )
    return float(line.split()[-1])


def single(i):
    path = f"/v1/pools/fraud/cases/c{i}/reports/ada"
    return request("PUT", path, b'{"probability": 0.25}')


def batch(name, size):
    lines = (
        json.dumps(
            {
                "case": f"{name}.{i // 5}",
                "agent": POOL["agents"][i % 5],
                "probability": 0.25,
            }
        )
        for i in range(size)
    )
    body = "\n".join(lines).encode()
    return request("POST", "/v1/pools/fraud/reports", body, "application/x-ndjson")


def test_a_decision_against_an_echo_and_a_commit(nursery, service, tmp_path, record):
    cases = 200
    send(service.url, [batch(f"d{i}", 5) for i in range(cases)], 8)
    decide = [
        request("POST", f"/v1/pools/fraud/cases/d{i}.0/decision") for i in range(cases)
    ]
    first = service.ask("POST", "/v1/pools/fraud/cases/d0.0/decision")[1]
    echo = nursery.start("none", patch=f"ANSWER = {first!r}\n{ECHO}")
    database = sqlite3.connect(tmp_path / "other.db", isolation_level=None)
    for statement in ("journal_mode = WAL", "synchronous = FULL"):
        database.execute(f"PRAGMA {statement}")
    database.execute("CREATE TABLE t (x)")
    times = {"decide": [], "echo": [], "commit": []}

    async def turns():
        ours, theirs = [await Connection().open(each.url) for each in (service, echo)]
        for i in range(cases):
            begin = time.perf_counter()
            await ours.ask(decide[i])
            middle = time.perf_counter()
            await theirs.ask(decide[i])
            end = time.perf_counter()
            database.execute("INSERT INTO t VALUES (?)", ("x" * 500,))
            times["commit"].append(time.perf_counter() - end)
            times["decide"].append(middle - begin)
            times["echo"].append(end - middle)
        await ours.close()
        await theirs.close()

    asyncio.run(turns())
    database.close()
    echo.kill()
    p50 = {name: statistics.median(found[20:]) for name, found in times.items()}
    print({name: f"{1000 * value:.2f} ms" for name, value in p50.items()})
    record(
        "decide on 5 reports / (echo + commit), p50",
        p50["decide"] / (p50["echo"] + p50["commit"]),
        at_most=1.5,
    )


@pytest.mark.parametrize(
    ("size", "batches", "connections", "floor"),
    [(1000, 200, 8, 150_000), (10, 4000, 32, 20_000)],
)
def test_durable_reports_per_second(service, record, size, batches, connections, floor):
    send(service.url, [batch("warm", size)], 1)
    requests = [batch(f"b{i}", size) for i in range(batches)]
    seconds, times, _ = cost(service, requests, connections)
    rate = size * batches / (seconds + SYNC * times)
    record(
        f"thousands of durable reports per second, batches of {size}",
        rate / 1000,
        at_least=floor / 1000,
    )


def test_single_reports_against_the_same_front_without_a_ledger(
    nursery, tmp_path, record
):
    """Both run all the time and are asked in turns; the median of the turns counts."""
    requests, turns = 1000, 9
    services = {
        name: start(nursery, tmp_path / f"{name}.db", patch)
        for name, patch in (("with", ""), ("without", WITHOUT_LEDGER))
    }
    ratios = []
    for turn in range(turns + 1):
        cases = [single(turn * requests + i) for i in range(requests)]
        found = {name: cost(each, cases, 64) for name, each in services.items()}
        ours, theirs = found["with"], found["without"]
        ratios.append((ours[0] / theirs[0], ours[2] / theirs[2]))
    for service in services.values():
        service.kill()
    processor, wall = map(statistics.median, zip(*ratios[1:], strict=True))
    record("single report / the same without a ledger, wall time", wall)
    record("single report / the same without a ledger", processor, at_most=1.2)


def test_a_restart_with_a_million_settled_cases(nursery, tmp_path, record):
    place = tmp_path / "large.db"
    make_large(place, 1_000_000)
    begin = time.perf_counter()
    service = nursery.start(place)
    service.wait_until_ready()
    wall = time.perf_counter() - begin
    used = psutil.Process(service.pid).cpu_times()
    assert service.ask("GET", "/v1/pools/fraud")[1]["entries"] == 1_999_999
    service.kill()
    print(f"restart: {wall:.2f} s, processor {used.user + used.system:.2f} s")
    record("seconds of processor for a restart", used.user + used.system, at_most=5.0)


def make_large(place, cases):
    """Fill a ledger with old entries, and 9,999 that a restart must replay."""
    with Local(place, POOL) as local:
        operations, ledger = local.coordinator.operations, local.coordinator.ledger

        def fill():
            for i in range(9_999):
                case = f"case {i}"
                operations.submit(
                    "fraud", [(case, a, 0.1 + i % 7 / 10) for a in POOL["agents"]]
                )
                operations.decide("fraud", case)
                operations.settle("fraud", [(case, "fraud" if i % 3 else "ok")])

        local.coordinator.writer.submit(fill).result(600)
        assert ledger.snapshot_numbers(1) == [10_000]
    shift = 2 * cases - 20_000
    with sqlite3.connect(place) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("DELETE FROM entries WHERE n <= 10000")
        connection.execute("UPDATE entries SET n = n + ?", (shift,))
        connection.execute("UPDATE snapshots SET n = n + ?", (shift,))
        connection.execute("UPDATE pools SET last = last + ?", (shift,))
        connection.execute(
            "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?) "
            "INSERT INTO entries SELECT 1, n, CASE n % 2 WHEN 0 THEN 'decide' ELSE 'settle' END, "
            "'old ' || (n / 2), 1e9, zeroblob(100), zeroblob(32), zeroblob(32) FROM i",
            (10_000 + shift,),
        )
    connection.close()
