"""Names of ``truepool`` beside its own: classes of pools, and what plug-ins offer."""

from functools import cache
from importlib.metadata import EntryPoint
from typing import Any

from truepool.core import distributions, plugins, registry


def find(name: str) -> Any:
    """Return the pool of that class name, or what a plug-in offers under the name.

    >>> find("Platt").name
    'platt'
    """
    if name in _entries():
        return plugins.load(_entries()[name])
    if name[0].isupper():
        for pool in registry.names("pool").values():
            if pool.__name__ == name:
                return pool
    unknown = AttributeError(f"module 'truepool' has no attribute {name!r}")
    raise distributions.missing("name", name) or unknown


def offered() -> set[str]:
    """Names that `find` finds."""
    pools = registry.names("pool").values()
    return {*_entries(), *(pool.__name__ for pool in pools)}


@cache
def _entries() -> dict[str, EntryPoint]:
    return plugins.every(plugins.NAMES)
