"""The pool in use on cases it did not learn from."""

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.base import clone

from truepool.audits.sampling import Sampling
from truepool.comparison import Competition
from truepool.core.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    from_classes,
    from_log_scale,
    log_scale,
)
from truepool.core.errors import SettingError
from truepool.measures.calibration import fit_scaling
from truepool.measures.folds import (
    evaluation_cases,
    panel_splits,
    predict_fold,
    splits,
    thin,
)
from truepool.panel.panel import Panel
from truepool.pools.interface import FixedPool, Pool

FOLDS = 5


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """A pool fitted once per fold, and its probabilities for cases it has not seen.

    A pool that is fitted already is taken as it is. ``seen`` (T,) are the cases that it
    learned from, if any: none of them is tested.
    """

    panel: Panel
    pool: Pool
    sampling: Sampling
    seen: BoolArray | None = None
    like: tuple[Pool, ...] = ()
    """Pools of the folds on other reports, whose choices are kept."""

    @property
    def saved(self) -> bool:
        """Whether the pool was fitted before, on other cases."""
        return self.pool.is_fitted

    @cached_property
    def folds(self) -> list[tuple[IntArray, IntArray]]:
        """Folds of the audit; two where the cases are too few for more."""
        try:
            pairs = panel_splits(self.panel, FOLDS, self.sampling.seed)
        except SettingError:
            pairs = panel_splits(self.panel, 2, self.sampling.seed)
        if self.seen is None:
            return pairs
        tests = ((learn, test[~self.seen[test]]) for learn, test in pairs)
        return [(learn, test) for learn, test in tests if len(test)]

    @cached_property
    def pairs(self) -> list[tuple[IntArray, IntArray]]:
        """Folds; one fold of everything where nothing is learned or can be held out."""
        everything = np.arange(len(self.panel))
        if self.saved:
            new = everything if self.seen is None else np.flatnonzero(~self.seen)
            return [(everything[:0], new)]
        if self.pool.complexity == 0:
            return [(everything, everything)]
        try:
            return self.folds
        except SettingError:
            self.sampling.withhold(
                "how the pool does on new cases",
                "there are too few cases to hold any back, so it is tested on the "
                "cases that it learned from",
            )
            return [(everything, everything)]

    @property
    def tested_pairs(self) -> list[tuple[IntArray, IntArray]]:
        """Folds that test the cases, also of a pool that learns nothing."""
        if self.saved:
            return self.pairs
        with suppress(SettingError):
            return self.folds
        return self.pairs

    @cached_property
    def all_pairs(self) -> list[tuple[IntArray, IntArray]]:
        """Folds, and two more of the cases that they only learn from.

        Every case has others to be corrected by, and none of them is of a later fold.
        """
        pairs, panel = self.folds, self.panel
        rest = np.setdiff1d(np.arange(len(panel)), evaluation_cases(pairs))
        groups = None if panel.groups is None else panel.groups[rest]
        with suppress(SettingError):
            more = splits(panel.outcomes[rest], 2, self.sampling.seed, groups=groups)
            return [*pairs, *((rest[learn], rest[test]) for learn, test in more)]
        return pairs

    @cached_property
    def fold(self) -> IntArray:
        """Fold that tests each case, (T,); -1 for cases used only for training."""
        fold = np.full(len(self.panel), -1)
        for f, (_, test) in enumerate(self.pairs):
            fold[test] = f
        return fold

    @cached_property
    def cases(self) -> IntArray:
        """Cases that are tested.

        A pool that learns nothing is tested on those of all other pools, so that every
        cost of an audit is of the same cases.
        """
        return evaluation_cases(self.tested_pairs)

    def fit(self, panel: Panel) -> list[Pool]:
        """One pool per fold, fitted to a panel of the same cases."""
        if self.saved:
            return [self.pool]
        if self._learns_nothing and (known := self.like or vars(self).get("pools")):
            return [*known]
        parts = [thin(panel.take(learn)) for learn, _ in self.pairs]
        if len(self.like) == len(parts):
            return [p.refit(*part) for p, part in zip(self.like, parts, strict=True)]
        self.pool.check(panel)
        return [clone(self.pool).learn(*part) for part in parts]

    @property
    def _learns_nothing(self) -> bool:
        """Whether one fit serves all panels of these agents and labels."""
        fixed = isinstance(self.pool, FixedPool)
        return fixed and self.pool.streams(len(self.panel.agents))

    @cached_property
    def pools(self) -> list[Pool]:
        """One pool per fold, fitted to the panel as it is."""
        return self.fit(self.panel)

    def predict(
        self, values: FloatArray, cases: IntArray, pools: list[Pool] | None = None
    ) -> FloatArray:
        """Pool reports (T', N, C) on these cases; the base rate where there are none.

        Each case is pooled by a pool that never saw it.
        """
        pooled = np.empty((len(cases), values.shape[2]))
        empty = np.isnan(values[:, :, 0]).all(axis=1)
        folds = self.fold[cases]
        for f, pool in enumerate(self.pools if pools is None else pools):
            own = np.flatnonzero((folds == f) & ~empty)
            if own.size:
                whole = own.size == len(cases)
                answer = pool.probabilities(values if whole else values[own])
                pooled[own] = from_classes(answer)
        pooled[empty] = self.panel.base_rate()
        return pooled

    @cached_property
    def pooled(self) -> FloatArray:
        """Pooled probabilities of the tested cases, (T', C)."""
        values = self.panel.values
        whole = len(self.cases) == len(values)
        return self.predict(values if whole else values[self.cases], self.cases)

    @cached_property
    def pooled_everywhere(self) -> FloatArray:
        """Pooled probabilities of all cases, (T, C), each as if it were new.

        The first ones in time, which the folds only learn from, by pools of the other
        half of them; NaN where that is not possible.
        """
        panel = self.panel
        if self.pool.complexity == 0 and not self.saved:
            return self.predict(panel.values, np.arange(len(panel)))
        pooled = np.full((len(panel), panel.shape[2]), np.nan)
        pooled[self.cases] = self.pooled
        if self.saved:
            return pooled
        reported = np.flatnonzero(~np.isnan(panel.values[:, :, 0]).all(axis=1))
        for learn, test in self.all_pairs[len(self.folds) :]:
            with suppress(SettingError):
                own = np.intersect1d(test, reported)
                pooled[own] = predict_fold(self.pool, panel, (learn, own))
        return pooled

    def predict_pending(self, competition: Competition) -> FloatArray:
        """Pool the cases without an outcome that compete, each in its fold."""
        later = competition.cases[competition.tested :]
        values = competition.panel.values
        pooled = np.empty((len(later), values.shape[2]))
        for f, (_, test) in enumerate(competition.pairs):
            own = np.intersect1d(test, later)
            if own.size:
                pool = self.pools[f if len(self.pools) > 1 else 0]
                answer = from_classes(pool.probabilities(values[own]))
                pooled[np.searchsorted(later, own)] = answer
        return pooled

    def pooled_of(self, cases: IntArray) -> FloatArray:
        """Pooled probabilities of some of the tested cases, in their order."""
        return self.pooled[np.searchsorted(self.cases, cases)]


