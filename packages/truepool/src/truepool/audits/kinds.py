"""All that is true of a finding's code: one row of a table for each.

The order of the rows is the order of diagnosis: of what is found about an agent, the
outcome or the pool, the first row is what is wrong with it, and the rest is evidence.
Adding a finding is one row here, a check that yields it, and a template in ``words/``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from truepool.audits.values import Severity, Subject

SURE, LIKELY = 0.01, 0.05
"""An error survives Holm's adjustment over all tests of the audit at the first level,
a warning at the second."""

SOUND, UNTESTED = "sound", "untested"
"""Codes of a diagnosis without a finding: nothing is wrong; it was not tested."""

SOUND_AT = {"slope": 1.0, "auc": 1.0, "factor": 1.0, "share-ratio": 1.0}
"""Numbers of what is sound, by their unit; of all other units 0."""

UNSIZED = ("correlation",)
"""Units in which a fault has no size: a copy is one, however exactly."""


@dataclass(frozen=True)
class Kind:
    """What is true of a code, whatever the numbers.

    ``state`` names the diagnosis: several codes may make the same one. ``action`` cures
    it, as a step of the plan; without one there is nothing to do. ``section`` of the
    page has the evidence.
    """

    code: str
    subject: Subject
    state: str
    action: str = ""
    section: str = ""
    needs_outcomes: bool = True
    """Whether it means nothing while the outcome is in doubt."""
    doubts: bool = False
    """Whether, while it is open, no figure that depends on outcomes can be shown."""
    asked: bool = False
    """Whether it is a question: figures are without what it is about."""
    broken: bool = False
    """Whether the feed is broken or hostile, whatever that costs today: what the agent
    sends is no longer its opinion, and the next case may be the expensive one."""
    unpriced: bool = False
    """Whether it is acted on while no outcome tells what it costs."""
    selects: bool = False
    """Whether it says that the cases with an outcome are not like all cases."""
    selected: bool = False
    """Whether which cases have an outcome may cause it alone."""
    over: bool = False
    """Whether it is of the past: figures are without the reports of that time."""
    most: Severity = "error"
    at_least: Severity = "warning"
    """The severity from which on it is a diagnosis; less severe, it is evidence."""


TABLE = (
    # The outcome: nothing else can be judged before it.
    Kind("unrelated-outcome", "outcome", "unrelated", "name-outcome", "agents",
         needs_outcomes=False, doubts=True),
    Kind("reversed-labels", "outcome", "reversed", "name-positive", "agents",
         needs_outcomes=False, doubts=True, broken=True),
    Kind("late-outcomes", "outcome", "late", "empty-late", "time", asked=True,
         selects=True),
    Kind("selective-labels", "outcome", "selective", "give-propensity", selects=True,
         most="warning"),
    Kind("outcome-rate", "outcome", "rate-changed", "", "time", most="warning"),
    # An agent: first what it sends, then which way round and in which unit, then what
    # it knows.
    Kind("no-reports", "agent", "no-reports", "restore", "time", needs_outcomes=False,
         most="warning"),
    Kind("leaked-outcome", "agent", "leak", "ask-leak", "agents", asked=True),
    Kind("constant-feed", "agent", "broken", "leave-out", "time", needs_outcomes=False,
         broken=True),
    Kind("stopped-feed", "agent", "broken", "restore", "time", needs_outcomes=False,
         broken=True),
    Kind("repeated-feed", "agent", "broken", "leave-out", "time", needs_outcomes=False,
         broken=True),
    Kind("changed-feed", "agent", "broken", "leave-out", "time", needs_outcomes=False,
         broken=True),
    Kind("reversed", "agent", "reversed", "reverse", "agents", broken=True),
    Kind("opposed-feed", "agent", "reversed", "leave-out", "time", needs_outcomes=False,
         broken=True, unpriced=True, most="warning"),
    # Who turned round reports at another level, too, unless half of all cases happen.
    Kind("rescaled-feed", "agent", "unit", "rescale", "time", needs_outcomes=False,
         unpriced=True),
    Kind("swapped-classes", "agent", "swapped", "swap", "agents", broken=True),
    Kind("copy", "agent", "copy", "leave-out", "redundancy", needs_outcomes=False),
    Kind("not-a-probability", "agent", "score", "recalibrate", "calibration"),
    # A fault of some segments looks like a smaller one of all cases: first, where.
    Kind("fails-in-segment", "agent", "segment", "leave-out-there", "segments"),
    Kind("uninformative", "agent", "uninformative", "leave-out", "agents"),
    Kind("drifted", "agent", "worse", "leave-out", "time"),
    Kind("weaker-link", "agent", "worse", "leave-out", "time", needs_outcomes=False,
         unpriced=True, most="warning"),
    Kind("harmful", "agent", "harmful", "leave-out", "agents"),
    # What breaks a feed moves its level, too: a shift alone is asked about last.
    Kind("shifted-feed", "agent", "shifted", "ask-unit", "time", needs_outcomes=False,
         unpriced=True, most="warning"),
    Kind("over-confident", "agent", "over-confident", "recalibrate", "calibration",
         selected=True),
    Kind("under-confident", "agent", "under-confident", "recalibrate", "calibration",
         selected=True),
    Kind("biased", "agent", "biased", "recalibrate", "calibration", selected=True),
    Kind("needs-recalibration", "agent", "off-scale", "recalibrate", "calibration"),
    Kind("constant-run", "agent", "gap", "", "time", needs_outcomes=False, over=True,
         most="note"),
    Kind("reporting-gap", "agent", "gap", "", "time", needs_outcomes=False, over=True,
         most="note"),
    # The pool, once its agents are as the plan leaves them.
    Kind("threshold", "pool", "threshold", "", "costs"),
    Kind("reversed-pool", "pool", "reversed", "ask-meaning", "calibration"),
    Kind("under-confident-pool", "pool", "under-confident", "recalibrate-pool",
         "calibration", selected=True, most="warning"),
    Kind("over-confident-pool", "pool", "over-confident", "recalibrate-pool",
         "calibration", selected=True),
    Kind("biased-pool", "pool", "biased", "recalibrate-pool", "calibration",
         selected=True),
    Kind("other-threshold", "pool", "other-threshold", "recalibrate-pool", "costs",
         most="warning"),
    Kind("worse-than-best", "pool", "worse-than-best", "lean-on-best", "pools",
         selected=True, most="warning"),
    Kind("better-pool", "pool", "better-pool", "", "pools", most="note",
         at_least="note"),
    Kind("drifted-pool", "pool", "drifted", "", "time", most="warning"),
    Kind("biased-segment", "pool", "biased-segment", "", "segments", most="warning"),
    Kind("implied-threshold", "pool", "other-threshold", "", "costs", most="note"),
    Kind("capacity", "pool", "capacity", "", "capacity", most="note"),
    Kind("correlated", "pool", "correlated", "", "redundancy", needs_outcomes=False,
         most="note"),
)  # fmt: skip


@cache
def every() -> Mapping[str, Kind]:
    """All kinds by code, those that plug-ins bring last, in the order of diagnosis.

    >>> list(every())[:2]
    ['unrelated-outcome', 'reversed-labels']
    """
    from truepool.audits import checks

    own = (kind for check in checks.every().values() for kind in check.kinds)
    return {kind.code: kind for kind in (*TABLE, *own)}


def codes(subject: Subject) -> tuple[str, ...]:
    """Codes of what may be found about a subject, in the order of diagnosis."""
    return tuple(code for code, kind in every().items() if kind.subject == subject)


def rank(code: str) -> int:
    """Place of a code in the order of diagnosis."""
    return list(every()).index(code)


def having(codes: Iterable[str], quality: str) -> bool:
    """Whether a kind among these has a quality, such as ``doubts``."""
    return any(vars(every()[code])[quality] for code in codes)
