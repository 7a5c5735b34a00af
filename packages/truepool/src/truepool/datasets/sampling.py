"""Which rows of a file are taken, and in what order."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from truepool.core.arrays import IntArray
from truepool.core.errors import SettingError

Seed: TypeAlias = int | np.random.Generator | None
"""Draws rows and their order; None leaves them as they were published."""


def generator(seed: Seed) -> np.random.Generator:
    """Return the generator of a seed, or say why there is none."""
    if seed is None:
        raise SettingError(
            "drawing rows needs a seed; got None. Pass seed=0, or take all rows."
        )
    if not isinstance(seed, np.random.Generator) and seed < 0:
        raise SettingError(f"a seed must not be negative; got {seed}")
    return np.random.default_rng(seed)


def check_seed(seed: Seed, rows: int | None) -> None:
    """Refuse, before a file is read, a seed that could not draw from it."""
    if seed is not None or rows is not None:
        generator(seed)


def sample_rows(rows: int | None, there: int, seed: Seed) -> IntArray:
    """Rows drawn without replacement from all, each as likely as any other.

    >>> sample_rows(None, 3, seed=None)
    array([0, 1, 2])
    """
    if rows is None and seed is None:
        return np.arange(there)
    order = generator(seed).permutation(there)
    if rows is None:
        return order
    if not 0 < rows <= there:
        raise SettingError(
            f"rows must be from 1 to {there:,}, which are all; got {rows}"
        )
    return order[:rows]


def sample_by_class(
    outcomes: IntArray, wanted: Sequence[int], seed: Seed, labels: Sequence[str]
) -> IntArray:
    """So many rows of each class, drawn without replacement, in random order.

    >>> sample_by_class(np.array([0, 0, 1]), [1, 1], 0, ["normal", "attack"])
    array([1, 2])
    """
    there = np.bincount(outcomes, minlength=len(labels))
    if not all(0 <= want <= have for want, have in zip(wanted, there, strict=True)):
        has, asks = (
            " and ".join(f"{n} {name}" for n, name in zip(counts, labels, strict=True))
            for counts in (there.tolist(), wanted)
        )
        raise SettingError(f"there are {has} rows to draw from; got {asks}")
    rng = generator(seed)
    parts = [
        rng.choice(np.flatnonzero(outcomes == k), want, replace=False)
        for k, want in enumerate(wanted)
    ]
    return rng.permutation(np.concatenate(parts))
