"""Checks by topic: each file has its evidence and its tests.

A file holds ``checks``, a tuple of `Check`. Each yields a `Candidate` for every test it
makes, those that find nothing included: the tests of the whole audit are adjusted
together. The folder is the registry; other distributions add a `Check` in the
entry-point group ``truepool.checks``.
"""

from functools import cache

from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.evidence import Evidence
from truepool.audits.kinds import Kind
from truepool.audits.plugin_check import load_check
from truepool.audits.values import Detail
from truepool.comparison import Estimate
from truepool.core import plugins, registry

__all__ = ["Candidate", "Check", "Detail", "Estimate", "Evidence", "Kind", "every"]


@cache
def every() -> dict[str, Check]:
    """All checks by name, in the order of their names.

    >>> list(every())[:3]
    ['bias within segments', 'calibration', 'calibration of the pool']
    """
    found: dict[str, Check] = {}
    for module in registry.modules(__name__):
        found |= {check.name: check for check in vars(module)["checks"]}
    for name, entry in plugins.every(plugins.CHECKS, found).items():
        found[name] = load_check(entry)
    return dict(sorted(found.items()))
