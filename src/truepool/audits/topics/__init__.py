"""One topic per file: its evidence, its check and its wording.

A file holds a `Topic`, called ``topic``, whose check yields a `Candidate` for every
test it makes, those that find nothing included: the tests of the whole audit are
adjusted together. The folder is the registry; other distributions add a check in the
entry-point group ``truepool.checks``.
"""

from functools import cache

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.topic import Check, Topic
from truepool.core import registry
from truepool.core.errors import PluginError

__all__ = ["Candidate", "Check", "Evidence", "Topic", "every"]

GROUP = "truepool.checks"


@cache
def every() -> dict[str, Topic]:
    """All topics by name, in the order of their names.

    >>> list(every())[:3]
    ['calibration', 'comparison', 'copies']
    """
    found: dict[str, Topic] = {}
    for module in registry.modules(__name__):
        topic: Topic = vars(module)["topic"]
        found[topic.name] = topic
    for name, entry in registry.plugins(GROUP, found).items():
        check = registry.load(entry)
        if not callable(check):
            owner = registry.distribution(entry)
            raise PluginError(
                f"the plug-in {name!r} ({entry.value}) of the distribution {owner!r} "
                f"must be a function check(evidence); got {check!r}. "
                f"Upgrade or uninstall {owner!r}."
            )
        found[name] = Topic(name, check)
    return dict(sorted(found.items()))
