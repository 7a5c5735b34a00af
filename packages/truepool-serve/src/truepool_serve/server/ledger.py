"""The ledger: one writing connection, and what is read and written through it."""

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    bindparam,
    delete,
    exc,
    insert,
    inspect,
    select,
    text,
    update,
)

from truepool.core.errors import LedgerError, RequestError
from truepool_serve.server import schema
from truepool_serve.server.configuration import check_name
from truepool_serve.server.databases import Row, open_database
from truepool_serve.server.deployment import Entry

BLOCK = 10_000
"""Entries read at a time."""


@dataclass
class _Counts:
    """What is counted in a transaction, to be written once at its end."""

    waiting: dict[int, dict[int, int]] = field(default_factory=dict)
    changed: set[tuple[int, int]] = field(default_factory=set)
    last: dict[int, int] = field(default_factory=dict)

    def drop(self, pool: int) -> None:
        """Forget a pool that was deleted."""
        self.waiting.pop(pool, None)
        self.changed = {key for key in self.changed if key[0] != pool}
        self.last.pop(pool, None)


class Ledger:
    """An open ledger, written by one thread at a time.

    Parameters
    ----------
    place : path or text
        The file, or the URL of a database of PostgreSQL.
    create : bool
        Whether to make the file or the tables if they are not there.
    write : bool
        Whether it is written. One that is only read may be in use, or on a medium that
        cannot be written.
    """

    def __init__(
        self, place: str | Path, *, create: bool = True, write: bool = True
    ) -> None:
        self.database = open_database(str(place), create=create, write=write)
        self.shared = self.database.shared
        # Pools that no other coordinator can change before this transaction ends.
        self.locked: set[str] = set()
        self._counts = _Counts()
        try:
            self.connection = self.database.engine.connect()
            if write:
                self._prepare(create)
            else:
                self._check_version()
        except (exc.DBAPIError, LedgerError) as error:
            self.database.close()
            if isinstance(error, LedgerError):
                raise
            raise self.database.error(error) from None

    def close(self) -> None:
        """Close the ledger."""
        with suppress(*self.database.errors):  # on a full disk it stays as it is
            self.database.finish(self.connection)
        self.connection.close()
        self.database.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of a block, or nothing; it is durable when the block has ended."""
        try:
            self.connection = self.database.revive(self.connection)
            with self.connection.begin():
                self.locked.clear()
                if self.shared:
                    self._counts = _Counts()
                yield
                self._write_counts()
        except self.database.errors as error:
            # What a failed commit leaves open ends with its connection.
            if not self.connection.closed:
                self.connection.invalidate()
                self.connection.close()
            self._counts = _Counts()
            raise self.database.error(error) from None
        except BaseException:
            self._counts = _Counts()
            raise

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Let a block read one moment, whoever writes meanwhile."""
        with self.connection.begin():
            self.database.freeze(self.connection, own=False)
            yield

    @contextmanager
    def reader(self) -> Iterator[Connection]:
        """Yield a connection of its own that sees one moment and cannot write."""
        try:
            with self.database.engine.connect() as connection, connection.begin():
                self.database.freeze(connection, own=True)
                yield connection
        except exc.DBAPIError as error:
            raise self.database.error(error) from None

    def touch(self) -> None:
        """Write what is there already: it is refused where nothing can be written."""
        self._execute("UPDATE ledger SET version = version")

    # pools and entries

    def create_pool(self, name: str) -> int | None:
        """Add a pool without entries; None if another coordinator just did."""
        found = self.connection.execute(CREATE_POOL, {"name": name}).scalar()
        if found is not None:
            self.locked.add(name)
        return found

    def find_pool(self, name: str) -> int | None:
        """Return the number of a pool."""
        check_name("a pool", name)
        return self.connection.execute(FIND_POOL, {"name": name}).scalar()

    def pool_number(self, name: str) -> int:
        """Return the number of a pool that must be there."""
        number = self.find_pool(name)
        if number is None:
            known = ", ".join(self.pool_names()) or "none"
            raise RequestError(
                "unknown", f"there is no pool {name!r:.60}; known: {known}"
            )
        return number

    def lock_pool(self, name: str) -> int | None:
        """Keep other coordinators from changing a pool until the transaction ends.

        Returns its number.
        """
        check_name("a pool", name)
        statement = LOCK_POOL if self.shared else FIND_POOL
        found = self.connection.execute(statement, {"name": name}).scalar()
        if found is not None:
            self.locked.add(name)
        return found

    def delete_pool(self, pool: int, name: str) -> None:
        """Remove a pool, its records, and the tokens of its agents."""
        execute, refits = self.connection.execute, schema.entries.c.kind == "refit"
        rows = execute(
            select(schema.entries.c.pool, schema.entries.c.body).where(refits)
        )
        own: set[str] = set()
        others: set[str] = set()
        for owner, body in rows:
            marks = json.loads(body)["pools"].values()
            (own if owner == pool else others).update(marks)
        gone = list(own - others)
        execute(delete(schema.fitted).where(schema.fitted.c.hash.in_(gone)))
        for table in (schema.entries, schema.reports, schema.snapshots, schema.waiting):
            execute(delete(table).where(table.c.pool == pool))
        ended = update(schema.tokens).where(schema.tokens.c.pool == name)
        execute(ended.values(revoked=time.time()))
        execute(delete(schema.pools).where(schema.pools.c.id == pool))
        self._counts.drop(pool)
        self.locked.discard(name)

    def pool_names(self) -> list[str]:
        """Return the names of all pools."""
        return sorted(self.connection.execute(select(schema.pools.c.name)).scalars())

    def last_entry(self, pool: int) -> int:
        """Return the number of the last entry."""
        found = self.connection.execute(LAST_ENTRY, {"which": pool}).scalar()
        return int(found or 0)

    def append(self, pool: int, entry: Entry) -> None:
        """Write a new entry."""
        values = (entry.n, entry.kind, entry.case, entry.at, entry.body, entry.digest)
        self._execute(ADD_ENTRY, (pool, *values, entry.chain))
        self._counts.last[pool] = entry.n

    def find_entry(self, pool: int, case: str, kind: str) -> Entry | None:
        """Return the entry of a kind about a case."""
        row = self._execute(FIND_ENTRY, (pool, case, kind)).fetchone()
        return None if row is None else Entry(*row)

    def entries(self, pool: int, after: int = 0) -> Iterator[Entry]:
        """Yield the entries of a pool in their order."""
        while True:
            values = {"pool": pool, "after": after}
            rows = self.connection.execute(NEXT_ENTRIES, values).all()
            for row in rows:
                yield self._with_fitted(Entry(*row))
            if len(rows) < BLOCK:
                return
            after = rows[-1].n

    def _with_fitted(self, entry: Entry) -> Entry:
        """Add the pools that the entry of a refit names, where they are kept."""
        if entry.kind != "refit" or entry.body is None:
            return entry
        table, names = schema.fitted, list(entry.content["pools"].values())
        rows = self.connection.execute(
            select(table.c.hash, table.c.content).where(table.c.hash.in_(names))
        )
        return replace(entry, fitted={name: bytes(content) for name, content in rows})

    def add_fitted(self, contents: Mapping[str, bytes]) -> None:
        """Keep fitted pools by their hashes, each once."""
        table = schema.fitted
        known = set(
            self.connection.execute(
                select(table.c.hash).where(table.c.hash.in_(list(contents)))
            ).scalars()
        )
        new = [{"hash": h, "content": c} for h, c in contents.items() if h not in known]
        if new:
            self.connection.execute(insert(table), new)

    def erase_fitted(self, pool: int, before: float) -> int:
        """Remove the pools of refits before a time that no restart needs.

        A snapshot holds what its rules go on with.
        """
        table, newest = schema.entries, self.snapshot_numbers(pool)[-1:] or [0]
        rows = self.connection.execute(
            select(table.c.n, table.c.at, table.c.body).where(
                table.c.pool == pool, table.c.kind == "refit"
            )
        )
        old: set[str] = set()
        needed: set[str] = set()
        for n, at, body in rows:
            names = set(json.loads(body)["pools"].values())
            (old if n <= newest[0] and at < before else needed).update(names)
        gone = list(old - needed)
        statement = delete(schema.fitted).where(schema.fitted.c.hash.in_(gone))
        return int(self.connection.execute(statement).rowcount)

    def has_outcome(self, pool: int, rule: str) -> bool:
        """Whether a rule, since it was added, decided a case that was settled."""
        values = {"pool": pool}
        # Newest first and a few at a time: mostly the first one says it.
        with self.connection.execute(
            RULE_ENTRIES, values, execution_options={"yield_per": 100}
        ) as rows:
            for entry in (Entry(*row) for row in rows):
                if entry.kind == "settle" and rule in entry.content["rules"]:
                    return True
                if entry.kind == "challenge" and entry.content["name"] == rule:
                    return False
        return False

    # reports

    def add_reports(self, pool: int, rows: Sequence[Row], at: float) -> bool:
        """Write reports on cases that are not decided; False (and none) if any cannot.

        What cannot be written is there already, or is about a decided case.
        """
        written = self.database.add_reports(self.driver, pool, rows, at)
        if written:
            self.change_waiting(pool, Counter(map(itemgetter(1), rows)), 1)
        return written

    def waiting(self, pool: int) -> dict[int, int]:
        """Return how many reports of each agent are on cases that are not decided."""
        counts = self._counts.waiting
        if pool not in counts:
            counts[pool] = dict(self._execute(WAITING, (pool,)).fetchall())
        return counts[pool]

    def change_waiting(self, pool: int, agents: Mapping[int, int], sign: int) -> None:
        """Count reports that now wait for a decision, or no longer do."""
        waiting = self.waiting(pool)
        for agent, number in agents.items():
            waiting[agent] = waiting.get(agent, 0) + sign * number
            self._counts.changed.add((pool, agent))

    def _write_counts(self) -> None:
        """Write what was counted in a transaction, once for each agent."""
        for pool, agent in self._counts.changed:
            number = self._counts.waiting[pool][agent]
            self._execute(SET_WAITING, (pool, agent, number))
        for pool, number in self._counts.last.items():
            self._execute(SET_LAST, (number, pool))
        self._counts.changed.clear()
        self._counts.last.clear()

    def reports(self, pool: int, case: str) -> dict[int, bytes]:
        """Return the reports on a case by the number of the agent."""
        rows = self._execute(REPORTS, (pool, case)).fetchall()
        return {agent: bytes(value) for agent, value in rows}

    @property
    def driver(self) -> Any:
        """The connection of the driver, for statements that must be fast."""
        return self.connection.connection.driver_connection

    def _execute(self, statement: str, values: tuple[Any, ...] = ()) -> Any:
        return self.driver.execute(self.database.sql(statement), values)

    # snapshots, erasure

    def add_snapshot(self, pool: int, n: int, states: Mapping[str, bytes]) -> None:
        """Keep the states of the rules after an entry, and of older ones the last."""
        table = schema.snapshots
        older = [known for known in self.snapshot_numbers(pool) if known < n]
        self.connection.execute(
            delete(table).where(table.c.pool == pool, table.c.n.in_(older[:-1]))
        )
        rows = [
            {"pool": pool, "n": n, "rule": rule, "state": state}
            for rule, state in states.items()
        ]
        self.connection.execute(insert(table), rows)

    def snapshot(self, pool: int, n: int) -> dict[str, bytes]:
        """Return the states of the snapshot after an entry."""
        table = schema.snapshots
        rows = self.connection.execute(
            select(table.c.rule, table.c.state).where(
                table.c.pool == pool, table.c.n == n
            )
        )
        return {rule: bytes(state) for rule, state in rows}

    def snapshot_entries(self, pool: int, after: int) -> dict[int, Entry]:
        """Return the entries that bind snapshots after an entry to the chain."""
        table = schema.entries
        rows = self.connection.execute(
            select(*ENTRY).where(
                table.c.pool == pool, table.c.kind == "snapshot", table.c.n > after
            )
        )
        entries = [Entry(*row) for row in rows]
        return {entry.content["of"]: entry for entry in entries}

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
        waited = self.reports(pool, case)
        execute(delete(reports).where(reports.c.pool == pool, reports.c.case == case))
        changed = execute(
            update(entries)
            .where(entries.c.pool == pool, entries.c.case == case)
            .values(body=None, case=None)
        )
        if not changed.rowcount:  # the case was not decided
            self.change_waiting(pool, dict.fromkeys(waited, 1), -1)
        execute(
            delete(snapshots).where(
                snapshots.c.pool == pool, snapshots.c.n >= from_entry
            )
        )

    def _check_version(self) -> None:
        with self.connection.begin():
            known = inspect(self.connection).has_table(schema.ledger.name)
            version = select(schema.ledger.c.version)
            found = self.connection.execute(version).scalar() if known else 0
        if found != schema.VERSION:
            raise LedgerError(
                f"{self.database.name!r} must be a ledger of version {schema.VERSION}; "
                f"it has version {found}. Bring an older one up to date with truepool "
                "serve --check."
            )

    def _prepare(self, create: bool) -> None:
        """Make the tables, or bring those of an older version up to date."""
        with self.connection.begin():
            self.database.exclude(self.connection)
            self.database.check(self.connection)
            if not inspect(self.connection).has_table(schema.ledger.name):
                if not create:
                    raise LedgerError(f"there is no ledger in {self.database.name!r}")
                schema.metadata.create_all(self.connection)
            version = self.connection.execute(select(schema.ledger.c.version)).scalar()
            if version is None:
                row = insert(schema.ledger).values(version=schema.VERSION)
                self.connection.execute(row)
                return
            if version > schema.VERSION:
                raise LedgerError(
                    f"{self.database.name} has version {version} of the ledger; this "
                    f"truepool knows up to version {schema.VERSION}. Upgrade truepool."
                )
            schema.metadata.create_all(self.connection)
            for number in range(version + 1, schema.VERSION + 1):
                for statement in schema.MIGRATIONS[number]:
                    self.connection.exec_driver_sql(statement.format(now=time.time()))
            if version < schema.VERSION:
                newer = update(schema.ledger).values(version=schema.VERSION)
                self.connection.execute(newer)


