"""A new process per call: ``truepool agent report``, here or through SSH."""

import csv
import getpass
import os
import shlex
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from shutil import which
from tempfile import TemporaryFile
from time import monotonic, perf_counter, sleep
from typing import Any

import numpy as np

from truepool_lab.paper.edge import CallError, UnavailableError
from truepool_lab.paper.edge.agent_servers import LOOPBACK, TRUEPOOL
from truepool_lab.paper.edge.processes import end
from truepool_lab.paper.edge.team import COLUMNS

PATIENCE = 20.0
"""Seconds until a server that has been started must be there."""
PAUSE = 0.05
CONFIGURATION = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
"""
PRIVATE_ROOT = """\
mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd &&
mount --bind {folder}/passwd /etc/passwd && exec {command}
"""
"""For root sshd wants a folder and a user of its own: here, only this process has
them."""


def report_command(paths: Mapping[str, Path], table: str) -> list[str]:
    """Return the command that loads agents, asks them about a table, and ends."""
    files = [str(path) for path in paths.values()]
    trust = ["--trust"] if any(file.endswith(".joblib") for file in files) else []
    return [*TRUEPOOL, "agent", "report", table, *files, *trust, "--output", "-"]


def write_cases(cases: Any) -> str:
    """Return cases as the text of a CSV file, with all digits."""
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows(cases.tolist())
    return text.getvalue()


def read_reports(text: str, agents: int) -> Any:
    """Return the reports (T, N) that the command printed."""
    rows = list(csv.reader(StringIO(text)))[1:]
    return np.array(rows, dtype=np.float64).reshape(-1, agents)


@dataclass(frozen=True)
class ProcessCall:
    """What a process printed, and the milliseconds it took.

    Not its memory: the system counts that of its parent to it, until it runs a program
    of its own.
    """

    output: str
    milliseconds: float
    processor: float


def call(command: Sequence[str], given: str) -> ProcessCall:
    """Run a command, give it a text, and say what that took."""
    with TemporaryFile("w+") as input_, TemporaryFile("w+") as output:
        with TemporaryFile("w+") as errors:
            input_.write(given)
            input_.seek(0)
            start = perf_counter()
            process = subprocess.Popen(
                command, stdin=input_, stdout=output, stderr=errors
            )
            _, status, used = os.wait4(process.pid, 0)  # only this tells what it used
            spent = 1000 * (perf_counter() - start)
            process.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            if process.returncode:
                raise CallError(errors.read().strip()[-200:])
        output.seek(0)
        processor = 1000 * (used.ru_utime + used.ru_stime)
        return ProcessCall(output.read(), spent, processor)


def through_shell(command: Sequence[str], table: Path) -> str:
    """Return the line of a shell that stores what it is given, then runs a command."""
    return f"cat > {shlex.quote(str(table))} && {shlex.join(command)}"


@dataclass(frozen=True)
class SshServer:
    """An SSH server on loopback, with keys of its own."""

    folder: Path
    port: int
    pid: int

    def command(self, line: str) -> list[str]:
        """Return the command that opens a session and runs a line of a shell."""
        options = {
            "BatchMode": "yes",
            "IdentitiesOnly": "yes",
            "StrictHostKeyChecking": "no",
            "UserKnownHostsFile": str(self.folder / "known_hosts"),
            "LogLevel": "ERROR",
        }
        return [
            *("ssh", "-F", "none", "-p", str(self.port)),
            *("-i", str(self.folder / "user")),
            *(
                word
                for key, value in options.items()
                for word in ("-o", f"{key}={value}")
            ),
            *(f"{getpass.getuser()}@{LOOPBACK}", line),
        ]


@contextmanager
def ssh_server(folder: Path) -> Iterator[SshServer]:
    """Start an SSH server with a throw-away configuration; it ends with the block."""
    program = which("sshd", path=os.pathsep.join([os.environ["PATH"], "/usr/sbin"]))
    for name, found in {"sshd": program, "ssh": which("ssh")}.items():
        if found is None:
            raise UnavailableError(f"no command {name}")
    with socket.create_server((LOOPBACK, 0)) as probe:
        port = probe.getsockname()[1]
    for key in ("host", "user"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)]
        subprocess.run(words, check=True)
    settings = folder / "sshd_config"
    settings.write_text(CONFIGURATION.format(port=port, folder=folder))
    process = subprocess.Popen(
        _alone([str(program), "-D", "-e", "-f", str(settings)], folder),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _wait(process, port)
        yield SshServer(folder, port, process.pid)
    finally:
        end(process)


def _alone(command: list[str], folder: Path) -> list[str]:
    """Return the command as root may run it: with a private view of two files."""
    if os.geteuid() != 0:
        return command
    known = Path("/etc/passwd").read_text(encoding="utf-8")
    user = "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n"
    (folder / "passwd").write_text(known if "\nsshd:" in known else known + user)
    line = PRIVATE_ROOT.format(folder=folder, command=shlex.join(command))
    return ["unshare", "--mount", "sh", "-c", line]


def _wait(process: "subprocess.Popen[str]", port: int) -> None:
    deadline = monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection((LOOPBACK, port), 1).close()
            return
        except OSError:
            if process.poll() is not None or monotonic() > deadline:
                process.kill()
                _, errors = process.communicate()
                said = (errors or "no answer").strip().splitlines()[-1:]
                raise UnavailableError(f"no SSH server: {''.join(said)}") from None
        sleep(PAUSE)
