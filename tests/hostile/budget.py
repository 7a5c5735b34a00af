"""How long the hostile tests may take."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import pytest

T = TypeVar("T")

SECONDS = 150.0
"""What the commands and the extreme values may take in one process; what is left of three
minutes is for the state machines of streams."""


@dataclass
class Budget:
    """Seconds that are left, spent step by step in the order of the steps."""

    left: float
    clock: Callable[[], float] = time.monotonic

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


def say_if_cut(tried: int, total: int) -> None:
    """Skip what remains of a test, and say how much of it was tried."""
    if tried < total:
        pytest.skip(
            f"the {SECONDS:.0f} seconds for hostile input are over: {tried} of {total} "
            "tried, none at fault; make fuzz tries on"
        )


HOSTILE = Budget(SECONDS)
"""Shared by all tests of a process."""
