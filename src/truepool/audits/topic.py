"""What a topic is: a question asked of every audit, and the cases it takes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from truepool.audits.evidence import Evidence
from truepool.audits.suspicion import Suspicion

Check: TypeAlias = Callable[[Evidence], Iterator[Suspicion]]


@dataclass(frozen=True)
class Topic:
    """A named check.

    With too few outcomes for an interval it is withheld, unless it has
    ``few_cases``. One that is ``timed`` is asked only of cases with times.
    """

    name: str
    check: Check
    few_cases: bool = False
    timed: bool = False
