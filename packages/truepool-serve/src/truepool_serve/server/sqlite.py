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

from sqlalchemy import Connection, Engine, create_engine, event, exc
from sqlalchemy.pool import NullPool

from truepool.core.errors import LedgerError
from truepool.core.files import check_path
from truepool_serve.server.databases import Database, Row

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

    shared = False
    errors = (exc.DBAPIError, sqlite3.Error)

    def __init__(self, place: str, *, create: bool, write: bool) -> None:
        self.place = self.name = place
        self.write = write
        self.log_is_missing = False
        self._lock: FileLock | None = None
        if write:
            self._lock = FileLock(place, create)
            self.log_is_missing = self._check_log()
            self.engine = _engine(place)
            return
        with suppress(InUseError):  # the coordinator that has it goes on
            self._lock = FileLock(place, create=False, write=False)
            self._check_log()
        # Of a file that nobody else has, no log of writes is made beside it.
        alone = self._lock is not None and not Path(f"{place}-wal").exists()
        self.engine = _read_only_engine(place, alone)

    def _check_log(self) -> bool:
        try:
            return _log_is_missing(self.place)
        except LedgerError:
            if self._lock is not None:
                self._lock.release()
            raise

    def exclude(self, connection: Connection) -> None:
        """The lock on the file did that."""

    def check(self, connection: Connection) -> None:
        """Refuse a file that is not written with full synchronisation."""
        if not self.write:
            return
        level = connection.exec_driver_sql("PRAGMA synchronous").scalar()
        mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
        if (level, mode) != (FULL, "wal"):
            raise LedgerError(
                f"{self.name} must be in WAL mode with full synchronisation; it "
                f"is in {mode} mode at level {level}. Use another file system."
            )

    def revive(self, connection: Connection) -> Connection:
        """Return a new connection in place of a closed one."""
        return self.engine.connect() if connection.closed else connection

    def freeze(self, connection: Connection, *, own: bool) -> None:
        """In WAL mode every transaction sees one moment."""
        if own:
            connection.exec_driver_sql("PRAGMA query_only = ON")

    def sql(self, statement: str) -> str:
        """Return it as it is."""
        return statement

    def add_reports(
        self, driver: Any, pool: int, rows: Sequence[Row], at: float
    ) -> bool:
        """Insert by as few statements as possible.

        Each of them lets other threads run, and waits until they let it go on.
        """
        if len(rows) <= ROWS:
            return _insert(driver, pool, rows, at)
        driver.execute("SAVEPOINT reports")
        parts = (rows[i : i + ROWS] for i in range(0, len(rows), ROWS))
        written = all(_insert(driver, pool, part, at) for part in parts)
        if not written:
            driver.execute("ROLLBACK TO SAVEPOINT reports")
        driver.execute("RELEASE SAVEPOINT reports")
        return written

    def renumber(self, connection: Connection) -> None:
        """SQLite takes the next number by itself."""

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
        with self.engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            raw.execute("VACUUM")
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def finish(self, connection: Connection) -> None:
        """Put what is in the log into the file, and say in it that it is whole."""
        if not self.write or connection.closed:
            return
        raw: Any = connection.connection.driver_connection
        raw.execute("PRAGMA busy_timeout = 0")  # a reader may have the log open
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        raw.execute("PRAGMA journal_mode = DELETE")

    def close(self) -> None:
        """End the lock."""
        self.engine.dispose()
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


def _insert(driver: Any, pool: int, rows: Sequence[Row], at: float) -> bool:
    """Insert reports by one statement, all of them or none."""
    values: list[Any] = [pool, at]
    for case, agent, value in rows:
        values += (case, agent, bytearray(value))  # bound faster than bytes
    try:
        return bool(driver.execute(_insertion(len(rows)), values).rowcount)
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


def _read_only_engine(place: str, alone: bool) -> Engine:
    uri = f"{Path(place).absolute().as_uri()}?mode=ro{'&immutable=1' * alone}"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(
            uri, uri=True, isolation_level=None, check_same_thread=False
        )

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)
    event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    # Not through SQLAlchemy, which takes longer than SQLite does.
    raw: Any = connection.connection.driver_connection
    raw.execute("BEGIN")


def _engine(place: str) -> Engine:
    engine = create_engine(
        f"sqlite:///{place}",
        poolclass=NullPool,
        connect_args={"check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA busy_timeout = 5000")

    event.listen(engine, "begin", _begin)

    @event.listens_for(engine, "commit")
    def commit(connection: Connection) -> None:
        # The driver's own `commit` parses the statement each time.
        raw: Any = connection.connection.driver_connection
        raw.execute("COMMIT")

    return engine


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
