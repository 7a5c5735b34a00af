"""Pools that another pool chooses from or combines."""

from collections.abc import Sequence

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import SettingError
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.measures.folds import evaluation_cases, out_of_fold
from truepool.pools.interface import Pool, configure

USUAL = (
    "mean",
    "median",
    "log-odds",
    "best-agent",
    "extremized",
    "platt",
    "beta",
    "brier",
    "vcg",
    "convex",
    "stacked-lr",
)
"""Each family once, none that is slow."""


def configure_all(
    candidates: Sequence[str | Pool],
    costs: Costs | None,
    threshold: float | None,
    seed: int,
) -> list[Pool]:
    """Return the candidates, ready to learn.

    >>> configure_all(("mean", "vcg"), None, 0.3, 0)
    [Mean(threshold=0.3), VCG(threshold=0.3)]
    """
    if isinstance(candidates, str):
        raise SettingError(f"candidates must be a list of pools; got {candidates!r}")
    return [
        configure(pool, costs=costs, threshold=threshold, seed=seed)
        for pool in candidates
    ]


def cross_validate(
    pools: Sequence[Pool],
    panel: Panel,
    pairs: list[tuple[IntArray, IntArray]],
    case_weights: FloatArray | None,
) -> tuple[list[Pool], list[FloatArray]]:
    """Return the pools that could be tried, and their probabilities out of fold.

    Probabilities (T', C) are those of the tested cases. A pool for which the cases are
    too few is left out.
    """
    rows = evaluation_cases(pairs)
    tried, pooled = [], []
    for pool in pools:
        try:
            pooled.append(out_of_fold(pool, panel, pairs, case_weights)[rows])
        except SettingError:
            continue
        tried.append(pool)
    return tried, pooled
