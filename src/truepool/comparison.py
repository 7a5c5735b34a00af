"""Every pool side by side on one panel, tested on cases it was not fitted on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from truepool.core import display
from truepool.core.arrays import (
    FloatArray,
    IntArray,
    as_case_weights,
    case_mean,
    to_classes,
)
from truepool.core.errors import SettingError
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.measures.folds import Folds, evaluation_cases, out_of_fold, splits
from truepool.measures.inference import (
    bootstrap_means,
    holm,
    paired_p_values,
    percentile_interval,
)
from truepool.measures.losses import Loss, as_loss
from truepool.measures.scores import confusion, ece, loss
from truepool.pools import Pool, every
from truepool.pools.interface import configure

BASELINES = ("mean", "best-agent")
"""Every pool is compared with the plain mean and with the best single agent."""


@dataclass(frozen=True)
class Estimate:
    """A number with the interval that resampling the cases gives it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """Out-of-fold results of one pool: its loss, and the difference to the baselines.

    ``p_mean`` and ``p_best`` are paired t-tests of those differences, adjusted (Holm)
    for the number of pools that were tried.
    """

    pool: str
    loss: Estimate
    to_mean: Estimate
    to_best: Estimate
    p_mean: float
    p_best: float
    cost: float
    brier: float
    log: float
    ece: float
    recall: float
    precision: float
    fn_rate: float
    fp_rate: float


