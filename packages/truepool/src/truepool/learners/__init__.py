"""Learners: weights updated online, case by case. The folder is the registry."""

from typing import Any, cast

from truepool.core import registry
from truepool.learners.interface import Feedback, Learner, State, horizon_rate

__all__ = ["Feedback", "Learner", "State", "every", "horizon_rate", "make"]


def every() -> dict[str, type[Learner]]:
    """All learners by name.

    >>> sorted(every())[:2]
    ['adahedge', 'boa']
    """
    return cast(dict[str, type[Learner]], registry.every(__name__))


def make(name: str, /, **settings: Any) -> Learner:
    """Make the learner of that name with these settings.

    >>> make("hedge", rate=0.1).rate
    0.1
    """
    return cast(Learner, registry.make("learner", name, **settings))
