"""The ledger: one writing connection, and what is read and written through it.

SQLite in WAL mode with ``synchronous=FULL``. One process writes to a file, and a lock
keeps a second one out.
"""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from sqlalchemy import (
    Connection,
    Engine,
    bindparam,
    create_engine,
    delete,
    event,
    exc,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.pool import NullPool

from truepool.core.errors import LedgerError
from truepool.core.files import check_path
from truepool.server import schema
from truepool.server.configuration import check_name
from truepool.server.deployment import Entry

FULL = 2
"""Value of ``PRAGMA synchronous`` at which a commit survives a power cut."""
BLOCK = 10_000
"""Entries read at a time."""
Row = tuple[str, int, bytes]
"""A report: case, number of the agent, coordinates."""


class Ledger:
    """An open ledger, written by one thread at a time.

    Parameters
    ----------
    place : path
        The file.
    create : bool
        Whether to make the file if it is not there.
    """

    def __init__(self, place: str | Path, *, create: bool = True) -> None:
        self.place = str(place)
        self._lock = _Lock(self.place, create)
        self.engine = _engine(self.place)
        try:
            self.connection = self.engine.connect()
            self._prepare()
        except (exc.DBAPIError, LedgerError) as error:
            self.engine.dispose()
            self._lock.release()
            if isinstance(error, LedgerError):
                raise
            raise _unusable(self.place, error) from None

    def close(self) -> None:
        """Close the ledger."""
        self.connection.close()
        self.engine.dispose()
        self._lock.release()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of a block, or nothing; it is durable when the block has ended."""
        try:
            with self.connection.begin():
                yield
        except exc.DBAPIError as error:
            # What a failed commit leaves open ends with its connection.
            self.connection.invalidate()
            self.connection.close()
            self.connection = self.engine.connect()
            raise _unusable(self.place, error) from None

    @contextmanager
    def reader(self) -> Iterator[Connection]:
        """Yield a connection of its own that sees one moment and cannot write."""
        try:
            with self.engine.connect() as connection, connection.begin():
                connection.exec_driver_sql("PRAGMA query_only = ON")
                yield connection
        except exc.DBAPIError as error:
            raise _unusable(self.place, error) from None

    # pools and entries

    def create_pool(self, name: str) -> int:
        """Add a pool without entries; return its number."""
        statement = insert(schema.pools).values(name=name, last=0)
        key = self.connection.execute(statement).inserted_primary_key
        return int(key[0]) if key else 0

    def find_pool(self, name: str) -> int | None:
        """Return the number of a pool."""
        check_name("a pool", name)
        statement = select(schema.pools.c.id).where(schema.pools.c.name == name)
        return self.connection.execute(statement).scalar()

    def pool_names(self) -> list[str]:
        """Return the names of all pools."""
        statement = select(schema.pools.c.name).order_by(schema.pools.c.name)
        return list(self.connection.execute(statement).scalars())

    def last_entry(self, pool: int) -> int:
        """Return the number of the last entry."""
        found = self.connection.execute(LAST_ENTRY, {"which": pool}).scalar()
        return int(found or 0)

    def append(self, pool: int, entries: Sequence[Entry]) -> None:
        """Write new entries."""
        rows = [{"pool": pool, **vars(entry)} for entry in entries]
        self.connection.execute(insert(schema.entries), rows)
        self.connection.execute(SET_LAST, {"which": pool, "number": entries[-1].n})

    def find_entry(self, pool: int, case: str, kind: str) -> Entry | None:
        """Return the entry of a kind about a case."""
        values = {"pool": pool, "case": case, "kind": kind}
        row = self.connection.execute(FIND_ENTRY, values).first()
        return None if row is None else Entry(*row)

    def entries(self, pool: int, after: int = 0) -> Iterator[Entry]:
        """Yield the entries of a pool in their order."""
        while True:
            values = {"pool": pool, "after": after}
            rows = self.connection.execute(NEXT_ENTRIES, values).all()
            for row in rows:
                yield Entry(*row)
            if len(rows) < BLOCK:
                return
            after = rows[-1].n

    # reports

    def add_reports(self, pool: int, rows: Sequence[Row], at: float) -> bool:
        """Write reports on cases that are not decided; False (and none) if any cannot.

        What cannot be written is there already, or is about a decided case.
        """
        self.connection.exec_driver_sql("SAVEPOINT reports")
        result = self.connection.exec_driver_sql(
            ADD_REPORT, [(pool, c, a, v, at, pool, c) for c, a, v in rows]
        )
        written = result.rowcount == len(rows)
        if not written:
            self.connection.exec_driver_sql("ROLLBACK TO reports")
        self.connection.exec_driver_sql("RELEASE reports")
        return written

    def reports(self, pool: int, case: str) -> dict[int, bytes]:
        """Return the reports on a case by the number of the agent."""
        rows = self.connection.execute(REPORTS, {"pool": pool, "case": case})
        return {agent: value for agent, value in rows}

    # snapshots, erasure

    def add_snapshot(self, pool: int, n: int, states: dict[str, bytes]) -> None:
        """Keep the states of the rules after an entry."""
        rows = [
            {"pool": pool, "n": n, "rule": rule, "state": state}
            for rule, state in states.items()
        ]
        self.connection.execute(insert(schema.snapshots), rows)

    def snapshot(
        self, pool: int, most: int | None = None
    ) -> tuple[int, dict[str, bytes]]:
        """Return the number of the newest snapshot (up to an entry) and its states."""
        table = schema.snapshots
        newest = select(func.max(table.c.n)).where(table.c.pool == pool)
        if most is not None:
            newest = newest.where(table.c.n <= most)
        n = self.connection.execute(newest).scalar()
        if n is None:
            return 0, {}
        rows = self.connection.execute(
            select(table.c.rule, table.c.state).where(
                table.c.pool == pool, table.c.n == n
            )
        )
        return int(n), {rule: state for rule, state in rows}

    def snapshot_numbers(self, pool: int) -> list[int]:
        """Return the entries after which there is a snapshot."""
        table = schema.snapshots
        found = select(table.c.n).where(table.c.pool == pool).distinct()
        return sorted(self.connection.execute(found).scalars())

    def settled_before(self, pool: int, time: float) -> list[str]:
        """Return the cases that were settled before a time, oldest first."""
        table = schema.entries
        found = (
            select(table.c.case)
            .where(table.c.pool == pool, table.c.kind == "settle", table.c.at < time)
            .where(table.c.case.is_not(None))
            .order_by(table.c.n)
        )
        return list(self.connection.execute(found).scalars())

    def erase(self, pool: int, case: str, from_entry: int) -> None:
        """Remove the reports and the entries' content of a case.

        Snapshots from its first entry on may hold it, and go too.
        """
        entries, reports, snapshots = schema.entries, schema.reports, schema.snapshots
        execute = self.connection.execute
        execute(delete(reports).where(reports.c.pool == pool, reports.c.case == case))
        execute(
            update(entries)
            .where(entries.c.pool == pool, entries.c.case == case)
            .values(body=None, case=None)
        )
        execute(
            delete(snapshots).where(
                snapshots.c.pool == pool, snapshots.c.n >= from_entry
            )
        )

    def _prepare(self) -> None:
        with self.connection.begin():
            schema.metadata.create_all(self.connection)
            version = self.connection.execute(select(schema.ledger.c.version)).scalar()
            if version is None:
                row = insert(schema.ledger).values(version=schema.VERSION)
                self.connection.execute(row)
            elif version > schema.VERSION:
                raise LedgerError(
                    f"{self.place} has version {version} of the ledger; this truepool "
                    f"knows up to version {schema.VERSION}. Upgrade truepool."
                )
            level = self.connection.exec_driver_sql("PRAGMA synchronous").scalar()
            mode = self.connection.exec_driver_sql("PRAGMA journal_mode").scalar()
            if (level, mode) != (FULL, "wal"):
                raise LedgerError(
                    f"{self.place} must be in WAL mode with full synchronisation; it "
                    f"is in {mode} mode at level {level}. Use another file system."
                )


ENTRY = [schema.entries.c[name] for name in Entry.__dataclass_fields__]
LAST_ENTRY = select(schema.pools.c.last).where(schema.pools.c.id == bindparam("which"))
SET_LAST = (
    update(schema.pools)
    .where(schema.pools.c.id == bindparam("which"))
    .values(last=bindparam("number"))
)
FIND_ENTRY = select(*ENTRY).where(
    schema.entries.c.pool == bindparam("pool"),
    schema.entries.c.case == bindparam("case"),
    schema.entries.c.kind == bindparam("kind"),
)
NEXT_ENTRIES = (
    select(*ENTRY)
    .where(
        schema.entries.c.pool == bindparam("pool"),
        schema.entries.c.n > bindparam("after"),
    )
    .order_by(schema.entries.c.n)
    .limit(BLOCK)
)
ADD_REPORT = (
    'INSERT INTO reports (pool, "case", agent, value, at) SELECT ?, ?, ?, ?, ? WHERE '
    'NOT EXISTS (SELECT 1 FROM entries WHERE pool = ? AND "case" = ?) '
    "ON CONFLICT DO NOTHING"
)
"""Insert a report, unless it is there or the case is decided."""
REPORTS = select(schema.reports.c.agent, schema.reports.c.value).where(
    schema.reports.c.pool == bindparam("pool"),
    schema.reports.c.case == bindparam("case"),
)


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

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


class _Lock:
    """Keeps a second coordinator out; the system ends it with the process.

    The lock is on the file itself, which is readable by its owner only. In one process
    a file is never opened twice here: closing it would end the locks of SQLite.
    """

    taken: ClassVar[set[str]] = set()

    def __init__(self, place: str, create: bool) -> None:
        check_path(place)
        self.path = os.path.realpath(place)
        if not create and not os.path.exists(self.path):
            raise LedgerError(f"there is no ledger {place!r}")
        if self.path in self.taken:
            raise _in_use(place)
        try:
            flags = os.O_RDWR | (os.O_CREAT if create else 0)
            self.file = os.open(self.path, flags, 0o600)
        except OSError as error:
            raise LedgerError(f"{place!r} cannot be opened: {error.strerror}") from None
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self.file)
            raise _in_use(place) from None
        self.taken.add(self.path)

    def release(self) -> None:
        """Let others in."""
        if self.path in self.taken:
            self.taken.remove(self.path)
            os.close(self.file)


def _in_use(place: str) -> LedgerError:
    return LedgerError(f"{place!r} is in use by another coordinator; stop it first")


def _unusable(place: str, error: exc.DBAPIError) -> LedgerError:
    return LedgerError(f"the ledger {place!r} cannot be used: {error.orig}")
