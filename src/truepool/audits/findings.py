"""From suspicions to findings: adjusted together, graded, attributed, sorted."""

from collections.abc import Sequence

import numpy as np

from truepool.audits.attribution import attribute_causes
from truepool.audits.severity import BROKEN, FEEDS, severity
from truepool.audits.suspicion import Suspicion
from truepool.audits.values import SEVERITIES, Finding, Severity
from truepool.comparison import Estimate
from truepool.measures.inference import holm


def find_faults(suspicions: Sequence[Suspicion]) -> tuple[Finding, ...]:
    """Return the findings, most severe first, then by what fixing them saves."""
    tested = [s for s in suspicions if s.p_value is not None]
    adjusted = holm(np.array([s.p_value for s in tested], dtype=np.float64))
    p_values = {id(s): float(p) for s, p in zip(tested, adjusted, strict=True)}
    graded = []
    for suspicion in suspicions:
        p = p_values.get(id(suspicion))
        grade, price = _grade(suspicion, p)
        if grade is not None:
            graded.append((suspicion, _finding(suspicion, grade, price, p)))
    return tuple(sorted(attribute_causes(graded), key=_rank))


def _grade(
    suspicion: Suspicion, p: float | None
) -> tuple[Severity | None, Estimate | None]:
    """Severity of a suspicion, None if it is no finding, and what fixing it saves."""
    nothing = severity(p, None) is None
    if nothing and suspicion.least is None:
        return None, None
    price = None if suspicion.price is None else suspicion.price()
    if nothing:
        return suspicion.least, price
    grade = severity(
        p,
        price,
        matters=suspicion.matters,
        broken=suspicion.broken or suspicion.code in BROKEN,
        most=suspicion.most,
    )
    return grade, price


def _finding(
    suspicion: Suspicion, grade: Severity, price: Estimate | None, p: float | None
) -> Finding:
    advice = suspicion.advice
    if suspicion.backfires and price is not None and price.high < 0:
        advice = f"{advice} {suspicion.backfires}"
    return Finding(
        suspicion.code,
        grade,
        suspicion.who,
        suspicion.sentence,
        advice,
        suspicion.number,
        suspicion.unit,
        price,
        p,
        suspicion.figure,
        suspicion.since,
    )


def _rank(finding: Finding) -> tuple[int, bool, float, float]:
    """Most severe first, then broken feeds, then by saving, then by p-value."""
    cost = 0.0 if finding.cost is None else max(finding.cost.value, 0.0)
    chance = 1.0 if finding.p_value is None else finding.p_value
    grade = SEVERITIES.index(finding.severity)
    return grade, finding.code not in FEEDS, -cost, chance
