"""Agents behind ``truepool agent serve``, each in a process of its own."""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from truepool_lab.paper.edge import CallError
from truepool_lab.paper.edge.open_inference import PROTOCOLS, Client, wait_until_ready
from truepool_lab.paper.edge.processes import end

TRUEPOOL = (sys.executable, "-c", "from truepool.cli import main; main()")
"""The command ``truepool``, wherever it is installed."""
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class AgentServer:
    """Where an agent answers, by protocol, and its process."""

    model: str
    host: str
    ports: Mapping[str, int]
    pid: int

    def connect(self, protocol: str) -> Client:
        """Open a connection that stays open."""
        return PROTOCOLS[protocol](self.host, self.ports[protocol], self.model)


@contextmanager
def serve(paths: Mapping[str, Path]) -> Iterator[dict[str, AgentServer]]:
    """Serve several agents; all are started before the first is waited for."""
    with ExitStack() as stack:
        started = {
            name: stack.enter_context(_started(path)) for name, path in paths.items()
        }
        servers = {
            name: announced(process, paths[name], LOOPBACK)
            for name, process in started.items()
        }
        for server in servers.values():
            wait_until_ready(server.host, server.ports["HTTP"])
        yield servers


def command(path: Path, host: str) -> list[str]:
    """Return the command that serves an agent on free ports of a host."""
    words = ["agent", "serve", str(path), "--host", host]
    words += ["--port", "0", "--grpc-port", "0"]
    if path.suffix == ".joblib":
        words.append("--trust")
    if host != LOOPBACK:
        words.append("--insecure")  # nobody but the other end of a link can reach it
    return [*TRUEPOOL, *words]


def announced(process: "subprocess.Popen[str]", path: Path, host: str) -> AgentServer:
    """Wait until a server says where it will listen."""
    ports = {}
    lines = []
    for line in process.stderr or ():
        lines.append(line.strip())
        found = re.search(r"(gRPC on |on http://)\S*:(\d+)", line)
        if found:
            ports["gRPC" if found[1].startswith("gRPC") else "HTTP"] = int(found[2])
        if "HTTP" in ports:
            return AgentServer(path.stem, host, ports, process.pid)
    raise CallError(f"no agent serves {path.name}: {' '.join(lines[-3:])}")


@contextmanager
def _started(path: Path) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        command(path, LOOPBACK), stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        end(process)
