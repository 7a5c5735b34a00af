"""What each agent is worth: what the recommended pool loses without it."""

from collections.abc import Sequence

import numpy as np

from truepool.audits.evidence import Evidence
from truepool.audits.topics.comparison import recommended_pool, try_pools
from truepool.comparison import Estimate, estimate_difference
from truepool.core.arrays import FloatArray, from_classes
from truepool.core.errors import SettingError
from truepool.measures.folds import thin
from truepool.measures.inference import (
    Resamples,
    independent_units,
    unseen_differences,
)
from truepool.panel.panel import Panel
from truepool.pools.interface import Pool

MOST_AGENTS = 50
"""With more agents the pool is not fitted again without each of them."""


def agent_worth(evidence: Evidence, pool: str) -> list[Estimate] | None:
    """Rise in cost per case without each agent, the pool fitted again; None if unknown.

    Out of fold and paired: the same cases are decided with and without the agent. A
    pool that chose among candidates keeps its choice.
    """
    agents = evidence.panel.agents
    if not 2 <= len(agents) <= MOST_AGENTS or evidence.panel.sparse is not None:
        return None
    whole = cost_of(evidence, pool, agents)
    if whole is None:
        return None
    found = []
    for left_out in agents:
        rest = [name for name in agents if name != left_out]
        cost = cost_of(evidence, pool, rest)
        if cost is None:
            return None
        found.append(estimate_rise(evidence, cost - whole))
    return found


def cost_of(evidence: Evidence, pool: str, agents: Sequence[str]) -> FloatArray | None:
    """Cost (T',) of each case of the comparison, decided by a pool of some agents.

    None where the pool cannot be fitted to them.
    """
    tried = evidence.compute(try_pools)
    if tried is None:
        return None
    competition, panel = tried.competition, evidence.panel
    pooled = tried.pooled[pool]
    if tuple(agents) != panel.agents:
        places = [panel.agents.index(name) for name in agents]
        try:
            pooled = _pool_part(evidence, _fold_pools(evidence, pool), places)
        except SettingError:
            return None
    loss = evidence.planned_loss
    decided = competition.decide(pooled, loss)[: competition.tested]
    cases = competition.cases[: competition.tested]
    costs = loss.on(panel).take(cases).costs
    return costs.cost_per_case(panel.outcomes[cases], decided, panel.classes)


def _fold_pools(evidence: Evidence, pool: str) -> list[Pool]:
    """The pool of each fold, fitted to all agents."""
    tried = evidence.compute(try_pools)
    if tried is not None and pool == recommended_pool(evidence) and tried.fitted:
        return tried.fitted
    known = evidence.validation.pools
    folds = len(evidence.validation.folds)
    return known if len(known) == folds else known[:1] * folds


def _pool_part(evidence: Evidence, pools: list[Pool], places: list[int]) -> FloatArray:
    """Probabilities of the cases that compete, by the agents at these places.

    The base rate where none of them reported.
    """
    tried = evidence.compute(try_pools)
    if tried is None:
        raise AssertionError("a pool is tried before it is fitted to some agents")
    panel, pairs = tried.competition.panel, tried.competition.pairs
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
        own = pools[fold].refit(part, None if weights is None else weights[some])
        asked = test[reported[test]]
        answer = own.probabilities(panel.values[asked][:, places])
        pooled[asked] = from_classes(answer)
    return pooled[tried.competition.cases]


def _learning_parts(evidence: Evidence) -> list[tuple[Panel, FloatArray | None]]:
    """Cases that each fold learns from, thinned once for all agents."""
    return [thin(evidence.panel.take(learn)) for learn, _ in evidence.validation.folds]


def tested_mean(evidence: Evidence, by_case: FloatArray) -> float:
    """Mean over the cases of the comparison, by their weights."""
    return estimate_rise(evidence, by_case).value


def estimate_rise(evidence: Evidence, rise: FloatArray) -> Estimate:
    """Mean rise in cost (T',) per case of the comparison, with its interval."""
    tried = evidence.compute(try_pools)
    if tried is None:
        raise AssertionError("costs come from a comparison")
    cases = tried.competition.cases[: tried.competition.tested]
    weights, groups = evidence.weights_of(cases), evidence.groups_of(cases)
    units = independent_units(rise[:, None], weights, groups)[:, 0]
    outcomes = evidence.panel.outcomes[cases]
    stakes = evidence.loss.take(cases).costs.stakes(outcomes, evidence.panel.classes)
    unseen = unseen_differences(stakes, outcomes, weights, len(units))
    drawn = Resamples(len(units) + len(unseen), evidence.resamples, evidence.seed)
    return estimate_difference(units, unseen, drawn, evidence.level)
