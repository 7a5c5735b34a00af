"""The evidence: one question a file, with its table and its figures."""

from collections.abc import Iterator

from truepool.audit.values import Audit
from truepool.render.page.evidence import (
    calibration,
    deciding,
    mechanisms,
    redundancy,
    robustness,
    standing,
    time,
)
from truepool.render.page.frame import Section

__all__ = ["sections"]


def sections(audit: Audit) -> Iterator[Section]:
    """Return what there is evidence for, in the order of a reader's questions."""
    yield calibration.section(audit)
    yield standing.section(audit)
    yield redundancy.section(audit)
    if audit.curve is not None:
        yield deciding.section(audit, audit.curve)
    if audit.comparison is not None:
        yield mechanisms.section(audit, audit.comparison)
    if audit.drift is not None:
        yield time.section(audit, audit.drift)
    if audit.robustness:
        yield robustness.section(audit)
