"""A PostgreSQL server of the tests' own: in a temporary folder, on loopback."""

import getpass
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from itertools import count
from pathlib import Path
from urllib.parse import quote

import pytest

PASSWORD = "s3cret of the/test"
NEEDED = "TRUEPOOL_NEED_POSTGRES"


class PostgresServer:
    """A server that can be stopped and started again, with as many databases as asked for."""

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        root = os.geteuid() == 0  # PostgreSQL does not run as root
        self.user = "postgres" if root else getpass.getuser()
        self.as_user = {"user": self.user} if root else {}
        self.folder = Path(tempfile.mkdtemp(prefix="truepool-postgres-"))
        if root:
            shutil.chown(self.folder, self.user)
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
        self.numbers = count(1)
        self._run(
            "initdb", "--no-sync", "-E", "UTF8", "--locale", "C.UTF-8", "-A", "scram-sha-256",
            "-U", "ann", "--pwfile", str(secret), "-D", str(self.folder / "data"),
        )  # fmt: skip
        self.start()

    def start(self) -> None:
        settings = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c max_connections=40 "
            f"-c unix_socket_directories={self.folder} -c autovacuum=off"
        )
        log = str(self.folder / "log")
        self._control("start", "-w", "-l", log, "-o", settings)

    def stop(self, mode: str = "fast") -> None:
        """End the server; ``immediate`` is a crash, which it recovers from."""
        self._control("stop", "-w", "-m", mode)

    def database(self) -> str:
        """Return the URL of a new, empty database."""
        name = f"ledger{next(self.numbers)}"
        self.ask("postgres", f"CREATE DATABASE {name}")
        return self.url(name)

    def url(self, name: str) -> str:
        secret = quote(PASSWORD, safe="")
        return f"postgresql://ann:{secret}@127.0.0.1:{self.port}/{name}"

    def ask(self, name: str, statement: str) -> list:
        """Run a statement; return its rows."""
        import psycopg

        with psycopg.connect(self.url(name), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _control(self, *words: str) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), *words)

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [self.programs / program, *words], cwd=self.folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if program != "pg_ctl" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT, **self.as_user,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout


def find_programs() -> Path | None:
    """Folder of the newest PostgreSQL of Debian, or of the one on the path."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"),
        key=lambda path: int(path.parts[-3]),
    )
    if found:
        return found[-1].parent
    path = shutil.which("pg_ctl")
    return Path(path).resolve().parent if path else None


def missing() -> str | None:
    """What keeps a server from being started here, if anything."""
    if find_programs() is None:
        return "needs PostgreSQL (apt-get install postgresql)"
    if os.geteuid() == 0:
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            return "PostgreSQL does not run as root; needs the user postgres"
    return None


@pytest.fixture(scope="session")
def postgres():
    reason = missing()
    if reason is not None:
        if os.environ.get(NEEDED):
            pytest.fail(reason)
        pytest.skip(reason)
    server = PostgresServer(find_programs())
    yield server
    server.close()
