"""The last decisions of a pool, settled or not, in one short read."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, or_, select

from truepool_serve.server import schema


@dataclass(frozen=True)
class Decided:
    """A decision, and the outcome where it is known."""

    n: int
    case: str
    at: float
    content: dict[str, Any]
    outcome: int | None
    settled: int | None
    """Number of the entry of the outcome."""


def read_decided(
    connection: Connection, pool: int, last: int, after: int = 0
) -> list[Decided]:
    """Read the last decisions in their order; erased ones are gone.

    Only those that were made, or whose outcome came, ``after`` an entry.
    """
    decided, settled = schema.entries.alias("d"), schema.entries.alias("s")
    same = (
        (settled.c.pool == decided.c.pool)
        & (settled.c.case == decided.c.case)
        & (settled.c.kind == "settle")
    )
    statement = (
        select(
            decided.c.n,
            decided.c.case,
            decided.c.at,
            decided.c.body,
            settled.c.body,
            settled.c.n,
        )
        .outerjoin(settled, same)
        .where(
            decided.c.pool == pool,
            decided.c.kind == "decide",
            decided.c.body.is_not(None),
            or_(decided.c.n > after, settled.c.n > after),
        )
        .order_by(decided.c.n.desc())
        .limit(last)
    )
    rows = connection.execute(statement).all()
    return [
        Decided(
            n, case, at, json.loads(body), outcome and json.loads(outcome)["outcome"], m
        )
        for n, case, at, body, outcome, m in reversed(rows)
    ]


def read_joined(connection: Connection, pool: int, after: int) -> dict[str, int]:
    """Return the numbers of the entries by which agents joined after an entry."""
    table = schema.entries
    statement = select(table.c.n, table.c.body).where(
        table.c.pool == pool, table.c.n > after, table.c.kind == "join"
    )
    return {json.loads(body)["agent"]: n for n, body in connection.execute(statement)}


def count_entries(
    connection: Connection, pool: int, after: int
) -> tuple[int, dict[str, int]]:
    """Return the number of the last entry, and how many of each kind came after one.

    Those that were erased are not counted.
    """
    table = schema.entries
    statement = (
        select(table.c.kind, func.count(), func.max(table.c.n))
        .where(table.c.pool == pool, table.c.n > after, table.c.body.is_not(None))
        .group_by(table.c.kind)
    )
    rows = connection.execute(statement).all()
    last = max((int(top) for _, _, top in rows), default=after)
    return last, {kind: int(count) for kind, count, _ in rows}
