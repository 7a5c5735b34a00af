"""What was looked at through fewer cases than there are, and what was not said."""

from dataclasses import dataclass, field

import numpy as np

from truepool.core.arrays import IntArray

LEARN = 50_000
"""Whatever learns does so from at most this many cases of a fold."""


@dataclass(frozen=True, eq=False)
class Sampling:
    """Random parts of the cases by seed, and a note of each kind that was drawn."""

    seed: int
    sampled: list[str] = field(default_factory=list)
    withheld: list[tuple[str, str]] = field(default_factory=list)

    def part(self, cases: IntArray, most: int, what: str) -> IntArray:
        """At most so many of the cases, drawn at random, in their order."""
        if len(cases) <= most:
            return cases
        self.note(f"Estimated from {most:,} random cases: {what}.")
        return self._drawn(cases, most)

    def lessons(self, cases: IntArray) -> IntArray:
        """Cases to learn from: at most `LEARN` of these."""
        if len(cases) <= LEARN:
            return cases
        self.note(f"Whatever learns did so from {LEARN:,} random cases of its fold.")
        return self._drawn(cases, LEARN)

    def note(self, sentence: str) -> None:
        """Say once that something was sampled."""
        if sentence not in self.sampled:
            self.sampled.append(sentence)

    def withhold(self, what: str, why: str) -> None:
        """Say what is not said, and why."""
        self.withheld.append((what, why))

    def _drawn(self, cases: IntArray, most: int) -> IntArray:
        rng = np.random.default_rng([self.seed, most])
        return np.sort(rng.choice(cases, most, replace=False))
