"""Pools are cross-validated: each is tested on cases it was not fitted on."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truepool.comparison.competition import Competition
from truepool.comparison.tested_cases import (
    BASELINES,
    TestedCases,
    adjust,
    compare_groups,
)
from truepool.comparison.values import Comparison, GroupComparison
from truepool.core.arrays import FloatArray
from truepool.core.engine import Engine, one_blas_thread
from truepool.core.errors import SettingError
from truepool.core.seeds import check_seed
from truepool.measures.capacity import Capacity
from truepool.measures.folds import Folds, panel_splits
from truepool.measures.groups import check_column, divide
from truepool.measures.inference.bootstrap import check_level, check_resamples
from truepool.measures.losses import Loss, as_loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel, check_panel
from truepool.pools import Pool, every
from truepool.pools.candidates import cross_validate, scalable
from truepool.pools.interface import configure


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
    capacity: str | int | None = None,
    by: str | None = None,
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
    engine: Engine | None = None,
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
        By default all of `truepool.pools.every` with ``by_default``; of a panel that is
        mostly empty, those that read only the reports given. The baselines are always
        included.
    cv, sample_weight, level, resamples, seed
        Folds; how much each case counts; the interval's level and the number of
        bootstrap resamples; the seed.
    capacity : str or int, optional
        How many cases can be decided positive, as in 200, "5%" or "200/day". A plain
        number is for all cases of the panel; of fewer tested ones it is as large a
        part. Cases without an outcome (`Panel.with_pending`) compete for it too; cost
        and recall are those of the others.
    by : str, optional
        Column of the panel that divides the cases into segments, to compare the pools
        within each.
    progress : callable
        Called with the name of each pool, the number of pools done and their total.
    engine : Engine, optional
        Where each pool is fitted to each fold; by default in this process.

    Examples
    --------
    >>> panel = Panel([[0.9, 0.5], [0.1, 0.5], [0.8, 0.4]] * 20, [1, 0, 1] * 20)
    >>> compare(panel, pools=["vcg"], loss="brier")
    Comparison(3 pools on 60 cases; least brier: vcg 0.02)
    """
    check_panel(panel, "a comparison")
    check_seed(seed)
    check_level(level)
    check_resamples(resamples)
    panel.check_classes_occur("a comparison")
    panel, costs = (costs or Costs()).attach(panel)
    costs.check_classes(panel.classes)
    costs.resolve(panel.columns, panel.ids)
    ranking_loss = as_loss(loss, costs, threshold)
    limit = None if capacity is None else Capacity.parse(capacity)
    if limit is not None:
        limit.check(panel)
    if by is not None:
        check_column(panel, by)
    if pools is None and panel.mostly_empty:
        pools = scalable(_default_pools())
    chosen = choose_pools(pools, ranking_loss, seed)
    weights = panel.case_weights(sample_weight)
    pairs = panel_splits(panel, cv, seed)
    competition = Competition.of(panel, pairs, limit, costs)
    pooled = cross_validate(
        chosen,
        competition.panel,
        competition.pairs,
        weights,
        required=BASELINES,
        progress=progress,
        engine=engine,
    )
    with one_blas_thread():  # the same bits on any machine
        return tabulate(
            panel, competition, pooled, ranking_loss, weights, level=level,
            resamples=resamples, seed=seed, by=by, engine=engine,
            skipped=tuple(name for name in chosen if name not in pooled),
        )  # fmt: skip


def tabulate(
    panel: Panel,
    competition: Competition,
    pooled: Mapping[str, FloatArray],
    ranking_loss: Loss,
    weights: FloatArray | None = None,
    *,
    level: float,
    resamples: int,
    seed: int,
    skipped: tuple[str, ...] = (),
    by: str | None = None,
    engine: Engine | None = None,
) -> Comparison:
    """Compare cross-validated pools, lowest loss first.

    All cases that compete for a capacity are decided, and those tested are measured.
    """
    capacity, T = competition.capacity, competition.tested
    cases = competition.cases[:T]
    outcomes = panel.outcomes[cases]
    weights = panel.case_weights(weights)
    test_weights = None if weights is None else weights[cases]
    ranking = ranking_loss.on(panel).take(cases)
    cost = Loss("cost", ranking_loss.costs, ranking_loss.threshold)
    cost = cost.on(panel).take(cases)
    decisions = {
        name: competition.decide(p, ranking_loss)[:T] for name, p in pooled.items()
    }
    pooled = {name: p[:T] for name, p in pooled.items()}
    paid = {
        name: cost.costs.cost_per_case(outcomes, decided, panel.classes)
        for name, decided in decisions.items()
    }
    columns = [
        paid[name] if ranking.name == "cost" else ranking.evaluate(p, outcomes)
        for name, p in pooled.items()
    ]
    together = None if panel.groups is None else panel.groups[cases]
    split = None if panel.questions is None else panel.questions[cases]
    losses = np.stack(columns, axis=1)
    stakes = least = None
    if ranking.name == "cost":
        stakes = cost.costs.stakes(outcomes, panel.classes)
        least = cost.costs.cost_per_case(outcomes, outcomes, panel.classes)
    tested = TestedCases(
        pooled, decisions, paid, losses, outcomes, test_weights, together, split,
        stakes, least,
    )  # fmt: skip
    settings: Any = {
        "level": level, "resamples": resamples, "seed": seed, "engine": engine,
    }  # fmt: skip
    p_values = adjust(tested.p_values())
    rows = tested.rows(*p_values, **settings)
    groups: tuple[GroupComparison, ...] = ()
    if by is not None:
        places = divide(panel.columns[by][cases])
        groups = compare_groups(tested, places, **settings)
    return Comparison(
        rows,
        ranking_loss.name,
        ranking_loss.costs,
        ranking_loss.threshold,
        level,
        panel.size,
        len(panel.one_row_each(cases)),
        panel.agents,
        panel.classes,
        skipped,
        {name: tested.units[:, i] for i, name in enumerate(pooled)},
        None if capacity is None else str(capacity),
        by,
        groups,
        panel.labels.names,
        tested.unseen,
        competition.pending,
        panel.propensity is not None,
    )


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
