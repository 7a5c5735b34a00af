"""Records: what the ledger of a pool is made of, with one struct for each kind.

A record has what happened, and what followed from it. Its bytes in the ledger are JSON,
with a salt that keeps an erased one from being guessed; the hash of a record and of all
before it is the chain.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from truepool.core.errors import LedgerError
from truepool_serve.messages import AnyEndpoint, Pool, Report, Rule

START = bytes(32)
"""What the chain of hashes begins with."""


class RecordError(LedgerError):
    """A record that was changed, or that does not follow from those before it."""

    def __init__(self, record: int, sentence: str) -> None:
        super().__init__(sentence)
        self.record = record


class Record(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What happened. ``RESULTS`` are the fields that followed, by the rules."""

    KIND: ClassVar[str]
    RESULTS: ClassVar[tuple[str, ...]] = ()

    salt: str = ""
    by: str | None = None


class Create(Record, frozen=True, kw_only=True):
    """A pool was deployed."""

    KIND = "create"
    pool: Pool


class Join(Record, frozen=True, kw_only=True):
    """An agent joined, with the place where it answers if it is to be asked."""

    KIND = "join"
    agent: str
    endpoint: AnyEndpoint | None = None


class SetEndpoint(Join, frozen=True, kw_only=True):
    """An agent has a new place where it answers, or none."""

    KIND = "endpoint"


class Leave(Record, frozen=True, kw_only=True):
    """An agent left."""

    KIND = "leave"
    agent: str


class Challenge(Record, frozen=True, kw_only=True):
    """A rule runs in shadow mode from now on."""

    KIND = "challenge"
    name: str
    rule: Rule


class Promote(Record, frozen=True, kw_only=True):
    """A rule decides from now on."""

    KIND = "promote"
    name: str


class Withdraw(Record, frozen=True, kw_only=True):
    """A rule no longer runs."""

    KIND = "withdraw"
    name: str


class Decide(Record, frozen=True, kw_only=True):
    """A case was decided by its reports."""

    KIND = "decide"
    RESULTS = (
        "pooled", "decisions", "champion", "decision", "weights", "contributions",
    )  # fmt: skip
    reports: dict[str, Report]
    columns: dict[str, float] = {}
    missing: dict[str, str] = {}
    pooled: dict[str, list[float]] = {}
    decisions: dict[str, int] = {}
    champion: str = ""
    decision: int = -1
    weights: dict[str, float] | None = None
    contributions: dict[str, list[float]] | None = None


class Settle(Record, frozen=True, kw_only=True):
    """The outcome of a case, and what the rules that decided it learned.

    Of a rule with many numbers there is a hash. Older records have the weights, and are
    of a time when a refit was part of an outcome.
    """

    KIND = "settle"
    RESULTS = ("learned", "hashes")
    outcome: int
    rules: list[str]
    learned: dict[str, str] | UnsetType = UNSET
    hashes: dict[str, str] | UnsetType = UNSET
    weights: Any = UNSET


class Refit(Record, frozen=True, kw_only=True):
    """A rule goes on with pools that were fitted to settled cases, by their hashes."""

    KIND = "refit"
    rule: str
    cases: int
    pools: dict[str, str]


class Drop(Record, frozen=True, kw_only=True):
    """A decided case waits for no outcome any more."""

    KIND = "drop"
    rules: list[str]


class Erase(Record, frozen=True, kw_only=True):
    """Records of cases were erased."""

    KIND = "erase"
    entries: list[int]


class Snapshot(Record, frozen=True, kw_only=True):
    """The state after a record, by the hash of each part."""

    KIND = "snapshot"
    of: int
    states: dict[str, str]


KINDS: dict[str, type[Record]] = {
    kind.KIND: kind
    for kind in (
        Create, Join, SetEndpoint, Leave, Challenge, Promote, Withdraw, Decide, Settle,
        Refit, Drop, Erase, Snapshot,
    )
}  # fmt: skip
DECODERS = {name: msgspec.json.Decoder(kind) for name, kind in KINDS.items()}


def read(kind: str, body: bytes) -> Any:
    """Return the record in the bytes of a ledger."""
    if kind not in DECODERS:
        raise LedgerError(f"no record is called {kind!r:.40}; upgrade truepool")
    return DECODERS[kind].decode(body)


@dataclass(frozen=True)
class Entry:
    """One line of the ledger of a pool: a record and its place.

    ``body`` is None once the case was erased. ``digest`` is the hash of all the rest,
    and ``chain`` that of the chain before and the digest. ``fitted`` are the files of
    the pools whose hashes the record of a refit has, as far as they are kept.
    """

    n: int
    kind: str
    case: str | None
    at: float
    body: bytes | None
    digest: bytes
    chain: bytes
    fitted: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether it can be made again: nothing of it was erased."""
        if self.body is None:
            return False
        return self.kind != "refit" or set(self.record.pools.values()) <= set(
            self.fitted
        )

    @property
    def record(self) -> Any:
        """The record itself."""
        if self.body is None:
            raise RecordError(self.n, f"record {self.n} was erased")
        try:
            return read(self.kind, self.body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RecordError(
                self.n, f"record {self.n} ({self.kind}) cannot be read: {error}"
            ) from None

    def check(self, before: bytes) -> None:
        """Refuse an entry that was changed, or that does not follow the one before."""
        if self.body is not None and self.digest != digest(
            self.kind, self.case, self.at, self.body
        ):
            raise RecordError(
                self.n, f"record {self.n} was changed: its digest does not match"
            )
        if self.chain != sha256(before + self.digest).digest():
            raise RecordError(
                self.n,
                f"record {self.n} does not follow record {self.n - 1}: a record was "
                "changed, removed or inserted",
            )
        for mark, file in self.fitted.items():
            if sha256(file).hexdigest() != mark:
                raise RecordError(
                    self.n, f"the pool that record {self.n} is about was changed"
                )


def seal(
    record: Record,
    n: int,
    case: str | None,
    at: float,
    before: bytes,
    *,
    salt: str,
    by: str | None = None,
) -> Entry:
    """Return the entry of a record, after the chain of those before."""
    body = msgspec.json.encode(
        structs.replace(record, salt=salt, by=by), order="sorted"
    )
    mark = digest(record.KIND, case, at, body)
    chain = sha256(before + mark).digest()
    return Entry(n, record.KIND, case, at, body, mark, chain)


def digest(kind: str, case: str | None, at: float, body: bytes) -> bytes:
    """Hash of an entry; the salt in its body keeps an erased one from being guessed."""
    head = json.dumps([kind, case, float(at)])
    return sha256(head.encode() + b"\n" + body).digest()
