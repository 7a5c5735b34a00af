"""What an audit says is saved, per 1,000 cases and in the unit of its costs."""

from truepool.audits.severity import SELECTION
from truepool.audits.values import Audit
from truepool.comparison import Estimate
from truepool.render import numbers
from truepool.render.costs import unit as costs_unit


def unit(audit: Audit) -> str:
    """Name what costs are counted in, where that is known."""
    return costs_unit(audit.costs, audit.classes)


def in_words(audit: Audit) -> str:
    """Say what costs are counted in."""
    return f"in {unit(audit) or 'the unit of your costs'}"


def selective(audit: Audit) -> bool:
    """Whether outcomes are known more often in some kinds of cases than in others."""
    return any(f.code == SELECTION and f.severity != "note" for f in audit.findings)


def per_thousand(audit: Audit, saving: Estimate, p: float | None = None) -> str:
    """Return a saving per case as one per 1,000 cases."""
    return numbers.per_thousand(saving, audit.level, unit(audit), p, _cases(audit))


def savings_per_thousand(audit: Audit, saving: Estimate) -> str:
    """Return the same without saying that anything is saved."""
    return numbers.savings_per_thousand(saving, audit.level, unit(audit), _cases(audit))


def _cases(audit: Audit) -> str:
    """Name the cases that costs are about: not all, where outcomes are selective."""
    return "cases with an outcome" if selective(audit) else "cases"
