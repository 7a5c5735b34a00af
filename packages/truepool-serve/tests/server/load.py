"""Load on a coordinator that is killed, and what must be true of the ledger after."""

import http.client
import json
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from server.service import FRAUD, Nursery

from truepool_serve.server.ledger import Ledger
from truepool_serve.server.operations import Operations
from truepool_serve.server.verification import verify

AGENTS = FRAUD["agents"]
SLOW_COMMIT = """
import time
from contextlib import contextmanager
from truepool_serve.server.ledger import Ledger
commit = Ledger.transaction
@contextmanager
def slow(self):
    with commit(self):
        yield
        time.sleep(0.005)
Ledger.transaction = slow
"""
"""A pause before each commit: an answer that comes before the commit is then lost."""
EARLY_ANSWER = (
    SLOW_COMMIT.replace("0.005", "0.1")
    + """
from truepool_serve.server import writer
from truepool_serve.server.answers import give
answers = writer._answers
def act(joint, items):
    found = answers(joint, items)
    give((item[-1], each) for item, each in zip(items, found))
    return found
writer._answers = act
writer.give = lambda answers: None
"""
)
"""The fault that the test must be able to find."""


class Load:
    """Clients that report, decide and settle until they are stopped; what was answered."""

    def __init__(
        self, url: str, first: int, clients: int, seed: int, *, patient: bool = False
    ) -> None:
        # Patient clients send again what a coordinator could not do.
        self.patient = patient
        self.address = urlsplit(url).netloc
        self.reports: dict[tuple[str, str], float] = {}
        self.decisions: dict[str, float] = {}
        self.outcomes: dict[str, str] = {}
        self.unexpected: list[str] = []
        self.stopped = threading.Event()
        self.threads = [
            threading.Thread(target=self._run, args=(f"{first}.{i}", [seed, first, i]))
            for i in range(clients)
        ]
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join(30)

    def _run(self, name: str, seed: list[int]) -> None:
        rng, number = np.random.default_rng(seed), 0
        connection = http.client.HTTPConnection(self.address, timeout=20)
        try:
            while not self.stopped.is_set():
                self._case(connection, rng, f"{name}.{number}")
                number += 1
        except (OSError, http.client.HTTPException):
            pass  # the coordinator is dead
        finally:
            connection.close()

    def _case(self, connection, rng, case: str) -> None:
        values = {agent: round(float(rng.random()), 6) for agent in AGENTS}
        lines = [
            {"case": case, "agent": a, "probability": p} for a, p in values.items()
        ]
        body = "\n".join(map(json.dumps, lines))
        if self._ask(connection, "POST", "/v1/pools/fraud/reports", body) is None:
            return
        self.reports |= {(case, agent): p for agent, p in values.items()}
        path = f"/v1/pools/fraud/cases/{case}"
        answer = self._ask(connection, "POST", f"{path}/decision", "")
        if answer is None:
            return
        self.decisions[case] = answer["probability"]
        if rng.random() < 0.7:
            outcome = str(rng.choice(["ok", "fraud"]))
            body = json.dumps({"outcome": outcome})
            if self._ask(connection, "PUT", f"{path}/outcome", body) is not None:
                self.outcomes[case] = outcome

    def _ask(self, connection, method, path, body):
        while True:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
            again = self.patient and answer.status == 503
            if not again or self.stopped.wait(0.05):
                break
        if again:
            return None
        if answer.status != 200:
            self.unexpected.append(content.decode())
            return None
        return json.loads(content)


def kill_under_load(
    nursery: Nursery,
    place: Path,
    kills: int,
    *,
    patch: str = SLOW_COMMIT,
    seed: int = 0,
) -> dict[str, int]:
    """Kill a coordinator at random moments; count what was answered, and what is lost."""
    rng = np.random.default_rng(seed)
    answered: dict[str, dict] = {"reports": {}, "decisions": {}, "outcomes": {}}
    for round_ in range(kills):
        service = nursery.start(place, patch=patch)
        service.wait_until_ready()
        service.ask("POST", "/v1/pools", FRAUD)
        load = Load(service.url, round_, clients=4, seed=seed)
        while not load.outcomes:  # compiled code is loaded by then
            time.sleep(0.01)
        time.sleep(0.3 * rng.random())
        service.kill()
        load.stop()
        assert not load.unexpected, load.unexpected[:3]
        for name, found in answered.items():
            found.update(getattr(load, name))
    return count_losses(place, **answered)


def count_losses(place: Path, reports, decisions, outcomes) -> dict[str, int]:
    """Compare what was answered with the ledger, which must be one that can be replayed."""
    counts = {
        "reports": len(reports), "decisions": len(decisions), "outcomes": len(outcomes),
        "lost": 0, "changed": 0,
    }  # fmt: skip
    with Ledger(place) as ledger:
        verify(ledger, "fraud")
        operations = Operations(ledger)
        for (case, agent), value in reports.items():
            number, state = operations.find("fraud")
            stored = ledger.reports(number, case).get(state.agents.index(agent))
            counts["lost"] += stored is None
            counts["changed"] += (
                stored is not None and np.frombuffer(stored)[0] != value
            )
        for case, probability in decisions.items():
            entry = ledger.find_entry(number, case, "decide")
            counts["lost"] += entry is None
            counts["changed"] += (
                entry is not None and entry.record.pooled["first"][1] != probability
            )
        for case, outcome in outcomes.items():
            entry = ledger.find_entry(number, case, "settle")
            counts["lost"] += entry is None
            counts["changed"] += (
                entry is not None and FRAUD["labels"][entry.record.outcome] != outcome
            )
    return counts
