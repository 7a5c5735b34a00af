"""Stress tests for a pool: agents that fail or attack, and drift, all by seed.

A stress is a transform of a panel, ``stress(panel, agents, seed=0)``, and the folder is
the registry. Stresses are composed by calling one on the result of another. On
different agents the order does not matter, except for stresses that use other agents'
reports (`Copycat`, and a `Sleeper` by weight).
"""

from typing import Any, cast

from truepool.core import registry
from truepool_lab.stress.interface import Agents, Stress, select_agents

__all__ = ["Agents", "Stress", "every", "make", "select_agents"]


def every() -> dict[str, type[Stress]]:
    """All stresses by name.

    >>> sorted(every())[:4]
    ['collusion', 'constant-low', 'copycat', 'degradation']
    """
    return cast(dict[str, type[Stress]], registry.every(__name__))


def make(name: str, /, **settings: Any) -> Stress:
    """Make the stress of that name with these settings.

    >>> make("temperature", T=0.5)
    Temperature(T=0.5)
    """
    return cast(Stress, registry.make("stress", name, **settings))
