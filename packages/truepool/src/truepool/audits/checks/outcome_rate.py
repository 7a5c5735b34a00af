"""Whether the share of positive outcomes changed over time."""

from collections.abc import Iterator

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.checks.drift import estimate_rise
from truepool.audits.evidence import Evidence
from truepool.audits.findings import scaled
from truepool.audits.values import PER_THOUSAND
from truepool.online.alarms.change_point import change

RATIO = 1.5
"""A share that changed by less than this factor is only a note."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test, of the class whose share changes most clearly; no agent is at fault.

    With K classes its p-value is adjusted for their number.
    """
    panel = evidence.panel
    outcomes = panel.outcomes[panel.order]
    classes = [1] if panel.classes == 2 else list(range(panel.classes))
    tests = [change((outcomes == k) * 1.0) for k in classes]
    k = int(np.argmin([found.p_value for found in tests]))
    found = tests[k]
    low, high = sorted((found.before, found.after))
    gap = estimate_rise(found, evidence.level)
    yield Candidate(
        "outcome-rate",
        facts={
            "from": evidence.position(found.place),
            "form": "two" if panel.classes == 2 else "many",
            "name": str(panel.labels.names[classes[k]]),
            "before": found.before,
            "after": found.after,
        },
        p_value=min(1.0, len(classes) * found.p_value),
        matters=high > RATIO * low,
        number=scaled(gap, 1 / PER_THOUSAND),
        unit="share-change",
        since=found.place,
        date=evidence.date(found.place),
    )


checks = (Check("outcome rate", check, about="outcome", timed=True, unsplit=True),)
