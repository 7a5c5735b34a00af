"""Backup and restore: a copy of a whole ledger, always a file of SQLite.

A backup is made while coordinators run. It is itself a ledger: it can be verified,
exported or served, and restored into another file or into PostgreSQL.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from truepool.core.errors import LedgerError
from truepool.core.files import atomic_path, check_path
from truepool_serve.server import schema
from truepool_serve.server.databases import SCHEMES
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.verification import verify


def back_up(place: str, path: Path) -> int:
    """Write a ledger as it is at one moment to a file; return its number of entries."""
    with atomic_path(path) as unfinished:
        part = Path(f"{unfinished}.part")
        try:
            with _source(place) as source, Ledger(part) as target:
                with target.transaction():
                    entries = _copy(source, target)
            os.replace(part, unfinished)
        finally:
            for end in ("", "-wal", "-shm"):
                Path(f"{part}{end}").unlink(missing_ok=True)
    return entries


def restore(backup: Path, place: str) -> list[str]:
    """Copy a backup into an empty ledger, if it can be verified; return its pools."""
    is_file = not place.startswith(SCHEMES)
    if is_file:
        check_path(place)
    existed = not is_file or Path(place).exists()
    with _source(str(backup)) as source:
        try:
            with Ledger(place) as target:
                return _fill(source, target)
        except BaseException:
            if not existed:
                for end in ("", "-wal", "-shm"):
                    Path(f"{place}{end}").unlink(missing_ok=True)
            raise


def _fill(source: Ledger, target: Ledger) -> list[str]:
    with target.transaction():
        for table in ("pools", "tokens"):
            if target.connection.row(f"SELECT 1 FROM {table}"):
                raise LedgerError(
                    f"a backup is restored into an empty ledger; "
                    f"{target.database.name!r} has {table}. Name another one."
                )
        _copy(source, target)
        target.database.renumber(target.connection)
        names = target.pool_names()
        for name in names:
            verify(target, name)
    return names


def _copy(source: Ledger, target: Ledger) -> int:
    """Copy every row of every table; return the number of entries."""
    for table, columns in schema.TABLES.items():
        rows = source.connection.stream(f"SELECT {', '.join(columns)} FROM {table}")
        target.connection.insert(table, columns, rows)
    head = source.connection.value("SELECT trail FROM ledger")
    target.connection.execute("UPDATE ledger SET trail = ?", (head,))
    return int(target.connection.value("SELECT count(*) FROM entries"))


@contextmanager
def _source(place: str) -> Iterator[Ledger]:
    """Yield a ledger as it is at one moment, also one in use."""
    with Ledger(place, write=False) as ledger, ledger.moment():
        yield ledger
