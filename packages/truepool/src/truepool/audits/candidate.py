"""What a check yields: a test, and the finding that it may become."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from truepool.audits.values import Detail, Finding, Severity
from truepool.comparison import Estimate


@dataclass(frozen=True)
class Candidate:
    """A test, and the finding that it becomes if significant.

    Tests that find nothing count too: all are adjusted together. ``least`` is the
    severity without a test (facts and advice), or None; ``most`` caps the severity.
    ``price`` is what fixing it saves per case, computed only for what becomes a
    finding. ``broken`` says that the feed is broken or hostile, whatever that costs.
    """

    code: str
    who: tuple[str, ...]
    sentence: str
    advice: str
    p_value: float | None = None
    matters: bool = True
    most: Severity = "error"
    least: Severity | None = None
    number: Estimate | None = None
    unit: str = ""
    price: Callable[[], Estimate | None] | None = None
    figure: str | None = None
    explained_by: tuple[str, ...] = ()
    """Codes of findings, about any agent, that would explain this one."""
    since: int | None = None  # number of cases with an outcome before the change
    between: tuple[int, int] | None = None  # earliest and latest that it may be
    date: str = ""
    """When that was, if not at the case of ``since``: it may have no outcome yet."""
    when: str = ""
    """The words of the sentence that say when, left out where the cause has a date."""
    segments: tuple[str, ...] = ()
    """Names of the segments that it is about."""
    broken: bool = False
    minor: bool = False
    """Whether its agent gives so few reports that only what it costs counts."""
    share: Callable[[Sequence[Finding]], float] | None = None
    """Share of this that would disappear without these causes; None: not measured."""
    joint: bool = False
    """Whether every agent that has a quarter of the largest share is named as a cause;
    if there are several, the finding stands alone and not under one of them."""
    unexplained: str = ""
    """Added to the sentence where no cause is found."""
    backfires: str = ""
    """The advice where following the other one would cost more."""
    indifferent: str = ""
    """The advice where it would save nothing, though that is not certain; of a
    recalibration of an agent, where it is not certain to save anything."""
    tail: Callable[[Estimate | None], str] | None = None
    """What is added to any of these by what the fix saves, only for a finding."""
    postponed: str = ""
    """The advice instead of both while an agent is broken, which may be the reason."""
    details: tuple[Detail, ...] = ()
    """What the number is one of, in the same unit."""
