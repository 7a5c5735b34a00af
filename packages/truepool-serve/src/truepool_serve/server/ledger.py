"""The ledger: one writing connection, and what is read and written through it."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path

from truepool.core.errors import LedgerError, RequestError
from truepool_serve.messages import check_name
from truepool_serve.server import records, schema
from truepool_serve.server.databases import Connection, Row, open_database
from truepool_serve.server.records import Entry
from truepool_serve.server.settled import Decided

BLOCK = 10_000
"""Entries read at a time."""
MOST_CASES = 1_000_000
"""Cases that one answer may be about."""
ENTRY = 'n, kind, "case", at, body, digest, chain'
ADD_ENTRY = f"INSERT INTO entries (pool, {ENTRY}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
FIND_ENTRY = f'SELECT {ENTRY} FROM entries WHERE pool = ? AND "case" = ? AND kind = ?'
SET_WAITING = (
    "INSERT INTO waiting (pool, agent, number) VALUES (?, ?, ?) "
    "ON CONFLICT (pool, agent) DO UPDATE SET number = excluded.number"
)
COLUMNS = 'SELECT d.n, d."case", d.at, d.body, s.body, s.n FROM entries AS '
DECIDED = (
    f"{COLUMNS}d "
    'LEFT JOIN entries AS s ON s.pool = d.pool AND s."case" = d."case" '
    "AND s.kind = 'settle' WHERE d.pool = ? AND d.kind = 'decide' "
    "AND d.body IS NOT NULL"
)
"""Decisions with their outcomes; erased ones are gone."""
SETTLED_AFTER = (
    f"{COLUMNS}s CROSS JOIN entries AS d WHERE s.pool = ? AND s.n > ? "
    'AND s.kind = \'settle\' AND d.pool = s.pool AND d."case" = s."case" '
    "AND d.kind = 'decide' AND d.n <= ? AND d.body IS NOT NULL "
    "ORDER BY d.n DESC LIMIT ?"
)
"""Decisions up to an entry whose outcome came after it. SQLite looks through the tables
of a cross join in their order: here through few outcomes, not through all decisions."""


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
            self.connection = self.database.connect()
        except self.database.errors as error:
            self.database.close()
            raise self.database.error(error) from None
        try:
            if write:
                self._prepare(create)
            else:
                self._check_version()
        except self.database.errors as error:
            self._release()
            raise self.database.error(error) from None
        except BaseException:
            self._release()
            raise

    def _release(self) -> None:
        self.connection.close()
        self.database.close()

    def close(self) -> None:
        """Close the ledger."""
        with suppress(*self.database.errors):  # on a full disk it stays as it is
            self.database.finish(self.connection)
        self._release()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of a block, or nothing; it is durable when the block has ended."""
        try:
            self.connection = self.database.revive(self.connection)
            with self.connection.transaction():
                self.locked.clear()
                if self.shared:
                    self._counts = _Counts()
                yield
                self._write_counts()
        except self.database.errors as error:
            # What a failed commit leaves open ends with its connection.
            self.connection.close()
            self._counts = _Counts()
            raise self.database.error(error) from None
        except BaseException:
            self._counts = _Counts()
            raise

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Let a block read one moment, whoever writes meanwhile."""
        try:
            with self.connection.transaction(self.database.reading):
                yield
        except self.database.errors as error:
            raise self.database.error(error) from None

    @contextmanager
    def reader(self) -> Iterator["Reader"]:
        """Yield a connection of its own that sees one moment and cannot write."""
        try:
            connection = self.database.connect(own=True)
            try:
                with connection.transaction(self.database.reading):
                    yield Reader(connection)
            finally:
                connection.close()
        except self.database.errors as error:
            raise self.database.error(error) from None

    def touch(self) -> None:
        """Write what is there already: it is refused where nothing can be written."""
        self.connection.execute("UPDATE ledger SET version = version")

    # pools and entries

    def create_pool(self, name: str) -> int | None:
        """Add a pool without entries; None if another coordinator just did."""
        found: int | None = self.connection.value(
            "INSERT INTO pools (name, last) VALUES (?, 0) "
            "ON CONFLICT DO NOTHING RETURNING id",
            name,
        )
        if found is not None:
            self.locked.add(name)
        return found

    def find_pool(self, name: str) -> int | None:
        """Return the number of a pool."""
        check_name("a pool", name)
        found: int | None = self.connection.value(
            "SELECT id FROM pools WHERE name = ?", name
        )
        return found

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
        statement = f"SELECT id FROM pools WHERE name = ?{self.database.lock}"
        found: int | None = self.connection.value(statement, name)
        if found is not None:
            self.locked.add(name)
        return found

    def delete_pool(self, pool: int, name: str) -> None:
        """Remove a pool, its records, and the tokens of its agents."""
        execute = self.connection.execute
        own: set[str] = set()
        others: set[str] = set()
        for owner, body in self.connection.rows(
            "SELECT pool, body FROM entries WHERE kind = 'refit'"
        ):
            marks = records.read("refit", bytes(body)).pools.values()
            (own if owner == pool else others).update(marks)
        self._drop_fitted(own - others)
        for table in ("entries", "reports", "snapshots", "waiting"):
            execute(f"DELETE FROM {table} WHERE pool = ?", (pool,))
        execute("UPDATE tokens SET revoked = ? WHERE pool = ?", (time.time(), name))
        execute("DELETE FROM pools WHERE id = ?", (pool,))
        self._counts.drop(pool)
        self.locked.discard(name)

    def pool_names(self) -> list[str]:
        """Return the names of all pools."""
        return sorted(
            name for (name,) in self.connection.rows("SELECT name FROM pools")
        )

    def last_entry(self, pool: int) -> int:
        """Return the number of the last entry."""
        found = self.connection.value("SELECT last FROM pools WHERE id = ?", pool)
        return int(found or 0)

    def append(self, pool: int, entry: Entry) -> None:
        """Write a new entry."""
        values = (entry.n, entry.kind, entry.case, entry.at, entry.body, entry.digest)
        self.connection.execute(ADD_ENTRY, (pool, *values, entry.chain))
        self._counts.last[pool] = entry.n

    def find_entry(self, pool: int, case: str, kind: str) -> Entry | None:
        """Return the entry of a kind about a case."""
        row = self.connection.row(FIND_ENTRY, pool, case, kind)
        return None if row is None else Entry(*row)

    def entries(self, pool: int, after: int = 0) -> Iterator[Entry]:
        """Yield the entries of a pool in their order."""
        statement = (
            f"SELECT {ENTRY} FROM entries WHERE pool = ? AND n > ? ORDER BY n LIMIT ?"
        )
        while True:
            rows = self.connection.rows(statement, pool, after, BLOCK)
            for row in rows:
                yield self._with_fitted(Entry(*row))
            if len(rows) < BLOCK:
                return
            after = rows[-1][0]

    def _with_fitted(self, entry: Entry) -> Entry:
        """Add the pools that the entry of a refit names, where they are kept."""
        if entry.kind != "refit" or entry.body is None:
            return entry
        statement = "SELECT content FROM fitted WHERE hash = ?"
        found = {
            mark: self.connection.value(statement, mark)
            for mark in entry.record.pools.values()
        }
        kept = {mark: bytes(file) for mark, file in found.items() if file is not None}
        return replace(entry, fitted=kept)

    def add_fitted(self, contents: Mapping[str, bytes]) -> None:
        """Keep fitted pools by their hashes, each once."""
        for mark, content in contents.items():
            self.connection.execute(
                "INSERT INTO fitted (hash, content) VALUES (?, ?) "
                "ON CONFLICT DO NOTHING",
                (mark, content),
            )

    def erase_fitted(self, pool: int, before: float) -> int:
        """Remove the pools of refits before a time that no restart needs.

        A snapshot holds what its rules go on with.
        """
        newest = self.snapshot_numbers(pool)[-1:] or [0]
        old: set[str] = set()
        needed: set[str] = set()
        for n, at, body in self.connection.rows(
            "SELECT n, at, body FROM entries WHERE pool = ? AND kind = 'refit'", pool
        ):
            names = set(records.read("refit", bytes(body)).pools.values())
            (old if n <= newest[0] and at < before else needed).update(names)
        return self._drop_fitted(old - needed)

    def _drop_fitted(self, marks: set[str]) -> int:
        statement = "DELETE FROM fitted WHERE hash = ?"
        return sum(
            int(self.connection.execute(statement, (mark,)).rowcount) for mark in marks
        )

    def has_outcome(self, pool: int, rule: str) -> bool:
        """Whether a rule, since it was added, decided a case that was settled."""
        last = None
        while True:  # newest first and a few at a time: mostly the first one says it
            rows = self.connection.rows(
                f"SELECT {ENTRY} FROM entries WHERE pool = ? AND kind IN "
                "('settle', 'challenge') AND body IS NOT NULL AND n < ? "
                "ORDER BY n DESC LIMIT 100",
                pool,
                self.last_entry(pool) + BLOCK if last is None else last,
            )
            for entry in (Entry(*row) for row in rows):
                last = entry.n
                if entry.kind == "settle" and rule in entry.record.rules:
                    return True
                if entry.kind == "challenge" and entry.record.name == rule:
                    return False
            if not rows:
                return False

    # reports

    def add_reports(self, pool: int, rows: Sequence[Row], at: float) -> bool:
        """Write reports on cases that are not decided; False (and none) if any cannot.

        What cannot be written is there already, or is about a decided case.
        """
        written = self.database.add_reports(self.connection, pool, rows, at)
        if written:
            self.change_waiting(pool, Counter(map(itemgetter(1), rows)), 1)
        return written

    def waiting(self, pool: int) -> dict[int, int]:
        """Return how many reports of each agent are on cases that are not decided."""
        counts = self._counts.waiting
        if pool not in counts:
            counts[pool] = dict(
                self.connection.rows(
                    "SELECT agent, number FROM waiting WHERE pool = ?", pool
                )
            )
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
            self.connection.execute(SET_WAITING, (pool, agent, number))
        for pool, number in self._counts.last.items():
            self.connection.execute(
                "UPDATE pools SET last = ? WHERE id = ?", (number, pool)
            )
        self._counts.changed.clear()
        self._counts.last.clear()

    def reports(self, pool: int, case: str) -> dict[int, bytes]:
        """Return the reports on a case by the number of the agent."""
        rows = self.connection.rows(
            'SELECT agent, value FROM reports WHERE pool = ? AND "case" = ?', pool, case
        )
        return {agent: bytes(value) for agent, value in rows}

    # snapshots, erasure

    def add_snapshot(self, pool: int, n: int, states: Mapping[str, bytes]) -> None:
        """Keep the states of the rules after an entry, and of older ones the last."""
        older = [known for known in self.snapshot_numbers(pool) if known < n]
        for known in older[:-1]:
            self.connection.execute(
                "DELETE FROM snapshots WHERE pool = ? AND n = ?", (pool, known)
            )
        rows = ((pool, n, rule, state) for rule, state in states.items())
        self.connection.insert("snapshots", schema.TABLES["snapshots"], rows)

    def snapshot(self, pool: int, n: int) -> dict[str, bytes]:
        """Return the states of the snapshot after an entry."""
        rows = self.connection.rows(
            "SELECT rule, state FROM snapshots WHERE pool = ? AND n = ?", pool, n
        )
        return {rule: bytes(state) for rule, state in rows}

    def snapshot_entries(self, pool: int, after: int) -> dict[int, Entry]:
        """Return the entries that bind snapshots after an entry to the chain."""
        rows = self.connection.rows(
            f"SELECT {ENTRY} FROM entries WHERE pool = ? AND kind = 'snapshot' "
            "AND n > ?",
            pool,
            after,
        )
        entries = [Entry(*row) for row in rows]
        return {entry.record.of: entry for entry in entries}

    def snapshot_numbers(self, pool: int) -> list[int]:
        """Return the entries after which there is a snapshot."""
        statement = "SELECT DISTINCT n FROM snapshots WHERE pool = ?"
        return sorted(n for (n,) in self.connection.rows(statement, pool))

    def settled_before(self, pool: int, time: float) -> list[str]:
        """Return the cases that were settled before a time, oldest first."""
        rows = self.connection.rows(
            "SELECT \"case\" FROM entries WHERE pool = ? AND kind = 'settle' "
            'AND at < ? AND "case" IS NOT NULL ORDER BY n',
            pool,
            time,
        )
        return [case for (case,) in rows]

    def erase(self, pool: int, case: str, entries: Sequence[int]) -> None:
        """Remove the reports and the entries' content of a case.

        Snapshots between its first and its last entry may hold it, and go too.
        """
        execute, waited = self.connection.execute, self.reports(pool, case)
        execute('DELETE FROM reports WHERE pool = ? AND "case" = ?', (pool, case))
        changed = execute(
            'UPDATE entries SET body = NULL, "case" = NULL '
            'WHERE pool = ? AND "case" = ?',
            (pool, case),
        )
        if not changed.rowcount:  # the case was not decided
            self.change_waiting(pool, dict.fromkeys(waited, 1), -1)
        if entries:
            execute(
                "DELETE FROM snapshots WHERE pool = ? AND n >= ? AND n < ?",
                (pool, min(entries), max(entries)),
            )

    def _check_version(self) -> None:
        with self.moment():
            known = self.database.has_table(self.connection, "ledger")
            version = "SELECT version FROM ledger"
            found = self.connection.value(version) if known else 0
        if found != schema.VERSION:
            raise LedgerError(
                f"{self.database.name!r} must be a ledger of version {schema.VERSION}; "
                f"it has version {found}. Bring an older one up to date with truepool "
                "serve --check."
            )

    def _prepare(self, create: bool) -> None:
        """Make the tables, or bring those of an older version up to date."""
        with self.connection.transaction():
            self.database.exclude(self.connection)
            self.database.check(self.connection)
            known = self.database.has_table(self.connection, "ledger")
            if not known and not create:
                raise LedgerError(f"there is no ledger in {self.database.name!r}")
            version = None
            if known:
                version = self.connection.value("SELECT version FROM ledger")
            if version is not None and version > schema.VERSION:
                raise LedgerError(
                    f"{self.database.name} has version {version} of the ledger; this "
                    f"truepool knows up to version {schema.VERSION}. Upgrade truepool."
                )
            for statement in schema.tables(self.database.kind):
                self.connection.execute(statement)
            if version is None:
                self.connection.execute(
                    "INSERT INTO ledger (version) VALUES (?)", (schema.VERSION,)
                )
                return
            for number in range(version + 1, schema.VERSION + 1):
                for statement in schema.MIGRATIONS[number]:
                    self.connection.execute(statement.format(now=time.time()))
            if version < schema.VERSION:
                self.connection.execute(
                    "UPDATE ledger SET version = ?", (schema.VERSION,)
                )


class Reader:
    """What is read of a pool at one moment, by its number."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def settled(self, pool: int, last: int) -> list[Decided]:
        """Return the last settled cases, in the order of their outcomes."""
        if not 1 <= last <= MOST_CASES:
            raise RequestError(
                "invalid", f"ask for 1 to {MOST_CASES:,} cases; got {last}"
            )
        statement = f"{DECIDED} AND s.n IS NOT NULL ORDER BY s.n DESC LIMIT ?"
        return self._decided(statement, pool, last)

    def decided(self, pool: int, last: int, after: int = 0) -> list[Decided]:
        """Return the last decisions in their order.

        Only those that were made, or whose outcome came, ``after`` an entry.
        """
        found = self._decided(
            f"{DECIDED} AND d.n > ? ORDER BY d.n DESC LIMIT ?", pool, after, last
        )
        if not after:
            return found
        older = self._decided(SETTLED_AFTER, pool, after, after, last)
        return [*older, *found][-last:]

    def _decided(self, statement: str, *values: int) -> list[Decided]:
        return [
            Decided(
                n,
                case,
                at,
                records.read("decide", bytes(body)),
                None if outcome is None else records.read("settle", outcome).outcome,
                settled,
            )
            for n, case, at, body, outcome, settled in reversed(
                self.connection.rows(statement, *values)
            )
        ]

    def joined(self, pool: int, after: int) -> dict[str, int]:
        """Return the numbers of the entries by which agents joined after an entry."""
        rows = self.connection.rows(
            "SELECT n, body FROM entries WHERE pool = ? AND n > ? AND kind = 'join'",
            pool,
            after,
        )
        return {records.read("join", bytes(body)).agent: n for n, body in rows}

    def counts(self, pool: int, after: int) -> tuple[int, dict[str, int]]:
        """Return the number of the last entry, and of each kind how many came after.

        Those that were erased are not counted.
        """
        rows = self.connection.rows(
            "SELECT kind, count(*), max(n) FROM entries WHERE pool = ? AND n > ? "
            "AND body IS NOT NULL GROUP BY kind",
            pool,
            after,
        )
        last = max((int(top) for _, _, top in rows), default=after)
        return last, {kind: int(count) for kind, count, _ in rows}
