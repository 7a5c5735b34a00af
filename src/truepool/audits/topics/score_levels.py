"""Whether an agent's reports can be probabilities at all, by their level."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.discrimination import discrimination
from truepool.audits.evidence import Evidence
from truepool.audits.severity import NO_PROBABILITY, SURE
from truepool.audits.topic import Topic
from truepool.audits.topics.calibration import recalibration_saving
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray
from truepool.core.formatting import percent
from truepool.measures.groups import enough_cases
from truepool.measures.inference import share_interval

TIMES = 10.0
"""Half of the reports of an agent are so many times the share of positives, or more.
Those of a calibrated one have that share as their mean, so at most half of them are
twice as large."""

PARTS = 4
"""Parts of the cases, in time, in each of which that is so: what changes at some date
is another fault."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    """A fact per agent, of two classes: its level is that of no probability."""
    panel = evidence.panel
    for i in evidence.compute(scores):
        agent = panel.agents[i]
        own = panel.values[:, i, 0]
        known = ~np.isnan(own)
        middle, rate = float(np.median(own[known])), _rate(panel.outcomes[known])
        yield Candidate(
            NO_PROBABILITY,
            (agent,),
            f"The reports of {agent} are not probabilities: half of them are above "
            f"{percent(middle)}, and {percent(rate)} of cases are positive.",
            f"Use a pool that learns what the scores of {agent} mean, or have it "
            "calibrated.",
            p_value=0.0,
            number=Estimate(middle, float("nan"), float("nan")),
            unit="median report",
            price=partial(recalibration_saving, evidence, i),
            figure="reliability",
        )


def scores(evidence: Evidence) -> tuple[int, ...]:
    """Agents whose reports are at no level of a probability, by their numbers.

    They tell positives from negatives: who does not is something else.
    """
    panel = evidence.panel
    if panel.classes > 2 or evidence.shortage is not None:
        return ()
    parts = np.array_split(panel.order, PARTS)
    agents = [
        i for i in range(len(panel.agents)) if discrimination(evidence, i).low > 0.5
    ]
    return tuple(
        i for i in agents if _is_score(panel.values[:, i, 0], panel.outcomes, parts)
    )


def _is_score(reports: FloatArray, outcomes: IntArray, parts: list[IntArray]) -> bool:
    known = ~np.isnan(reports)
    if not enough_cases(outcomes[known]):
        return False
    happened = outcomes[known] > 0
    low, high = share_interval(happened, np.ones_like(happened), 1 - SURE)
    medians = [
        float(np.median(own))
        for part in parts
        if len(own := reports[part[known[part]]])
    ]
    above = all(middle >= TIMES * high for middle in medians)
    below = all(1 - middle >= TIMES * (1 - low) for middle in medians)
    return above or below


def _rate(outcomes: IntArray) -> float:
    return float((outcomes > 0).mean())


topic = Topic("levels", check, unsplit=True)
