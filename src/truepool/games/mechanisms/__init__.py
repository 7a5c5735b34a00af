"""Mechanisms: what an agent is paid for. The folder is the registry."""

from typing import Any, cast

from truepool import registry
from truepool.errors import UnknownNameError
from truepool.games.mechanisms.interface import Mechanism

__all__ = ["Mechanism", "every", "named"]


def every() -> dict[str, type[Mechanism]]:
    """All mechanisms by name.

    >>> sorted(every())[:3]
    ['brier', 'externality', 'log']
    """
    return cast(dict[str, type[Mechanism]], registry.every(__name__))


def named(mechanism: str | Mechanism, /, **settings: Any) -> Mechanism:
    """Make the mechanism of that name; one that is made already is passed through.

    >>> named("vcg", loss="brier")
    VCG(loss='brier')
    """
    if isinstance(mechanism, Mechanism):
        return mechanism
    cls = cast(type[Mechanism], registry.named(__name__, "mechanism", mechanism))
    for setting in settings:
        if setting not in cls.__dataclass_fields__:
            raise UnknownNameError(
                f"setting of {mechanism}", setting, cls.__dataclass_fields__
            )
    return cls(**settings)
