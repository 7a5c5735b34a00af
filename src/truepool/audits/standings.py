"""What each agent is worth: credit in the user's costs, and the weight it earns."""

from typing import Any

import numpy as np

from truepool.audits.evidence import Evidence
from truepool.audits.tempting import tempting
from truepool.audits.values import Standing
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.credit import EXACT_LIMIT, ORDERS, CreditIntervals, intervals
from truepool.measures.losses import Loss, agent_losses

WORK, FEWEST, EFFORT = 20_000_000, 2_000, 10
"""Shapley credit looks at as many cases as this much work allows, and never at fewer
than `FEWEST`; a coalition is 1 of work, an agent that joins in a random order 10."""


def standings(evidence: Evidence) -> tuple[Standing, ...]:
    """One row an agent, in the order of the panel."""
    panel = evidence.panel
    few = evidence.shortage is not None
    rises = None if few else evidence.rises
    shares = None if few else shapley(evidence)
    weights = None if few else earned(evidence)
    found = evidence.once(tempting)
    brier, cost = own_brier(evidence), agent_losses(panel, evidence.loss)
    spoke = 1 - np.isnan(panel.values[:, :, 0]).mean(axis=0)
    return tuple(
        Standing(
            agent,
            float(spoke[i]),
            float(brier[i]),
            float(cost[i]),
            None if weights is None else weights[i],
            None if rises is None else evidence.estimate(rises[:, i]),
            None if shares is None else shares[i],
            None if found is None else max(0.0, found[agent].best.gain),
        )
        for i, agent in enumerate(panel.agents)
    )


def own_brier(evidence: Evidence) -> FloatArray:
    """Brier loss of each agent's own reports, (N,)."""
    return agent_losses(evidence.panel, Loss("brier"))


def prior_brier(evidence: Evidence) -> float:
    """Brier loss of saying the base rate every time."""
    panel = evidence.panel
    prior = np.broadcast_to(panel.base_rate(), (len(panel), panel.values.shape[2]))
    return float(Loss("brier").of(prior, panel.outcomes).mean())


def earned(evidence: Evidence) -> list[Estimate]:
    """Weight that leave-one-out credit earns each agent, as ``vcg`` sets it."""
    found = _intervals(evidence, evidence.looked, loss="brier")
    return _estimates(found.weights, found.weights_low, found.weights_high)


def shapley(evidence: Evidence) -> list[Estimate]:
    """Shapley credit in the user's costs, with intervals over the cases."""
    most = most_cases(len(evidence.panel.agents))
    cases = evidence.sampling.part(evidence.looked, most, "Shapley credit")
    found = _intervals(evidence, cases, method="shapley", loss=evidence.loss)
    return _estimates(found.credit, found.low, found.high)


def most_cases(agents: int) -> int:
    """How many cases Shapley credit of so many agents looks at.

    >>> most_cases(5), most_cases(20)
    (625000, 2500)
    """
    exact = agents <= EXACT_LIMIT
    effort = 1 << agents if exact else agents * ORDERS * EFFORT
    return max(FEWEST, WORK // effort)


def _intervals(evidence: Evidence, cases: IntArray, **asked: Any) -> CreditIntervals:
    return intervals(
        evidence.panel.take(cases),
        level=evidence.level,
        resamples=evidence.resamples,
        seed=evidence.seed,
        **asked,
    )


def _estimates(*columns: FloatArray) -> list[Estimate]:
    return [Estimate(*map(float, row)) for row in zip(*columns, strict=True)]
