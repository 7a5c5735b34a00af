"""What pools cost when they are fitted to other reports, or to fewer agents."""

from collections.abc import Sequence

import numpy as np

from truepool.audits.comparison import TriedPools, recommended_pool, try_pools
from truepool.audits.evidence import Evidence
from truepool.comparison import Estimate, choose_pools, estimate_difference
from truepool.core.arrays import FloatArray, IntArray, from_classes
from truepool.core.errors import SettingError
from truepool.measures.folds import thin
from truepool.measures.inference import (
    Resamples,
    independent_units,
    paired_p_values,
    unseen_differences,
    with_unseen,
)
from truepool.panel.panel import Panel
from truepool.pools.interface import Pool


def pooled_by(
    evidence: Evidence, pool: str, agents: Sequence[str] | None = None
) -> FloatArray | None:
    """Out-of-fold probabilities (T', C) of a pool of some agents, by default of all.

    None where pools could not be compared, or this one cannot be fitted to them. Of
    evidence that was treated the pool is fitted again to the reports as they are now,
    and a pool that chose among candidates keeps its choice.
    """
    tried, every = evidence.compute(try_pools), evidence.panel.agents
    if tried is None:
        return None
    agents = every if agents is None else tuple(agents)
    if agents == every and not evidence.treated and pool in tried.pooled:
        return tried.pooled[pool]
    if agents == every and pool == evidence.in_use:
        return evidence.validation.pooled_of(tested_cases(evidence))
    places = [every.index(name) for name in agents]
    try:
        return _pool_part(evidence, tried, _fold_pools(evidence, tried, pool), places)
    except SettingError:
        return None


def decided_by(evidence: Evidence, pooled: FloatArray) -> IntArray:
    """Decisions (T',) on the cases of the comparison, at the threshold that is left."""
    tried = evidence.compute(try_pools)
    if tried is None:
        raise AssertionError("what is decided was pooled in a comparison")
    decided = tried.competition.decide(pooled, evidence.planned_loss)
    return decided[: tried.competition.tested]


def cost_of(
    evidence: Evidence, pool: str, agents: Sequence[str] | None = None
) -> FloatArray | None:
    """Cost (T',) of each case of the comparison, decided by a pool of some agents."""
    pooled = pooled_by(evidence, pool, agents)
    if pooled is None:
        return None
    cases, panel = tested_cases(evidence), evidence.panel
    costs = evidence.planned_loss.on(panel).take(cases).costs
    decided = decided_by(evidence, pooled)
    return costs.cost_per_case(panel.outcomes[cases], decided, panel.classes)


def cost_in_use(evidence: Evidence) -> FloatArray:
    """Cost (T',) of each compared case by the pool in use, at its own threshold."""
    cases, decided = tested_cases(evidence), evidence.decisions
    own = np.searchsorted(evidence.cases, cases)
    costs, panel = evidence.loss.take(cases).costs, evidence.panel
    return costs.cost_per_case(panel.outcomes[cases], decided[own], panel.classes)


def tested_cases(evidence: Evidence) -> IntArray:
    """Cases on which pools are compared."""
    tried = evidence.compute(try_pools)
    if tried is None:
        raise AssertionError("there is a comparison")
    return tried.competition.cases[: tried.competition.tested]


def _fold_pools(evidence: Evidence, tried: TriedPools, pool: str) -> list[Pool]:
    """The pool of each fold, fitted to all agents, or not fitted yet."""
    folds = len(evidence.validation.folds)
    if pool == recommended_pool(evidence) and tried.fitted:
        return tried.fitted
    if pool == evidence.in_use:
        known = evidence.validation.pools
        return known if len(known) == folds else known[:1] * folds
    chosen: dict[str, str | Pool] = {pool: pool}
    return [choose_pools(chosen, evidence.planned_loss, evidence.seed)[pool]] * folds


def _pool_part(
    evidence: Evidence, tried: TriedPools, pools: list[Pool], places: list[int]
) -> FloatArray:
    """Probabilities of the cases that compete, by the agents at these places.

    The base rate where none of them reported.
    """
    panel, pairs = tried.competition.panel, tried.competition.pairs
    if evidence.treated:
        panel = evidence.panel
    reported = np.asarray(~np.isnan(panel.values[:, places, 0]).all(axis=1))
    pooled = np.empty((len(panel), panel.shape[2]))
    pooled[:] = evidence.panel.base_rate()
    agents = [panel.agents[i] for i in places]
    for fold, (_, test) in enumerate(pairs):
        known, weights = evidence.compute(_learning_parts)[fold]
        some = np.flatnonzero(~np.isnan(known.values[:, places, 0]).all(axis=1))
        part = known.take(some).select_agents(agents) if len(some) else None
        if part is None:
            raise SettingError("a fold learns from cases that these agents reported on")
        counted = None if weights is None else weights[some]
        own = pools[fold].refit(part, counted)
        asked = test[reported[test]]
        answer = own.probabilities(panel.values[asked][:, places])
        pooled[asked] = from_classes(answer)
    return pooled[tried.competition.cases]


def _learning_parts(evidence: Evidence) -> list[tuple[Panel, FloatArray | None]]:
    """Cases that each fold learns from, thinned once for all agents."""
    return [thin(evidence.panel.take(learn)) for learn, _ in evidence.validation.folds]


def estimate_rise(evidence: Evidence, rise: FloatArray) -> Estimate:
    """Mean rise in cost (T',) per case of the comparison, with its interval."""
    units, unseen = _units(evidence, rise)
    drawn = Resamples(len(units) + len(unseen), evidence.resamples, evidence.seed)
    return estimate_difference(units, unseen, drawn, evidence.level)


def rise_p_value(evidence: Evidence, rise: FloatArray) -> float:
    """Two-sided t-test of whether the mean of differences of cost (T',) is 0."""
    units, unseen = _units(evidence, rise)
    return float(paired_p_values(with_unseen(units[:, None], unseen))[0])


def _units(evidence: Evidence, rise: FloatArray) -> tuple[FloatArray, FloatArray]:
    cases = tested_cases(evidence)
    weights, groups = evidence.weights_of(cases), evidence.groups_of(cases)
    units = independent_units(rise[:, None], weights, groups)[:, 0]
    outcomes = evidence.panel.outcomes[cases]
    stakes = evidence.loss.take(cases).costs.stakes(outcomes, evidence.panel.classes)
    return units, unseen_differences(stakes, outcomes, weights, len(units))
