"""Alarms on losses by ADWIN and Page-Hinkley, the known drift detectors of river.

The detectors are river's and are not rewritten here. They watch the loss of each agent
and of the pool, case by case, and start anew after each change they find.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from math import log
from typing import Any

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import AgentError, MissingExtraError
from truepool.core.registry import check_settings, make
from truepool.data.panel import Panel
from truepool.measures.losses import Loss, as_loss
from truepool.online import Trace
from truepool.online.alarms.alarm import POOL, Alarm

MOST_LOG_LOSS = log(100)
"""The log loss has no bound and detectors need one: it is counted up to p = 1 %."""


@dataclass(frozen=True)
class Detector:
    """One of river's drift detectors, set for losses in [0, 1].

    River's own defaults are slower there.
    """

    name: str
    river: str
    preset: Mapping[str, Any]

    def __call__(self, **settings: Any) -> Any:
        """Return a fresh detector with these settings instead of the preset ones."""
        if find_spec("river") is None:
            raise MissingExtraError("a drift detector", "river", "drift")
        cls = vars(import_module("river.drift"))[self.river]
        check_settings(self.name, settings, signature(cls).parameters)
        return cls(**{**self.preset, **settings})


DETECTORS = (
    Detector("adwin", "ADWIN", {"delta": 0.01, "clock": 1}),
    Detector(
        "page-hinkley", "PageHinkley", {"delta": 0.03, "threshold": 15.0, "mode": "up"}
    ),
)


def every() -> dict[str, Detector]:
    """All drift detectors by name.

    >>> list(every())
    ['adwin', 'page-hinkley']
    """
    return {detector.name: detector for detector in DETECTORS}


def alarms(
    watched: Trace | Panel,
    detector: str = "adwin",
    *,
    loss: str | Loss | None = None,
    **settings: Any,
) -> tuple[Alarm, ...]:
    r"""Alarms on each agent's own loss and on the pool's, the earliest first.

    Only a loss that rises sets an alarm off: the change is placed where the cumulated
    deviation from the mean is largest, and if the mean after it is lower than the one
    before, the detector starts anew and nothing is said. Cases in which somebody was
    silent are passed over. Cases count in the order in which they were decided; an
    outcome that comes late would sound its alarm as much later.

    Parameters
    ----------
    watched : Trace or Panel
        A replay, or a panel, which has agents but no pool.
    detector : str
        ``adwin`` (Bifet & Gavaldà 2007) compares the older with the newer part of a
        window that it adapts; ``page-hinkley`` (Page 1954) cumulates rises.
    loss : str or Loss, optional
        What to watch; by default what the learner keeps small, or Brier for a panel.
    settings
        For river's detector, for example ``delta``. It sees losses divided by the most
        they can be, so that they lie in [0, 1]; log losses count up to log 100.

    Examples
    --------
    >>> panel = Panel([[0.9, 0.8], [0.1, 0.2]] * 100, [1, 0] * 50 + [0, 1] * 50)
    >>> for alarm in alarms(panel):
    ...     print(alarm.who, alarm.case, round(alarm.before, 2), round(alarm.after, 2))
    agent0 114 0.01 0.81
    agent1 118 0.04 0.64
    """
    make("drift detector", detector, **settings)  # says so before anything is read
    start = partial(make, "drift detector", detector, **settings)
    chosen = _loss(watched, loss)
    panel = watched.panel if isinstance(watched, Trace) else watched.sort_by_time()
    most = MOST_LOG_LOSS if chosen.name == "log" else chosen.span(panel.classes)
    found: list[Alarm] = []
    for who, said in _said(watched, panel):
        cases = np.flatnonzero(~np.isnan(said[:, 0]))
        lost = chosen.of(said[cases], panel.outcomes[cases])
        for place, before, after in _rises(np.minimum(lost / most, 1.0), start):
            found.append(Alarm(who, int(cases[place]), before * most, after * most))
    return tuple(sorted(found, key=lambda alarm: alarm.case))


def _loss(watched: Trace | Panel, loss: str | Loss | None) -> Loss:
    if loss is None and isinstance(watched, Trace):
        return watched.learner.loss
    return as_loss(loss or "brier")


def _said(watched: Trace | Panel, panel: Panel) -> Iterator[tuple[str, FloatArray]]:
    """Who is watched, with what it said, (T, C); NaN where it was silent."""
    if isinstance(watched, Trace) and POOL in panel.agents:
        raise AgentError(
            f"an agent called {POOL!r} cannot be told from the pool; rename it"
        )
    for i, agent in enumerate(panel.agents):
        yield agent, panel.values[:, i]
    if isinstance(watched, Trace):
        pooled = watched.pooled
        yield POOL, pooled[:, None] if pooled.ndim == 1 else pooled


def _rises(
    lost: FloatArray, start: Callable[[], Any]
) -> Iterator[tuple[int, float, float]]:
    """Where a detector finds that a loss has risen, with the means before and after."""
    detector, first = start(), 0
    for place, value in enumerate(lost.tolist()):
        detector.update(value)
        if detector.drift_detected:
            since = lost[first : place + 1]
            walk = np.cumsum(since - since.mean())
            cut = int(np.argmax(np.abs(walk[:-1]))) + 1 if len(walk) > 1 else 1
            if cut == len(since):  # nothing before it to compare with
                continue
            before, after = float(since[:cut].mean()), float(since[cut:].mean())
            if after > before:
                yield place, before, after
            detector, first = start(), place + 1
