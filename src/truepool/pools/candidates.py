"""Pools that another pool chooses from or combines."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TypeVar

from truepool.core import registry
from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import SettingError
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.measures.folds import evaluation_cases, out_of_fold
from truepool.pools.interface import Pool, configure

Key = TypeVar("Key", bound=Hashable)

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


def scalable(pools: Sequence[str | Pool]) -> tuple[str | Pool, ...]:
    """Return those that read only the reports that were given.

    >>> scalable(("mean", "ridge", "vcg"))
    ('mean', 'vcg')
    """
    every = registry.names("pool")
    return tuple(
        pool
        for pool in pools
        if (every[pool] if isinstance(pool, str) else pool).scales
    )


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
    pools: Mapping[Key, Pool],
    panel: Panel,
    pairs: list[tuple[IntArray, IntArray]],
    case_weights: FloatArray | None = None,
    *,
    known: Mapping[Key, FloatArray] | None = None,
    required: Collection[Key] = (),
    progress: Callable[[Key, int, int], None] = lambda key, done, total: None,
) -> dict[Key, FloatArray]:
    """Out-of-fold probabilities (T', C) of the tested cases, by pool.

    ``known`` holds those of pools that need not be fitted again. A pool for which there
    are too few cases is left out; for a ``required`` one that is an error.
    """
    rows = evaluation_cases(pairs)
    pooled: dict[Key, FloatArray] = {}
    for done, (key, pool) in enumerate(pools.items()):
        progress(key, done, len(pools))
        try:
            pooled[key] = (
                known[key]
                if known and key in known
                else out_of_fold(pool, panel, pairs, case_weights)[rows]
            )
        except SettingError:
            if key in required:
                raise
    return pooled
