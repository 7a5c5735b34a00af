"""Ray clusters for tests: every node in a network namespace of its own.

Ray listens on the outer interface of a machine, so nothing of it runs outside. What is
started here is ended by its session; `ray stop` would end every Ray on the machine.
"""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

HEAD, WORKER = "10.77.0.1", "10.77.0.2"
ADDRESS = f"{HEAD}:6379"
NAMESPACE = ("unshare", "--user", "--map-root-user", "--net")
ENTER = ("--user", "--net", "--preserve-credentials")
RAY = (sys.executable, "-m", "ray.scripts.scripts", "start", "--block")
PATIENCE, START = 300.0, 90.0
DRIVER = """
import io, json, pathlib, sys, time
from contextlib import redirect_stdout
import ray
from truepool.cli import main
ray.init(sys.argv[1], log_to_driver=False, logging_level="ERROR")
while sum(node["Alive"] for node in ray.nodes()) < 2:
    time.sleep(0.1)
at = ray.remote(scheduling_strategy="SPREAD")(
    lambda n: time.sleep(0.5) or ray.util.get_node_ip_address()
)
printed, peaks = [sorted(set(ray.get([at.remote(n) for n in range(4)])))], []
for words in json.loads(sys.argv[2]):
    sys.argv[1:] = words
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    with redirect_stdout(io.StringIO()) as out:
        try:
            main()
        except SystemExit as stop:
            if stop.code:
                raise
    printed.append(out.getvalue())
    status = pathlib.Path("/proc/self/status").read_text()
    peaks.append(int(status.partition("VmHWM:")[2].split()[0]) * 1024)
ray.shutdown()
print(json.dumps([printed, peaks]))
"""


def need_ray():
    """Skip a test, and say why, where Ray is not installed."""
    if find_spec("ray") is None:
        if os.environ.get("TRUEPOOL_NEED_RAY"):
            pytest.fail("ray is not installed")
        pytest.skip("ray is not installed: pip install 'truepool[ray]'")


