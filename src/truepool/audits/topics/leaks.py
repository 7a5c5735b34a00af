"""Whether an agent knows the outcome: it was made after it, or learned from it."""

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.severity import LEAK, LIKELY
from truepool.audits.topic import Topic
from truepool.audits.topics.reversal import CHANCE, auc_interval, discrimination
from truepool.core.arrays import IntArray
from truepool.data.panel import Panel
from truepool.data.tables.agent_columns import removal_options
from truepool.measures.groups import describe_shortage
from truepool.measures.inference.bootstrap import standard_errors

PERFECT, FAR = 0.99, 0.95
"""An agent whose AUC is at least the first may know the outcome, if no other agent's
is above the second. The best of these is above `CHANCE`: those who know nothing do not
show how hard the cases are."""

LEFT = 0.1
"""What it lacks of an AUC of 1 is also at most this share of what the next one lacks,
for sure: of those who see the same cases nobody is often ten times as good."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test, of the agent that ranks cases best (two classes, two agents or more).

    It compares what the best two lack of an AUC of 1, with the errors of Hanley &
    McNeil (1982). Who ranks all cases right may be wrong in half a case more.
    """
    panel = evidence.panel
    judged = [i for i in range(len(panel.agents)) if _is_judged(panel, i)]
    if panel.classes > 2 or len(judged) < 2:
        return
    areas = {i: discrimination(evidence, i) for i in judged}
    best = max(judged, key=lambda i: areas[i].value)
    # Who is reversed knows as much as who is not.
    known = {i: max(areas[i].value, 1 - areas[i].value) for i in judged if i != best}
    second = max(known, key=lambda i: known[i])
    found, other = areas[best].value, known[second]
    rule = found >= PERFECT and CHANCE <= other <= FAR
    lacks, error = _lack(found, _outcomes(panel, best))
    others_lack, others_error = _lack(other, _outcomes(panel, second))
    gap = LEFT * others_lack - lacks
    p = float(ndtr(-gap / np.hypot(error, LEFT * others_error))) if rule else 1.0
    agent = panel.agents[best]
    options = removal_options([agent], panel.agents)
    yield Candidate(
        LEAK,
        (agent,),
        f"{agent} tells positives from negatives almost perfectly (AUC {found:.3f}; "
        f"the best of the others, {panel.agents[second]}, {other:.2f}). Was it made "
        "before the outcome was known?",
        f"If not, leave it out{f' (`{options}`)' if options else ''}: every figure "
        "here is then too good.",
        p_value=p,
        most="warning",
        number=areas[best],
        unit="AUC",
        figure="credit",
    )


def _is_judged(panel: Panel, agent: int) -> bool:
    """Whether an agent reported on enough cases."""
    return describe_shortage(_outcomes(panel, agent)) is None


def _outcomes(panel: Panel, agent: int) -> IntArray:
    """Outcomes of the cases that an agent reported on."""
    return panel.outcomes[~np.isnan(panel.values[:, agent, 0])]


def _lack(area: float, outcomes: IntArray) -> tuple[float, float]:
    """What an agent lacks of an AUC of 1, and its standard error."""
    rarer = min(int((outcomes == 1).sum()), int((outcomes == 0).sum()))
    interval = auc_interval(min(area, 1 - 0.5 / rarer), outcomes, 1 - LIKELY)
    reach = interval.value - interval.low
    return 1 - interval.value, reach / standard_errors(1 - LIKELY)


topic = Topic("leaked outcomes", check, unsplit=True)
