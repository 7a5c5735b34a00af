"""Access: who may do what, by token and role.

A token is shown once and stored as a hash. An agent reports as itself and sees nothing
of the others; an operator decides, settles and reads; an admin may do everything.
Without any token the coordinator is open, which it allows on loopback only.
"""

import hmac
import secrets
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import insert, select, update

from truepool.core.errors import RequestError, SettingError
from truepool.server import schema
from truepool.server.ledger import Ledger

AGENT, OPERATOR, ADMIN = "agent", "operator", "admin"
ROLES = (AGENT, OPERATOR, ADMIN)
PERMISSIONS: dict[str, frozenset[str]] = {
    "report": frozenset({AGENT, ADMIN}),
    "see-own": frozenset({AGENT, OPERATOR, ADMIN}),
    "decide": frozenset({OPERATOR, ADMIN}),
    "settle": frozenset({OPERATOR, ADMIN}),
    "read": frozenset({OPERATOR, ADMIN}),
    "register": frozenset({ADMIN}),
    "erase": frozenset({ADMIN}),
    "tokens": frozenset({ADMIN}),
}
"""Which roles may do which operation."""


@dataclass(frozen=True)
class Caller:
    """Who sent a request; an agent belongs to one pool."""

    token: str | None
    role: str
    pool: str | None = None
    agent: str | None = None

    def check(self, operation: str, pool: str | None = None) -> None:
        """Refuse an operation that the role does not allow, or on another pool."""
        if self.role not in PERMISSIONS[operation]:
            raise RequestError(
                "forbidden", f"the role {self.role} does not allow to {operation}"
            )
        if self.pool is not None and pool != self.pool:
            raise RequestError("forbidden", "this token belongs to another pool")

    def check_agent(self, agent: str) -> None:
        """Refuse a report in the name of somebody else."""
        if self.agent is not None and agent != self.agent:
            raise RequestError(
                "forbidden", f"an agent reports as itself; this token is {self.agent!r}"
            )


ANYONE = Caller(None, ADMIN)
"""The caller of a coordinator without tokens."""


class Access:
    """The tokens of a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.known: dict[str, tuple[bytes, Caller]] = {}
        self.read()

    def read(self) -> None:
        """Read the tokens that are valid."""
        table = schema.tokens
        with self.ledger.reader() as connection:
            rows = connection.execute(select(table).where(table.c.revoked.is_(None)))
            self.known = {
                row.id: (row.hash, Caller(row.id, row.role, row.pool, row.agent))
                for row in rows
            }

    def identify(self, header: str | None) -> Caller:
        """Return the caller whose token an Authorization header holds."""
        if not self.known:
            return ANYONE
        scheme, _, token = (header or "").partition(" ")
        parts = token.split("_")
        if scheme.lower() == "bearer" and len(parts) == 3 and parts[0] == "tp":
            expected, caller = self.known.get(parts[1], (bytes(32), ANYONE))
            given = sha256(parts[2].encode()).digest()
            if hmac.compare_digest(given, expected):
                return caller
        raise RequestError(
            "unauthenticated",
            "a valid token is needed; send the header 'Authorization: Bearer TOKEN'",
        )

    def issue(
        self, role: str, pool: str | None = None, agent: str | None = None
    ) -> dict[str, Any]:
        """Make a token, inside a transaction; only here it can be read."""
        check_grant(role, pool, agent)
        name, secret = secrets.token_hex(8), secrets.token_hex(24)
        values = {
            "id": name,
            "hash": sha256(secret.encode()).digest(),
            "role": role,
            "pool": pool,
            "agent": agent,
            "created": time.time(),
        }
        self.ledger.connection.execute(insert(schema.tokens).values(**values))
        return {
            "id": name,
            "role": role,
            "pool": pool,
            "agent": agent,
            "token": f"tp_{name}_{secret}",
        }

    def revoke(self, name: str) -> dict[str, Any]:
        """Make a token invalid, inside a transaction."""
        table = schema.tokens
        statement = (
            update(table)
            .where(table.c.id == name, table.c.revoked.is_(None))
            .values(revoked=time.time())
        )
        if not self.ledger.connection.execute(statement).rowcount:
            raise RequestError("unknown", f"no token {name!r:.40} is valid")
        return {"id": name, "revoked": True}


def check_grant(role: str, pool: str | None, agent: str | None) -> None:
    """Refuse a token of no role, or of an agent of no pool."""
    if role not in ROLES:
        raise SettingError(f"a role is one of {', '.join(ROLES)}; got {role!r:.40}")
    if (role == AGENT) != (agent is not None) or (role == AGENT) != (pool is not None):
        raise SettingError(
            "a token of an agent names its pool and the agent; one of an operator "
            "or admin names neither"
        )


def record(
    ledger: Ledger, caller: Caller, action: str, target: str | None, detail: str = ""
) -> None:
    """Note in the trail who did what, inside the transaction that does it."""
    values = {
        "at": time.time(),
        "token": caller.token,
        "action": action,
        "target": target,
        "detail": detail or None,
    }
    ledger.connection.execute(insert(schema.trail).values(**values))
