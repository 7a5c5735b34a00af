"""A coordinator is killed and started again under the load of clients."""

import asyncio
import os
import socket
import threading
import time

import numpy as np
import pytest
from server.load import AGENTS, SLOW_COMMIT, count_losses
from server.service import FRAUD, Nursery

import truepool as tp
from truepool_serve.server.ledger import Ledger

KILLS = int(os.environ.get("TRUEPOOL_KILLS", "3"))
"""Times that the coordinator is killed."""


class Work:
    """What one client does until it is stopped: cases, each reported, decided, settled."""

    def __init__(self, name, seed):
        self.name, self.rng = name, np.random.default_rng(seed)
        self.reports, self.decisions, self.outcomes = {}, {}, {}
        self.number = 0
        self.error = None

    def next(self):
        self.number += 1
        case = f"{self.name}.{self.number}"
        reports = {agent: round(float(self.rng.random()), 6) for agent in AGENTS}
        self.reports |= {(case, agent): report for agent, report in reports.items()}
        return case, reports, str(self.rng.choice(FRAUD["labels"]))

    def run(self, url, stopped):
        try:
            with tp.Client(url, buffer=7, delay=0.05) as client:
                while not stopped.is_set():
                    case, reports, outcome = self.next()
                    for agent, report in reports.items():
                        client.report("fraud", case, agent, report)
                    decision = client.decide("fraud", case)
                    self.decisions[case] = decision["probability"]
                    client.settle("fraud", case, outcome)
                    self.outcomes[case] = outcome
        except BaseException as error:
            self.error = error

    def run_async(self, url, stopped):
        try:
            asyncio.run(self._tasks(url, stopped))
        except BaseException as error:
            self.error = error

    async def _tasks(self, url, stopped):
        async with tp.AsyncClient(url, buffer=7, delay=0.05) as client:

            async def work():
                while not stopped.is_set():
                    case, reports, outcome = self.next()
                    for agent, report in reports.items():
                        await client.report("fraud", case, agent, report)
                    decision = await client.decide("fraud", case)
                    self.decisions[case] = decision["probability"]
                    await client.settle("fraud", case, outcome)
                    self.outcomes[case] = outcome

            await asyncio.gather(work(), work())


@pytest.fixture(scope="module")
def nursery():
    with Nursery() as found:
        yield found


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def test_a_killed_coordinator_costs_no_report_and_doubles_none(nursery, tmp_path):
    place, port = tmp_path / "ledger.db", str(free_port())
    rng, stopped = np.random.default_rng(0), threading.Event()
    service = nursery.start(place, "--port", port, patch=SLOW_COMMIT)
    service.wait_until_ready()
    service.ask("POST", "/v1/pools", FRAUD)
    works = [Work(f"w{i}", i) for i in range(3)]
    runs = [works[0].run, works[1].run, works[2].run_async]
    threads = [threading.Thread(target=r, args=(service.url, stopped)) for r in runs]
    for thread in threads:
        thread.start()
    for _ in range(KILLS):
        reached = [len(work.outcomes) for work in works]
        while any(
            len(work.outcomes) < before + 2
            for work, before in zip(works, reached, strict=True)
        ):
            assert not any(work.error for work in works), [w.error for w in works]
            time.sleep(0.01)
        time.sleep(0.2 * rng.random())
        service.kill()
        time.sleep(0.2 * rng.random())
        service = nursery.start(place, "--port", port, patch=SLOW_COMMIT)
    stopped.set()
    for thread in threads:
        thread.join(60)
    assert [work.error for work in works] == [None] * 3
    service.stop()

    done = {
        name: {key: value for work in works for key, value in vars(work)[name].items()}
        for name in ("reports", "decisions", "outcomes")
    }
    counts = count_losses(place, **done)
    print(counts)
    assert (counts["lost"], counts["changed"]) == (0, 0)
    with Ledger(place) as ledger:
        rows = ledger.connection.value("SELECT count(*) FROM reports")
        assert rows == counts["reports"]
        expected = 1 + counts["decisions"] + counts["outcomes"]
        assert ledger.connection.value("SELECT count(*) FROM entries") == expected
