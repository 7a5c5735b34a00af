"""Verification: replay a ledger from its beginning, and compare."""

from dataclasses import dataclass

from truepool.core.errors import LedgerError
from truepool_serve.server.deployment import START, Deployment
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.rules import name_pool


@dataclass(frozen=True)
class Verification:
    """What was found to be right: entries of one pool.

    ``replayed`` entries gave the same decisions and weights, bit for bit. Of those from
    an erased case up to its erasure, when a snapshot was taken and those before were
    removed, only the hashes can be checked.
    """

    pool: str
    entries: int
    replayed: int
    erased: int
    snapshots: int
    chain: str


def verify(ledger: Ledger, pool: str) -> Verification:
    """Check the chain of a pool, replay it, and compare it with its snapshots."""
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
    deployment: Deployment | None = Deployment()
    chain, n, replayed, erased = START, 0, 0, 0
    for entry in ledger.entries(number):
        n += 1
        if entry.n != n:
            raise LedgerError(f"pool {pool!r}: record {n} is missing")
        entry.check(chain)
        chain = entry.chain
        if entry.body is None:
            erased, deployment = erased + 1, None
        elif deployment is not None:
            deployment.replay(entry)
            replayed += 1
        if n in marks:
            kept = Deployment.unpack(*ledger.snapshot(number, n))
            if deployment is not None:
                _compare(deployment, kept)
            elif kept.chain != chain:
                raise LedgerError(f"the snapshot after record {n} belongs elsewhere")
            deployment = kept
    if ledger.last_entry(number) != n:
        raise LedgerError(
            f"pool {pool!r} must have {ledger.last_entry(number)} records; there are "
            f"{n}: the last are missing"
        )
    return Verification(pool, n, replayed, erased, len(marks), chain.hex())


def _compare(replayed: Deployment, kept: Deployment) -> None:
    for name, rule in kept.rules.items():
        if name not in replayed.rules or (
            replayed.rules[name].fingerprint != rule.fingerprint
        ):
            raise LedgerError(
                f"the snapshot after record {replayed.n} has other weights of rule "
                f"{name!r} than a replay gives"
            )
