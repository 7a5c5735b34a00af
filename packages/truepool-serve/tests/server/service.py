"""A coordinator for tests: in this process, or as a process that can be killed."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn

from truepool_serve.messages import Pool, convert, to_builtins
from truepool_serve.server.access import ANYONE
from truepool_serve.server.answers import Answer
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.http import app
from truepool_serve.server.records import KINDS

FRAUD = {
    "name": "fraud",
    "agents": ["ada", "bob", "cyd"],
    "labels": ["ok", "fraud"],
    "positive": "fraud",
    "costs": {"fn": 10, "fp": 1, "currency": "EUR"},
}
"""A pool of three agents."""


class Local:
    """A coordinator in this process, whose caller may do everything."""

    def __init__(self, place: Path, pool: dict | None = FRAUD) -> None:
        self.coordinator = Coordinator(place)
        if pool is not None:
            self.create(pool)

    def __enter__(self) -> "Local":
        return self

    def __exit__(self, *_: object) -> None:
        self.coordinator.close()

    def __getattr__(self, name: str):
        """Return an operation of the coordinator, which waits for its answer.

        Answers are values as JSON has them.
        """
        act = getattr(self.coordinator, name)

        def wait(*words):
            answer = act(ANYONE, *words)
            found = answer.result(60) if isinstance(answer, Answer) else answer
            return found if name == "settled" else to_builtins(found)

        return wait

    def create(self, pool: dict) -> dict:
        """Deploy a pool."""
        made = self.coordinator.create(ANYONE, convert(pool, Pool))
        return to_builtins(made.result(60))

    def evidence(self, pool: str, last: int) -> list:
        """Return what each challenger would have saved."""
        found = self.coordinator.evidence(ANYONE, pool, last)
        return to_builtins(found)["challengers"]

    def change(self, pool: str, kind: str, content: dict) -> dict:
        """Change the agents or the rules of a pool."""
        record = convert(content, KINDS[kind])
        return to_builtins(self.coordinator.change(ANYONE, pool, record).result(60))

    def fill(self, cases: int, rng, first: int = 0, pool: str = "fraud") -> None:
        """Report on, decide and settle cases."""
        for i in range(first, first + cases):
            case, truth = f"case {i}", rng.random() < 0.3
            self.report(
                pool,
                [
                    (case, agent, float(rng.beta(*((4, 2) if truth else (2, 4)))))
                    for agent in ("ada", "bob", "cyd")
                ],
            )
            self.decide(pool, case, None)
            self.settle(pool, [(case, "fraud" if truth else "ok")])


@contextmanager
def serving(local):
    """Serve a coordinator of this process on a port of this machine."""
    config = uvicorn.Config(app(local.coordinator), port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


NURSERY = """
import json, os, signal, sys, tempfile
import uvicorn
from truepool.cli import main
from truepool_serve.messages import Pool
from truepool_serve.server.access import ANYONE
from truepool_serve.server.answers import Answer
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.http import app
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
with tempfile.TemporaryDirectory() as folder, Coordinator(f"{folder}/ledger.db") as first:
    app(first)
    first.create(ANYONE, Pool(name="p", agents=["a", "b"])).result()
    first.report(ANYONE, "p", [("c", "a", 0.1), ("c", "b", 0.2)]).result()
    first.decide(ANYONE, "p", "c", None).result()
    first.settle(ANYONE, "p", [("c", 1)]).result()
for line in sys.stdin:
    words, patch = json.loads(line)
    child = os.fork()
    if child == 0:
        sys.argv = ["truepool", *words]
        exec(patch)
        main()
    print(child, flush=True)
"""
"""Imports everything and decides a case, so that compiled code is loaded, once; then it
forks a coordinator for every line that it reads."""


class Nursery:
    """A process that starts coordinators quickly: their imports are done already."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", NURSERY]
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )

    def __enter__(self) -> "Nursery":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()
        self.process.stderr.close()

    def start(
        self, place: Path, *words: str, patch: str = "", verb: tuple = ("serve",)
    ) -> "Process":
        """Start a coordinator that listens, changed by a patch."""
        # Nobody reads what a coordinator logs, and a full pipe would stop it.
        quiet = ("--log", "off") if verb == ("serve",) else ()
        port = () if "--port" in words else ("--port", "0")
        line = [[*verb, str(place), *port, *quiet, *words], patch]
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        pid = int(self.process.stdout.readline())
        return Process(pid, self.process.stderr)


class Process:
    """A coordinator in a process of its own; `kill` ends it without a warning."""

    def __init__(self, pid: int, stderr) -> None:
        self.pid = pid
        said = self.said = []
        for line in stderr:
            said.append(line)
            if line.startswith("error: "):
                break
            if found := re.search(r"on (https?)://(\S+):(\d+);", line):
                self.url = f"{found[1]}://{found[2]}:{found[3]}"
                return
        raise AssertionError("".join(said))

    def ask(self, method: str, path: str, content=None, *, timeout: float = 30):
        """Return the status and the answer of a request."""
        body = content if isinstance(content, bytes) else None
        if content is not None and body is None:
            body = json.dumps(content).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read())

    def wait_until_ready(self) -> None:
        """Wait for the first answer."""
        for _ in range(500):
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                time.sleep(0.02)
        raise AssertionError("the coordinator did not start")

    def kill(self) -> None:
        """End the process as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the process as an operator would."""
        self._end(signal.SIGTERM)

    def _end(self, number: int) -> None:
        os.kill(self.pid, number)
        for _ in range(1500):
            try:
                os.kill(self.pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.02)
        raise AssertionError("the coordinator did not end")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    return key, cert
