"""One question per file; each sees the evidence and says what it suspects.

A check is a file with a ``name`` and a function ``check(evidence)`` that yields
`Suspicion`s, one for every test it makes, those that come to nothing included: the
tests of the whole audit are adjusted together. The folder is the registry; other
distributions add theirs in the entry-point group ``truepool.checks``.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeAlias

from truepool.audits.evidence import Evidence
from truepool.audits.suspicion import Suspicion
from truepool.core import registry
from truepool.core.errors import PluginError

__all__ = ["Check", "Evidence", "Suspicion", "every"]

Check: TypeAlias = Callable[[Evidence], Iterator[Suspicion]]
GROUP = "truepool.checks"


@cache
def every() -> dict[str, Check]:
    """All checks by name, in the order of their names.

    Where cases are few, these names say what is withheld.

    >>> list(every())[:3]
    ['agents upside down', 'calibration of agents', 'calibration of the pool']
    """
    found: dict[str, Check] = {
        vars(module)["name"]: vars(module)["check"]
        for module in registry.modules(__name__)
    }
    for name, entry in registry.plugins(GROUP, found).items():
        check = registry.load(entry)
        if not callable(check):
            owner = registry.distribution(entry)
            raise PluginError(
                f"the plug-in {name!r} ({entry.value}) of the distribution {owner!r} "
                f"must be a function check(evidence); got {check!r}. "
                f"Upgrade or uninstall {owner!r}."
            )
        found[name] = check
    return dict(sorted(found.items()))
