"""Checks of other distributions: tested at the border of the audit."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import Any

from truepool.audits import kinds
from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.evidence import Evidence
from truepool.audits.values import SEVERITIES, Detail
from truepool.comparison import Estimate
from truepool.core import plugins

GRADES = ", ".join(SEVERITIES)


def load_check(entry: EntryPoint) -> Check:
    """Return the check of an entry point, with its errors as one sentence each."""
    check = plugins.load(entry)
    if not isinstance(check, Check):
        raise plugins.refuse(entry, "be a truepool.audits.checks.Check", check)
    taken = {kind.code for kind in kinds.TABLE}
    for kind in check.kinds:
        if kind.code in taken or kind.subject != check.about:
            must = f"bring kinds of its own, about the {check.about}"
            raise plugins.refuse(entry, must, kind)

    def run(evidence: Evidence) -> Iterator[Candidate]:
        with plugins.blame(entry, "failed"):
            candidates = check.run(evidence)
            if not isinstance(candidates, Iterable):
                raise plugins.refuse(entry, "yield candidates", candidates)
            for candidate in candidates:
                _check(entry, candidate, evidence.panel.agents)
                yield replace(candidate, price=_price(entry, candidate))

    return replace(check, run=run)


def _check(entry: EntryPoint, candidate: Any, agents: tuple[str, ...]) -> None:
    """Refuse what would fail, or mislead, once the audit is shown."""
    if not isinstance(candidate, Candidate):
        raise plugins.refuse(entry, "yield objects of the class Candidate", candidate)
    who, p, number = candidate.who, candidate.p_value, candidate.number
    least, most, details = candidate.least, candidate.most, candidate.details
    facts = candidate.facts
    known = isinstance(who, tuple) and set(who) <= {*agents}
    rules = (
        ("give the code of one of its kinds", candidate.code,
         candidate.code in kinds.every()),
        (f"name a tuple of agents among {', '.join(agents)}", who, known),
        ("give a p-value in [0, 1] or None", p, p is None or 0 <= p <= 1),
        (f"give a `least` among {GRADES}", least, least in (*SEVERITIES, None)),
        (f"give a `most` among {GRADES}", most, most in SEVERITIES),
        ("give a mapping as `facts`", facts, isinstance(facts, Mapping)),
        ("give an Estimate or None as `number`", number, _is_estimate(number)),
        ("give a tuple of Detail as `details`", details, _all_details(details)),
    )  # fmt: skip
    for must, got, holds in rules:
        if not holds:
            raise plugins.refuse(entry, must, got)


def _all_details(values: Any) -> bool:
    return isinstance(values, tuple) and all(
        isinstance(value, Detail) and isinstance(value.value, Estimate)
        for value in values
    )


def _is_estimate(value: Any) -> bool:
    return value is None or isinstance(value, Estimate)


def _price(
    entry: EntryPoint, candidate: Candidate
) -> Callable[[], Estimate | None] | None:
    """Return the price of a candidate, checked when it is asked for."""
    price = candidate.price
    if price is None:
        return None

    def checked() -> Estimate | None:
        with plugins.blame(entry, "failed"):
            value = price()
            if not _is_estimate(value):
                raise plugins.refuse(
                    entry, "return an Estimate or None as price", value
                )
            return value

    return checked
