"""Tables of the ledger, by version; ``sql/`` has them for each kind of database."""

from importlib.resources import files

VERSION = 3
"""Version of the tables; a ledger of a newer version is refused."""
TABLES = {
    "pools": ("id", "name", "last"),
    "entries": ("pool", "n", "kind", '"case"', "at", "body", "digest", "chain"),
    "reports": ("pool", '"case"', "agent", "value", "at"),
    "waiting": ("pool", "agent", "number"),
    "snapshots": ("pool", "n", "rule", "state"),
    "fitted": ("hash", "content"),
    "tokens": (
        "id", "hash", "role", "pool", "agent", "created", "revoked", "replaces",
        "until",
    ),
    "trail": (
        "id", "at", "token", "action", "target", "detail", "role", "agent", "chain",
    ),
}  # fmt: skip
"""Columns of the tables that a backup copies; in an older file their order differs."""
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


def tables(kind: str) -> list[str]:
    """Return the statements that make what is missing."""
    text = files(__package__).joinpath("sql", f"{kind}.sql").read_text()
    return [statement for part in text.split(";\n") if (statement := part.strip())]
