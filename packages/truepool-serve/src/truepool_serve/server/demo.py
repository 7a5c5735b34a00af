"""Traffic for a first look: five local agents, a drift, a dead feed, late outcomes.

Agents and operator are clients of the coordinator like any other: they report, decide
and settle over HTTP.
"""

import threading
from collections import deque
from dataclasses import dataclass

import numpy as np

from truepool.core.errors import RequestError
from truepool_serve.client import Client
from truepool_serve.messages import Costs, Pool, Rule
from truepool_serve.server.access import ANYONE
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.records import Challenge

AGENTS = ("ada", "bob", "cyd", "dan", "eve")
POOL = Pool(
    name="demo",
    agents=list(AGENTS),
    labels=["genuine", "fraud"],
    positive="fraud",
    costs=Costs(fn=10.0, fp=1.0, currency="EUR"),
)
"""A pool that decides which payments are fraud."""
SKILLS = (2.4, 2.0, 2.0, 1.6, 1.0)
"""How many standard deviations the signal of each agent lies apart by outcome."""
COMMON = 0.6
"""Share of the noise that all agents have in common: they see the same payments."""
RATE = 0.2
"""Share of fraud."""
HISTORY, BLOCK = 400, 40
"""Cases at once, and how many of them are reported together."""
DRIFT, DEAD = 450, 550
"""Cases from which the reports of the second agent are too high, and from which the
third sends nothing."""
SHIFT = 1.5
"""How far, in log-odds, the reports of the second agent move up."""
DELAY = 25
"""Cases after which an outcome is known."""
NEVER = 0.05
"""Share of outcomes that never come."""
PAUSE = 0.2
"""Seconds between two cases after the history."""


@dataclass
class World:
    """Cases and what each agent sees of them."""

    rng: np.random.Generator

    def next(self, case: int) -> tuple[bool, dict[str, float]]:
        """Return an outcome and the probabilities that the agents report."""
        fraud = bool(self.rng.random() < RATE)
        noise = np.sqrt(COMMON) * self.rng.normal()
        noise = noise + np.sqrt(1 - COMMON) * self.rng.normal(size=len(SKILLS))
        skills = np.array(SKILLS)
        odds = np.log(RATE / (1 - RATE)) + skills * ((fraud - 0.5) * skills + noise)
        odds[1] += SHIFT * (case >= DRIFT)
        probabilities = np.round(1 / (1 + np.exp(-odds)), 4).tolist()
        reports = dict(zip(AGENTS, probabilities, strict=True))
        if case >= DEAD:
            del reports[AGENTS[2]]
        return fraud, reports


class Traffic:
    """Five agents and an operator that send requests until they are stopped."""

    def __init__(self, coordinator: Coordinator, url: str, seed: int = 0) -> None:
        self.url = url
        self.world = World(np.random.default_rng(seed))
        self.settled: deque[tuple[str, str]] = deque()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="demo", daemon=True)
        coordinator.create(ANYONE, POOL).result()
        # In a ledger that was used before, the cases go on from there.
        known = coordinator.describe(ANYONE, "demo").result()
        self.first = known.entries
        if not known.challengers:
            challenge = Challenge(name="hedge", rule=Rule(learner="hedge"))
            coordinator.change(ANYONE, "demo", challenge).result()

    def __enter__(self) -> "Traffic":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        agents = {name: self._client() for name in AGENTS}
        operator = self._client()
        case = 0
        while not self._stopped.is_set():
            block = BLOCK if case < HISTORY else 1
            try:
                self._cases(range(case, case + block), agents, operator)
            except RequestError:  # the coordinator stops
                self._stopped.wait(PAUSE)
            case += block
            if case >= HISTORY:
                self._stopped.wait(PAUSE)
        for client in (*agents.values(), operator):
            client.close()

    def _client(self) -> Client:
        return Client(self.url, patience=1.0)

    def _cases(
        self, numbers: range, agents: dict[str, Client], operator: Client
    ) -> None:
        """Report on cases, decide them, and settle those of a while ago."""
        outcomes = {}
        for number in numbers:
            case = f"p{self.first + number}"
            fraud, reports = self.world.next(number)
            outcomes[case] = "fraud" if fraud else "genuine"
            for agent, report in reports.items():
                agents[agent].report("demo", case, agent, report)
        for client in agents.values():
            client.flush()
        for case, outcome in outcomes.items():
            operator.decide("demo", case)
            if self.world.rng.random() >= NEVER:
                self.settled.append((case, outcome))
            if len(self.settled) > DELAY:
                operator.settle("demo", *self.settled.popleft())
