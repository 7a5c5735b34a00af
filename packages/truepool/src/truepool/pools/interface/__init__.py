"""What a pool is: its parameters, what it learns, how it answers and explains."""

from truepool.pools.interface.parameters import learned
from truepool.pools.interface.pool import (
    NO_COSTS,
    FixedPool,
    LinearPool,
    Pool,
    by_agent,
    configure,
)

__all__ = [
    "NO_COSTS",
    "FixedPool",
    "LinearPool",
    "Pool",
    "by_agent",
    "configure",
    "learned",
]
