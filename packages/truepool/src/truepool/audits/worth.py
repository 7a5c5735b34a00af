"""What each agent is worth, and which set of agents is, at what their reports cost."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from truepool.audits.comparison import (
    recommended_pool,
    share_comparison,
    try_pools,
)
from truepool.audits.evidence import Evidence
from truepool.audits.findings import scaled
from truepool.audits.refits import cost_of, estimate_rise, tested_cases
from truepool.audits.values import PER_THOUSAND, AgentSet, AgentSummary, Plan
from truepool.comparison import Estimate
from truepool.core.arrays import BoolArray, FloatArray, case_mean
from truepool.core.errors import AgentError, SettingError, suggestion
from truepool.pools.interface import Pool

MOST_AGENTS = 50
"""With more agents the pool is not fitted again without each of them."""

MOST_PRICED = 20
"""With more agents no set of them is looked for."""

WEIGHED_CASES = 2_000
"""Cases by which weights in a pool are measured, evenly spread, at most."""


def add_worth(
    evidence: Evidence,
    treated: Evidence,
    summaries: tuple[AgentSummary, ...],
    plan: Plan,
    prices: Mapping[str, float],
    monthly: float | None,
) -> tuple[AgentSummary, ...]:
    """Add what each agent is worth in the recommended pool, and its weights.

    ``treated`` is the evidence once the plan's steps are taken.
    """
    now = _weights(evidence, evidence.validation.pools)
    tried = evidence.compute(try_pools)
    then = None
    if plan.change and tried is not None and plan.pool == recommended_pool(evidence):
        then = _weights(evidence, tried.fitted)
        if then is not None:  # of those that it is fitted to
            out = [one.agent in plan.without for one in summaries]
            then = np.where(out, 0.0, then)
            then = then / then.sum() if then.sum() > 0 else None
    pool = judging_pool(evidence, plan)
    found = None
    if pool is not None:
        found = agent_worth(treated, pool, plan.without, sent=evidence)
    added = []
    for i, one in enumerate(summaries):
        price = prices.get(one.agent)
        worth = None if found is None else scaled(found[i], PER_THOUSAND)
        net = worth
        if worth is not None and price is not None:
            paid = price * PER_THOUSAND * one.report_rate
            net = Estimate(worth.value - paid, worth.low - paid, worth.high - paid)
        added.append(
            replace(
                one,
                weight=None if now is None else float(now[i]),
                recommended_weight=None if then is None else float(then[i]),
                worth=worth,
                worth_per_month=None if found is None else scaled(found[i], monthly),
                price=price,
                net=None if price is None else net,
            )
        )
    return tuple(added)


def judging_pool(evidence: Evidence, plan: Plan) -> str | None:
    """The pool by which agents are judged: of a saved one, one fitted again."""
    saved = evidence.validation.saved and plan.pool == plan.in_use
    return recommended_pool(evidence) if saved else plan.pool


def agent_worth(
    evidence: Evidence,
    pool: str,
    without: Sequence[str] = (),
    *,
    sent: Evidence | None = None,
) -> list[Estimate] | None:
    """Rise in cost per case without each agent, the pool fitted again; None if unknown.

    Out of fold and paired: the same cases are decided with and without the agent. A
    pool that chose among candidates keeps its choice. Who is already ``without`` is
    worth what it would save to ask, with the reports that it ``sent``.
    """
    agents, sent = evidence.panel.agents, sent or evidence
    if not 2 <= len(agents) <= MOST_AGENTS or evidence.panel.sparse is not None:
        return None
    kept = [name for name in agents if name not in without]
    whole = cost_of(evidence, pool, kept)
    if whole is None:
        return None
    found = []
    for i, agent in enumerate(agents):
        other, part = evidence, [name for name in kept if name != agent]
        if agent in without:
            other, part = (
                _with_reports_of(sent, i, evidence),
                [name for name in agents if name in kept or name == agent],
            )
        cost = cost_of(other, pool, part)
        if cost is None:
            return None
        rise = whole - cost if agent in without else cost - whole
        found.append(estimate_rise(evidence, rise))
    return found


def _with_reports_of(sent: Evidence, agent: int, treated: Evidence) -> Evidence:
    """The evidence after the plan's steps, with the reports that an agent sent."""
    values = sent.panel.values[:, agent]
    found = treated.treat(treated.with_reports(agent, values))
    share_comparison(treated, found)
    return found


