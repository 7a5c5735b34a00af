"""What a check yields: a test, and the finding that it may become."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from truepool.audits.values import Detail, Severity
from truepool.comparison import Estimate


@dataclass(frozen=True)
class Candidate:
    """A test, and the finding that it becomes if significant.

    Tests that find nothing count too: all are adjusted together. ``least`` is the
    severity without a test (facts), or None; ``most`` caps the severity further than
    the kind of the code does. ``price`` is what undoing it saves per case, computed
    only for what becomes a finding. ``broken`` says of a kind that is not always so
    that the feed is broken, whatever that costs.
    """

    code: str
    who: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    p_value: float | None = None
    matters: bool = True
    least: Severity | None = None
    most: Severity = "error"
    number: Estimate | None = None
    unit: str = ""
    price: Callable[[], Estimate | None] | None = None
    since: int | None = None  # number of cases with an outcome before the change
    between: tuple[int, int] | None = None  # earliest and latest that it may be
    date: str = ""
    """When that was, if not at the case of ``since``: it may have no outcome yet."""
    segments: tuple[str, ...] = ()
    """Names of the segments that it is about."""
    broken: bool = False
    share: Callable[[Mapping[str, int], Collection[str]], float] | None = None
    """Share of a change of the pool that disappears without the reports of some agents,
    each since it changed; None: not measured."""
    details: tuple[Detail, ...] = ()
    """What the number is one of, in the same unit."""
