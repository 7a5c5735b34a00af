"""A topic of the audit: a check, and the cases it needs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence

Check: TypeAlias = Callable[[Evidence], Iterator[Candidate]]


@dataclass(frozen=True)
class Topic:
    """A named check.

    With too few outcomes for an interval it is withheld, unless it works with
    ``few_cases``. A ``timed`` check runs only on cases with times. An ``unsplit`` one
    follows cases through time, or counts them: of a case whose life is split into
    several rows by updates, it sees the last row.
    """

    name: str
    check: Check
    few_cases: bool = False
    timed: bool = False
    unsplit: bool = False