def skip_where_ray_cannot_run():
    """Skip a test where Ray alone, without this library, does not start either."""
    script = "import ray; ray.init(num_cpus=1, include_dashboard=False)"
    with started(
        [sys.executable, "-c", script], text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            _, err = process.communicate(timeout=START)
        except subprocess.TimeoutExpired:
            err = f"it was not up after {START:g} s"
    if process.returncode:
        pytest.skip(f"Ray does not start here: {err[-500:]}")


@pytest.fixture(scope="module")
def ray(tmp_path_factory):
    """An engine on a Ray of our own on this machine."""
    from truepool.core.engine import ray_cluster
    from truepool.core.errors import EngineError

    need_ray()
    token = tmp_path_factory.getbasetemp() / "ray_token"
    if not token.exists():  # Ray reads it once per process
        token.write_text(secrets.token_hex(32))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
        patch.delenv("RAY_ADDRESS", raising=False)
        with ExitStack() as stack:
            try:
                engine = stack.enter_context(ray_cluster.RayCluster())
            except EngineError:
                skip_where_ray_cannot_run()
                raise
            yield engine


def session_processes(session):
    """Processes of a session that are alive; those of Ray have groups of their own."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                yield int(entry.name)


def end_session(process):
    """Kill a process and everything in its session, and wait until it is gone."""
    while found := [*session_processes(process.pid)]:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.poll()
        time.sleep(0.02)
    process.wait()


@contextmanager
def started(words, **settings):
    """A process in a session of its own, which ends with everything in it."""
    process = subprocess.Popen(words, start_new_session=True, **settings)
    try:
        yield process
    finally:
        end_session(process)


class Nodes:
    """A cluster of two nodes with one core each, and commands run at its head."""

    def __init__(self, stack, folder):
        self.stack, self.folder = stack, folder
        (folder / "token").write_text(secrets.token_hex(32))
        self.environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(folder / "token"),
            "RAY_USAGE_STATS_ENABLED": "0",
            "OMP_NUM_THREADS": "1",
        }
        self.environment.pop("RAY_ADDRESS", None)
        self.head = self._hold((*NAMESPACE, "sleep", "600"))
        self.worker = self._hold(
            (*self.at(self.head), "unshare", "--net", "sleep", "600")
        )
        self._link()
        where = ("--num-cpus", "1", "--object-store-memory", str(80 << 20))
        own = ("--include-dashboard", "false", "--temp-dir", str(folder))
        self.start(
            self.head,
            "--head",
            "--port",
            "6379",
            "--node-ip-address",
            HEAD,
            *own,
            *where,
        )
        self.node = self.start(
            self.worker, "--address", ADDRESS, "--node-ip-address", WORKER, *where
        )
        self._wait(2)

    def at(self, holder):
        """Words before a command that run it in a namespace."""
        return ("nsenter", "-t", str(holder.pid), *ENTER)

    def _hold(self, words):
        """Keep a network namespace by a process that sleeps, once it has its own."""
        before = {os.readlink("/proc/self/ns/net")}
        if words[0] == "nsenter":
            before.add(os.readlink(f"/proc/{self.head.pid}/ns/net"))
        holder = self.stack.enter_context(started(words))
        end = time.monotonic() + 30
        while os.readlink(f"/proc/{holder.pid}/ns/net") in before:
            assert holder.poll() is None, "the namespace is gone"
            assert time.monotonic() < end, "there is no namespace"
            time.sleep(0.02)
        return holder

    def _link(self):
        peer = ("type", "veth", "peer", "name", "b0", "netns", str(self.worker.pid))
        ip = ("ip", "link", "add", "a0", *peer)
        made = subprocess.run(
            [*self.at(self.head), *ip], stderr=subprocess.PIPE, text=True, check=False
        )
        if made.returncode:
            pytest.skip(f"namespaces cannot be linked here: {made.stderr.strip()}")
        for holder, device, address in (
            (self.head, "a0", HEAD),
            (self.worker, "b0", WORKER),
        ):
            for words in (("link", "set", "lo", "up"), ("addr", "add", f"{address}/24", "dev", device),
                          ("link", "set", device, "up")):  # fmt: skip
                subprocess.run([*self.at(holder), "ip", *words], check=True)

    def start(self, holder, *words):
        """Start a node of Ray in a namespace."""
        log = self.stack.enter_context(open(self.folder / "start.log", "ab"))
        words = (*self.at(holder), *RAY, *words)
        return self.stack.enter_context(
            started(words, env=self.environment, stdout=log, stderr=log)
        )

    def _wait(self, count):
        """Wait until so many nodes say that they have started."""
        end, log = time.monotonic() + START, self.folder / "start.log"
        while log.read_text().count("Ray runtime started") < count:
            if time.monotonic() > end:
                skip_where_ray_cannot_run()
                pytest.fail(log.read_text()[-2000:])
            time.sleep(0.1)

    def run(self, *commands, during=lambda: None):
        """Run commands at the head, in one process: what they printed.

        ``peaks`` then holds the most memory, in bytes, that each took there. Another process would take seconds for its workers to import the library.
        """
        words = json.dumps([[str(word) for word in command] for command in commands])
        command = [*self.at(self.head), sys.executable, "-c", DRIVER, ADDRESS, words]
        with started(
            command, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            during()
            out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        printed, self.peaks = json.loads(out.splitlines()[-1])
        return printed, err


@contextmanager
def two_nodes():
    """Start a cluster of two nodes; skip where that is not allowed."""
    need_ray()
    for command in ("unshare", "nsenter", "ip"):
        if shutil.which(command) is None:
            pytest.skip(
                f"there is no command {command} to make network namespaces with"
            )
    trial = subprocess.run([*NAMESPACE, "true"], capture_output=True, text=True)
    if trial.returncode:
        pytest.skip(f"network namespaces are not allowed here: {trial.stderr.strip()}")
    # Short, because the path of a socket may have 107 characters.
    with (
        tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder,
        ExitStack() as stack,
    ):
        yield Nodes(stack, Path(folder))
