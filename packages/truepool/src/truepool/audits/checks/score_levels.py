"""Whether an agent's reports can be probabilities at all, by their level."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.checks.calibration import recalibration_saving
from truepool.audits.discrimination import discrimination
from truepool.audits.evidence import Evidence
from truepool.audits.kinds import SURE
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.groups import enough_cases
from truepool.measures.inference import share_interval
from truepool.panel.panel import Panel

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
    weights = _weights(panel)
    for i in evidence.compute(scores):
        agent = panel.agents[i]
        own = panel.values[:, i, 0]
        known = ~np.isnan(own)
        middle = _median(own[known], weights[known])
        rate = float(np.average(panel.outcomes[known] > 0, weights=weights[known]))
        yield Candidate(
            "not-a-probability",
            (agent,),
            {"median": middle, "rate": rate},
            p_value=0.0,
            number=Estimate(middle, float("nan"), float("nan")),
            unit="median-report",
            price=partial(recalibration_saving, evidence, i),
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
    return tuple(i for i in agents if _is_score(panel, i, parts))


def _is_score(panel: Panel, agent: int, parts: list[IntArray]) -> bool:
    reports, weights = panel.values[:, agent, 0], _weights(panel)
    known = ~np.isnan(reports)
    if not enough_cases(panel.outcomes[known]):
        return False
    happened = panel.outcomes[known] > 0
    every = np.ones_like(happened)
    low, high = share_interval(happened, every, 1 - SURE, weights[known])
    medians = [
        _median(reports[own], weights[own])
        for part in parts
        if len(own := part[known[part]])
    ]
    above = all(middle >= TIMES * high for middle in medians)
    below = all(1 - middle >= TIMES * (1 - low) for middle in medians)
    return above or below


def _weights(panel: Panel) -> FloatArray:
    weights = panel.case_weights()
    return np.ones(len(panel)) if weights is None else weights


def _median(values: FloatArray, weights: FloatArray) -> float:
    """Smallest value that at least half of the weight does not exceed.

    >>> _median(np.array([0.3, 0.1, 0.2]), np.array([1.0, 1.0, 9.0]))
    0.2
    """
    order = np.argsort(values)
    half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
    return float(values[order][half])


checks = (Check("levels", check, unsplit=True),)
