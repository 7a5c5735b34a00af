"""A statement of an agent's contribution, in sentences."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from truepool.core.formatting import money, number, pluralize

INTERVALS = (
    "The intervals resample these cases; those of the dashboard also allow for cases "
    "not seen yet."
)


def describe(statement: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an agent contributed, what is not known, and what to beware of.

    >>> for line in describe({
    ...     "pool": "fraud", "agent": "ada", "start": 0.0, "end": None, "settled": 9,
    ...     "currency": "EUR", "level": 0.95, "reported": 7, "unknown": 1,
    ...     "total": [12.0, 3.0, 21.0], "per_case": [2.0, 0.5, 3.5], "warnings": ["x"],
    ...     "entries": 19, "chain": "ab" * 32, "seal": "cd" * 32}):
    ...     print(line)
    ada reported on 7 of 9 settled cases of fraud from 1970-01-01 00:00 UTC.
    Without its reports, decisions would have cost 12.0 EUR more (95 % interval 3.00
    to 21.0), 2.00 EUR per case that it reported on (0.500 to 3.50).
    The intervals resample these cases; those of the dashboard also allow for cases
    not seen yet.
    The contribution to 1 case is not known: the record does not say what each report
    changed.
    Warning: x
    Records: 19. Chain abababababababab, seal cdcdcdcdcdcdcdcd.
    """
    agent, known = statement["agent"], statement["reported"] - statement["unknown"]
    yield (
        f"{agent} reported on {statement['reported']:,} of "
        f"{pluralize(statement['settled'], 'settled case')} of {statement['pool']}"
        f"{_period(statement)}."
    )
    if known:
        yield _contribution(statement)
        if statement["total"][1] is not None:
            yield INTERVALS
    if statement["unknown"]:
        yield (
            f"The contribution to {pluralize(statement['unknown'], 'case')} is not "
            "known: the record does not say what each report changed."
        )
    for warning in statement["warnings"]:
        yield f"Warning: {warning}"
    yield (
        f"Records: {statement['entries']:,}. Chain {statement['chain'][:16]}, seal "
        f"{statement['seal'][:16]}."
    )


def _contribution(statement: Mapping[str, Any]) -> str:
    unit = statement["currency"] or ""
    total, low, high = statement["total"]
    mean, mean_low, mean_high = statement["per_case"]
    more = "more" if total >= 0 else "less"
    if low is None:
        return (
            f"Without its reports, decisions would have cost {money(abs(total), unit)} "
            f"{more}."
        )
    sign = 1 if total >= 0 else -1
    ends, mean_ends = (
        " to ".join(number(x) for x in sorted((sign * a, sign * b)))
        for a, b in ((low, high), (mean_low, mean_high))
    )
    return (
        f"Without its reports, decisions would have cost {money(abs(total), unit)} "
        f"{more} ({100 * statement['level']:g} % interval {ends}), "
        f"{money(abs(mean), unit)} per case that it reported on ({mean_ends})."
    )


def _period(statement: Mapping[str, Any]) -> str:
    words = ""
    for name, word in (("start", "from"), ("end", "before")):
        if statement[name] is not None:
            date = datetime.fromtimestamp(statement[name], UTC)
            words += f" {word} {date:%Y-%m-%d %H:%M} UTC"
    return words
