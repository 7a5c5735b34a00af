"""One simple rule: the simplest pool that cannot be told from the best."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np
from sklearn.base import clone

from truepool.core.arrays import Array, FloatArray, IntArray, case_mean
from truepool.core.errors import SettingError
from truepool.measures.folds import Folds, evaluation_cases, panel_splits
from truepool.measures.inference import independent_units
from truepool.measures.losses import Loss, as_loss
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports
from truepool.pools import candidates
from truepool.pools.interface import Pool, learned
from truepool.pools.interface.result import Explanation

CANDIDATES = candidates.USUAL
"""What `Simplest` tries by default."""


@dataclass(frozen=True)
class Trial:
    """How one candidate did under cross-validation."""

    name: str
    complexity: int
    loss: float
    behind: float
    behind_error: float
    eligible: bool


@final
class Simplest(Pool):
    """Cross-validates the candidates under your costs and keeps the simplest good one.

    The best candidate has the least mean loss out of fold. A candidate is eligible
    when its paired difference to the best is within one standard error; of the
    eligible the simplest is kept (nothing learned, then one or two numbers, then
    weights, then a model), among equally simple ones the one with the least loss.

    For those who must have one rule that they can write down. `auto`, which combines
    the candidates instead of choosing one, has a smaller loss on most panels.

    Parameters
    ----------
    candidates : sequence of str or Pool, optional
        By default the mean, the median, log-odds, the best individual, extremized,
        Platt and beta-transformed means, inverse-Brier, VCG and convex weights, and
        stacked logistic regression.
    loss : str
        What is compared: ``cost`` (at your costs) by default.
    cv : int or splitter
        Folds.

    Attributes
    ----------
    choice_ : str
        Name of the pool kept.
    why_ : str
        One sentence.
    table_ : list of Trial
        Every candidate that could be tried, best first.
    pool_ : Pool
        The pool kept, learned from all cases.

    Examples
    --------
    >>> reports = [[0.9, 0.5, 0.4], [0.1, 0.5, 0.6]] * 20
    >>> pool = Simplest(candidates=("mean", "best-agent"), loss="brier")
    >>> pool.fit(reports, [1, 0] * 20).choice_
    'best-agent'
    """

    name: ClassVar[str] = "simplest"
    scales: ClassVar[bool] = True
    complexity: ClassVar[int] = 3
    candidates: Sequence[str | Pool] | None = None
    loss: str = "cost"
    cv: Folds = 5
    seed: int = 0

    choice_: str = learned()
    why_: str = learned()
    table_: list[Trial] = learned()
    pool_: Pool = learned()
    records: ClassVar = (Trial,)
    exemptions: ClassVar = {"unanimity": "it may choose a pool that is exempt"}

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        loss = as_loss(self.loss, self.costs, self.threshold).on(panel)
        pools = candidates.configure_all(
            self.candidates or CANDIDATES, self.costs, self.threshold, self.seed
        )
        try:
            pairs = panel_splits(panel, self.cv, self.seed)
        except SettingError as error:
            choice = pools[0]
            self.table_ = []
            why = str(error).rstrip(".")
            self.why_ = f"{choice.name} was kept without a comparison: {why}"
        else:
            choice = self._best(pools, panel, pairs, loss, case_weights)
        self.choice_ = choice.name
        self.pool_ = clone(choice).fit_panel(panel, case_weights)

    def _best(
        self,
        pools: list[Pool],
        panel: Panel,
        pairs: list[tuple[IntArray, IntArray]],
        loss: Loss,
        case_weights: FloatArray | None,
    ) -> Pool:
        """Return the simplest pool within one standard error of the best."""
        rows = evaluation_cases(pairs)
        cases = None if case_weights is None else case_weights[rows]
        outcomes = panel.outcomes[rows]
        groups = None if panel.groups is None else panel.groups[rows]
        by_pool = candidates.cross_validate(
            dict(enumerate(pools)), panel, pairs, case_weights
        )
        tried, pooled = [pools[i] for i in by_pool], list(by_pool.values())
        if not tried:
            self.table_, self.why_ = (
                [],
                f"{pools[0].name} was kept: there are too few cases to compare pools",
            )
            return pools[0]
        losses = [loss.take(rows).evaluate(p, outcomes) for p in pooled]
        # The Brier loss breaks ties that a loss counted in whole errors leaves.
        rank = [
            (
                case_mean(lost, cases),
                case_mean(Loss("brier").evaluate(p, outcomes), cases),
            )
            for lost, p in zip(losses, pooled, strict=True)
        ]
        order = sorted(range(len(tried)), key=rank.__getitem__)
        best = order[0]
        trials = [
            _trial(pool, losses[i], losses[best], cases, groups)
            for i, pool in enumerate(tried)
        ]
        eligible = [i for i, trial in enumerate(trials) if trial.eligible]
        choice = min(eligible, key=lambda i: (tried[i].complexity, rank[i]))
        self.table_ = [trials[i] for i in order]
        self.why_ = _why(trials[choice], trials[best], loss)
        return tried[choice]

    def _explanation(self) -> Explanation:
        chosen: Explanation = self.pool_.explain()
        # Of two candidates with the same name the better one, which is first, counts.
        scores = {trial.name: trial.loss for trial in reversed(self.table_)}
        return replace(
            chosen,
            why=self.why_,
            scores=dict(sorted(scores.items(), key=lambda item: item[1])) or None,
            scored_by=self.loss if scores else None,
        )

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        return np.asarray(self.pool_.combine(values))

    def combine_sparse(self, reports: SparseReports) -> FloatArray:
        """Pool sparse reports on T cases into (T, 1)."""
        return np.asarray(self.pool_.combine_sparse(reports))

    def to_onnx(self, values: Any) -> Any:
        """Record pooled coordinates (T, C) of a tensor of reports (T, N, C)."""
        return self.pool_.to_onnx(values)


def _trial(
    pool: Pool,
    losses: FloatArray,
    best: FloatArray,
    cases: FloatArray | None,
    groups: Array | None,
) -> Trial:
    gap = losses - best
    behind = case_mean(gap, cases)
    spread = case_mean((gap - behind) ** 2, cases)
    share = np.full(len(gap), 1.0) if cases is None else cases
    count = share.sum() ** 2 / (share**2).sum()
    error = float(np.sqrt(spread / max(count - 1, 1.0)))
    if groups is not None:
        parts = independent_units(gap[:, None], cases, groups)
        error = float(parts.std(ddof=1) / np.sqrt(len(parts)))
    return Trial(
        pool.name,
        pool.complexity,
        case_mean(losses, cases),
        behind,
        error,
        bool(behind <= error),
    )


def _why(choice: Trial, best: Trial, loss: Loss) -> str:
    if choice == best:
        return (
            f"{choice.name} has the lowest {loss.name} loss out of fold "
            f"({choice.loss:.4g} per case), and no simpler pool comes within one "
            "standard error of it"
        )
    return (
        f"{choice.name} loses {choice.loss:.4g} per case ({loss.name}), within one "
        f"standard error ({choice.behind_error:.2g}) of the best, {best.name} "
        f"({best.loss:.4g}), and is the simplest such pool"
    )
