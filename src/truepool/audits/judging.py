"""The pool in use, judged on cases it did not learn from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.base import clone

from truepool.audits.sampling import Sampling
from truepool.core.arrays import (
    FloatArray,
    IntArray,
    from_classes,
    from_log_scale,
    log_scale,
)
from truepool.core.errors import SettingError
from truepool.data.panel import Panel
from truepool.measures.calibration import fit_scaling
from truepool.measures.folds import splits
from truepool.pools.interface import Pool

FOLDS = 5


@dataclass(frozen=True, eq=False)
class Judged:
    """A pool in folds: learned once a fold, asked as often as there are questions."""

    panel: Panel
    pool: Pool
    sampling: Sampling

    @cached_property
    def folds(self) -> list[tuple[IntArray, IntArray]]:
        """Folds of the audit, fewer where the cases are too few; an error if none."""
        outcomes, times = self.panel.outcomes, self.panel.times
        try:
            return splits(outcomes, FOLDS, self.sampling.seed, times=times)
        except SettingError:
            return splits(outcomes, 2, self.sampling.seed, times=times)

    @cached_property
    def pairs(self) -> list[tuple[IntArray, IntArray]]:
        """Folds; one fold of everything where nothing is learned or can be held out."""
        everything = np.arange(len(self.panel))
        if self.pool.complexity == 0:
            return [(everything, everything)]
        try:
            return self.folds
        except SettingError:
            self.sampling.withhold(
                "how the pool does on new cases",
                "there are too few to hold any back, so it is judged on what it "
                "learned from",
            )
            return [(everything, everything)]

    @cached_property
    def fold(self) -> IntArray:
        """Fold that tests each case, (T,); -1 for cases that only teach."""
        fold = np.full(len(self.panel), -1)
        for f, (_, test) in enumerate(self.pairs):
            fold[test] = f
        return fold

    @cached_property
    def rows(self) -> IntArray:
        """Cases that are tested."""
        return np.flatnonzero(self.fold >= 0)

    def learned(self, panel: Panel) -> list[Pool]:
        """One pool a fold, learned from a panel of the same cases."""
        return [
            clone(self.pool).fit_panel(panel.take(self.sampling.lessons(learn)))
            for learn, _ in self.pairs
        ]

    @cached_property
    def pools(self) -> list[Pool]:
        """One pool a fold, learned from the panel as it is."""
        return self.learned(self.panel)

    def answers(
        self, values: FloatArray, cases: IntArray, pools: list[Pool] | None = None
    ) -> FloatArray:
        """Pool reports (T', N, C) on these cases; the base rate where all are silent.

        Each case is pooled by a pool that never saw it.
        """
        pooled = np.empty((len(cases), values.shape[2]))
        mute = np.isnan(values[:, :, 0]).all(axis=1)
        folds = self.fold[cases]
        for f, pool in enumerate(self.pools if pools is None else pools):
            mine = np.flatnonzero((folds == f) & ~mute)
            if mine.size:
                whole = mine.size == len(cases)
                result = pool.pool(values if whole else values[mine])
                pooled[mine] = from_classes(result.probabilities)
        pooled[mute] = self.panel.base_rate()
        return pooled

    @cached_property
    def pooled(self) -> FloatArray:
        """Pooled probabilities of the tested cases, (T', C)."""
        values = self.panel.values
        whole = len(self.rows) == len(values)
        return self.answers(values if whole else values[self.rows], self.rows)

    def pooled_of(self, cases: IntArray) -> FloatArray:
        """Pooled probabilities of some of the tested cases, in their order."""
        return self.pooled[np.searchsorted(self.rows, cases)]


def corrected(said: FloatArray, outcomes: IntArray, sampling: Sampling) -> FloatArray:
    """Probabilities (T, C) scaled and shifted on the log scale, out of fold.

    They stay as they are where a fold would see one class only.
    """
    spoke = np.flatnonzero(~np.isnan(said[:, 0]))
    moved = said.copy()
    try:
        pairs = splits(outcomes[spoke], FOLDS, sampling.seed)
    except SettingError:
        return moved
    for learn, test in pairs:
        some = spoke[sampling.lessons(learn)]
        factor, shift = fit_scaling(
            log_scale(said[some]), outcomes[some], np.ones(len(some)), shift=True
        )
        cases = spoke[test]
        moved[cases] = from_log_scale(factor * log_scale(said[cases]) + shift)
    return moved
