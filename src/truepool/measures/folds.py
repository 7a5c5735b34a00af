"""Which cases teach and which test, so that nothing is scored on its own lesson."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv

from truepool.core.arrays import Array, FloatArray, IntArray, from_classes
from truepool.core.errors import SettingError
from truepool.data.panel import Panel

Folds: TypeAlias = Any
"""A number of folds, or any scikit-learn splitter, time-ordered ones included."""


class PoolEstimator(Protocol):
    """What `out_of_fold` asks of a pool."""

    def fit_panel(self, panel: Panel, case_weights: FloatArray | None = None) -> Self:
        """Learn from a panel that is known to be sound."""

    def pool(self, values: FloatArray) -> Any:
        """Pool reports (T, N, C); the result has ``probabilities`` (T, K)."""


L = TypeVar("L", bound=PoolEstimator)


def splits(
    outcomes: IntArray,
    cv: Folds = 5,
    seed: int = 0,
    *,
    times: Array | None = None,
    rows: Any = None,
    groups: Any = None,
) -> list[tuple[IntArray, IntArray]]:
    """Pairs of cases (to learn on, to test on).

    A number means so many stratified folds, or as many as there are cases; where the
    cases carry times it means time-ordered folds, each tested on what comes after all
    it learned on. A splitter is asked with ``rows`` (by default the outcomes), the
    outcomes and ``groups``.

    >>> [test.tolist() for _, test in splits(np.array([0, 0, 1, 1]), cv=2)]
    [[0, 2], [1, 3]]
    """
    if isinstance(cv, int | np.integer):
        if cv < 2:
            raise SettingError(f"there must be at least 2 folds; cv is {cv}")
        if times is None:
            pairs = list(_stratified(outcomes, min(int(cv), len(outcomes)), seed))
        else:
            pairs = list(_forward(times, outcomes, int(cv)))
    else:
        given = outcomes[:, None] if rows is None else rows
        splitter = check_cv(cv, outcomes, classifier=True)
        pairs = list(splitter.split(given, outcomes, groups))
    for fold, (learn, _) in enumerate(pairs):
        seen = outcomes[learn]
        if not seen.size or seen.min() == seen.max():
            raise SettingError(
                f"fold {fold} of {len(pairs)} would learn from one class only; "
                "use fewer folds or more cases"
            )
    if not pairs:
        raise SettingError("the cases leave nothing to test on; more are needed")
    return pairs


def evaluation_cases(pairs: list[tuple[IntArray, IntArray]]) -> IntArray:
    """Cases that some fold tests, each once, in their order."""
    return np.unique(np.concatenate([test for _, test in pairs]))


def out_of_fold(
    pool: L,
    panel: Panel,
    pairs: list[tuple[IntArray, IntArray]],
    case_weights: FloatArray | None = None,
) -> FloatArray:
    """Pooled probabilities (T, C), each by a copy that never saw its case.

    Cases that no fold tests (the first ones of a time-ordered split) are NaN; a case
    that several test gets the mean of their answers.
    """
    total = np.zeros((len(panel), panel.values.shape[2]))
    count = np.zeros((len(panel), 1))
    for learn, test in pairs:
        weights = None if case_weights is None else case_weights[learn]
        copy = clone(pool).fit_panel(panel.take(learn), weights)
        values = panel.take(test).values
        total[test] += from_classes(copy.pool(values).probabilities)
        count[test] += 1
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def stratify(outcomes: Array, parts: int, seed: int = 0) -> IntArray:
    """Which of so many parts each case goes to, the cases of each class dealt in turn.

    A class too rare for all parts is fine here: scikit-learn's StratifiedKFold warns or
    refuses there, and rare classes are the rule.

    >>> np.bincount(stratify(np.array([0, 0, 0, 1, 1, 1]), 3))
    array([2, 2, 2])
    """
    order = np.random.default_rng(seed).permutation(len(outcomes))
    drawn = outcomes[order]
    labels, first, count = np.unique(drawn, return_index=True, return_counts=True)
    part = np.empty(len(outcomes), dtype=np.int64)
    given = 0
    # The commonest class first, and on from where it ended: no part stays empty, and
    # what the classes are called does not matter.
    for label in labels[np.lexsort((first, -count))]:
        members = order[drawn == label]
        part[members] = (given + np.arange(len(members))) % parts
        given += len(members)
    return part


def _stratified(
    outcomes: Array, folds: int, seed: int
) -> Iterator[tuple[IntArray, IntArray]]:
    fold = stratify(outcomes, folds, seed)
    for f in range(folds):
        yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)


def _forward(
    times: Array, outcomes: Array, folds: int
) -> Iterator[tuple[IntArray, IntArray]]:
    """Learn on the first moments, test on the next; a moment is never cut in two.

    The first part is one block of ``folds + 1``, or more until two classes came.
    """
    order = np.argsort(times, kind="stable")
    moments = times[order]
    cuts = np.flatnonzero(moments[1:] != moments[:-1]) + 1
    seen = outcomes[order]
    both = int(np.argmax(seen != seen[0])) + 1
    start = max(len(order) // (folds + 1), both)
    wanted = np.linspace(start, len(order), folds + 1)[:-1]
    places = np.searchsorted(cuts, np.ceil(wanted))
    ends = np.unique(cuts[places[places < len(cuts)]])
    for begin, end in pairwise([*ends, len(order)]):
        yield order[:begin], order[begin:end]
