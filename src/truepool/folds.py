"""Which cases teach and which test, so that nothing is scored on its own lesson."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from sklearn.base import clone

from truepool.arrays import Array, FloatArray, IntArray
from truepool.errors import SettingError
from truepool.panel import Panel

Folds: TypeAlias = Any
"""A number of folds, or any scikit-learn splitter, time-ordered ones included."""


class Learns(Protocol):
    """What `out_of_fold` asks of a pool."""

    def fit_panel(self, panel: Panel, case_weights: FloatArray | None = None) -> Self:
        """Learn from a panel that is known to be sound."""

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool reports (T, N, C) into (T, C)."""


L = TypeVar("L", bound=Learns)


def splits(
    outcomes: IntArray,
    cv: Folds = 5,
    seed: int = 0,
    *,
    times: Array | None = None,
    rows: Any = None,
) -> list[tuple[IntArray, IntArray]]:
    """Pairs of cases (to learn on, to test on).

    A number means stratified folds; where the cases carry times it means time-ordered
    folds, each tested on what comes after all it learned on. A splitter is asked with
    ``rows`` (by default the outcomes) and the outcomes.

    >>> [test.tolist() for _, test in splits(np.array([0, 0, 1, 1]), cv=2)]
    [[0, 2], [1, 3]]
    """
    if isinstance(cv, int | np.integer):
        if not 2 <= cv <= len(outcomes):
            raise SettingError(
                "there must be at least 2 folds and no more than cases "
                f"({len(outcomes)}); cv is {cv}"
            )
        if times is None:
            pairs = list(_stratified(outcomes, int(cv), seed))
        else:
            pairs = list(_forward(np.argsort(times, kind="stable"), int(cv)))
    else:
        given = outcomes[:, None] if rows is None else rows
        pairs = [(learn, test) for learn, test in cv.split(given, outcomes)]
    for fold, (learn, _) in enumerate(pairs):
        seen = outcomes[learn]
        if not seen.size or seen.min() == seen.max():
            raise SettingError(
                f"fold {fold} of {len(pairs)} would learn from one class only; "
                "use fewer folds or more cases"
            )
    return pairs


def out_of_fold(
    pool: L,
    panel: Panel,
    pairs: list[tuple[IntArray, IntArray]],
    case_weights: FloatArray | None = None,
    each: Callable[[L], None] = lambda _: None,
) -> FloatArray:
    """Pooled probabilities (T, C), each by a copy that never saw its case.

    Cases that no fold tests (the first ones of a time-ordered split) are NaN. ``each``
    is shown every fitted copy.
    """
    pooled = np.full((len(panel), panel.values.shape[2]), np.nan)
    for learn, test in pairs:
        weights = None if case_weights is None else case_weights[learn]
        copy = clone(pool).fit_panel(panel.take(learn), weights)
        pooled[test] = copy.combine(panel.take(test).values)
        each(copy)
    return pooled


def _stratified(
    outcomes: Array, folds: int, seed: int
) -> Iterator[tuple[IntArray, IntArray]]:
    """Deal the cases of each class out in turn: a class too rare for all folds is fine.

    scikit-learn's StratifiedKFold warns or refuses there, and rare classes are the rule
    here.
    """
    order = np.random.default_rng(seed).permutation(len(outcomes))
    fold = np.empty(len(outcomes), dtype=np.int64)
    for label in np.unique(outcomes):
        members = order[outcomes[order] == label]
        fold[members] = np.arange(len(members)) % folds
    for f in range(folds):
        yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)


def _forward(order: IntArray, folds: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Learn on the first blocks in time, test on the next one."""
    blocks = np.array_split(order, folds + 1)
    for f in range(1, folds + 1):
        yield np.concatenate(blocks[:f]), blocks[f]