@dataclass(frozen=True)
class Comparison:
    """Every pool on one panel, lowest loss first; ``untried`` had too few cases.

    ``by_case`` holds the loss of every tested case by pool, for tests of your own.
    """

    rows: tuple[Row, ...]
    loss: str
    costs: Costs
    threshold: float | None
    level: float
    cases: int
    tested: int
    agents: tuple[str, ...]
    classes: int
    untried: tuple[str, ...] = ()
    by_case: Mapping[str, FloatArray] = field(
        default_factory=dict, repr=False, compare=False
    )

    def __getitem__(self, pool: str) -> Row:
        for row in self.rows:
            if row.pool == pool:
                return row
        raise KeyError(pool)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, ready for JSON (NaN becomes None)."""
        values = asdict(replace(self, by_case={}))
        del values["by_case"]
        return cast(dict[str, Any], _plain(values))

    def _repr_html_(self) -> str:
        return str(display.render("html.notebook", "comparison", self))

    def __repr__(self) -> str:
        best = self.rows[0]
        return (
            f"Comparison({len(self.rows)} pools on {self.tested:,} cases; "
            f"least {self.loss}: {best.pool} {best.loss.value:.4g})"
        )


def compare(
    panel: Panel,
    *,
    costs: Costs | None = None,
    threshold: float | None = None,
    loss: str = "cost",
    pools: Sequence[str | Pool] | Mapping[str, str | Pool] | None = None,
    cv: Folds = 5,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> Comparison:
    """Cross-validate pools on a panel and compare them.

    Parameters
    ----------
    panel : Panel
        With times, every fold is tested on later cases than it is fitted on.
    costs, threshold : Costs, float, optional
        What errors cost, and where to decide (by default at ``costs.threshold``).
    loss : str
        What the pools are ranked by; ``cost`` by default.
    pools : sequence of str or Pool, or mapping of label to them, optional
        By default all of `truepool.pools.every` with ``by_default``; the baselines are
        always included.
    cv, sample_weight, level, resamples, seed
        Folds; how much each case counts; the interval's level and the number of
        bootstrap resamples; the seed.
    progress : callable
        Called with the name of each pool, the number of pools done and their total.

    Examples
    --------
    >>> panel = Panel([[0.9, 0.5], [0.1, 0.5], [0.8, 0.4]] * 20, [1, 0, 1] * 20)
    >>> compare(panel, pools=["vcg"], loss="brier")
    Comparison(3 pools on 60 cases; least brier: vcg 0.02)
    """
    panel, costs = (costs or Costs()).attach(panel)
    costs.check_classes(panel.classes)
    costs.resolve(panel.columns, panel.ids)
    ranking_loss = as_loss(loss, costs, threshold)
    chosen = choose_pools(pools, ranking_loss, seed)
    weights = as_case_weights(sample_weight, len(panel))
    pairs = splits(panel.outcomes, cv, seed, times=panel.times)
    pooled = cross_validate(chosen, panel, pairs, weights, progress=progress)
    return tabulate(
        panel, pairs, pooled, ranking_loss, weights, level=level, resamples=resamples,
        seed=seed, untried=tuple(name for name in chosen if name not in pooled),
    )  # fmt: skip


def cross_validate(
    pools: Mapping[str, Pool],
    panel: Panel,
    pairs: list[tuple[IntArray, IntArray]],
    weights: FloatArray | None = None,
    *,
    known: Mapping[str, FloatArray] | None = None,
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> dict[str, FloatArray]:
    """Out-of-fold probabilities (T', C) of the tested cases, by pool.

    ``known`` holds those of pools that need not be fitted again. A pool for which there
    are too few cases is left out; for a baseline that is an error.
    """
    cases = evaluation_cases(pairs)
    pooled = {} if known is None else dict(known)
    for done, (name, pool) in enumerate(pools.items()):
        progress(name, done, len(pools))
        if name in pooled:
            continue
        try:
            pooled[name] = out_of_fold(pool, panel, pairs, weights)[cases]
        except SettingError:
            if name in BASELINES:
                raise
    return {name: pooled[name] for name in pools if name in pooled}


def tabulate(
    panel: Panel,
    pairs: list[tuple[IntArray, IntArray]],
    pooled: Mapping[str, FloatArray],
    ranking_loss: Loss,
    weights: FloatArray | None = None,
    *,
    level: float,
    resamples: int,
    seed: int,
    untried: tuple[str, ...] = (),
) -> Comparison:
    """Compare cross-validated pools, lowest loss first."""
    cases = evaluation_cases(pairs)
    outcomes = panel.outcomes[cases]
    test_weights = None if weights is None else weights[cases]
    ranking = ranking_loss.on(panel).take(cases)
    cost = Loss("cost", ranking_loss.costs, ranking_loss.threshold)
    cost = cost.on(panel).take(cases)
    losses = np.stack([ranking.of(p, outcomes) for p in pooled.values()], axis=1)
    if test_weights is not None:
        losses *= (test_weights / test_weights.mean())[:, None]
    return Comparison(
        _rows(pooled, losses, outcomes, test_weights, cost, level, resamples, seed),
        ranking_loss.name,
        ranking_loss.costs,
        ranking_loss.threshold,
        level,
        len(panel),
        len(cases),
        panel.agents,
        panel.classes,
        untried,
        {name: losses[:, i] for i, name in enumerate(pooled)},
    )


def _rows(
    pooled: Mapping[str, FloatArray],
    losses: FloatArray,
    outcomes: IntArray,
    test_weights: FloatArray | None,
    cost: Loss,
    level: float,
    resamples: int,
    seed: int,
) -> tuple[Row, ...]:
    draws = bootstrap_means(losses, resamples, seed)
    names = list(pooled)
    baselines = [names.index(name) for name in BASELINES]
    p_mean, p_best = (_adjusted(losses, j) for j in baselines)
    rows = []
    for i, name in enumerate(names):
        to_mean, to_best = (
            _estimate(losses[:, i] - losses[:, j], draws[:, i] - draws[:, j], level)
            for j in baselines
        )
        estimate = _estimate(losses[:, i], draws[:, i], level)
        summary = _summary(pooled[name], outcomes, test_weights, cost)
        chances = (float(p_mean[i]), float(p_best[i]))
        rows.append(Row(name, estimate, to_mean, to_best, *chances, **summary))
    return tuple(sorted(rows, key=lambda row: (row.loss.value, row.brier)))


def choose_pools(
    pools: Sequence[str | Pool] | Mapping[str, str | Pool] | None,
    loss: Loss,
    seed: int,
) -> dict[str, Pool]:
    """Return the pools to compare by label, unfitted, with the baselines."""
    configured = partial(
        configure, costs=loss.costs, threshold=loss.threshold, seed=seed
    )
    chosen: dict[str, Pool] = {}
    if isinstance(pools, Mapping):
        chosen = {label: configured(pool) for label, pool in pools.items()}
    else:
        for pool in _default_pools() if pools is None else pools:
            candidate = configured(pool)
            if candidate.name in chosen:
                raise SettingError(
                    f"pools to compare must have different names; got "
                    f"{candidate.name!r} twice. Pass a mapping of labels to pools."
                )
            chosen[candidate.name] = candidate
    for name in BASELINES:
        chosen.setdefault(name, configured(name))
    return chosen


def _default_pools() -> list[str]:
    """Names of the pools that are compared by default."""
    return [name for name, pool in every().items() if pool.by_default]


def _adjusted(losses: FloatArray, baseline: int) -> FloatArray:
    """Adjusted p-values (M,) of every pool against a baseline, which itself gets 1."""
    others = np.arange(losses.shape[1]) != baseline
    adjusted = np.ones(losses.shape[1])
    gaps = losses[:, others] - losses[:, [baseline]]
    adjusted[others] = holm(paired_p_values(gaps))
    return adjusted


def _estimate(by_case: FloatArray, draws: FloatArray, level: float) -> Estimate:
    low, high = percentile_interval(draws[:, None], level)
    return Estimate(float(by_case.mean()), float(low[0]), float(high[0]))


def _summary(
    pooled: FloatArray, outcomes: IntArray, test_weights: FloatArray | None, cost: Loss
) -> dict[str, float]:
    probabilities = to_classes(pooled)
    counts = confusion(
        probabilities,
        outcomes,
        costs=cost.costs,
        threshold=cost.threshold,
        sample_weight=test_weights,
    )
    return {
        "cost": case_mean(cost.of(pooled, outcomes), test_weights),
        "brier": loss(probabilities, outcomes, "brier", sample_weight=test_weights),
        "log": loss(probabilities, outcomes, "log", sample_weight=test_weights),
        "ece": ece(probabilities, outcomes, sample_weight=test_weights),
        "recall": counts.recall,
        "precision": counts.precision,
        "fn_rate": counts.fn_rate,
        "fp_rate": counts.fp_rate,
    }


def _plain(value: Any) -> Any:
    """Values with None for NaN, which JSON cannot express."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and np.isnan(value) else value
