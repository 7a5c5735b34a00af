"""Tables of the ledger.

Every decision and every outcome is an entry with a number n in its pool. Order is that
number, never a time or an identity column. Reports wait in a table of their own until
the case is decided; the entry of the decision holds those it used.
"""

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

VERSION = 3
"""Version of these tables; a ledger of a newer version is refused."""

MIGRATIONS: dict[int, tuple[str, ...]] = {
    2: (
        "ALTER TABLE pools ADD COLUMN waiting INTEGER DEFAULT 0 NOT NULL",
        "UPDATE pools SET waiting = (SELECT count(*) FROM reports AS r WHERE "
        "r.pool = pools.id AND NOT EXISTS (SELECT 1 FROM entries AS e WHERE "
        'e.pool = r.pool AND e."case" = r."case"))',
        "ALTER TABLE tokens ADD COLUMN replaces TEXT",
        "ALTER TABLE trail ADD COLUMN role TEXT",
        "ALTER TABLE trail ADD COLUMN agent TEXT",
    ),
    # A token that another one replaces ends at a time; one that is revoked has ended.
    3: (
        "ALTER TABLE tokens ADD COLUMN until FLOAT",
        "UPDATE tokens SET until = revoked, revoked = NULL WHERE revoked > {now}",
        "ALTER TABLE trail ADD COLUMN chain TEXT",
        "ALTER TABLE ledger ADD COLUMN trail TEXT",
        "INSERT INTO waiting (pool, agent, number) SELECT r.pool, r.agent, count(*) "
        "FROM reports AS r WHERE NOT EXISTS (SELECT 1 FROM entries AS e WHERE "
        'e.pool = r.pool AND e."case" = r."case") GROUP BY r.pool, r.agent',
        "ALTER TABLE pools DROP COLUMN waiting",
    ),
}
"""What makes each version of the one before: plain SQL of SQLite and PostgreSQL.

New tables are made besides."""

metadata = MetaData()

ledger = Table(
    "ledger",
    metadata,
    Column("version", Integer, nullable=False),
    # The hash of the last action of the trail.
    Column("trail", Text),
)

pools = Table(
    "pools",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("last", Integer, nullable=False),
)

# Reports of each agent on cases that are not decided yet: what the limit is about.
waiting = Table(
    "waiting",
    metadata,
    Column("pool", Integer, primary_key=True),
    Column("agent", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, nullable=False),
    sqlite_with_rowid=False,
)

entries = Table(
    "entries",
    metadata,
    Column("pool", Integer, ForeignKey("pools.id"), primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("case", Text),
    Column("at", Float, nullable=False),
    # NULL once the case was erased; the digest stays, so that the chain can be checked.
    Column("body", LargeBinary),
    Column("digest", LargeBinary, nullable=False),
    Column("chain", LargeBinary, nullable=False),
    Index("entries_of_case", "pool", "case", "kind", unique=True),
)

reports = Table(
    "reports",
    metadata,
    Column("pool", Integer, primary_key=True),
    Column("case", Text, primary_key=True),
    Column("agent", Integer, primary_key=True, autoincrement=False),
    # Float64 coordinates: a column of floats would turn -0.0 into 0.0.
    Column("value", LargeBinary, nullable=False),
    Column("at", Float, nullable=False),
    sqlite_with_rowid=False,
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("pool", Integer, ForeignKey("pools.id"), primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("rule", Text, primary_key=True),
    Column("state", LargeBinary, nullable=False),
)

# Pools that were fitted to settled cases. An entry names one by its hash, so that the
# same is there once, and can be erased.
fitted = Table(
    "fitted",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("hash", LargeBinary, nullable=False),
    Column("role", Text, nullable=False),
    Column("pool", Text),
    Column("agent", Text),
    Column("created", Float, nullable=False),
    # When it was revoked, by a clock that may be wrong: what counts is that it was.
    Column("revoked", Float),
    Column("replaces", Text),
    Column("until", Float),
)

trail = Table(
    "trail",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("token", Text),
    Column("action", Text, nullable=False),
    Column("target", Text),
    Column("detail", Text),
    Column("role", Text),
    Column("agent", Text),
    # Hash of the action and of the one before; an older version made none.
    Column("chain", Text),
)