CREATE_POOL = text(
    "INSERT INTO pools (name, last) VALUES (:name, 0) "
    "ON CONFLICT DO NOTHING RETURNING id"
)
FIND_POOL = select(schema.pools.c.id).where(schema.pools.c.name == bindparam("name"))
LOCK_POOL = FIND_POOL.with_for_update()
WAITING = "SELECT agent, number FROM waiting WHERE pool = ?"
SET_WAITING = (
    "INSERT INTO waiting (pool, agent, number) VALUES (?, ?, ?) "
    "ON CONFLICT (pool, agent) DO UPDATE SET number = excluded.number"
)
ENTRY = [schema.entries.c[name] for name in Entry.COLUMNS]
LAST_ENTRY = select(schema.pools.c.last).where(schema.pools.c.id == bindparam("which"))
SET_LAST = "UPDATE pools SET last = ? WHERE id = ?"
FIND_ENTRY = (
    'SELECT n, kind, "case", at, body, digest, chain FROM entries '
    'WHERE pool = ? AND "case" = ? AND kind = ?'
)
ADD_ENTRY = (
    'INSERT INTO entries (pool, n, kind, "case", at, body, digest, chain) '
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
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
RULE_ENTRIES = (
    select(*ENTRY)
    .where(
        schema.entries.c.pool == bindparam("pool"),
        schema.entries.c.kind.in_(("settle", "challenge")),
        schema.entries.c.body.is_not(None),
    )
    .order_by(schema.entries.c.n.desc())
)
REPORTS = 'SELECT agent, value FROM reports WHERE pool = ? AND "case" = ?'
