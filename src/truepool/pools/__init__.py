"""Pools: many probabilities in, one out. The folder is the registry."""

from typing import Any, cast

from truepool.core import registry
from truepool.pools.interface import (
    Explanation,
    FixedPool,
    LinearPool,
    Pool,
    PoolResult,
    configure,
)

__all__ = [
    "Explanation",
    "FixedPool",
    "LinearPool",
    "Pool",
    "PoolResult",
    "configure",
    "every",
    "make",
]


def every() -> dict[str, type[Pool]]:
    """All pools by name.

    >>> sorted(every())[:4]
    ['attention', 'auto', 'bayes', 'best-agent']
    """
    return cast(dict[str, type[Pool]], registry.every(__name__))


def make(name: str, /, **settings: Any) -> Pool:
    """Make the pool of that name with these settings.

    >>> make("vcg", loss="log")
    VCG(loss='log')
    """
    return cast(Pool, registry.make("pool", name, **settings))
