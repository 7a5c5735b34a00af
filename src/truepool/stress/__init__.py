"""What the world does to a pool: agents that turn bad and worlds that move, by seed.

A stress is a transform of a panel, ``stress(panel, agents, seed=0)``, and the folder is
the registry. Stresses are composed by calling one on what another returned: the later
sees what the earlier left. On different agents the order does not matter, except for
those that listen to others (`Copycat`, and a `Sleeper` by weight).
"""

from typing import Any, cast

from truepool.core import registry
from truepool.stress.interface import Agents, Stress, chosen

__all__ = ["Agents", "Stress", "chosen", "every", "make"]


def every() -> dict[str, type[Stress]]:
    """All stresses by name.

    >>> sorted(every())[:4]
    ['collusion', 'constant-low', 'copycat', 'degraded']
    """
    return cast(dict[str, type[Stress]], registry.every(__name__))


def make(name: str, /, **settings: Any) -> Stress:
    """Make the stress of that name with these settings.

    >>> make("temperature", T=0.5)
    Temperature(T=0.5)
    """
    return cast(Stress, registry.make("stress", name, **settings))
