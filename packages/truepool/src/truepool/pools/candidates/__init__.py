"""Pools that another pool chooses from or combines."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import TypeVar

from sklearn.base import clone

from truepool.core import registry
from truepool.core.arrays import FloatArray, IntArray
from truepool.core.engine import Engine, Processes, one_blas_thread
from truepool.core.errors import SettingError
from truepool.measures.folds import evaluation_cases, merge_folds, predict, thin
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
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
    kept: dict[Key, list[Pool]] | None = None,
    progress: Callable[[Key, int, int], None] = lambda key, done, total: None,
    engine: Engine | None = None,
) -> dict[Key, FloatArray]:
    """Out-of-fold probabilities (T', C) of the tested cases, by pool.

    ``known`` holds those of pools that need not be fitted again. A pool for which there
    are too few cases is left out; for a ``required`` one that is an error. Each pool is
    fitted to each fold by the ``engine``, by default in this process. For each key of
    ``kept`` the pools of the folds are put there.
    """
    rows, known = evaluation_cases(pairs), known or {}
    unknown = {key: pool for key, pool in pools.items() if key not in known}
    kept = {} if kept is None else kept
    keep = frozenset(n for n, key in enumerate(unknown) if key in kept)
    refused: dict[int, SettingError] = {}
    for n, pool in enumerate(unknown.values()):  # once, and not on each fold
        try:
            pool.check(panel)
        except SettingError as error:
            refused[n] = error
    fit = FoldFit(tuple(unknown.values()), panel, pairs, case_weights, keep, refused)
    places = product(range(len(unknown)), range(len(pairs)))
    fitted = (engine or Processes()).map(fit, places)
    pooled: dict[Key, FloatArray] = {}
    for done, key in enumerate(pools):
        progress(key, done, len(pools))
        if key in known:
            pooled[key] = known[key]
            continue
        tested = list(islice(fitted, len(pairs)))
        errors = [part for part in tested if isinstance(part, SettingError)]
        if errors and key in required:
            raise errors[0]
        if not errors:
            parts = [part for part in tested if not isinstance(part, SettingError)]
            pooled[key] = merge_folds(panel, pairs, [part[0] for part in parts])[rows]
            if key in kept:
                kept[key] += [part[1] for part in parts if part[1] is not None]
    return pooled


@dataclass(eq=False)
class FoldFit:
    """What each pool says on each fold, of the cases that it did not learn from.

    A pool that refuses one fold is not fitted to the others, as far as this process
    knows.
    """

    pools: tuple[Pool, ...]
    panel: Panel
    pairs: list[tuple[IntArray, IntArray]]
    case_weights: FloatArray | None
    keep: frozenset[int] = frozenset()
    """Pools that are returned as they were fitted."""
    refused: dict[int, SettingError] = field(default_factory=dict)
    known: dict[int, tuple[Panel, FloatArray | None]] = field(default_factory=dict)
    """Cases that each fold learns from, with their weights (`folds.thin`)."""

    def __call__(
        self, place: tuple[int, int]
    ) -> tuple[FloatArray, Pool | None] | SettingError:
        """Fit a pool to a fold, on one thread: the same bits anywhere."""
        n, fold = place
        if n in self.refused:
            return self.refused[n]
        try:
            with one_blas_thread():
                copy = clone(self.pools[n]).learn(*self._learning_part(fold))
                pooled = predict(copy, self.panel, self.pairs[fold][1])
                return pooled, copy if n in self.keep else None
        except SettingError as error:
            self.refused[n] = error
            return error

    def _learning_part(self, fold: int) -> tuple[Panel, FloatArray | None]:
        if fold not in self.known:
            learn, _ = self.pairs[fold]
            weights = None if self.case_weights is None else self.case_weights[learn]
            self.known[fold] = thin(self.panel.take(learn), weights)
        return self.known[fold]
