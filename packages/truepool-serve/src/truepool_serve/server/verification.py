"""Verification: make every record of a ledger again, and compare."""

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from truepool.core import archive
from truepool.core.errors import LedgerError
from truepool.online import persistence
from truepool_serve.server.access import verify_trail
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.records import START, RecordError
from truepool_serve.server.rules import name_pool
from truepool_serve.server.state import (
    TOLERANCE,
    Head,
    PoolState,
    check_snapshot,
    relative_difference,
)

TRAIL = "(trail)"
"""What stands for the trail of administration, which belongs to no pool."""


@dataclass(frozen=True)
class Verification:
    """What was found to be right: entries of one pool.

    ``replayed`` entries gave the same decisions and the same numbers within
    ``TOLERANCE``; of those, ``apart`` had other bits. Of entries from an erased case up
    to the next snapshot only the hashes can be checked.
    """

    pool: str
    entries: int
    replayed: int
    apart: int
    erased: int
    snapshots: int
    chain: str


@dataclass(frozen=True)
class Fault:
    """The first record of a pool that is not as it should be."""

    pool: str
    record: int
    reason: str


def verify_all(ledger: Ledger, pool: str | None = None) -> list[Verification | Fault]:
    """Verify a pool, or all of them, as they are at one moment."""
    found: list[Verification | Fault] = []
    with ledger.moment():
        if pool is None:
            try:
                verify_trail(ledger)
            except RecordError as error:
                found.append(Fault(TRAIL, error.record, str(error)))
        for name in ledger.pool_names() if pool is None else [pool]:
            try:
                found.append(verify(ledger, name))
            except RecordError as error:  # the other pools are verified all the same
                found.append(Fault(name, error.record, str(error)))
    return found


def verify(ledger: Ledger, pool: str) -> Verification:
    """Check the chain of a pool, make its entries and snapshots again, and compare.

    Each is made from what the one before it recorded, so that differences of the last
    bit do not add up.
    """
    number = ledger.find_pool(pool)
    if number is None:
        known = ", ".join(ledger.pool_names()) or "none"
        raise LedgerError(
            f"there is no pool {pool!r:.60} in the ledger; known: {known}"
        )
    with name_pool(pool):
        return _replay(ledger, pool, number)


def _replay(ledger: Ledger, pool: str, number: int) -> Verification:
    marks = set(ledger.snapshot_numbers(number))
    bound = ledger.snapshot_entries(number, min(marks, default=0))
    state: PoolState | None = PoolState()
    chain, n, replayed, apart, erased = START, 0, 0, 0, 0
    for entry in ledger.entries(number):
        n += 1
        if entry.n != n:
            raise RecordError(n, f"pool {pool!r}: record {n} is missing")
        entry.check(chain)
        chain = entry.chain
        if not entry.is_complete:
            erased, state = erased + (entry.body is None), None
        elif state is not None:
            apart += not state.verify(entry)
            replayed += 1
        if n in marks:
            states = ledger.snapshot(number, n)
            check_snapshot(n, states, bound.get(n))
            kept = PoolState.unpack(n, states)
            if state is not None:
                _compare(n, state.pack(), states)
            elif kept.chain != chain:
                raise RecordError(n, f"the snapshot after record {n} belongs elsewhere")
            state = kept
    if ledger.last_entry(number) != n:
        raise RecordError(
            n + 1,
            f"pool {pool!r} must have {ledger.last_entry(number)} records; there are "
            f"{n}: the last are missing",
        )
    return Verification(pool, n, replayed, apart, erased, len(marks), chain.hex())


def _compare(n: int, made: Mapping[str, bytes], kept: Mapping[str, bytes]) -> None:
    """Refuse a snapshot that differs from the state that the records give."""
    for name in {*made, *kept}:
        if name not in made or name not in kept:
            what = "other rules"
        elif relative_difference(_values(made[name]), _values(kept[name])) > TOLERANCE:
            what = f"another state of rule {name!r}" if name else "another pool"
        else:
            continue
        raise RecordError(
            n, f"the snapshot after record {n} has {what} than a replay gives"
        )


def _values(state: bytes) -> Any:
    """Everything in a state: of a pool, or of a rule and its arrays."""
    if not state:
        return None
    if state.startswith(b"{"):
        return msgspec.to_builtins(msgspec.json.decode(state, type=Head))
    kind = persistence.KIND
    manifest, members = archive.unpack(state, kind, Path("the snapshot"))
    arrays = {
        name: np.load(BytesIO(content), allow_pickle=False).astype(np.float64)
        for name, content in members.items()
        if name.endswith(".npy")
    }
    return manifest, arrays
