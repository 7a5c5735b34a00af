"""Whether an agent reports the opposite of what happens, and since when."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import ndtri

from truepool.audits.attribution import dates
from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.severity import LIKELY, SURE
from truepool.audits.topic import Topic
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray, to_classes
from truepool.measures.groups import enough_cases
from truepool.measures.inference import independent_units, paired_p_values
from truepool.measures.scores import auc
from truepool.online.alarms.change_point import change
from truepool.stress.label_flip import LabelFlip

REVERSED = 0.45
"""AUC below which an agent is reversed and not just uninformative."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    r"""One test per agent: does it give outcomes *less* probability than chance would.

    :math:`\sum_k \mathrm{cov}(p_k, 1[y = k])`, by a t-test over the cases; its sign is
    that of AUC - 1/2 for two classes, and K classes need no other.
    """
    panel, order = evidence.panel, evidence.panel.order
    counted, groups = panel.case_weights(), panel.groups
    weights = np.ones(len(panel)) if counted is None else counted
    share = np.bincount(panel.outcomes, weights, panel.classes) / weights.sum()
    for i, agent in enumerate(panel.agents):
        places = np.flatnonzero(~np.isnan(panel.values[order, i, 0]))
        reports, outcomes = (
            panel.values[order[places], i],
            panel.outcomes[order[places]],
        )
        excess = _excess(reports, outcomes, share)
        own = order[places]
        parts = independent_units(
            excess[:, None],
            None if counted is None else counted[own],
            None if groups is None else groups[own],
        )
        below = len(parts) > 1 and parts.mean() < 0
        p = float(paired_p_values(parts)[0]) if below else 1.0
        area = 0.5
        if p < LIKELY:
            area = auc(to_classes(reports), outcomes, sample_weight=weights[own])
        candidate = Candidate(
            "reversed",
            (agent,),
            f"{agent} is reversed: the higher its report, the less likely the event "
            f"(AUC {area:.2f}).",
            f"Ask which class {agent} means by 1; until then leave it out, or use one "
            "minus its report.",
            p_value=p,
            matters=area < REVERSED,
            number=_area(area, outcomes, evidence.level),
            unit="AUC",
            price=partial(_saving, evidence, agent),
            figure="credit",
        )
        if p < LIKELY and panel.times is not None:
            candidate = _add_date(candidate, evidence, i, places, excess)
        yield candidate


def _add_date(
    candidate: Candidate,
    evidence: Evidence,
    agent: int,
    places: IntArray,
    excess: FloatArray,
) -> Candidate:
    """Return the candidate with its date, if the agent was sound before.

    Reversing all its reports would then spoil the sound ones.
    """
    found = change(excess)
    if not (found.p_value < SURE and found.before > 0):
        return candidate
    who, order = candidate.who[0], evidence.panel.order
    since = int(places[found.place])
    first, last = dates(excess, found.place)
    return replace(
        candidate,
        sentence=f"{who} was reversed at {evidence.describe_case(since)}: since "
        "then, the higher its report, the less likely the event.",
        advice=f"Leave {who} out and find out what changed then. Its reports before "
        "that case were sound: do not reverse them.",
        price=partial(evidence.saving_without, agent, order[since:]),
        figure="drift",
        since=since,
        between=(int(places[first]), int(places[last])),
    )


def _excess(reports: FloatArray, outcomes: IntArray, share: FloatArray) -> FloatArray:
    """Probability given to the outcome, minus what it would get by chance, (T,)."""
    probabilities = to_classes(reports)
    given = np.take_along_axis(probabilities, outcomes[:, None], axis=1)[:, 0]
    return np.asarray(given - probabilities @ share)


def _area(area: float, outcomes: IntArray, level: float) -> Estimate:
    """Area under the curve with the interval of Hanley & McNeil (1982), two classes."""
    ones, zeros = int((outcomes == 1).sum()), int((outcomes == 0).sum())
    if ones + zeros < len(outcomes) or not enough_cases(outcomes):
        return Estimate(area, float("nan"), float("nan"))
    above, below = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area)
    spread += (ones - 1) * (above - area**2) + (zeros - 1) * (below - area**2)
    reach = float(ndtri((1 + level) / 2) * np.sqrt(max(spread, 0.0) / (ones * zeros)))
    return Estimate(area, max(area - reach, 0.0), min(area + reach, 1.0))


def _saving(evidence: Evidence, agent: str) -> Estimate | None:
    """What reversing the agent's reports would save per case."""
    reversed_panel = LabelFlip()(evidence.panel, agent)
    return evidence.estimate(evidence.cost - evidence.cost_of(reversed_panel))


topic = Topic("reversed reports", check)
