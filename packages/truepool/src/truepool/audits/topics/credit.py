"""What each agent is worth to the pool, and who makes it worse."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from truepool.audits.attribution import share_of_cost
from truepool.audits.candidate import Candidate
from truepool.audits.discrimination import discrimination
from truepool.audits.evidence import Evidence
from truepool.audits.feed_runs import single_reports
from truepool.audits.topic import Topic
from truepool.audits.topics.calibration import (
    name_stacking,
    recalibration_saving,
    unrelated_agents,
)
from truepool.audits.values import AgentSummary
from truepool.comparison import Estimate
from truepool.core.arrays import BoolArray, FloatArray, IntArray
from truepool.core.formatting import number
from truepool.core.sentences import leaving_out
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
    return tuple(
        AgentSummary(
            agent,
            float(rate[i]),
            float(brier[i]),
            float(cost[i]),
            None if weights is None else weights[i],
            None if rises is None else evidence.saving(rises[:, i]),
            None if shares is None else shares[i],
            int(cases[i]),
            float(pool[i]),
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
    cases = evidence.sampling.part(evidence.cases, most, "Shapley credit")
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


STOPPED = (
    "if it stopped reporting, and the pool were not fitted again, decisions would cost "
    "less per case"
)
"""What harm means here; what a pool costs that is fitted without the agent, the steps
say where it is recommended."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test per agent: does the pool cost less without it."""
    skilled = evidence.own_brier < evidence.prior_brier
    for i, agent in enumerate(evidence.panel.agents):
        rise = evidence.cost_rises[:, i]
        harm = -evidence.mean(rise)
        candidate = Candidate(
            "harmful",
            (agent,),
            f"{agent} makes the pool worse: {STOPPED}.",
            f"Leave {agent} out, or use a pool that weighs agents by what they add "
            "(`vcg`, `convex`).",
            p_value=evidence.saving_p_value(rise) if harm > 0 else 1.0,
            matters=bool(harm >= NOTICEABLE * evidence.stake and not skilled[i]),
            price=partial(evidence.saving, -rise),
            figure="credit",
            # If a skilled agent harms a mean, the mean is under-confident.
            explained_by=(
                ("under-confident-pool", "threshold") if skilled[i] else ("threshold",)
            ),
            share=partial(share_of_cost, harm),
        )
        if i in evidence.compute(unrelated_agents):
            yield _unrelated(candidate, evidence, i)
        else:
            yield candidate if skilled[i] else _without_skill(candidate, evidence, i)


def _unrelated(candidate: Candidate, evidence: Evidence, agent: int) -> Candidate:
    """Say of an agent without any relation to the outcome what it is, whatever harm.

    To recalibrate it would only turn every report into the base rate.
    """
    who, agents = candidate.who[0], evidence.panel.agents
    unrelated = evidence.compute(unrelated_agents)
    related = [name for i, name in enumerate(agents) if i not in unrelated]
    area, option = unrelated[agent], leaving_out([who], agents)
    always = evidence.unsplit.compute(single_reports).get(agent)
    sentence = (
        f"{who} shows no relation to the outcome: its AUC is {number(area.value)}, and "
        "0.5 is chance."
        if always is None
        else f"{always}, whatever the outcome."
    )
    leave = f"Leave {who} out (`{option}`)"
    if len(related) < 2:
        leave = "Find out whether this is the right outcome column (--outcome)"
    if len(related) == 1:
        leave = f"Use {related[0]} alone"
    look = (
        "check whether it is an agent at all, its feed, and how its reports are joined "
        "to the cases"
    )
    learned = (
        f" Fit a pool that learns without it: `truepool fit --pool auto {option}`."
    )
    return replace(
        candidate,
        code="uninformative",
        sentence=sentence,
        advice=f"{leave}, or {look}. Do not recalibrate it: that would only turn every "
        "report into the base rate.",
        least="warning",
        number=area,
        unit="AUC",
        backfires=f"{look[:1].upper()}{look[1:]}. Do not just take it out: the pool in "
        "use would shift, and on these cases that alone would cost more."
        + learned
        * bool(option),
        explained_by=(),
        share=None,
    )


def _without_skill(candidate: Candidate, evidence: Evidence, agent: int) -> Candidate:
    """Tell an agent that knows nothing from one that is only off in level or scale.

    Both have a higher Brier loss than the base rate; the second is worth keeping.
    """
    who, area = candidate.who[0], discrimination(evidence, agent)
    worse = (
        f"its Brier loss ({number(float(evidence.own_brier[agent]))}) is worse than "
        f"the base rate's ({number(evidence.prior_brier)})"
    )
    if area.value >= RANKS_WELL and not area.low <= 0.5:
        return replace(
            candidate,
            code="needs-recalibration",
            sentence=f"{who} ranks cases well (AUC {number(area.value)}) but is so far "
            f"off in level or scale that {worse}, and {STOPPED}.",
            advice=f"Recalibrate {who}, and keep it: what it knows is worth having.",
            price=partial(recalibration_saving, evidence, agent),
            tail=partial(name_stacking, evidence),
        )
    weak = "it knows less than the base rate" if area.low <= 0.5 else worse
    return replace(
        candidate,
        sentence=f"{who} makes the pool worse and {weak}: {STOPPED}.",
    )


topic = Topic("harm", check)
