"""One question a file; each sees the evidence and says what it suspects.

A check is a function ``check(evidence)`` that yields `Suspicion`s, one for every test
it makes, those that come to nothing included: the tests of the whole audit are
adjusted together.
"""

from collections.abc import Callable, Iterator

from truepool.audit.checks import (
    agents_calibrated,
    copies,
    drifted,
    feeds,
    fragile,
    harmful,
    outcome_rate,
    outdone,
    pool_calibrated,
    tempted,
    threshold,
    upside_down,
)
from truepool.audit.evidence import Evidence
from truepool.audit.suspicion import Suspicion

CHECKS: tuple[tuple[str, Callable[[Evidence], Iterator[Suspicion]]], ...] = (
    ("calibration of agents", agents_calibrated.check),
    ("calibration of the pool", pool_calibrated.check),
    ("agents upside down", upside_down.check),
    ("copies", copies.check),
    ("harm", harmful.check),
    ("threshold", threshold.check),
    ("feeds", feeds.check),
    ("drift", drifted.check),
    ("outcome rate", outcome_rate.check),
    ("incentives", tempted.check),
    ("comparison", outdone.check),
    ("robustness", fragile.check),
)
"""What is asked, in this order; the names are what is withheld where cases are few."""
