"""A ledger in PostgreSQL, where several coordinators share the same pools.

A transaction that writes to a pool holds the lock of its row, so that the entries of a
pool have one order: n is the last one plus 1, and the primary key stands behind that.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, exc, make_url
from sqlalchemy.pool import NullPool

from truepool.core.distributions import require
from truepool.core.errors import LedgerError, SettingError
from truepool_serve.server.databases import (
    ContentionError,
    Database,
    Row,
    database_error,
    display_name,
)

PATIENCE = 10
"""Seconds to wait for a connection, or for the lock of a pool."""
IDLE = 60
"""Seconds after which a coordinator that hangs in a transaction loses its lock."""
MIGRATING = 7_217_653
"""Key of the advisory lock that is held while tables are made or migrated."""
CONTENTION = ("40001", "40P01", "55P03")
"""States of PostgreSQL: not serialisable, deadlock, lock not available in time."""
ADD_REPORTS = (
    'INSERT INTO reports (pool, "case", agent, value, at) SELECT %s, r.c, r.a, r.v, %s '
    "FROM unnest(%b::text[], %b::integer[], %b::bytea[]) AS r(c, a, v) WHERE NOT "
    'EXISTS (SELECT 1 FROM entries AS e WHERE e.pool = %s AND e."case" = r.c) '
    "ON CONFLICT DO NOTHING"
)
"""Insert the reports that are not there, on cases that are not decided."""


class Postgres(Database):
    """A database of a server, named by its URL; the password is never printed."""

    shared = True

    def __init__(self, place: str, *, write: bool) -> None:
        self.write = write
        driver = require(
            "psycopg", "truepool-serve[postgres]", "a ledger in PostgreSQL"
        )
        self.errors = (exc.DBAPIError, driver.Error)
        self.place, self.name = place, display_name(place)
        self.url = _url(place)
        self.engine = _engine(self.url)

    def exclude(self, connection: Connection) -> None:
        """Take turns with coordinators that start at the same time."""
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATING})")

    def check(self, connection: Connection) -> None:
        """Refuse a server that does not wait for its disk."""
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            value = connection.exec_driver_sql(f"SHOW {setting}").scalar()
            if value != "on":
                raise LedgerError(
                    f"the server of {self.name!r} must have {setting} = on; it has "
                    f"{value}, and would lose in a power cut what it has answered"
                )

    def revive(self, connection: Connection) -> Connection:
        """Return a new connection in place of one that is closed or broken."""
        if not connection.closed:
            try:
                connection.exec_driver_sql("SELECT 1")
                connection.rollback()
                return connection
            except exc.DBAPIError:  # the server was restarted, or ended it
                connection.invalidate()
                connection.close()
        return self.engine.connect()

    def freeze(self, connection: Connection, *, own: bool) -> None:
        """See the moment of the first statement."""
        connection.exec_driver_sql(
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
        )

    def sql(self, statement: str) -> str:
        """Return it with the parameters of psycopg."""
        return statement.replace("?", "%s")

    def add_reports(
        self, driver: Any, pool: int, rows: Sequence[Row], at: float
    ) -> bool:
        """Insert all rows by one statement."""
        cases, agents, values = (list(column) for column in zip(*rows, strict=True))
        given = (pool, at, cases, agents, values, pool)
        if len(rows) == 1:  # it is written, or it is not
            return bool(driver.execute(ADD_REPORTS, given).rowcount)
        driver.execute("SAVEPOINT reports")
        written = int(driver.execute(ADD_REPORTS, given).rowcount)
        if written < len(rows):
            driver.execute("ROLLBACK TO SAVEPOINT reports")
        driver.execute("RELEASE SAVEPOINT reports")
        return written == len(rows)

    def renumber(self, connection: Connection) -> None:
        """Move the sequences on."""
        for table in ("pools", "trail"):
            connection.exec_driver_sql(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) "
                f"FROM {table} HAVING max(id) IS NOT NULL"
            )

    def sync_time(self) -> float | None:
        """The disk is the server's."""
        return None

    def shrink(self) -> None:
        """The server does it by itself (autovacuum)."""

    def finish(self, connection: Connection) -> None:
        """The server does that."""

    def close(self) -> None:
        """End the connections."""
        self.engine.dispose()

    def error(self, error: Exception) -> LedgerError:
        """Say what is wrong, without the password."""
        import psycopg

        cause = database_error(error)
        sentence = str(cause).strip().partition("\n")[0]
        if self.url.password:
            sentence = sentence.replace(str(self.url.password), "...")
        state = cause.sqlstate if isinstance(cause, psycopg.Error) else None
        kind = ContentionError if state in CONTENTION else LedgerError
        return kind(f"the ledger {self.name!r} cannot be used: {sentence}")


def _url(place: str) -> URL:
    refusal = SettingError(
        "a ledger in PostgreSQL is named by postgresql://USER:PASSWORD@HOST:PORT/NAME; "
        f"got {display_name(place)!r:.100}. In a password, write @ as %40, / as %2F "
        "and so on, or leave it to PGPASSWORD."
    )
    secret = place.partition("://")[2].rpartition("@")[0]
    if any(sign in secret for sign in "@/?# "):
        raise refusal
    try:
        url = make_url(place).set(drivername="postgresql+psycopg")
    except (exc.ArgumentError, ValueError):
        raise refusal from None
    if not url.database:
        raise refusal
    return url


def _engine(url: URL) -> Engine:
    return create_engine(
        url,
        poolclass=NullPool,
        connect_args={
            "connect_timeout": PATIENCE,
            "application_name": "truepool",
            "options": (
                f"-c lock_timeout={PATIENCE}s -c synchronous_commit=on "
                f"-c idle_in_transaction_session_timeout={IDLE}s"
            ),
        },
    )
