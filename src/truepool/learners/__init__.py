"""Learners: weights that follow, case by case. The folder is the registry."""

from typing import Any, cast

from truepool import registry
from truepool.learners.interface import Learner, State, horizon_rate

__all__ = ["Learner", "State", "every", "horizon_rate", "named"]


def every() -> dict[str, type[Learner]]:
    """All learners by name.

    >>> sorted(every())[:4]
    ['adahedge', 'boa', 'ema', 'fixed-share']
    """
    return cast(dict[str, type[Learner]], registry.every(__name__))


def named(name: str, **settings: Any) -> Learner:
    """Make the learner of that name with those of the settings that it takes.

    >>> named("hedge", rate=0.1).rate
    0.1
    """
    cls = cast(type[Learner], registry.named(__name__, "learner", name))
    taken = cls.__dataclass_fields__
    return cls(**{key: settings[key] for key in settings if key in taken})
