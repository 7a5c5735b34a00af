-- Tables of a ledger in PostgreSQL; sqlite.sql says what they hold.

CREATE TABLE IF NOT EXISTS ledger (
    version INTEGER NOT NULL,
    trail TEXT
);

CREATE TABLE IF NOT EXISTS pools (
    id SERIAL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    last INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS entries (
    pool INTEGER NOT NULL REFERENCES pools (id),
    n INTEGER NOT NULL,
    kind TEXT NOT NULL,
    "case" TEXT,
    at FLOAT NOT NULL,
    body BYTEA,
    digest BYTEA NOT NULL,
    chain BYTEA NOT NULL,
    PRIMARY KEY (pool, n)
);

CREATE UNIQUE INDEX IF NOT EXISTS entries_of_case ON entries (pool, "case", kind);

CREATE TABLE IF NOT EXISTS reports (
    pool INTEGER NOT NULL,
    "case" TEXT NOT NULL,
    agent INTEGER NOT NULL,
    value BYTEA NOT NULL,
    at FLOAT NOT NULL,
    PRIMARY KEY (pool, "case", agent)
);

CREATE TABLE IF NOT EXISTS waiting (
    pool INTEGER NOT NULL,
    agent INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (pool, agent)
);

CREATE TABLE IF NOT EXISTS snapshots (
    pool INTEGER NOT NULL REFERENCES pools (id),
    n INTEGER NOT NULL,
    rule TEXT NOT NULL,
    state BYTEA NOT NULL,
    PRIMARY KEY (pool, n, rule)
);

CREATE TABLE IF NOT EXISTS fitted (
    hash TEXT NOT NULL PRIMARY KEY,
    content BYTEA NOT NULL
);

CREATE TABLE IF NOT EXISTS tokens (
    id TEXT NOT NULL PRIMARY KEY,
    hash BYTEA NOT NULL,
    role TEXT NOT NULL,
    pool TEXT,
    agent TEXT,
    created FLOAT NOT NULL,
    revoked FLOAT,
    replaces TEXT,
    until FLOAT
);

CREATE TABLE IF NOT EXISTS trail (
    id SERIAL PRIMARY KEY,
    at FLOAT NOT NULL,
    token TEXT,
    action TEXT NOT NULL,
    target TEXT,
    detail TEXT,
    role TEXT,
    agent TEXT,
    chain TEXT
);
