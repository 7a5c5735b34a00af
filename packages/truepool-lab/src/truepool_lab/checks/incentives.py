"""What agents could gain by misreporting under the pool in use."""

from collections.abc import Iterator

import numpy as np

from truepool.audits.checks import Candidate, Check, Detail, Estimate, Evidence, Kind
from truepool.core.errors import SettingError
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

PAYMENTS = (IN_COSTS, "externality")
"""Payments for something else than an agent's own score."""


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
        every = np.arange(len(panel))
        cases = evidence.sampling.part(every, most, "sampled-incentives")
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


def check_incentives(evidence: Evidence) -> Iterator[Candidate]:
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
    money = found.payment == IN_COSTS
    yield Candidate(
        "misreport-gain",
        facts={
            "form": found.payment if found.payment in PAYMENTS else "score",
            "agent": first.agent,
            "gain": best.gain,
            "harm": harm,
            "misreport": describe(best),
            "count": sum(row.significant for row in found.rows),
            "total": len(found.rows),
        },
        p_value=best.p_value if best.gain > 0 else 1.0,
        matters=large,
        most="error" if large else "note",
        number=_gain(first, evidence.level),
        unit="gain-in-costs" if money else "gain",
        details=tuple(
            Detail(agent, _gain(found[agent], evidence.level))
            for agent in evidence.panel.agents
        ),
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


check = Check(
    "incentives",
    check_incentives,
    about="pool",
    kinds=(
        Kind("misreport-gain", "pool", "incentives", "", "details", most="warning"),
    ),
)
