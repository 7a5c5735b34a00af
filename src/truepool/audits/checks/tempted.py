"""Who could gain by saying something else than what it believes."""

from collections.abc import Iterator

from truepool.audits.evidence import Evidence
from truepool.audits.suspicion import Suspicion
from truepool.audits.tempting import tempting
from truepool.comparison import Estimate
from truepool.core.formatting import number, signed
from truepool.games.misreports import AgentIncentive, Misreport

NOTICED = 0.02
"""Harm to the pool below this share of its cost is small."""

PAID = {"vcg": "what it saves the pool", "externality": "agreeing with the others"}

name = "incentives"


def check(evidence: Evidence) -> Iterator[Suspicion]:
    """One test, of the most tempted: does a misreport chosen on other cases gain.

    Its p-value is adjusted for the number of agents. A warning where lying harms the
    pool; a note where the pool would gain as well, which says that its decisions are
    off rather than its agents.
    """
    found = evidence.once(tempting)
    if found is None:
        return
    first = found.rows[0]
    lie, harm = first.best, first.best.pool_cost
    dear = harm > NOTICED * float(evidence.cost.mean())
    whose = "at the pool's cost" if harm > 0 else "and decisions would be cheaper"
    count = sum(row.significant for row in found.rows)
    yield Suspicion(
        "tempted",
        (first.agent,),
        f"Paid for {PAID.get(found.payment, 'its own score')}, {first.agent} would "
        f"gain {number(lie.gain)} a case by misreporting ({_lie(lie)}), {whose} "
        f"({signed(harm)} a case); {count} of {len(found.rows)} agents could gain.",
        "Pay agents by a proper score of their own reports (or `wsu`), decide at "
        "the threshold the costs ask for, and recalibrate the pool.",
        p_value=lie.p_value if lie.gain > 0 else 1.0,
        matters=dear,
        most="warning" if dear else "note",
        number=_gain(first, evidence.level),
        unit="gain a case",
        figure="incentives",
        explained_by=("threshold", "under-confident-pool"),
    )


def _lie(lie: Misreport) -> str:
    """What is sent instead of the truth, in words."""
    if lie.family == "shift":
        return f"all its reports shifted by {lie.deviation[0]:+.2f}"
    if lie.family == "affine":
        return f"its log-odds times {lie.deviation[1]:.2g} {lie.deviation[0]:+.2g}"
    if lie.family == "threshold":
        return _always(lie.deviation[0])
    return "in some folds"


def _always(line: float) -> str:
    if 0.005 <= line < 0.995:
        return f"1 above {line:.2f}, else 0"
    return f"always {1 if line < 0.5 else 0}"


def _gain(row: AgentIncentive, level: float) -> Estimate:
    from scipy.special import ndtri

    reach = float(ndtri((1 + level) / 2)) * row.best.error
    return Estimate(row.best.gain, row.best.gain - reach, row.best.gain + reach)
