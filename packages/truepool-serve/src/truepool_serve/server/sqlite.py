"""A ledger in a file: SQLite in WAL mode with ``synchronous=FULL``.

One process writes to the file, and a lock keeps a second one out.
"""

import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from truepool.core.errors import LedgerError
from truepool.core.files import check_path
from truepool_serve.server.databases import Connection, Database, Row

FULL = 2
"""Value of ``PRAGMA synchronous`` at which a commit survives a power cut."""
LOGGED = b"\x02\x02"
"""What bytes 18 and 19 of a file are while a log of writes belongs to it."""
SYNCS = 5
"""Times that the disk is asked to keep something, to see how long it takes."""
ROWS = 100
"""Reports that one statement inserts, at most."""


class InUseError(LedgerError):
    """A file that a coordinator has."""


class Sqlite(Database):
    """A file that one coordinator has at a time."""

    kind = "sqlite"
    shared = False
    errors = (sqlite3.Error,)

    def __init__(self, place: str, *, create: bool, write: bool) -> None:
        self.place = self.name = place
        self.write = write
        self._lock: FileLock | None = None
        self._alone = False
        if write:
            self._lock = FileLock(place, create)
            self.log_is_missing = self._check_log()
            return
        with suppress(InUseError):  # the coordinator that has it goes on
            self._lock = FileLock(place, create=False, write=False)
            self._check_log()
        # Of a file that nobody else has, no log of writes is made beside it.
        self._alone = self._lock is not None and not Path(f"{place}-wal").exists()

    def connect(self, *, own: bool = False) -> Connection:
        """Return a new connection."""
        uri = Path(self.place).absolute().as_uri()
        if not self.write:
            uri += f"?mode=ro{'&immutable=1' * self._alone}"
        raw = sqlite3.connect(
            uri, uri=True, isolation_level=None, check_same_thread=False
        )
        if self.write:
            raw.execute("PRAGMA journal_mode = WAL")
            raw.execute("PRAGMA synchronous = FULL")
            raw.execute("PRAGMA foreign_keys = ON")
            raw.execute("PRAGMA busy_timeout = 5000")
        if own:
            raw.execute("PRAGMA query_only = ON")
        return Connection(raw)

    def has_table(self, connection: Connection, name: str) -> bool:
        """Whether there is a table."""
        known = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        return connection.value(known, name) is not None

    def _check_log(self) -> bool:
        try:
            return _log_is_missing(self.place)
        except LedgerError:
            if self._lock is not None:
                self._lock.release()
            raise

    def check(self, connection: Connection) -> None:
        """Refuse a file that is not written with full synchronisation."""
        if not self.write:
            return
        level = connection.value("PRAGMA synchronous")
        mode = connection.value("PRAGMA journal_mode")
        if (level, mode) != (FULL, "wal"):
            raise LedgerError(
                f"{self.name} must be in WAL mode with full synchronisation; it "
                f"is in {mode} mode at level {level}. Use another file system."
            )

    def revive(self, connection: Connection) -> Connection:
        """Return a new connection in place of a closed one."""
        return self.connect() if connection.closed else connection

    def add_reports(
        self, connection: Connection, pool: int, rows: Sequence[Row], at: float
    ) -> bool:
        """Insert by as few statements as possible.

        Each of them lets other threads run, and waits until they let it go on.
        """
        if len(rows) <= ROWS:
            return _insert(connection, pool, rows, at)
        connection.execute("SAVEPOINT reports")
        parts = (rows[i : i + ROWS] for i in range(0, len(rows), ROWS))
        written = all(_insert(connection, pool, part, at) for part in parts)
        if not written:
            connection.execute("ROLLBACK TO SAVEPOINT reports")
        connection.execute("RELEASE SAVEPOINT reports")
        return written

    def sync_time(self) -> float | None:
        """Return the seconds that the disk takes to keep what it is given."""
        times = []
        folder = os.path.dirname(os.path.realpath(self.place))
        with tempfile.TemporaryFile(dir=folder) as file:
            for _ in range(SYNCS):
                file.write(bytes(4096))
                file.flush()
                start = time.perf_counter()
                os.fdatasync(file.fileno())
                times.append(time.perf_counter() - start)
        return min(times)

    def shrink(self) -> None:
        """Write the file anew."""
        connection = self.connect()
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()

    def finish(self, connection: Connection) -> None:
        """Put what is in the log into the file, and say in it that it is whole."""
        if not self.write or connection.closed:
            return
        connection.execute("PRAGMA busy_timeout = 0")  # a reader may have the log open
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")

    def close(self) -> None:
        """End the lock."""
        if self._lock is not None:
            self._lock.release()


