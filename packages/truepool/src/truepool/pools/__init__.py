"""Pools: many probabilities in, one out. The folder is the registry."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from truepool.core import registry
from truepool.pools import persistence
from truepool.pools.interface import (
    FixedPool,
    LinearPool,
    Pool,
    configure,
    learned,
)
from truepool.pools.interface.result import Explanation, PoolResult

if TYPE_CHECKING:
    from truepool.pools.onnx.export import PoolExport

__all__ = [
    "Explanation",
    "FixedPool",
    "LinearPool",
    "Pool",
    "PoolResult",
    "configure",
    "every",
    "export",
    "learned",
    "load_pool",
    "make",
]


def every() -> dict[str, type[Pool]]:
    """All pools by name.

    >>> sorted(every())[-3:]
    ['trimmed', 'vcg', 'vote']
    """
    return cast(dict[str, type[Pool]], registry.every(__name__))


def make(name: str, /, **settings: Any) -> Pool:
    """Make the pool of that name with these settings.

    >>> make("vcg", loss="log")
    VCG(loss='log')
    """
    return cast(Pool, registry.make("pool", name, **settings))


def load_pool(path: str | Path) -> Pool:
    """Return the pool that `Pool.save` or ``truepool fit`` wrote to a file.

    It answers as the saved one did, to the last bit. No file can make it run code:
    pools are found by name, and only plain numbers and text are read.
    """
    return cast(Pool, persistence.load(path))


def export(pool: Pool, path: str | Path) -> "PoolExport":
    """Write a fitted pool as an ONNX file, if the two give the same probabilities.

    The graph takes ``reports``, float64 (T, N) or (T, N, K) with NaN where there is no
    report, and gives ``probabilities`` (T, K). See docs/export.md.
    """
    from truepool.pools.onnx import export as onnx_export  # takes 0.3 s

    return onnx_export.export(pool, path)