def _weights(evidence: Evidence, pools: Sequence[Pool]) -> FloatArray | None:
    """Share (N,) of what all agents change in the probabilities of a pool.

    By the mean absolute contribution to new cases.
    """
    panel = evidence.panel
    if not pools or panel.sparse is not None or len(panel.agents) > MOST_AGENTS:
        return None
    changes = np.zeros(len(panel.agents))
    folds = evidence.validation.folds if len(pools) > 1 else [((), evidence.cases)]
    for pool, (_, test) in zip(pools, folds, strict=False):
        spread = np.linspace(0, len(test) - 1, WEIGHED_CASES // len(pools))
        cases = np.asarray(test)[np.unique(spread.astype(np.int64))]
        reported = ~np.isnan(panel.values[cases, :, 0]).all(axis=1)
        changed = pool.contributions_of(panel.values[cases[reported]])
        changes += np.abs(changed).sum(axis=(0, 2))
    total = changes.sum()
    return changes / total if total > 0 else None


# Prices


def check_prices(prices: Mapping[str, float], agents: tuple[str, ...]) -> None:
    """Refuse prices of agents that the panel does not have, and negative ones."""
    for name, price in prices.items():
        if name not in agents:
            raise AgentError(
                f"prices must name agents of the panel ({', '.join(agents)}); got "
                f"{name!r}{suggestion(name, agents)}"
            )
        if not 0 <= price < float("inf"):
            raise SettingError(
                f"the price of a report must be a number of 0 or more; got {price!r} "
                f"for {name}"
            )


def best_set(
    evidence: Evidence,
    pool: str,
    prices: Mapping[str, float],
    without: Sequence[str] = (),
) -> AgentSet | None:
    """The agents of least cost, prices included; None if nobody has a price.

    Of those whom the plan leaves in the pool.

    Found by taking out, or back in, one agent after another as long as that costs less.
    What it saves against asking everybody is measured on the cases of each fold by a
    set that was chosen on the other folds. Everybody is asked where that does not
    surely save anything: the luckiest of many sets costs less on the cases that it was
    chosen on.
    """
    agents = [name for name in evidence.panel.agents if name not in without]
    if not prices or not 2 <= len(agents) <= MOST_PRICED or evidence.panel.sparse:
        return None
    if cost_of(evidence, pool, agents) is None:
        return None
    known: dict[frozenset[str], FloatArray | None] = {}

    def paid(chosen: frozenset[str]) -> FloatArray | None:
        """Cost (T',) of each case, with what the reports of these agents cost."""
        if chosen not in known:
            names = [name for name in agents if name in chosen]
            cost = cost_of(evidence, pool, names)
            known[chosen] = (
                None if cost is None else cost + _price(evidence, names, prices)
            )
        return known[chosen]

    cases = tested_cases(evidence)
    weights = evidence.weights_of(cases)
    fold = np.zeros(len(cases), dtype=np.int64)
    for f, (_, test) in enumerate(evidence.validation.folds):
        fold[np.isin(cases, test)] = f
    every = np.ones(len(cases), dtype=np.bool_)
    everybody = frozenset(agents)
    whole = paid(everybody)
    if whole is None:
        return None
    honest = whole.copy()
    for f in np.unique(fold):
        chosen = _search(everybody, paid, fold != f, weights)
        own = paid(chosen)
        if own is not None:
            honest[fold == f] = own[fold == f]
    saving = _thousandfold(evidence, whole - honest)
    if saving.low > 0:
        final = _search(everybody, paid, every, weights)
    else:
        final, honest = everybody, whole
    return AgentSet(
        tuple(name for name in agents if name in final),
        tuple(name for name in agents if name not in final),
        _thousandfold(evidence, honest),
        _thousandfold(evidence, whole),
        _thousandfold(evidence, whole - honest),
    )


def _search(
    start: frozenset[str],
    paid: Callable[[frozenset[str]], FloatArray | None],
    part: BoolArray,
    weights: FloatArray | None,
) -> frozenset[str]:
    """Take out or back in one agent at a time, as long as that lowers the mean cost."""

    def mean(chosen: frozenset[str]) -> float:
        cost = paid(chosen)
        if cost is None:
            return float("inf")
        return float(case_mean(cost[part], None if weights is None else weights[part]))

    best, least = start, mean(start)
    while True:
        near: Collection[frozenset[str]] = [
            best ^ {name} for name in sorted(start) if len(best ^ {name}) >= 1
        ]
        nearest = min(near, key=lambda chosen: (mean(chosen), len(chosen)))
        if mean(nearest) >= least:
            return best
        best, least = nearest, mean(nearest)


def _price(
    evidence: Evidence, agents: Sequence[str], prices: Mapping[str, float]
) -> FloatArray:
    """What the reports of these agents cost in each case of the comparison, (T',)."""
    panel = evidence.panel
    places = [panel.agents.index(name) for name in agents]
    reported = ~np.isnan(panel.values[tested_cases(evidence)][:, places, 0])
    each = np.array([prices.get(name, 0.0) for name in agents])
    return np.asarray(reported @ each)


def _thousandfold(evidence: Evidence, cost: FloatArray) -> Estimate:
    found = scaled(estimate_rise(evidence, cost), PER_THOUSAND)
    if found is None:
        raise AssertionError("an estimate is known")
    return found
