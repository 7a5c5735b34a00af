"""Access: who may do what, by token and role.

A token is shown once and stored as a hash. An agent reports as itself and sees nothing
of the others; an operator decides, settles and reads; an admin may do everything.
While there never was a token the coordinator is open, which it allows on loopback
only. Once there was one, it stays closed, also when all are revoked.
"""

import hmac
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from threading import Event, Thread
from typing import Any

from msgspec import structs

from truepool.core.errors import LedgerError, RequestError, SettingError
from truepool_serve.messages import Action, Revocation, Token, TokenState, check_name
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.records import RecordError

AGENT, OPERATOR, ADMIN, MONITOR = "agent", "operator", "admin", "monitor"
ROLES = (AGENT, OPERATOR, ADMIN, MONITOR)
PERMISSIONS: dict[str, frozenset[str]] = {
    "report": frozenset({AGENT, ADMIN}),
    "see-own": frozenset({AGENT, OPERATOR, ADMIN}),
    "decide": frozenset({OPERATOR, ADMIN}),
    "settle": frozenset({OPERATOR, ADMIN}),
    "read": frozenset({OPERATOR, ADMIN}),
    "register": frozenset({ADMIN}),
    "erase": frozenset({ADMIN}),
    "tokens": frozenset({ADMIN}),
    "trail": frozenset({ADMIN}),
    "metrics": frozenset({OPERATOR, ADMIN, MONITOR}),
}
"""Which roles may do which operation."""
READ_EVERY = 1.0
"""Seconds after which a coordinator knows the tokens that another one changed."""
LONGEST_GRACE = 30 * 86_400
"""Seconds that a token may stay valid after another has taken its place."""
LONGEST_TRAIL = 100_000
"""Actions in one answer."""
CHAINED = ("at", "token", "action", "target", "detail", "role", "agent")
"""What the hash of an action is made from, in this order."""


@dataclass(frozen=True)
class Caller:
    """Who sent a request; an agent belongs to one pool."""

    token: str | None
    role: str
    pool: str | None = None
    agent: str | None = None

    def check(self, operation: str, pool: str | None = None) -> None:
        """Refuse an operation that the role does not allow, or on another pool."""
        allowed = PERMISSIONS[operation]
        if self.role not in allowed:
            needed = " or ".join(role for role in ROLES if role in allowed)
            raise RequestError(
                "forbidden",
                f"{operation!r} needs a token of the role {needed}; this one has the "
                f"role {self.role}",
            )
        if self.pool is not None and pool != self.pool:
            raise RequestError("forbidden", "this token belongs to another pool")

    def check_agent(self, agent: str, case: str) -> None:
        """Refuse a report in the name of somebody else."""
        if self.agent is not None and agent != self.agent:
            raise RequestError(
                "forbidden",
                f"an agent reports as itself; this token is for {self.agent!r}, the "
                f"report on case {case!r:.60} is by {agent!r:.60}",
            )


ANYONE = Caller(None, ADMIN)
"""The caller of a coordinator without tokens."""


class RateLimiter:
    """At most so many requests per second of each token, after a burst of as many."""

    def __init__(self, rate: float | None) -> None:
        self.rate = rate
        self.left: dict[str, tuple[float, float]] = {}

    def take(self, token: str | None, now: float) -> None:
        """Count a request; refuse it where there were too many."""
        if self.rate is None or token is None:
            return
        left, before = self.left.get(token, (self.rate, now))
        left = min(self.rate, left + (now - before) * self.rate)
        # What is refused does not count, so that waiting always helps.
        self.left[token] = (left - 1.0 if left >= 1.0 else left), now
        if left < 1.0:
            raise RequestError(
                "too-many",
                f"a token may send {self.rate:g} requests per second; wait a second, "
                "or send batches",
            )


