"""What each agent is worth to the pool, and who makes it worse."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.checks.calibration import recalibration_saving, unrelated_agents
from truepool.audits.discrimination import discrimination
from truepool.audits.evidence import Evidence
from truepool.audits.feed_runs import single_reports
from truepool.audits.findings import scaled
from truepool.audits.values import PER_THOUSAND, AgentSummary
from truepool.comparison import Estimate
from truepool.core.arrays import BoolArray, FloatArray, IntArray
from truepool.measures.credit import EXACT_LIMIT, ORDERS, CreditIntervals, intervals
from truepool.measures.losses import Loss, agent_losses

WORK, FEWEST, EFFORT = 20_000_000, 2_000, 10
"""Shapley credit uses as many cases as this amount of work allows, and at least
`FEWEST`; a coalition is 1 unit of work, an agent added in a random order 10."""


def summarize_agents(evidence: Evidence) -> tuple[AgentSummary, ...]:
    """One row per agent, in the order of the panel."""
    panel = evidence.panel
    few = evidence.shortage is not None
    rises = None if few else evidence.cost_rises
    shares = None if few else shapley_credit(evidence)
    weights = None if few else earned_weights(evidence)
    tested = panel.take(evidence.cases)
    brier = agent_losses(tested, Loss("brier"))
    cost = evidence.own_cost
    rate = 1 - np.isnan(panel.values[:, :, 0]).mean(axis=0)
    reported = ~np.isnan(tested.values[:, :, 0])
    cases = reported[tested.one_row_each()].sum(axis=0)
    pool = _means_of_the_pool(evidence, reported)
    per = PER_THOUSAND
    return tuple(
        AgentSummary(
            agent,
            float(rate[i]),
            int(cases[i]),
            float(brier[i]),
            per * float(cost[i]),
            per * float(pool[i]),
            None if weights is None else weights[i],
            None if rises is None else scaled(evidence.saving(rises[:, i]), per),
            None if shares is None else scaled(shares[i], per),
        )
        for i, agent in enumerate(panel.agents)
    )


def _means_of_the_pool(evidence: Evidence, reported: BoolArray) -> FloatArray:
    """Cost per case of the pool where each agent reported (T', N), NaN if nowhere."""
    weights = evidence.panel.case_weights()
    share = reported * (1.0 if weights is None else weights[evidence.cases][:, None])
    mass = share.sum(axis=0)
    means = np.full(len(mass), np.nan)
    np.divide(evidence.cost @ share, mass, where=mass > 0, out=means)
    return means


def earned_weights(evidence: Evidence) -> list[Estimate]:
    """Weight that leave-one-out credit earns each agent, as ``vcg`` sets it."""
    found = _intervals(evidence, evidence.cases, loss="brier")
    return _estimates(found.weights, found.weights_low, found.weights_high)


def shapley_credit(evidence: Evidence) -> list[Estimate]:
    """Shapley credit in the user's costs, with intervals over the cases."""
    most = shapley_cases(len(evidence.panel.agents))
    cases = evidence.sampling.part(evidence.cases, most, "sampled-shapley")
    found = _intervals(
        evidence, cases, method="shapley", loss=evidence.loss.take(cases)
    )
    return _estimates(found.credit, found.low, found.high)


def shapley_cases(agents: int) -> int:
    """Number of cases that Shapley credit uses for this number of agents.

    >>> shapley_cases(5), shapley_cases(20)
    (625000, 2500)
    """
    exact = agents <= EXACT_LIMIT
    effort = 1 << agents if exact else agents * ORDERS * EFFORT
    return max(FEWEST, WORK // effort)


def _intervals(evidence: Evidence, cases: IntArray, **settings: Any) -> CreditIntervals:
    return intervals(
        evidence.panel.take(cases),
        level=evidence.level,
        resamples=evidence.resamples,
        seed=evidence.seed,
        **settings,
    )


def _estimates(*columns: FloatArray) -> list[Estimate]:
    return [Estimate(*map(float, row)) for row in zip(*columns, strict=True)]


NOTICEABLE = 0.02
"""Harm below this share of the pool's cost does not matter."""
RANKS_WELL = 0.7
"""An agent with at least this AUC, surely above 1/2, is recalibrated, not dropped."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test per agent: does the pool cost less without it, does it know anything.

    Who knows more than the base rate is no harm: where a pool costs less without such
    an agent, the pool is at fault.
    """
    unrelated = evidence.compute(unrelated_agents)
    always = evidence.unsplit.compute(single_reports)
    skilled = evidence.own_brier < evidence.prior_brier
    for i, agent in enumerate(evidence.panel.agents):
        rise = evidence.cost_rises[:, i]
        harm = -evidence.mean(rise)
        p = evidence.saving_p_value(rise) if harm > 0 else 1.0
        test = Candidate("harmful", (agent,), p_value=p)
        if i in unrelated:
            facts = {"form": "area", "area": unrelated[i].value}
            if i in always:
                facts = {"form": "single", "report": always[i]}
            yield replace(
                test,
                code="uninformative",
                facts=facts,
                matters=bool(harm >= NOTICEABLE * evidence.stake),
                least="warning",
                number=unrelated[i],
                unit="auc",
                price=partial(evidence.saving, -rise),
            )
        elif skilled[i]:
            yield replace(test, matters=False, most="note", p_value=1.0)
        else:
            yield _without_skill(evidence, test, i, rise, harm)


def _without_skill(
    evidence: Evidence, test: Candidate, agent: int, rise: FloatArray, harm: float
) -> Candidate:
    """Tell an agent that knows nothing from one that is only off in level or scale.

    Both have a higher Brier loss than the base rate; the second is worth keeping: it is
    miscalibrated.
    """
    area = discrimination(evidence, agent)
    facts: dict[str, Any] = {
        "area": area.value,
        "brier": float(evidence.own_brier[agent]),
        "base": evidence.prior_brier,
    }
    matters = bool(harm >= NOTICEABLE * evidence.stake)
    if area.value >= RANKS_WELL and not area.low <= 0.5:
        return replace(
            test,
            code="needs-recalibration",
            facts=facts,
            matters=matters,
            price=partial(recalibration_saving, evidence, agent),
        )
    facts["form"] = "chance" if area.low <= 0.5 else "brier"
    price = partial(evidence.saving, -rise)
    return replace(test, facts=facts, matters=matters, price=price)


checks = (Check("harm", check),)
