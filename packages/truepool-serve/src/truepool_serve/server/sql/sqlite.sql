-- Tables of a ledger in a file of SQLite. Every decision and every outcome is an entry with
-- a number n in its pool; order is that number, never a time or an identity column.

CREATE TABLE IF NOT EXISTS ledger (
    version INTEGER NOT NULL,
    trail TEXT -- hash of the last action of the trail
);

CREATE TABLE IF NOT EXISTS pools (
    id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    last INTEGER NOT NULL
);

-- The body is NULL once the case was erased; the digest stays, so that the chain can be
-- checked.
CREATE TABLE IF NOT EXISTS entries (
    pool INTEGER NOT NULL REFERENCES pools (id),
    n INTEGER NOT NULL,
    kind TEXT NOT NULL,
    "case" TEXT,
    at FLOAT NOT NULL,
    body BLOB,
    digest BLOB NOT NULL,
    chain BLOB NOT NULL,
    PRIMARY KEY (pool, n)
);

CREATE UNIQUE INDEX IF NOT EXISTS entries_of_case ON entries (pool, "case", kind);

-- Reports wait here until the case is decided; the entry of the decision holds those it
-- used. Values are float64 coordinates: a column of floats would turn -0.0 into 0.0.
CREATE TABLE IF NOT EXISTS reports (
    pool INTEGER NOT NULL,
    "case" TEXT NOT NULL,
    agent INTEGER NOT NULL,
    value BLOB NOT NULL,
    at FLOAT NOT NULL,
    PRIMARY KEY (pool, "case", agent)
) WITHOUT ROWID;

-- Reports of each agent on cases that are not decided yet: what the limit is about.
CREATE TABLE IF NOT EXISTS waiting (
    pool INTEGER NOT NULL,
    agent INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (pool, agent)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS snapshots (
    pool INTEGER NOT NULL REFERENCES pools (id),
    n INTEGER NOT NULL,
    rule TEXT NOT NULL,
    state BLOB NOT NULL,
    PRIMARY KEY (pool, n, rule)
);

-- Pools that were fitted to settled cases. An entry names one by its hash, so that the
-- same is there once, and can be erased.
CREATE TABLE IF NOT EXISTS fitted (
    hash TEXT NOT NULL PRIMARY KEY,
    content BLOB NOT NULL
);

-- Revoked: when it was, by a clock that may be wrong; what counts is that it was.
CREATE TABLE IF NOT EXISTS tokens (
    id TEXT NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL,
    role TEXT NOT NULL,
    pool TEXT,
    agent TEXT,
    created FLOAT NOT NULL,
    revoked FLOAT,
    replaces TEXT,
    until FLOAT
);

-- Chain: hash of the action and of the one before; an older version made none.
CREATE TABLE IF NOT EXISTS trail (
    id INTEGER NOT NULL PRIMARY KEY,
    at FLOAT NOT NULL,
    token TEXT,
    action TEXT NOT NULL,
    target TEXT,
    detail TEXT,
    role TEXT,
    agent TEXT,
    chain TEXT
);