class Access:
    """The tokens of a ledger, and how often each may ask."""

    def __init__(self, ledger: Ledger, rate: float | None = None) -> None:
        self.ledger = ledger
        self.limiter = RateLimiter(rate)
        self.known: dict[str, tuple[bytes, float | None, Caller]] = {}
        self.is_open = False
        self.closed = Event()
        self.ended: list[str] = []
        self.on_end: Callable[[], Any] = list
        self.read()
        if ledger.shared:  # other coordinators make and revoke tokens too
            Thread(target=self._watch, name="tokens", daemon=True).start()

    def close(self) -> None:
        """Stop reading tokens."""
        self.closed.set()

    def read(self) -> None:
        """Read the tokens that are valid."""
        with self.ledger.reader() as reader:
            count = reader.connection.value("SELECT count(*) FROM tokens")
            rows = reader.connection.rows(
                "SELECT id, hash, until, role, pool, agent FROM tokens "
                "WHERE revoked IS NULL"
            )
        self.known = {
            name: (bytes(mark), until, Caller(name, role, pool, agent))
            for name, mark, until, role, pool, agent in rows
        }
        self.is_open = not count

    def _watch(self) -> None:
        while not self.closed.wait(READ_EVERY):
            try:
                self.read()
            except LedgerError:  # the database is away, and nothing is answered
                continue

    def identify(self, header: str | None) -> Caller:
        """Return the caller whose token an Authorization header holds."""
        if self.is_open:
            return ANYONE
        scheme, _, token = (header or "").partition(" ")
        parts = token.split("_")
        if scheme.lower() == "bearer" and len(parts) == 3 and parts[0] == "tp":
            none: tuple[bytes, float, Caller] = (bytes(32), 0.0, ANYONE)
            expected, until, caller = self.known.get(parts[1], none)
            given = sha256(parts[2].encode()).digest()
            if hmac.compare_digest(given, expected):
                if until is None or time.time() < until:
                    self.limiter.take(caller.token, time.monotonic())
                    return caller
                # It ended: no clock that is set back lets it live again.
                self.known.pop(parts[1], None)
                self.ended.append(parts[1])
                self.on_end()
        raise RequestError(
            "unauthenticated",
            "a valid token is needed; send the header 'Authorization: Bearer TOKEN'",
        )

    def issue(
        self,
        role: str,
        pool: str | None = None,
        agent: str | None = None,
        replaces: str | None = None,
    ) -> Token:
        """Make a token, inside a transaction; only here it can be read."""
        check_grant(role, pool, agent)
        name, secret = secrets.token_hex(8), secrets.token_hex(24)
        mark = sha256(secret.encode()).digest()
        self.ledger.connection.execute(
            "INSERT INTO tokens (id, hash, role, pool, agent, created, replaces) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (name, mark, role, pool, agent, time.time(), replaces),
        )
        token = f"tp_{name}_{secret}"
        return Token(id=name, role=role, pool=pool, agent=agent, token=token)

    def revoke(self, name: str, after: float = 0.0) -> Revocation:
        """Make a token invalid, now or some seconds later, inside a transaction."""
        self._valid(name)
        column = "until" if after else "revoked"
        self.ledger.connection.execute(
            f"UPDATE tokens SET {column} = ? WHERE id = ?", (time.time() + after, name)
        )
        return Revocation(id=name, revoked=True)

    def end(self) -> None:
        """Revoke the tokens whose time was seen to be over, inside a transaction."""
        while self.ended:
            self.ledger.connection.execute(
                "UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL",
                (time.time(), self.ended.pop()),
            )

    def rotate(self, name: str, grace: float) -> Token:
        """Make a token in place of another, which stays valid for some seconds."""
        if not 0 <= grace <= LONGEST_GRACE:
            raise SettingError(
                f"a grace must be 0 to {LONGEST_GRACE:,} seconds; got {grace:g}"
            )
        role, pool, agent = self._valid(name)
        self.revoke(name, grace)
        return self.issue(role, pool, agent, name)

    def list(self) -> "list[TokenState]":
        """Return all tokens, valid or not, without what is secret."""
        fields = TokenState.__struct_fields__
        rows = self.ledger.connection.rows(
            f"SELECT {', '.join(fields)} FROM tokens ORDER BY created"
        )
        return [TokenState(**dict(zip(fields, row, strict=True))) for row in rows]

    def _valid(self, name: str) -> tuple[str, str | None, str | None]:
        """Role, pool and agent of a token that is valid."""
        check_name("a token", name)
        row = self.ledger.connection.row(
            "SELECT role, pool, agent, until FROM tokens "
            "WHERE id = ? AND revoked IS NULL",
            name,
        )
        if row is None or (row[3] is not None and row[3] <= time.time()):
            raise RequestError("unknown", f"no token {name!r:.40} is valid")
        role, pool, agent, _ = row
        return role, pool, agent


def check_grant(role: str, pool: str | None, agent: str | None) -> None:
    """Refuse a token of no role, or of an agent of no pool."""
    if role not in ROLES:
        raise SettingError(f"a role is one of {', '.join(ROLES)}; got {role!r:.40}")
    if (role == AGENT) != (agent is not None) or (role == AGENT) != (pool is not None):
        raise SettingError(
            "a token of an agent names its pool and the agent; one of another role "
            "names neither"
        )


def record(
    ledger: Ledger,
    caller: Caller,
    action_name: str,
    target: str | None,
    detail: str = "",
) -> None:
    """Note in the trail who did what, inside the transaction that does it."""
    action = Action(
        at=time.time(),
        token=caller.token,
        role=caller.role,
        agent=caller.agent,
        action=action_name,
        target=target,
        detail=detail or None,
    )
    connection = ledger.connection
    # In PostgreSQL the row is locked: the actions have one order.
    last = connection.value(f"SELECT trail FROM ledger{ledger.database.lock}")
    values = structs.asdict(action) | {"chain": _chain(last, action)}
    connection.insert("trail", list(values), [list(values.values())])
    connection.execute("UPDATE ledger SET trail = ?", (values["chain"],))


def _chain(last: str | None, action: Action) -> str:
    content = json.dumps([last, *(getattr(action, name) for name in CHAINED)])
    return sha256(content.encode()).hexdigest()


def verify_trail(ledger: Ledger) -> int:
    """Refuse a trail that was changed; return its number of actions."""
    count, last = 0, None
    statement = f"SELECT id, chain, {', '.join(CHAINED)} FROM trail ORDER BY id"
    for number, chain, *values in ledger.connection.stream(statement):
        count += 1
        if chain is None and last is None:
            continue  # an older version made no hashes
        action = Action(**dict(zip(CHAINED, values, strict=True)))
        if chain != _chain(last, action):
            raise RecordError(
                number,
                f"action {number} of the trail was changed, or follows one that was",
            )
        last = chain
    if last != ledger.connection.value("SELECT trail FROM ledger"):
        raise RecordError(
            count + 1, f"the trail has {count} actions: the last are missing"
        )
    return count


def read_trail(ledger: Ledger, last: int) -> "list[Action]":
    """Return who did what: the last actions, oldest first."""
    if not 1 <= last <= LONGEST_TRAIL:
        raise RequestError(
            "invalid", f"ask for 1 to {LONGEST_TRAIL:,} actions; got {last}"
        )
    rows = ledger.connection.rows(
        f"SELECT {', '.join(CHAINED)} FROM trail ORDER BY at DESC, id DESC LIMIT ?",
        last,
    )
    return [Action(**dict(zip(CHAINED, row, strict=True))) for row in reversed(rows)]
