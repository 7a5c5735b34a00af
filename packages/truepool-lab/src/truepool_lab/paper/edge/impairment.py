"""One agent at the far end of a link that delays and loses packets."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from truepool_lab.paper.edge import agent_servers, link, remote_calls
from truepool_lab.paper.edge.agent_servers import AgentServer
from truepool_lab.paper.edge.calls import Calls
from truepool_lab.paper.edge.link import FAR_END, NEAR_END, Link
from truepool_lab.paper.edge.team import Team

CONDITIONS: Mapping[str, tuple[float, float]] = {
    "undisturbed link": (0.0, 0.0),
    "200 ms delay": (0.1, 0.0),
    "5 % loss": (0.0, 0.05),
    "200 ms delay and 5 % loss": (0.1, 0.05),
}
"""Seconds of delay, and share of packets lost, in each direction."""
AGENT = "Random Forest"


@dataclass(frozen=True)
class ImpairedCalls:
    """Calls over an impaired link, and what became of their packets."""

    calls: Calls
    predictions: int
    passed: int
    dropped: int


@contextmanager
def far_agent(team: Team, seed: int) -> Iterator[tuple[Link, AgentServer]]:
    """Serve the forest, in ONNX, at the far end of a link."""
    path = team.onnx[AGENT]
    with link.laid(seed) as laid:
        words = agent_servers.command(path, FAR_END)
        with link.started(laid, FAR_END, words) as process:
            yield laid, agent_servers.announced(process, path, FAR_END)


def ask(
    laid: Link, server: AgentServer, protocol: str, team: Team, calls: int, folder: Path
) -> ImpairedCalls:
    """Ask from the near end: some cases one by one, then all cases in one call."""
    stored = folder / "cases.npy"
    np.save(stored, team.cases)
    ports = [str(server.ports[name]) for name in (protocol, "HTTP")]
    words = [protocol, server.host, *ports, server.model, str(stored), str(calls)]
    found = json.loads(
        link.run(laid, NEAR_END, [sys.executable, remote_calls.__file__, *words])
    )
    agent = team.load(onnx=True)[AGENT]
    singles = [agent.predict_proba(case[None])[0, 1] for case in team.cases[:calls]]
    right = [*singles, *agent.predict_proba(team.cases)[:, 1]]
    given = [*found["one"], *found["all"]]
    wrong = sum(one != other for one, other in zip(given, right, strict=True))
    return ImpairedCalls(
        Calls(found["milliseconds"], wrong, 0.0),
        len(given),
        laid.passed,
        laid.dropped,
    )
