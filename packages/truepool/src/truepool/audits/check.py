"""A check of the audit, and the cases it needs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.kinds import Kind
from truepool.audits.values import Subject


@dataclass(frozen=True)
class Check:
    """A named check of the outcome, the agents or the pool.

    One of the ``pool`` judges it as it is once the plan's steps about agents are done.
    With too few outcomes for an interval it is withheld, unless it works with
    ``few_cases``. A ``timed`` check runs only on cases with times. An ``unsplit`` one
    follows cases through time, or counts them: of a case whose life is split into
    several rows by updates, it sees the last row.
    """

    name: str
    run: Callable[[Evidence], Iterator[Candidate]]
    about: Subject = "agent"
    few_cases: bool = False
    timed: bool = False
    unsplit: bool = False
    as_sent: bool = False
    """Whether it sees reports of feeds that were stuck and work again."""
    as_decided: bool = False
    """Whether it judges the threshold in use, not the one that the plan leaves."""
    kinds: tuple[Kind, ...] = ()
    """Kinds of its own that the library does not know."""
