"""A ledger in PostgreSQL, where several coordinators share the same pools.

A transaction that writes to a pool holds the lock of its row, so that the entries of a
pool have one order: n is the last one plus 1, and the primary key stands behind that.
"""

import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from threading import Timer
from typing import Any
from urllib.parse import unquote, urlsplit

from truepool.core.distributions import require
from truepool.core.errors import LedgerError, SettingError
from truepool_serve.server.databases import (
    Connection,
    ContentionError,
    Database,
    Row,
    display_name,
)

PATIENCE = 10
"""Seconds to wait for a connection, for the lock of a pool, or for the network."""
IDLE = 60
"""Seconds after which a coordinator that hangs in a transaction loses its lock."""
LONGEST_READ = 120.0
"""Seconds after which whoever only reads gives up a server that does not answer."""
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


@cache
def _translated(statement: str) -> str:
    return statement.replace("?", "%s")


class PostgresConnection(Connection):
    """A connection of psycopg; one that only reads ends after a while."""

    def __init__(self, raw: Any, seconds: float | None = None) -> None:
        super().__init__(raw)
        self._timer = None
        if seconds is not None:
            self._timer = Timer(seconds, _cut, (raw,))
            self._timer.daemon = True
            self._timer.start()

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement, with the parameters of psycopg."""
        return self.raw.execute(_translated(statement), values or None)

    def stream(self, statement: str, *values: Any) -> Iterator[Any]:
        """Yield rows as they come."""
        yield from self.raw.cursor().stream(_translated(statement), values or None)

    def translate(self, statement: str) -> str:
        """Return it with the parameters of psycopg."""
        return _translated(statement)

    @property
    def closed(self) -> bool:
        """Whether it was closed, here or by the server."""
        return self.raw is None or bool(self.raw.closed)

    def close(self) -> None:
        """End it."""
        if self._timer is not None:
            self._timer.cancel()
        super().close()


def _cut(raw: Any) -> None:
    """End a connection whose server hangs: whoever waits for it gets an error."""
    with suppress(Exception):
        with socket.socket(fileno=socket.dup(raw.fileno())) as connection:
            connection.shutdown(socket.SHUT_RDWR)


class Postgres(Database):
    """A database of a server, named by its URL; the password is never printed."""

    kind = "postgres"
    shared = True
    lock = " FOR UPDATE"
    reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def __init__(self, place: str) -> None:
        self.driver = require(
            "psycopg", "truepool-serve[postgres]", "a ledger in PostgreSQL"
        )
        self.errors = (self.driver.Error,)
        self.place, self.name = place, display_name(place)
        self.password = _password(place)

    def connect(self, *, own: bool = False) -> Connection:
        """Return a new connection."""
        raw = self.driver.connect(
            self.place,
            autocommit=True,
            connect_timeout=PATIENCE,
            application_name="truepool",
            tcp_user_timeout=PATIENCE * 1000,
            keepalives_idle=PATIENCE,
            keepalives_interval=PATIENCE // 2 or 1,
            keepalives_count=2,
            options=(
                f"-c lock_timeout={PATIENCE}s -c synchronous_commit=on "
                f"-c idle_in_transaction_session_timeout={IDLE}s"
            ),
        )
        return PostgresConnection(raw, LONGEST_READ if own else None)

    def has_table(self, connection: Connection, name: str) -> bool:
        """Whether there is a table."""
        return connection.value("SELECT to_regclass(?)", name) is not None

    def exclude(self, connection: Connection) -> None:
        """Take turns with coordinators that start at the same time."""
        connection.execute(f"SELECT pg_advisory_xact_lock({MIGRATING})")

    def check(self, connection: Connection) -> None:
        """Refuse a server that does not wait for its disk."""
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            value = connection.value(f"SHOW {setting}")
            if value != "on":
                raise LedgerError(
                    f"the server of {self.name!r} must have {setting} = on; it has "
                    f"{value}, and would lose in a power cut what it has answered"
                )

    def revive(self, connection: Connection) -> Connection:
        """Return a new connection in place of one that is closed or broken."""
        if not connection.closed:
            try:
                connection.execute("SELECT 1")
                return connection
            except self.errors:  # the server was restarted, or ended it
                connection.close()
        return self.connect()

    def add_reports(
        self, connection: Connection, pool: int, rows: Sequence[Row], at: float
    ) -> bool:
        """Insert all rows by one statement."""
        cases, agents, values = (list(column) for column in zip(*rows, strict=True))
        given = (pool, at, cases, agents, values, pool)
        if len(rows) == 1:  # it is written, or it is not
            return bool(connection.raw.execute(ADD_REPORTS, given).rowcount)
        connection.execute("SAVEPOINT reports")
        written = int(connection.raw.execute(ADD_REPORTS, given).rowcount)
        if written < len(rows):
            connection.execute("ROLLBACK TO SAVEPOINT reports")
        connection.execute("RELEASE SAVEPOINT reports")
        return written == len(rows)

    def renumber(self, connection: Connection) -> None:
        """Move the sequences on."""
        for table in ("pools", "trail"):
            connection.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) "
                f"FROM {table} HAVING max(id) IS NOT NULL"
            )

    def error(self, error: Exception) -> LedgerError:
        """Say what is wrong, without the password."""
        sentence = str(error).strip().partition("\n")[0]
        if self.password:
            sentence = sentence.replace(self.password, "...")
        state = getattr(error, "sqlstate", None)
        kind = ContentionError if state in CONTENTION else LedgerError
        return kind(f"the ledger {self.name!r} cannot be used: {sentence}")


def _password(place: str) -> str | None:
    """Check a URL, and return its password."""
    secret = place.partition("://")[2].rpartition("@")[0]
    try:
        parts = urlsplit(place)
        sound = bool(parts.path.strip("/")) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or any(sign in secret for sign in "@/?# "):
        raise SettingError(
            "a ledger in PostgreSQL is named by "
            "postgresql://USER:PASSWORD@HOST:PORT/NAME; got "
            f"{display_name(place)!r:.100}. In a password, write @ as %40, / as %2F "
            "and so on, or leave it to PGPASSWORD."
        )
    return parts.password and unquote(parts.password)
