"""How severe a finding is: what fixing it saves, and whether a feed is broken."""

from truepool.audits.values import SEVERITIES, Severity
from truepool.comparison import Estimate

SURE, LIKELY = 0.01, 0.05
"""An error survives Holm's adjustment over all tests of the audit at the first level,
a warning at the second."""

LABELS = "reversed-labels"
"""The question whether the other of two labels is the positive one."""

UNRELATED = "unrelated-outcome"
"""The question whether this is the right outcome: no agent knows anything of it."""

DOUBTS = (LABELS, UNRELATED)
"""While one of these is open, no figure that depends on outcomes can be relied on."""

LATE = "late-outcomes"
"""The question whether the newest outcomes are not known yet."""

LEAK = "leaked-outcome"
"""The question whether an agent knows the outcome."""

ASKED = (LATE, LEAK)
"""Questions that come first; until they are answered, figures are without what they are
about."""

FEEDS = ("constant-feed", "stopped-feed", "repeated-feed", "changed-feed")
"""Faults of the reports themselves, whatever the outcomes."""

RUN = "constant-run"
"""A feed that was constant for a while."""

UNIT = "rescaled-feed"
"""An agent's reports changed unit, level or scale."""

PAST = (RUN, "reporting-gap")
"""Faults of a feed that works again."""

NO_OUTCOME = (*FEEDS, *PAST, "rescaled-feed", "copy", "correlated", *DOUBTS)
"""Findings that hold whatever the outcomes mean."""

NO_PROBABILITY = "not-a-probability"
"""An agent's reports are at no level of a probability."""

SELECTION = "selective-labels"
"""Which cases have an outcome depends on what was decided."""

FACTOR = "factor"
"""Unit of a change of an agent's reports that a factor undoes."""

SWAPPED = "swapped-classes"
"""An agent's columns of two classes are swapped."""

BROKEN = (*FEEDS, SWAPPED, "reversed")
"""Faults that make a feed broken or hostile whatever it costs today: what the agent
sends is no longer its opinion, and the next case may be the expensive one. A drifted
agent is as broken only where it knows no more than the base rate, and a copy where the
numbers are identical; the checks say so."""

MINOR = 0.02
"""An agent that gives less than this share of all reports, one of many, is graded by
what its fault costs the pool, even where its feed is broken."""

FIRST = (*BROKEN, "drifted")
"""Faults that are fixed before the pool itself, whatever that saves: what is fitted to
reports that are wrong must be fitted again once they are right."""

CALIBRATION = ("over-confident", "under-confident", "biased", "needs-recalibration")
"""Faults that recalibrating an agent cures."""

CURED_BY_A_POOL = (
    "under-confident-pool",
    "over-confident-pool",
    "biased-pool",
    "other-threshold",
    "worse-than-best",
)
"""Faults of the pool in use that another pool answers."""


def severity(
    p_value: float | None,
    saving: Estimate | None,
    *,
    matters: bool = True,
    broken: bool = False,
    most: Severity = "error",
) -> Severity | None:
    """Severity of what a test found; None where the test found nothing.

    An error is a material fault whose fix saves significantly, or a broken or hostile
    feed. Fixing a warning may save something, or its saving is unknown. What costs
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
        grade: Severity = "error" if p_value < SURE else "warning"
    elif saves or (matters and not free):
        grade = "warning"
    else:
        grade = "note"
    return SEVERITIES[max(SEVERITIES.index(grade), SEVERITIES.index(most))]