def recalibrate(
    p: FloatArray,
    panel: Panel,
    seed: int,
    pairs: list[tuple[IntArray, IntArray]] | None = None,
) -> FloatArray:
    """Probabilities (T, C) scaled and shifted on the log scale, out of fold.

    ``pairs`` are the cases to learn from and those to correct, by default of random
    folds. Probabilities do not change where a fold would see only one class.
    """
    reported = ~np.isnan(p[:, 0])
    recalibrated, outcomes = p.copy(), panel.outcomes
    weights = panel.case_weights()
    counted = np.ones(len(p)) if weights is None else weights
    if pairs is None:
        pairs = _random_pairs(np.flatnonzero(reported), panel, seed)
    for learn, test in pairs:
        some = learn[reported[learn]]
        if len(np.unique(outcomes[some])) < 2:
            continue
        factor, shift = fit_scaling(
            log_scale(p[some]), outcomes[some], counted[some], shift=True
        )
        cases = test[reported[test]]
        recalibrated[cases] = from_log_scale(factor * log_scale(p[cases]) + shift)
    return recalibrated


def _random_pairs(
    cases: IntArray, panel: Panel, seed: int
) -> list[tuple[IntArray, IntArray]]:
    """Folds of these cases, whatever their times; none where they are too few."""
    groups = None if panel.groups is None else panel.groups[cases]
    try:
        pairs = splits(panel.outcomes[cases], FOLDS, seed, groups=groups)
    except SettingError:
        return []
    return [(cases[learn], cases[test]) for learn, test in pairs]
