"""The pool to start with: a weighted mean of the other pools."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, ClassVar, Self, cast, final

import numpy as np
from scipy.special import expit
from sklearn.base import clone

from truepool.core.arrays import FloatArray, IntArray, logit
from truepool.core.engine import one_blas_thread, one_thread
from truepool.core.errors import SettingError
from truepool.measures.calibration import clipped_log_scale
from truepool.measures.folds import (
    Folds,
    evaluation_cases,
    panel_splits,
    thin,
)
from truepool.measures.shrinkage import RARE_FILL
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports
from truepool.pools import candidates
from truepool.pools.candidates.weights import (
    CAUTIOUS,
    CERTAIN,
    MANY_CASES,
    Candidate,
    weigh,
)
from truepool.pools.interface import Pool, learned
from truepool.pools.interface.result import Explanation, Training
from truepool.pools.mixture import Mixture
from truepool.pools.ridge import Ridge
from truepool.pools.shrunk import check_size, is_wide
from truepool.pools.training import imputation

CANDIDATES: tuple[str | Pool, ...] = (*candidates.USUAL, "boosted", "shrunk")
"""What `Auto` combines by default: each family once, none that is slow."""
BOOSTED_CASES = 100
"""With fewer cases gradient boosting, which takes the longest, is not tried."""
TWO_CLASSES: tuple[str | Pool, ...] = ("ridge", Ridge(scale="reports"))
"""What it combines besides for two classes; with more they take too long."""
FEWEST_CASES = 10
"""With fewer cases nothing is learned: the answer is the mean log-odds."""
RARE, FEWEST_RARE = 0.05, 20
"""Where a class has less than this share of the cases, and at least so many of them,
log-odds are averaged."""
EVEN = 0.5
"""Threshold of equal costs, which is also that of costs that nobody stated."""
MOST_MISSING = 1.0 - RARE_FILL
"""Largest share of missing reports that are filled in: in a crowd of which everyone
reports on a few cases, what the others said is no better than nothing."""


@final
class Auto(Pool):
    r"""Combines the pools, each by what it adds on cases it did not learn from.

    With :math:`p_{tm}(y_t)` the probability that candidate m gave, out of fold, to what
    happened in case t, the weights maximise the likelihood of the mixture
    :math:`\sum_m w_m p_{tm}` under a weak prior towards equal weights,

    .. math:: \sum_t \log \sum_m w_m p_{tm}(y_t) + \frac{s}{M} \sum_m \log w_m,
              \qquad s = 5,

    by Newton's method. Candidates below 1 % are dropped, the others learn from all
    cases.

    Where fewer than 5 % of the cases, but at least twenty, are of one of two classes,
    decisions are made at small probabilities, which a mean of probabilities would lift.
    The answer is then the mean of the candidates' log-odds, and each counts by how
    probable it is that it is the best (`average_weights`), in a loss that sees what
    changes decisions at the costs (`decision_losses`). Elsewhere costs change the
    decisions and the candidates that learn by cost, not the weights.

    Where an agent is silent, the candidates see what the others suggest that it would
    have said, and the answer is the mean over four such reports, see `imputation`:
    weights that were learned for all agents do not hold for some of them. In a crowd,
    where more than half of the reports are missing, they see those that were given.

    With T < 40 cases the prior has (40 - T) / 3 more, which the plain mean and `shrunk`
    share: out of fold, ten cases say little about the others. With fewer than ten it is
    the mean log-odds; where folds are impossible, as with outcomes of one class only,
    it is `shrunk`.

    Parameters
    ----------
    candidates : sequence of str or Pool, optional
        By default the mean, the median, log-odds, the best agent, extremized, Platt and
        beta-transformed means, inverse-Brier, VCG and convex weights, stacked logistic
        regression, gradient boosting, ridge regression on log-odds and on reports, and
        the shrunk log-odds pool.
    cv : int or splitter
        Folds.

    Attributes
    ----------
    pools_ : tuple of Pool
        The candidates kept, learned from all cases.
    shares_ : (M,)
        Their weights.
    table_ : list of Candidate
        Every candidate that could be tried, largest weight first.
    log_odds_ : bool
        Whether log-odds are averaged, because a class is rare.
    imputation_ : (3, N, K - 1) or None
        Mean, pull and loading of each agent's log-odds, which fill in missing reports;
        None where they are not filled in.
    why_ : str
        One sentence.

    Examples
    --------
    >>> reports = [[0.9, 0.5, 0.4], [0.1, 0.5, 0.6]] * 20
    >>> auto = Auto(candidates=("mean", "best-agent")).fit(reports, [1, 0] * 20)
    >>> [pool.name for pool in auto.pools_], auto.shares_.round(2)
    (['best-agent', 'mean'], array([0.85, 0.15]))
    """

    name: ClassVar[str] = "auto"
    scales: ClassVar[bool] = True
    complexity: ClassVar[int] = 3
    records: ClassVar = (Candidate,)
    exemptions: ClassVar = {
        "unanimity": "it combines pools that do not owe it",
        "permutation": "the fits that it compares stop at a stated precision, so its "
        "answers move by some 1e-7 with the order of the agents; what several absent "
        "agents would have said is drawn by their places",
        "duplicate": "it combines pools that count a copy as one more agent",
        "label swap": "it combines gradient boosting, where a case on a cut goes left, "
        "whichever class is called 1",
    }

    candidates: Sequence[str | Pool] | None = None
    cv: Folds = 5
    seed: int = 0

    pools_: tuple[Pool, ...] = learned()
    shares_: FloatArray = learned()
    table_: list[Candidate] = learned()
    log_odds_: bool = learned(False)  # of files that do not say so
    imputation_: FloatArray | None = learned()
    why_: str = learned()

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        pools = self._candidates(panel)
        panel = self._fill(panel, case_weights)
        with self._one_thread():
            chosen, self.shares_ = self._select(pools, panel, case_weights)
            fitted = (clone(pool).learn(panel, case_weights) for pool in chosen)
            self.pools_ = tuple(fitted)
        self.__dict__.pop("_mixture", None)  # of an earlier fit

    def refit(self, panel: Panel, case_weights: FloatArray | None = None) -> Self:
        """Return a pool that learned from another panel, of the same candidates."""
        copy = clone(self)
        training = Training(panel.size, panel.counts, panel.missing)
        copy._describe(panel.agents, panel.labels, training)
        weights = panel.case_weights(case_weights)
        filled = copy._fill(panel, weights)
        copy.shares_, copy.table_ = self.shares_, self.table_
        copy.log_odds_, copy.why_ = self.log_odds_, self.why_
        with self._one_thread():
            copy.pools_ = tuple(pool.refit(filled, weights) for pool in self.pools_)
        return cast(Self, copy)

    def _one_thread(self) -> AbstractContextManager[Any]:
        """More threads than free cores make candidates from elsewhere far slower."""
        return one_blas_thread() if self.candidates is None else one_thread()

    def _fill(self, panel: Panel, case_weights: FloatArray | None) -> Panel:
        """Learn how to fill in missing reports, and return the panel without them."""
        self.imputation_ = None
        if len(panel) < FEWEST_CASES or panel.missing > MOST_MISSING:
            return panel
        self.imputation_ = imputation.learn_from(
            panel, case_weights, clipped_log_scale, self.seed
        )
        if not panel.silent:
            return panel
        return panel.with_reports(
            imputation.fill_reports(panel.values, self.imputation_)
        )

    def _candidates(self, panel: Panel) -> list[Pool]:
        usual = CANDIDATES if panel.classes > 2 else CANDIDATES + TWO_CLASSES
        if len(panel) < BOOSTED_CASES:
            usual = tuple(pool for pool in usual if pool != "boosted")
        if is_wide(panel):  # ten seconds per fit, and there are six
            usual = tuple(pool for pool in usual if pool != "shrunk")
        if panel.mostly_empty:
            usual = candidates.scalable(usual)
        return self._configure(self.candidates or usual)

    def _configure(self, pools: Sequence[str | Pool]) -> list[Pool]:
        return candidates.configure_all(pools, self.costs, self.threshold, self.seed)

    def _select(
        self, pools: list[Pool], panel: Panel, case_weights: FloatArray | None
    ) -> tuple[list[Pool], FloatArray]:
        """Candidates to keep, largest weight first, and their weights."""
        T = len(panel)
        if T < FEWEST_CASES:
            why = f"with fewer than {FEWEST_CASES} cases ({T}) nothing is learned"
            return self._alone("log-odds", why)
        part, counted = thin(panel, case_weights, self.seed)
        self.log_odds_ = _is_rare(part, counted)
        try:
            pairs = panel_splits(part, self.cv, self.seed)
        except SettingError as error:
            return self._shrunk(panel, f"the pools could not be compared: {error}")
        rows = evaluation_cases(pairs)
        outcomes = part.outcomes[rows]
        by_pool = candidates.cross_validate(
            dict(enumerate(pools)), part, pairs, counted
        )
        tried, pooled = [pools[i] for i in by_pool], list(by_pool.values())
        if not tried:
            return self._shrunk(panel, "there are too few cases to try any candidate")
        counted = None if counted is None else counted[rows]
        names = [title(pool) for pool in tried]
        self.table_, weights = weigh(
            names, pooled, outcomes, counted, T,
            rare=self.log_odds_, line=self._line(part, rows), seed=self.seed,
        )  # fmt: skip
        self.why_ = _why(self.table_, len(rows), T)
        order = np.argsort(-weights, kind="stable")
        chosen = [i for i in order if weights[i] > 0]
        return [tried[i] for i in chosen], weights[chosen]

    def _line(self, panel: Panel, cases: IntArray) -> FloatArray | float | None:
        """Threshold of the decisions; None where nobody has stated what errors cost."""
        if panel.classes > 2 or self.threshold is not None or self.costs is None:
            return self.threshold
        line = self.costs.resolve(panel.columns).take(cases).threshold
        return None if np.ndim(line) == 0 and line == EVEN else line

    def _shrunk(self, panel: Panel, why: str) -> tuple[list[Pool], FloatArray]:
        """`shrunk` alone; the mean log-odds where the panel is too large for it."""
        try:
            check_size(panel)
        except SettingError as error:
            return self._alone("log-odds", f"{why.rstrip('.')}; {error}")
        return self._alone("shrunk", why)

    def _alone(self, name: str, why: str) -> tuple[list[Pool], FloatArray]:
        self.table_, self.log_odds_ = [], False
        self.why_ = f"{name} alone: {why.rstrip('.')}"
        return self._configure([name]), np.ones(1)

    def _explanation(self) -> Explanation:
        members = {
            title(pool): float(share)
            for pool, share in zip(self.pools_, self.shares_, strict=True)
        }
        tried = sorted(self.table_, key=lambda candidate: candidate.log_loss)
        return Explanation(
            self.name,
            self.why_,
            loss="log",
            members=members,
            scores={c.name: c.log_loss for c in tried} or None,
            scored_by="log" if tried else None,
        )

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        if self.imputation_ is None:
            return self._mixture.combine(values)
        gaps = np.isnan(values).any(axis=(1, 2))
        if not gaps.any():
            return self._mixture.combine(values)
        drawn = imputation.draw_reports(values[gaps], self.imputation_)
        pooled = self._mixture.combine(drawn.reshape(-1, *values.shape[1:]))
        mean = pooled.reshape(len(drawn), -1, values.shape[2]).mean(axis=0)
        if gaps.all():
            return np.asarray(mean)
        every = np.empty((len(values), values.shape[2]))
        every[gaps], every[~gaps] = mean, self._mixture.combine(values[~gaps])
        return every

    def combine_sparse(self, reports: SparseReports) -> FloatArray:
        """Pool sparse reports on T cases into (T, 1)."""
        if self.imputation_ is not None:
            return super().combine_sparse(reports)
        pairs = zip(self.shares_, self.pools_, strict=True)
        answers = [(share, p.combine_sparse(reports)) for share, p in pairs]
        if self.log_odds_:
            odds = sum(share * logit(p, CERTAIN) for share, p in answers)
            return np.asarray(expit(odds))
        return np.asarray(sum(share * p for share, p in answers))

    @cached_property
    def _mixture(self) -> Mixture:
        return Mixture(self.pools_, self.shares_, log_odds=self.log_odds_)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {k: v for k, v in state.items() if k != "_mixture"}

    def to_onnx(self, values: Any) -> Any:
        """Record pooled coordinates (T, C) of a tensor of reports (T, N, C)."""
        if self.imputation_ is not None:
            values = imputation.record_draws(values, self.imputation_)
        answers = [pool.to_onnx(values) for pool in self.pools_]
        if self.log_odds_:
            answers = [logit(answer, CERTAIN) for answer in answers]
        # Times one number, onnxruntime fuses a product in single precision.
        pooled: Any = (np.stack(answers, axis=-1) * self.shares_).sum(axis=-1)
        if self.log_odds_:
            pooled = expit(pooled)
        if self.imputation_ is None:
            return pooled
        return pooled.reshape(-1, len(imputation.SIGNS), values.shape[2]).mean(axis=1)


def _is_rare(panel: Panel, case_weights: FloatArray | None) -> bool:
    """Whether one of two classes is rare, and has enough cases to say what costs less.

    With fewer than `FEWEST_RARE` of them a mean of probabilities is the safer one.
    """
    if panel.classes > 2 or np.bincount(panel.outcomes).min() < FEWEST_RARE:
        return False
    share = float(np.average(panel.outcomes, weights=panel.case_weights(case_weights)))
    return min(share, 1 - share) < RARE


def title(pool: Pool) -> str:
    """Name of a pool with the settings that are not the default.

    >>> title(Ridge()), title(Ridge(scale="reports"))
    ('ridge', 'ridge (scale=reports)')
    """
    default = type(pool)().get_params(deep=False)
    shared = {"costs", "threshold", "seed"}
    own = {k: v for k, v in pool.get_params(deep=False).items() if k not in shared}
    changed = [f"{k}={v}" for k, v in own.items() if repr(v) != repr(default[k])]
    return f"{pool.name} ({', '.join(changed)})" if changed else pool.name


def _why(table: list[Candidate], tested: int, cases: int) -> str:
    selected = [c for c in table if c.weight > 0]
    best = min(table, key=lambda c: c.log_loss)
    largest = selected[0]
    weight, loss = f"{100 * largest.weight:.0f} %", f"{best.log_loss:.4g} per case"
    leaders = (
        f"{best.name} has the largest weight ({weight}) and the least log loss ({loss})"
        if best is largest
        else f"{largest.name} has the largest weight ({weight}), {best.name} the least "
        f"log loss ({loss})"
    )
    caution = ""
    if cases < MANY_CASES and any(c.name in CAUTIOUS for c in table):
        caution = f"; with fewer than {MANY_CASES} cases mean and shrunk start ahead"
    return (
        f"{len(selected)} of {len(table)} candidates are combined, with the weights "
        f"that together predicted {tested:,} cases best, none of which they had "
        f"learned from: {leaders}{caution}"
    )
