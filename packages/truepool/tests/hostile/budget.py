"""How long the hostile tests may take."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import pytest

T = TypeVar("T")

COMMANDS, VALUES = 130.0, 25.0
"""Seconds that the commands and the extreme values may take in one process; what is left of
three minutes is for the state machines of streams. Each has a time of its own: commands
once used up all of it, and no value was tried."""


@dataclass
class Budget:
    """Seconds that are left, spent step by step in the order of the steps."""

    seconds: float
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self.left = self.seconds

    def run(self, steps: Iterable[Callable[[], T]]) -> list[T]:
        """Results of the steps, as far as the time goes; a step that began is ended."""
        results: list[T] = []
        for step in steps:
            if self.left <= 0:
                break
            begin = self.clock()
            try:
                results.append(step())
            finally:
                self.left -= self.clock() - begin
        return results

    def say_if_cut(self, tried: int, total: int) -> None:
        """Skip what remains of a test, and say how much of it was tried."""
        if tried < total:
            pytest.skip(
                f"the {self.seconds:.0f} seconds for hostile input are over: {tried} of "
                f"{total} tried, none at fault; make fuzz tries on"
            )


HOSTILE_COMMANDS, HOSTILE_VALUES = Budget(COMMANDS), Budget(VALUES)
"""Shared by all tests of a process."""
