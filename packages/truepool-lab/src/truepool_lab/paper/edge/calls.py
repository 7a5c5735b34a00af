"""Calls to a team of agents and what they take: time, processor time and memory."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import TypeAlias

import numpy as np

from truepool.core.arrays import FloatArray
from truepool_lab.paper.edge.agent_servers import AgentServer
from truepool_lab.paper.edge.processes import memory, processor_time
from truepool_lab.paper.edge.team import Team

Ask: TypeAlias = Callable[[FloatArray], FloatArray]
"""From cases (T, F) to the reports (T, N) of all agents."""


@dataclass(frozen=True)
class Calls:
    """What calls about one case each took, and what they used in all.

    ``milliseconds`` and ``batches`` (calls about all cases) are per call; ``processor``
    is in milliseconds, of all calls about one case; ``memory`` is in megabytes.
    ``wrong`` are the reports that differ from those of the agents in one process.
    """

    milliseconds: Sequence[float]
    wrong: int
    processor: float
    memory: float | None = None
    batches: Sequence[float] = ()


def in_process(team: Team, onnx: bool) -> Ask:
    """Return how to ask the agents in this process, which decides what is right."""
    known = list(team.load(onnx).values())

    def ask(cases: FloatArray) -> FloatArray:
        return np.stack([a.predict_proba(cases)[:, 1] for a in known], axis=1)

    return ask


@contextmanager
def connected(
    servers: Mapping[str, AgentServer], protocol: str
) -> Iterator[tuple[Ask, Ask]]:
    """Connect to all agents; return how to ask them at once, and one after another."""
    with ExitStack() as stack:
        clients = [server.connect(protocol) for server in servers.values()]
        for client in clients:
            stack.callback(client.close)
        threads = stack.enter_context(ThreadPoolExecutor(len(clients)))

        def at_once(cases: FloatArray) -> FloatArray:
            asked = threads.map(lambda client: client.ask(cases), clients)
            return np.stack(list(asked), axis=1)

        def in_turn(cases: FloatArray) -> FloatArray:
            return np.stack([client.ask(cases) for client in clients], axis=1)

        yield at_once, in_turn


def measure(
    team: Team, ask: Ask, right: Ask, pids: Sequence[int], calls: int, batches: int
) -> Calls:
    """Ask about one case per call, then about all cases per call; pool every answer."""
    asked = [team.cases[i % len(team.cases)][None] for i in range(calls)]
    _pooled(team, ask, asked[0])  # opens the connections
    before = _processor(pids)
    singles = [_pooled(team, ask, case) for case in asked]
    spent = _processor(pids) - before
    together = [_pooled(team, ask, team.cases) for _ in range(batches)]
    whole = right(team.cases)
    pairs = [
        *((found, right(c)) for (_, found), c in zip(singles, asked, strict=True)),
        *((found, whole) for _, found in together),
    ]
    return Calls(
        [milliseconds for milliseconds, _ in singles],
        sum(int(np.sum(found != same)) for found, same in pairs),
        spent,
        sum(map(memory, pids or [os.getpid()])),
        [milliseconds for milliseconds, _ in together],
    )


def _pooled(team: Team, ask: Ask, cases: FloatArray) -> tuple[float, FloatArray]:
    """Ask, pool the reports, and return milliseconds and reports."""
    start = perf_counter()
    reports = ask(cases)
    team.pool.combine(reports[:, :, None])
    return 1000 * (perf_counter() - start), reports


def _processor(pids: Sequence[int]) -> float:
    """Milliseconds of processor time of this process and of some others."""
    return 1000 * process_time() + sum(map(processor_time, pids))
