"""The unit of work: an experiment, a setting and a repeat, as a picklable value."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Cell:
    """One thing to measure, once.

    Random draws depend on the axis they are made for and on ``repeat``, never on the
    setting. Two settings of one repeat therefore see the same data, which makes them
    comparable in pairs, and no cell depends on which others ran, or in what order.
    """

    experiment: str
    setting: tuple[tuple[str, Any], ...]
    repeat: int

    def __getitem__(self, name: str) -> Any:
        return dict(self.setting)[name]

    @property
    def key(self) -> str:
        """What identifies the cell in a file of rows."""
        return json.dumps([self.experiment, self.setting, self.repeat])

    def seed(self, axis: str) -> int:
        """Seed of the draws for this axis in this repeat.

        >>> cell = Cell("regret", (("T", 100),), 0)
        >>> cell.seed("data") == Cell("regret", (("T", 500),), 0).seed("data")
        True
        >>> cell.seed("data") == cell.seed("model")
        False
        """
        text = f"{axis}:{self.repeat}".encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:4], "big")

    def rng(self, axis: str) -> np.random.Generator:
        """Generator for this axis in this repeat."""
        return np.random.default_rng(self.seed(axis))


def cells(
    experiment: str, repeats: int, axes: Mapping[str, Sequence[Any]] | None = None
) -> list[Cell]:
    """All settings of some axes, each repeated; repeats change slowest.

    >>> [(cell["n"], cell.repeat) for cell in cells("poa", 2, {"n": [2, 5]})]
    [(2, 0), (5, 0), (2, 1), (5, 1)]
    """
    axes = axes or {}
    settings: Iterable[tuple[Any, ...]] = product(*axes.values())
    named = [tuple(zip(axes, values, strict=True)) for values in settings]
    return [
        Cell(experiment, setting, repeat)
        for repeat in range(repeats)
        for setting in named
    ]
