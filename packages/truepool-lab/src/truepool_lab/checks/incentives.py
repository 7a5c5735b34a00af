"""What agents could gain by misreporting under the pool in use."""

from collections.abc import Iterator

import numpy as np

from truepool.audits.topics import Candidate, Detail, Estimate, Evidence
from truepool.core.errors import SettingError
from truepool.core.formatting import number, signed
from truepool.measures.inference.bootstrap import standard_errors
from truepool.pools import LinearPool
from truepool_lab.games import Incentives, incentives, payments
from truepool_lab.games.beliefs import check_costs
from truepool_lab.games.misreports import AgentIncentive, Misreport

LINEAR_CASES, OTHER_CASES = 5_000, 500
"""Largest number of cases on which misreports are tried; smaller where the pool is not
a weighted mean, because each trial must then be pooled again."""

NOTICEABLE = 0.02
"""Harm to the pool below this share of its cost does not matter."""

IN_COSTS = "vcg"
"""The payment that is in the units of the costs."""

PAID_FOR = {
    "vcg": "what it saves the pool",
    "externality": "agreeing with the others",
}


def misreport_incentives(evidence: Evidence) -> Incentives | None:
    """What agents could gain; None with K classes, few cases or a pool that is a model.

    Agents are paid by the score the pool is named after, or by what they save it.
    """
    pool, panel = evidence.pool, evidence.panel
    if evidence.shortage:
        return None
    if panel.classes != 2 or pool.complexity > 2 or evidence.validation.saved:
        return None
    most = LINEAR_CASES if isinstance(pool, LinearPool) else OTHER_CASES
    try:
        check_costs(evidence.costs)  # before a sample is drawn and noted
        cases = evidence.sampling.part(np.arange(len(panel)), most, "incentives")
        return incentives(
            panel.take(cases),
            pool,
            evidence.costs,
            threshold=evidence.threshold,
            payment=payment_of(pool.name),
            seed=evidence.seed,
        )
    except SettingError:
        return None


def payment_of(pool: str) -> str:
    """Name the payment of a pool: the score it is named after, or what it saves.

    >>> payment_of("wsu"), payment_of("mean")
    ('wsu', 'vcg')
    """
    return pool if pool in payments.every() else IN_COSTS


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test, of the agent with most to gain from a misreport chosen on other cases.

    Its p-value is adjusted for the number of agents. A warning where the
    misreport harms the pool; a note where the pool would gain as well, which points
    to its decisions rather than its agents.
    """
    found = evidence.compute(misreport_incentives)
    if found is None:
        return
    first = found.rows[0]
    best, harm = first.best, first.best.pool_cost
    large = harm > NOTICEABLE * evidence.stake
    whose = "at the pool's cost" if harm > 0 else "and decisions would cost less"
    gain = number(best.gain)
    if found.payment == IN_COSTS:
        gain = evidence.money(best.gain)
    change = f"{signed(harm)} {evidence.costs.currency}".rstrip()
    change += f" per case{evidence.unlimited}"
    count = sum(row.significant for row in found.rows)
    yield Candidate(
        "misreport-gain",
        (first.agent,),
        f"Paid for {PAID_FOR.get(found.payment, 'its own score')}, {first.agent} would "
        f"gain {gain} per case by misreporting ({describe(best)}), "
        f"{whose} ({change}); {count} of {len(found.rows)} agents could gain.",
        "Pay agents by a proper score of their own reports (or `wsu`), decide at "
        "the threshold that the costs imply, and recalibrate the pool.",
        p_value=best.p_value if best.gain > 0 else 1.0,
        matters=large,
        most="warning" if large else "note",
        number=_gain(first, evidence.level),
        unit=evidence.in_currency("gain per case")
        if found.payment == IN_COSTS
        else "gain per case",
        figure="details",
        details=tuple(
            Detail(agent, _gain(found[agent], evidence.level))
            for agent in evidence.panel.agents
        ),
        explained_by=("threshold", "under-confident-pool"),
    )


def describe(misreport: Misreport) -> str:
    """Return what is reported instead of the truth, in words."""
    first, *rest = misreport.deviation or (0.0,)
    if misreport.family == "shift":
        return f"all its reports shifted by {first:+.2f}"
    if misreport.family == "affine":
        return f"its log-odds times {rest[0]:.2g} {first:+.2g}"
    if misreport.family == "threshold":
        return _step(first)
    return "in some folds"


def _step(line: float) -> str:
    if 0.005 <= line < 0.995:
        return f"1 above {line:.2f}, else 0"
    return f"always {1 if line < 0.5 else 0}"


def _gain(row: AgentIncentive, level: float) -> Estimate:
    reach = standard_errors(level) * row.best.error
    return Estimate(row.best.gain, row.best.gain - reach, row.best.gain + reach)
