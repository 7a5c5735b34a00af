"""From candidates to findings: adjusted together, then graded."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truepool.audits import kinds
from truepool.audits.candidate import Candidate
from truepool.audits.kinds import LIKELY, SURE
from truepool.audits.values import PER_THOUSAND, SEVERITIES, Finding, Severity
from truepool.comparison import Estimate
from truepool.measures.inference import holm
from truepool.panel.panel import Panel

MINOR = 0.02
"""An agent that gives less than this share of all reports, one of many, is graded by
what its fault costs the pool, even where its feed is broken."""


def select_findings(
    candidates: Sequence[Candidate],
    *,
    minor: frozenset[str] = frozenset(),
    doubt: bool = False,
) -> list[tuple[Candidate, Finding]]:
    """Return what the tests found, most severe first, then by what undoing it saves.

    All p-values are adjusted together (Holm). While the outcome is in ``doubt``, only
    what holds whatever it means. ``minor`` are agents who give few of the reports.
    """
    tested = [one for one in candidates if one.p_value is not None]
    adjusted = holm(np.array([one.p_value for one in tested], dtype=np.float64))
    known = {id(one): float(p) for one, p in zip(tested, adjusted, strict=True)}
    chances = [known.get(id(one)) for one in candidates]
    every = kinds.every()
    doubt = doubt or any(
        every[one.code].doubts and (severity(p, None) or one.least)
        for one, p in zip(candidates, chances, strict=True)
    )
    found = []
    for one, p in zip(candidates, chances, strict=True):
        if doubt and every[one.code].needs_outcomes:
            continue
        if doubt:  # what anything saves depends on the outcome
            one = replace(one, price=None)
        finding = _grade(one, p, not minor.isdisjoint(one.who[:1]))
        if finding is not None:
            found.append((one, finding))
    return sorted(found, key=lambda pair: _order(pair[1]))


def _grade(one: Candidate, p: float | None, minor: bool) -> Finding | None:
    """Return the finding that a candidate becomes, if any."""
    kind, nothing = kinds.every()[one.code], severity(p, None) is None
    if nothing and one.least is None:
        return None
    price = None if one.price is None else one.price()
    grade = one.least
    if not nothing:
        broken = not minor and (one.broken or kind.broken)
        grade = severity(p, price, matters=one.matters, broken=broken)
    if grade is None:
        raise AssertionError("a candidate that is graded is a finding")
    return Finding(
        one.code,
        _milder(grade, one.most, kind.most),
        one.who,
        one.facts,
        one.number,
        one.unit,
        scaled(price, PER_THOUSAND),
        None if nothing else p,
        one.since,
        one.date,
        one.segments,
        one.details,
    )


def severity(
    p_value: float | None,
    saving: Estimate | None,
    *,
    matters: bool = True,
    broken: bool = False,
) -> Severity | None:
    """Severity of what a test found; None where the test found nothing.

    An error is a material fault whose cure saves significantly, or a broken or hostile
    feed. To cure a warning may save something, or its saving is unknown. What costs
    nothing is a note.

    >>> severity(1e-6, Estimate(0.2, 0.1, 0.3)), severity(0.03, Estimate(0.2, 0.1, 0.3))
    ('error', 'warning')
    >>> severity(1e-6, Estimate(-0.2, -0.3, -0.1))
    'note'
    >>> severity(1e-6, Estimate(-0.2, -0.3, -0.1), broken=True)
    'error'
    """
    if p_value is None or p_value >= LIKELY:
        return None
    saves = saving is not None and saving.low > 0
    free = saving is not None and not saving.high > 0
    if matters and (broken or saves):
        return "error" if p_value < SURE else "warning"
    return "warning" if saves or (matters and not free) else "note"


def _milder(*grades: Severity) -> Severity:
    return SEVERITIES[max(map(SEVERITIES.index, grades))]


def minor_agents(panel: Panel) -> frozenset[str]:
    """Agents of many who give few of the reports."""
    counts = panel.report_counts
    few = counts < MINOR * counts.sum()
    return frozenset(
        name for name, minor in zip(panel.agents, few, strict=True) if minor
    )


def scaled(estimate: Estimate | None, factor: float | None) -> Estimate | None:
    """Return an estimate times a number, if both are known."""
    if estimate is None or factor is None:
        return None
    ends = (estimate.value, estimate.low, estimate.high)
    return Estimate(*(factor * end for end in ends))


def _order(finding: Finding) -> tuple[int, float, float]:
    saving = 0.0 if finding.saving is None else max(finding.saving.value, 0.0)
    chance = 1.0 if finding.p_value is None else finding.p_value
    return SEVERITIES.index(finding.severity), -saving, chance
