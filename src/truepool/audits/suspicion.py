"""What a check suspects: a question, its test, and what would be said."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from truepool.audits.values import Finding, Severity
from truepool.comparison import Estimate


@dataclass(frozen=True)
class Suspicion:
    """A question that was asked, and what would be said if the answer is clear.

    Suspicions that come to nothing count too: they are tests that were made.
    ``least`` is what is said without a test (facts and advice), or None. ``most`` caps
    the severity. ``price`` is asked only for what becomes a finding. ``broken`` says
    that the feed itself is broken or hostile, whatever that costs.
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
    """Codes of findings, of whoever, that would explain this one."""
    since: int | None = None  # position in time of the first case after the change
    between: tuple[int, int] | None = None  # earliest and latest that it may be
    broken: bool = False
    share: Callable[[Sequence[Finding]], float] | None = None
    """How much of this would be gone without these causes; None: not measured."""
    unexplained: str = ""
    """What is said where no cause is found."""
