"""From candidates to findings: adjusted together, graded, attributed, sorted."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truepool.audits.attribution import attribute_causes
from truepool.audits.candidate import Candidate
from truepool.audits.severity import (
    BROKEN,
    CALIBRATION,
    CURED_BY_A_POOL,
    DOUBTS,
    FIRST,
    NO_OUTCOME,
    SELECTION,
    severity,
)
from truepool.audits.values import SEVERITIES, Finding, Severity
from truepool.comparison import Estimate
from truepool.core.formatting import end_once
from truepool.measures.inference import holm


def select_findings(
    candidates: Sequence[Candidate], *, doubt: bool = False
) -> tuple[Finding, ...]:
    """Return the findings, most severe first, then by what fixing them saves.

    While the outcome is in doubt, only those that hold whatever it means.
    """
    tested = [s for s in candidates if s.p_value is not None]
    adjusted = holm(np.array([s.p_value for s in tested], dtype=np.float64))
    p_values = {id(s): float(p) for s, p in zip(tested, adjusted, strict=True)}
    chances = [p_values.get(id(candidate)) for candidate in candidates]
    doubt = doubt or any(
        candidate.code in DOUBTS and _grade(candidate, p)[0] is not None
        for candidate, p in zip(candidates, chances, strict=True)
    )
    graded = []
    for candidate, p in zip(candidates, chances, strict=True):
        if doubt and candidate.code not in NO_OUTCOME:
            continue
        if doubt:  # what anything saves depends on the outcome
            candidate = replace(candidate, price=None)
        grade, price = _grade(candidate, p)
        if grade is not None:
            shown = None if severity(p, None) is None else p
            graded.append((candidate, _finding(candidate, grade, price, shown)))
    if any(f.code in FIRST and f.severity == "error" for _, f in graded):
        graded = [(candidate, _postpone(candidate, f)) for candidate, f in graded]
    found = (
        replace(f, sentence=end_once(f.sentence), advice=end_once(f.advice))
        for f in attribute_causes(graded)
    )
    return tuple(sorted(found, key=_rank))


def _grade(
    candidate: Candidate, p: float | None
) -> tuple[Severity | None, Estimate | None]:
    """Severity of a candidate, None if it is no finding, and what fixing it saves."""
    nothing = severity(p, None) is None
    if nothing and candidate.least is None:
        return None, None
    price = None if candidate.price is None else candidate.price()
    if nothing:
        return candidate.least, price
    grade = severity(
        p,
        price,
        matters=candidate.matters,
        broken=not candidate.minor and (candidate.broken or candidate.code in BROKEN),
        most=candidate.most,
    )
    return grade, price


def _finding(
    candidate: Candidate, grade: Severity, price: Estimate | None, p: float | None
) -> Finding:
    advice = candidate.advice
    if price is not None and price.high < 0:
        advice = candidate.backfires or advice
    elif price is not None:
        # Nobody is asked to recalibrate an agent for what may be nothing.
        sure = price.low if candidate.code in CALIBRATION else price.value
        advice = advice if sure > 0 else candidate.indifferent or advice
    if candidate.tail is not None:
        advice += candidate.tail(price)
    return Finding(
        candidate.code,
        grade,
        candidate.who,
        candidate.sentence,
        advice,
        candidate.number,
        candidate.unit,
        price,
        p,
        candidate.figure,
        candidate.since,
        candidate.date,
        segments=candidate.segments,
        details=candidate.details,
    )


def _postpone(candidate: Candidate, finding: Finding) -> Finding:
    """Return a finding without advice that the broken agents may be the reason for."""
    if not candidate.postponed or finding.advice == candidate.advice:
        return finding
    return replace(finding, advice=candidate.postponed)


def _rank(finding: Finding) -> tuple[int, int, float, float]:
    """Most severe first; of these outcomes, feeds, agents, the pool; then by saving."""
    cost = 0.0 if finding.cost is None else max(finding.cost.value, 0.0)
    chance = 1.0 if finding.p_value is None else finding.p_value
    grade = SEVERITIES.index(finding.severity)
    place = 2 if finding.who and finding.code not in CURED_BY_A_POOL else 3
    if finding.code in (*DOUBTS, SELECTION):
        place = 0
    elif finding.code in FIRST:
        place = 1
    return grade, place, -cost, chance
