"""Pools: many probabilities in, one out. The folder is the registry."""

from typing import Any, cast

from truepool import registry
from truepool.pools.interface import LinearPool, Pool, made

__all__ = ["LinearPool", "Pool", "every", "named"]


def every() -> dict[str, type[Pool]]:
    """All pools by name.

    >>> sorted(every())[:4]
    ['auto', 'bayes', 'best', 'beta']
    """
    return cast(dict[str, type[Pool]], registry.every(__name__))


def named(name: str, **settings: Any) -> Pool:
    """Make the pool of that name with those of the settings that it takes.

    >>> named("vcg", loss="log")
    VCG(loss='log')
    """
    return made(name, **settings)
