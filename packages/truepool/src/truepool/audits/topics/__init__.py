"""One topic per file: its evidence, its check and its wording.

A file holds a `Topic`, called ``topic``, whose check yields a `Candidate` for every
test it makes, those that find nothing included: the tests of the whole audit are
adjusted together. The folder is the registry; other distributions add a check in the
entry-point group ``truepool.checks``.
"""

from functools import cache

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.plugin_check import load_check
from truepool.audits.topic import Check, Topic
from truepool.audits.values import Detail
from truepool.comparison import Estimate
from truepool.core import plugins, registry

__all__ = ["Candidate", "Check", "Detail", "Estimate", "Evidence", "Topic", "every"]


@cache
def every() -> dict[str, Topic]:
    """All topics by name, in the order of their names.

    >>> list(every())[:3]
    ['calibration', 'capacity', 'comparison']
    """
    found: dict[str, Topic] = {}
    for module in registry.modules(__name__):
        topic: Topic = vars(module)["topic"]
        found[topic.name] = topic
    for name, entry in plugins.every(plugins.CHECKS, found).items():
        found[name] = Topic(name, load_check(entry))
    return dict(sorted(found.items()))
