"""Pools: many probabilities in, one out. The folder is the registry."""

from typing import Any, cast

from truepool import registry
from truepool.errors import UnknownNameError
from truepool.pools.interface import LinearPool, Pool, made

__all__ = ["LinearPool", "Pool", "every", "named"]


def every() -> dict[str, type[Pool]]:
    """All pools by name.

    >>> sorted(every())[:4]
    ['attention', 'auto', 'bayes', 'best-agent']
    """
    return cast(dict[str, type[Pool]], registry.every(__name__))


def named(name: str, /, **settings: Any) -> Pool:
    """Make the pool of that name with these settings.

    >>> named("vcg", loss="log")
    VCG(loss='log')
    """
    pool = made(name, **settings)
    for setting in settings:
        if setting not in pool.settings():
            raise UnknownNameError(f"setting of {name}", setting, pool.settings())
    return pool
