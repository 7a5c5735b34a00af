"""Reliability curves: what was said, bin by bin, and how often it came."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from truepool.arrays import FloatArray, IntArray
from truepool.lab import Row
from truepool.paper.interface import row

FEWEST = 10
"""Cases of a bin that is drawn: the share of fewer is luck."""


def curve(
    label: str, key: Sequence[Any], pooled: FloatArray, came: IntArray, bins: int
) -> list[Row]:
    """Rows of one curve over bins of equal width; an empty bin has none.

    >>> said = np.array([[0.1], [0.3], [0.9]])
    >>> rows = curve("fig:reliability", ["VCG"], said, np.array([0, 1, 1]), 2)
    >>> [(row["key"], row["column"], row["value"]) for row in rows[:3]]
    [(['VCG', 0], 'predicted', 0.2), (['VCG', 0], 'observed', 0.5),
     (['VCG', 0], 'cases', 2)]
    """
    said = pooled[:, 0]
    group = np.minimum((said * bins).astype(np.int64), bins - 1)
    rows = []
    for b in np.unique(group).tolist():
        there = group == b
        rows += [
            row(label, [*key, b], "predicted", said[there].mean()),
            row(label, [*key, b], "observed", came[there].mean()),
            row(label, [*key, b], "cases", there.sum()),
        ]
    return rows


def draw(axes: Any, rows: Sequence[Row], label: str, key: Sequence[Any]) -> None:
    """Draw one curve, called by the last part of its key, where cases are enough."""
    bins: dict[int, dict[str, float]] = {}
    for found in rows:
        if found["table"] == label and found["key"][:-1] == list(key):
            bins.setdefault(found["key"][-1], {})[found["column"]] = found["value"]
    points = [
        (there["predicted"], there["observed"])
        for there in bins.values()
        if there["cases"] >= FEWEST
    ]
    said, came = zip(*points, strict=True) if points else ((), ())
    axes.plot(said, came, marker="o", markersize=3, linewidth=1, label=key[-1])


def framed(axes: Any, title: str) -> None:
    """Draw the diagonal, and say what is what."""
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle=":")
    axes.set(xlabel="said", ylabel="came true", title=title, xlim=(0, 1), ylim=(0, 1))