def _log_is_missing(place: str) -> bool:
    """Whether a file was not closed, and its log is not there; refuse another's log.

    Bytes 18 and 19 say whether there is a log (2), or the file was closed (1). Beside
    one that was closed, or is new, a log belongs to another file: to one that was there
    before. SQLite would apply it all the same.
    """
    log = Path(f"{place}-wal")
    there = log.exists() and log.stat().st_size > 0
    with open(place, "rb") as file:
        head = file.read(20)
    if there and head[18:20] != LOGGED:
        raise LedgerError(
            f"{place!r} was closed, and {str(log)!r} beside it is the log of another "
            "ledger. Move the log back to that one, which needs it, or away."
        )
    return head[18:20] == LOGGED and not there


def _insert(connection: Connection, pool: int, rows: Sequence[Row], at: float) -> bool:
    """Insert reports by one statement, all of them or none."""
    values: list[Any] = [pool, at]
    for case, agent, value in rows:
        values += (case, agent, bytearray(value))  # bound faster than bytes
    try:
        return bool(connection.execute(_insertion(len(rows)), values).rowcount)
    except sqlite3.IntegrityError:  # one is there
        return False


@cache
def _insertion(rows: int) -> str:
    """Statement that inserts so many reports; none if one of the cases is decided."""
    places = range(3, 3 + 3 * rows, 3)
    values = ", ".join(f"(?{i}, ?{i + 1}, ?{i + 2})" for i in places)
    cases = ", ".join(f"?{i}" for i in places)
    return (
        'INSERT INTO reports (pool, "case", agent, value, at) '
        f"SELECT ?1, column1, column2, column3, ?2 FROM (VALUES {values}) "
        "WHERE NOT EXISTS "
        f'(SELECT 1 FROM entries WHERE pool = ?1 AND "case" IN ({cases}))'
    )


class FileLock:
    """Keeps a second coordinator out; the system ends it with the process.

    The lock is on the file itself, which is readable by its owner only. In one process
    a file is never opened twice here: closing it would end the locks of SQLite.
    """

    taken: ClassVar[set[str]] = set()

    def __init__(self, place: str, create: bool, *, write: bool = True) -> None:
        if sys.platform == "win32":
            raise LedgerError(
                "a ledger in a file needs the file locks of Linux or macOS; on Windows "
                "use PostgreSQL, as in `truepool serve postgresql://...`"
            )
        if write:
            check_path(place)
        self.path = os.path.realpath(place)
        if not create and not os.path.exists(self.path):
            raise LedgerError(f"there is no ledger {place!r}")
        if self.path in self.taken:
            raise _in_use(place)
        try:
            flags = os.O_RDWR if write else os.O_RDONLY
            flags |= os.O_CREAT if create else 0
            self.file = os.open(self.path, flags, 0o600)
        except OSError as error:
            raise LedgerError(f"{place!r} cannot be opened: {error.strerror}") from None
        try:
            _lock(self.file)
        except OSError:
            os.close(self.file)
            raise _in_use(place) from None
        self.taken.add(self.path)

    def release(self) -> None:
        """Let others in."""
        if self.path in self.taken:
            self.taken.remove(self.path)
            os.close(self.file)


def _lock(file: int) -> None:
    """Lock a file until it is closed; an `OSError` if another process has the lock."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _in_use(place: str) -> InUseError:
    return InUseError(f"{place!r} is in use by a coordinator; stop it first")
