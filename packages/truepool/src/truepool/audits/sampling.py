"""What was estimated from a random part of the cases, and what was withheld."""

from dataclasses import dataclass, field

import numpy as np

from truepool.core.arrays import IntArray


@dataclass(frozen=True, eq=False)
class Sampling:
    """Random samples of the cases, with notes on what was sampled or withheld."""

    seed: int
    sampled: list[str] = field(default_factory=list)
    withheld: list[tuple[str, str]] = field(default_factory=list)

    def part(self, cases: IntArray, most: int, what: str) -> IntArray:
        """Return at most ``most`` of the cases, drawn at random, in their order."""
        if len(cases) <= most:
            return cases
        self.note(f"Estimated from {most:,} random cases: {what}.")
        rng = np.random.default_rng([self.seed, most])
        return np.sort(rng.choice(cases, most, replace=False))

    def note(self, sentence: str) -> None:
        """Record once that something was sampled."""
        if sentence not in self.sampled:
            self.sampled.append(sentence)

    def withhold(self, what: str, why: str) -> None:
        """Record what is left out, and why."""
        self.withheld.append((what, why.rstrip(".")))
