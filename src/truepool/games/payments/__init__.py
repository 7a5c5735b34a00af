"""Mechanisms: what an agent is paid for. The folder is the registry."""

from typing import Any, cast

from truepool.core import registry
from truepool.games.payments.interface import Mechanism

__all__ = ["Mechanism", "as_mechanism", "every", "make"]


def every() -> dict[str, type[Mechanism]]:
    """All mechanisms by name.

    >>> sorted(every())[:3]
    ['brier', 'externality', 'log']
    """
    return cast(dict[str, type[Mechanism]], registry.every(__name__))


def make(name: str, /, **settings: Any) -> Mechanism:
    """Make the mechanism of that name with these settings.

    >>> make("vcg", loss="brier")
    VCG(loss='brier')
    """
    return cast(Mechanism, registry.make("payment", name, **settings))


def as_mechanism(mechanism: str | Mechanism) -> Mechanism:
    """Return the mechanism of that name; one that is made already is passed through.

    >>> as_mechanism("brier")
    Brier()
    """
    return mechanism if isinstance(mechanism, Mechanism) else make(mechanism)
