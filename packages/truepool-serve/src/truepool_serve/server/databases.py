"""Databases that hold a ledger: a file of SQLite, or PostgreSQL by its URL."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from truepool.core.errors import LedgerError

SCHEMES = ("postgresql://", "postgres://")
Row = tuple[str, int, bytes]
"""A report: case, number of the agent, coordinates."""
FASTEST_SYNC = 10e-6
"""Seconds; a disk that is faster keeps nothing, such as one in memory (tmpfs)."""


class ContentionError(LedgerError):
    """Two coordinators waited for each other, and this one gave way."""


class Connection:
    """A connection of a driver: statements with ? for values, and rows as tuples.

    The driver begins no transaction by itself.
    """

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement, and return the cursor of the driver."""
        return self.raw.execute(statement, values)

    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Return all rows of a question."""
        found: list[Any] = self.execute(statement, values).fetchall()
        return found

    def row(self, statement: str, *values: Any) -> Any:
        """Return the first row, or None."""
        return self.execute(statement, values).fetchone()

    def value(self, statement: str, *values: Any) -> Any:
        """Return the first value of the first row, or None."""
        found = self.row(statement, *values)
        return None if found is None else found[0]

    def stream(self, statement: str, *values: Any) -> Iterator[Any]:
        """Yield rows of which there may be many."""
        yield from self.execute(statement, values)

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Any]) -> None:
        """Insert rows into a table."""
        places = ", ".join("?" * len(columns))
        names = ", ".join(columns)
        statement = f"INSERT INTO {table} ({names}) VALUES ({places})"
        self.raw.cursor().executemany(self.translate(statement), rows)

    def translate(self, statement: str) -> str:
        """Return a statement as the driver wants it."""
        return statement

    @contextmanager
    def transaction(self, begin: str = "BEGIN") -> Iterator[None]:
        """Commit all of a block, or nothing."""
        self.execute(begin)
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            if not self.closed:
                with suppress(Exception):  # the first error is the one to tell
                    self.execute("ROLLBACK")
            raise

    @property
    def closed(self) -> bool:
        """Whether it was closed here."""
        return self.raw is None

    def close(self) -> None:
        """End it, and what it had begun."""
        raw, self.raw = self.raw, None
        if raw is not None:
            raw.close()


class Database(ABC):
    """Where a ledger is kept, and what its kind of database does in its own way.

    ``place`` names it, ``name`` is what may be printed. A ``shared`` database has
    several coordinators; ``lock`` ends a question that keeps them from a row.
    """

    kind: str
    place: str
    name: str
    shared: bool
    lock: str = ""
    reading: str = "BEGIN"
    """Begins a transaction that sees one moment."""
    log_is_missing: bool = False
    errors: tuple[type[Exception], ...]

    @abstractmethod
    def connect(self, *, own: bool = False) -> Connection:
        """Return a new connection; one's ``own`` beside the ledger's cannot write."""

    @abstractmethod
    def has_table(self, connection: Connection, name: str) -> bool:
        """Whether there is a table."""

    def exclude(self, connection: Connection) -> None:  # noqa: B027
        """Keep others from making or migrating the tables in this transaction."""

    @abstractmethod
    def check(self, connection: Connection) -> None:
        """Refuse a database whose commits a power cut would undo."""

    @abstractmethod
    def revive(self, connection: Connection) -> Connection:
        """Return a connection that works: this one, or a new one."""

    @abstractmethod
    def add_reports(
        self, connection: Connection, pool: int, rows: Sequence[Row], at: float
    ) -> bool:
        """Insert reports, all or none; none if one is there or on a decided case."""

    def renumber(self, connection: Connection) -> None:  # noqa: B027
        """Let new rows have numbers after those that were copied."""

    def sync_time(self) -> float | None:
        """Return the seconds that a disk takes to keep what it is given, if known."""
        return None

    def shrink(self) -> None:  # noqa: B027
        """Hand space that is no longer used back to the system."""

    def finish(self, connection: Connection) -> None:  # noqa: B027
        """Leave everything where a copy or a move of the database takes it along."""

    def close(self) -> None:  # noqa: B027
        """Let others in."""

    def error(self, error: Exception) -> LedgerError:
        """Say what is wrong with the database."""
        return LedgerError(f"the ledger {self.name!r} cannot be used: {error}")


def open_database(place: str, *, create: bool, write: bool = True) -> Database:
    """Return the database at a place: the URL of a server, or a file.

    One that is only read needs no lock, and may be in use or on a read-only medium.
    """
    if place.startswith(SCHEMES):
        from truepool_serve.server.postgres import Postgres

        return Postgres(place)
    from truepool_serve.server.sqlite import Sqlite

    return Sqlite(place, create=create, write=write)


def display_name(place: str) -> str:
    """Return a place as it may be printed: without a user, a password or options."""
    if not place.startswith(SCHEMES):
        return place
    _, _, rest = place.partition("://")
    address = rest.rpartition("@")[2].partition("?")[0]
    return f"postgresql://{address}"
