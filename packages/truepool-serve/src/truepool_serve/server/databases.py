"""Databases that hold a ledger: a file of SQLite, or PostgreSQL by its URL."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine, exc

from truepool.core.errors import LedgerError

SCHEMES = ("postgresql://", "postgres://")
Row = tuple[str, int, bytes]
"""A report: case, number of the agent, coordinates."""


FASTEST_SYNC = 10e-6
"""Seconds; a disk that is faster keeps nothing, such as one in memory (tmpfs)."""


class ContentionError(LedgerError):
    """Two coordinators waited for each other, and this one gave way."""


class Database(ABC):
    """Where a ledger is kept, and what its kind of database does in its own way.

    ``place`` names it, ``name`` is what may be printed. A ``shared`` database has
    several coordinators.
    """

    place: str
    name: str
    shared: bool
    engine: Engine
    log_is_missing: bool = False
    errors: tuple[type[Exception], ...]

    @abstractmethod
    def sql(self, statement: str) -> str:
        """Return a statement with ? as the driver wants its parameters."""

    @abstractmethod
    def exclude(self, connection: Connection) -> None:
        """Keep others from making or migrating the tables in this transaction."""

    @abstractmethod
    def check(self, connection: Connection) -> None:
        """Refuse a database whose commits a power cut would undo."""

    @abstractmethod
    def revive(self, connection: Connection) -> Connection:
        """Return a connection that works: this one, or a new one."""

    @abstractmethod
    def freeze(self, connection: Connection, *, own: bool) -> None:
        """Let a transaction see one moment; its ``own`` connection cannot write."""

    @abstractmethod
    def add_reports(
        self, driver: Any, pool: int, rows: Sequence[Row], at: float
    ) -> bool:
        """Insert reports, all or none; none if one is there or on a decided case."""

    @abstractmethod
    def renumber(self, connection: Connection) -> None:
        """Let new rows have numbers after those that were copied."""

    @abstractmethod
    def sync_time(self) -> float | None:
        """Return the seconds that a disk takes to keep what it is given, if known."""

    @abstractmethod
    def shrink(self) -> None:
        """Hand space that is no longer used back to the system."""

    @abstractmethod
    def finish(self, connection: Connection) -> None:
        """Leave everything where a copy or a move of the database takes it along."""

    @abstractmethod
    def close(self) -> None:
        """Let others in."""

    def error(self, error: Exception) -> LedgerError:
        """Say what is wrong with the database."""
        cause = database_error(error)
        return LedgerError(f"the ledger {self.name!r} cannot be used: {cause}")


def database_error(error: BaseException) -> BaseException:
    """Return what a driver raised, without the wrapping of SQLAlchemy."""
    if isinstance(error, exc.DBAPIError) and error.orig is not None:
        return error.orig
    return error


def open_database(place: str, *, create: bool, write: bool = True) -> Database:
    """Return the database at a place: the URL of a server, or a file.

    One that is only read needs no lock, and may be in use or on a read-only medium.
    """
    if place.startswith(SCHEMES):
        from truepool_serve.server.postgres import Postgres

        return Postgres(place, write=write)
    from truepool_serve.server.sqlite import Sqlite

    return Sqlite(place, create=create, write=write)


def display_name(place: str) -> str:
    """Return a place as it may be printed: without a user, a password or options."""
    if not place.startswith(SCHEMES):
        return place
    _, _, rest = place.partition("://")
    address = rest.rpartition("@")[2].partition("?")[0]
    return f"postgresql://{address}"
