"""What is computed once for each panel, however many pools ask for it."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from truepool.core.arrays import FloatArray
from truepool.panel.panel import Panel

V = TypeVar("V")
Compute = Callable[..., V]


def once_per_panel(compute: Compute[V]) -> Compute[V]:
    """Return a function of a panel, case weights or None and settings that remembers.

    Its answers are kept as long as the panel. They must not hold the panel, and nobody
    may write to them.

    >>> asked = []
    >>> def mean(panel, case_weights, power):
    ...     asked.append(power)
    ...     return float(panel.reports.mean() ** power)
    >>> panel = Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    >>> remembered = once_per_panel(mean)
    >>> remembered(panel, None, 1), remembered(panel, None, 1), asked
    (0.5, 0.5, [1])
    """
    known: WeakKeyDictionary[Panel, dict[object, tuple[FloatArray | None, V]]]
    known = WeakKeyDictionary()

    @wraps(compute)
    def answer(panel: Panel, case_weights: FloatArray | None, *settings: object) -> V:
        own = known.setdefault(panel, {})
        key = (id(case_weights), settings)
        if key not in own:  # the weights are kept with it, so their number stays theirs
            own[key] = case_weights, compute(panel, case_weights, *settings)
        return own[key][1]

    return answer
