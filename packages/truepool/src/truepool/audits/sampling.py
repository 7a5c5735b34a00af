"""What was estimated from a random part of the cases, and what was withheld."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truepool.audits.values import Note
from truepool.core.arrays import IntArray


@dataclass(frozen=True, eq=False)
class Sampling:
    """Random samples of the cases, with notes on what was sampled or withheld."""

    seed: int
    notes: list[Note] = field(default_factory=list)
    withheld: list[Note] = field(default_factory=list)

    def part(self, cases: IntArray, most: int, note: str) -> IntArray:
        """Return at most ``most`` of the cases, drawn at random, in their order.

        If they are fewer, a note of this code is made.
        """
        if len(cases) <= most:
            return cases
        self.note(note, cases=most)
        rng = np.random.default_rng([self.seed, most])
        return np.sort(rng.choice(cases, most, replace=False))

    def note(self, code: str, **facts: Any) -> None:
        """Record once what was sampled or assumed."""
        note = Note(code, facts)
        if note not in self.notes:
            self.notes.append(note)

    def withhold(self, check: str, why: str) -> None:
        """Record what could not be tested, and why."""
        self.withheld.append(Note(check, {"why": why.rstrip(".")}))
