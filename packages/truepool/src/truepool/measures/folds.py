"""Folds: which cases a pool learns from and which it is evaluated on."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv

from truepool.core.arrays import (
    Array,
    FloatArray,
    IntArray,
    from_classes,
    to_classes,
)
from truepool.core.errors import SettingError
from truepool.panel.once import once_per_panel
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports

GROUP_PARTS = 3
"""Parts of the groups in each fold that goes forward in time."""

LEARNING_CASES = 20_000
"""Pools that are only tried, their weights and their penalties are learned from about
so many cases at most."""

Folds: TypeAlias = Any
"""A number of folds, or any scikit-learn splitter, time-ordered ones included."""


class PoolEstimator(Protocol):
    """The part of a pool that `out_of_fold` uses."""

    def learn(self, panel: Panel, case_weights: FloatArray | None = None) -> Self:
        """Learn from a panel that fits the settings."""

    def probabilities(self, values: FloatArray | SparseReports) -> FloatArray:
        """Pool reports (T, N, C) into probabilities (T, K)."""


L = TypeVar("L", bound=PoolEstimator)


def splits(
    outcomes: IntArray,
    cv: Folds = 5,
    seed: int = 0,
    *,
    times: Array | None = None,
    features: Any = None,
    groups: Any = None,
) -> list[tuple[IntArray, IntArray]]:
    """Return pairs of cases (to learn from, to test on).

    A number means so many stratified folds, at most one per case. If the cases have
    times it means time-ordered folds: each is tested on cases later than all it learned
    from. Cases of one of the ``groups`` are never split between the two. A splitter is
    called with ``features`` (by default the outcomes), the outcomes and ``groups``.

    >>> [test.tolist() for _, test in splits(np.array([0, 0, 1, 1]), cv=2)]
    [[0, 2], [1, 3]]
    """
    if len(outcomes) and outcomes.min() == outcomes.max():
        raise SettingError(
            "folds need cases of at least two classes; every outcome is class "
            f"{outcomes[0]}. Add cases with another outcome."
        )
    if isinstance(cv, int | np.integer):
        if cv < 2:
            raise SettingError(f"there must be at least 2 folds; got cv={cv}")
        cv = min(int(cv), len(outcomes))
        if groups is not None:
            pairs = list(_grouped(np.asarray(groups), outcomes, cv, seed, times))
        elif times is None:
            pairs = list(_stratified(outcomes, cv, seed))
        else:
            pairs = list(_forward(times, outcomes, cv))
    else:
        given = outcomes[:, None] if features is None else features
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
        raise SettingError("there are too few cases to test on; add more cases")
    return pairs


def panel_splits(
    panel: Panel, cv: Folds = 5, seed: int = 0
) -> list[tuple[IntArray, IntArray]]:
    """Return pairs of cases of a panel (to learn from, to test on), as `splits` does.

    By its times and groups: every cross-validation of a panel goes through here.
    """
    return splits(panel.outcomes, cv, seed, times=panel.times, groups=panel.groups)


def thin(
    panel: Panel,
    case_weights: FloatArray | None = None,
    seed: int = 0,
    most: int | None = None,
) -> tuple[Panel, FloatArray | None]:
    r"""Return about ``most`` cases to learn from, each weighted by what it stands for.

    Every case of a rare class is kept; of a frequent one those that are drawn count for
    the others of their class. Half of the draw is even, half goes to the cases whose
    class the agents found least likely: with :math:`r_{ti}` cases that agent i found
    less likely to be of that class, and m cases of other classes, a case is drawn in
    proportion to :math:`\sum_i 1 / (r_{ti} + m)`. What is learned near the other
    classes, where decisions are made, then hardly depends on the draw (Fithian and
    Hastie 2014).
    """
    most = LEARNING_CASES if most is None else most
    return (
        (panel, case_weights)
        if len(panel) <= most
        else _thin(panel, case_weights, seed, most)
    )


@once_per_panel
def _thin(
    panel: Panel, case_weights: FloatArray | None, seed: int, most: int
) -> tuple[Panel, FloatArray]:
    """`thin`, where there are more cases."""
    chance = _draw_chances(panel, most)
    ends = np.floor(np.cumsum(chance) + np.random.default_rng(seed).random() + 1e-9)
    cases = np.flatnonzero(np.diff(ends, prepend=0.0) > 0)
    weights = panel.case_weights(case_weights)
    counted = 1.0 if weights is None else weights[cases]
    return panel.take(cases), counted / chance[cases]


def _draw_chances(panel: Panel, most: int) -> FloatArray:
    """Chance of each case (T,) to be among about ``most`` that are drawn."""
    chance, left = np.ones(len(panel)), most
    counts = np.bincount(panel.outcomes, minlength=panel.classes)
    for place, k in enumerate(np.argsort(counts, kind="stable").tolist()):
        own = np.flatnonzero(panel.outcomes == k)
        quota = left // (len(counts) - place)
        if len(own) > quota:
            hard = _hard_cases(panel, k, len(panel) - len(own))[own]
            even = 0.5 / len(own) + 0.5 * hard / hard.sum()
            chance[own] = _capped(even, quota)
        left -= min(len(own), quota)
    return chance


def _hard_cases(panel: Panel, k: int, others: int) -> FloatArray:
    """How unlikely the agents find class k in each case (T,), as in `thin`."""
    T = len(panel)
    if panel.sparse is not None:
        return np.ones(T)
    hard = np.full(T, 1.0 / T)
    for i in range(len(panel.agents)):
        p = to_classes(panel.values[:, i])[:, k]
        order = np.argsort(p)  # NaN is sorted last
        below = np.searchsorted(p[order], p[order])
        own = 1.0 / (below + max(others, 1))
        hard[order] += np.where(np.isnan(p[order]), 0.0, own)
    return hard


def _capped(shares: FloatArray, total: float) -> FloatArray:
    """Chances in proportion to shares, at most 1 each, with this sum.

    >>> _capped(np.array([0.8, 0.1, 0.1]), 2.0)
    array([1. , 0.5, 0.5])
    """
    sure = np.zeros(len(shares), dtype=np.bool_)
    while True:
        rest = np.where(sure, 0.0, shares)
        chance = np.where(sure, 1.0, rest * ((total - sure.sum()) / rest.sum()))
        if not (chance > 1.0).any():
            return chance
        sure |= chance > 1.0


def evaluation_cases(pairs: list[tuple[IntArray, IntArray]]) -> IntArray:
    """Cases that some fold is tested on, each once, in their order."""
    tested = np.zeros(max(test.max(initial=-1) for _, test in pairs) + 1, np.bool_)
    for _, test in pairs:
        tested[test] = True
    return np.flatnonzero(tested)


def out_of_fold(
    pool: L,
    panel: Panel,
    pairs: list[tuple[IntArray, IntArray]],
    case_weights: FloatArray | None = None,
) -> FloatArray:
    """Pooled probabilities (T, C), each by a copy that did not learn from its case.

    Cases outside all test folds (the first ones of a time-ordered split) are NaN; a
    case in several gets the mean.
    """
    tested = (predict_fold(pool, panel, pair, case_weights) for pair in pairs)
    return merge_folds(panel, pairs, tested)


def predict_fold(
    pool: L,
    panel: Panel,
    pair: tuple[IntArray, IntArray],
    case_weights: FloatArray | None = None,
) -> FloatArray:
    """Pooled probabilities (P, C) of the P cases that a fold tests."""
    learn, test = pair
    weights = None if case_weights is None else case_weights[learn]
    copy = clone(pool).learn(panel.take(learn), weights)
    return predict(copy, panel, test)


def predict(pool: PoolEstimator, panel: Panel, cases: IntArray) -> FloatArray:
    """Pooled probabilities (P, C) of a fitted pool on some cases of a panel."""
    return from_classes(pool.probabilities(panel.take(cases).layout))


def merge_folds(
    panel: Panel,
    pairs: list[tuple[IntArray, IntArray]],
    tested: Iterable[FloatArray],
) -> FloatArray:
    """Probabilities (T, C) of all cases, from those that each fold tests."""
    total = np.zeros((len(panel), panel.shape[2]))
    count = np.zeros((len(panel), 1))
    for (_, test), pooled in zip(pairs, tested, strict=True):
        total[test] += pooled
        count[test] += 1
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def stratify(outcomes: Array, parts: int, seed: int = 0) -> IntArray:
    """Assign each case to one of so many parts, (T,), with equal shares of each class.

    A class may have fewer cases than there are parts, which is common here and which
    scikit-learn's StratifiedKFold warns about or refuses.

    >>> np.bincount(stratify(np.array([0, 0, 0, 1, 1, 1]), 3))
    array([2, 2, 2])
    """
    order = np.random.default_rng(seed).permutation(len(outcomes))
    shuffled = outcomes[order]
    labels, first, count = np.unique(shuffled, return_index=True, return_counts=True)
    part = np.empty(len(outcomes), dtype=np.int64)
    start = 0
    # The most frequent class first, each class from where the last one ended: no part
    # stays empty, and the names of the classes do not matter.
    for label in labels[np.lexsort((first, -count))]:
        members = order[shuffled == label]
        part[members] = (start + np.arange(len(members))) % parts
        start += len(members)
    return part


def _stratified(
    outcomes: Array, folds: int, seed: int
) -> Iterator[tuple[IntArray, IntArray]]:
    fold = stratify(outcomes, folds, seed)
    for f in range(folds):
        yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)


def _grouped(
    groups: Array, outcomes: Array, folds: int, seed: int, times: Array | None
) -> Iterator[tuple[IntArray, IntArray]]:
    """Folds in which no group is both learned from and tested on.

    Groups are dealt out like cases, by the rarest class that each has. With times,
    every forward fold is tested in `GROUP_PARTS` parts, each by what was learned from
    the earlier cases of the other groups; there are fewer forward folds then, so that
    there are about twice as many fits as without groups and not three times.
    """
    names, group = np.unique(groups.astype(str), return_inverse=True)
    if len(names) < 2:
        raise SettingError(
            "cases of one group stay in one fold, so there must be at least 2 groups; "
            f"all {len(groups):,} cases are of group {names[0]!r}"
        )
    rarity = np.argsort(np.argsort(-np.bincount(outcomes), kind="stable"))
    stratum = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(stratum, group, rarity[outcomes])
    parts = min(folds if times is None else GROUP_PARTS, len(names))
    part = stratify(stratum, parts, seed)[group]
    if times is None:
        for f in range(parts):
            yield np.flatnonzero(part != f), np.flatnonzero(part == f)
        return
    for learn, test in _forward(times, outcomes, folds, max(2, 2 * folds // parts)):
        for f in range(parts):
            seen, held_out = learn[part[learn] != f], test[part[test] == f]
            if held_out.size and len(np.unique(outcomes[seen])) > 1:
                yield seen, held_out


def _forward(
    times: Array, outcomes: Array, folds: int, tests: int | None = None
) -> Iterator[tuple[IntArray, IntArray]]:
    """Learn from the earlier cases, test on the next; equal times are never separated.

    The first part is one block of ``folds + 1``, or more until it has two classes; the
    rest is tested in ``tests`` blocks, by default as many as ``folds``.
    """
    order = np.argsort(times, kind="stable")
    moments = times[order]
    cuts = np.flatnonzero(moments[1:] != moments[:-1]) + 1
    seen = outcomes[order]
    both = int(np.argmax(seen != seen[0])) + 1
    start = max(len(order) // (folds + 1), both)
    wanted = np.linspace(start, len(order), (tests or folds) + 1)[:-1]
    places = np.searchsorted(cuts, np.ceil(wanted))
    ends = np.unique(cuts[places[places < len(cuts)]])
    for begin, end in pairwise([*ends, len(order)]):
        yield order[:begin], order[begin:end]
