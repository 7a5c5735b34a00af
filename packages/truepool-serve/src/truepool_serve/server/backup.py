"""Backup and restore: a copy of a whole ledger, always a file of SQLite.

A backup is made while coordinators run. It is itself a ledger: it can be verified,
exported or served, and restored into another file or into PostgreSQL.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, exc, func, insert, select, update

from truepool.core.errors import LedgerError
from truepool.core.files import atomic_path, check_path
from truepool_serve.server import schema
from truepool_serve.server.databases import SCHEMES
from truepool_serve.server.ledger import BLOCK, Ledger
from truepool_serve.server.verification import verify

COPIED = [t for t in schema.metadata.sorted_tables if t is not schema.ledger]


def back_up(place: str, path: Path) -> int:
    """Write a ledger as it is at one moment to a file; return its number of entries."""
    with atomic_path(path) as unfinished:
        part = Path(f"{unfinished}.part")
        try:
            with _reader(place) as source, Ledger(part) as target:
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
    with _reader(str(backup)) as source:
        try:
            with Ledger(place) as target:
                return _fill(source, target)
        except BaseException:
            if not existed:
                for end in ("", "-wal", "-shm"):
                    Path(f"{place}{end}").unlink(missing_ok=True)
            raise


def _fill(source: Connection, target: Ledger) -> list[str]:
    with target.transaction():
        for table in (schema.pools, schema.tokens):
            if target.connection.execute(select(table).limit(1)).first():
                raise LedgerError(
                    f"a backup is restored into an empty ledger; "
                    f"{target.database.name!r} has {table.name}. Name another one."
                )
    with target.transaction():
        _copy(source, target, commit=False)
        target.database.renumber(target.connection)
        names = target.pool_names()
        for name in names:
            verify(target, name)
    return names


def _copy(source: Connection, target: Ledger, *, commit: bool = True) -> int:
    """Copy every row of every table, in one transaction."""
    if commit:
        with target.transaction():
            return _copy(source, target, commit=False)
    for table in COPIED:
        rows = source.execution_options(yield_per=BLOCK).execute(select(table))
        for block in rows.mappings().partitions():
            target.connection.execute(insert(table), [dict(row) for row in block])
    head = source.execute(select(schema.ledger.c.trail)).scalar()
    target.connection.execute(update(schema.ledger).values(trail=head))
    entries = select(func.count()).select_from(schema.entries)
    return int(target.connection.execute(entries).scalar() or 0)


@contextmanager
def _reader(place: str) -> Iterator[Connection]:
    """Yield a connection that reads one moment of a ledger, also of one in use."""
    with Ledger(place, write=False) as ledger:
        try:
            with ledger.moment():
                yield ledger.connection
        except exc.DBAPIError as error:
            raise ledger.database.error(error) from None
