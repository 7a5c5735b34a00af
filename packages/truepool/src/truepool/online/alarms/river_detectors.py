"""Alarms on losses, by the drift detectors ADWIN and Page-Hinkley of river.

The detectors are river's own. They monitor the loss of each agent and of the pool, case
by case, and start afresh after each change they find.
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
from truepool.measures.losses import Loss, as_loss
from truepool.online import Trace
from truepool.online.alarms.alarm import POOL, Alarm
from truepool.panel.panel import Panel

MAX_LOG_LOSS = log(100)
"""The log loss is unbounded and detectors need a bound: it is capped at p = 1 %."""


@dataclass(frozen=True)
class Detector:
    """One of river's drift detectors, tuned for losses in [0, 1].

    River's own defaults react more slowly on this scale.
    """

    name: str
    river: str
    preset: Mapping[str, Any]

    def __call__(self, **settings: Any) -> Any:
        """Return a new detector; settings override the preset."""
        if find_spec("river") is None:
            raise MissingExtraError("a drift detector", "river", "truepool[drift]")
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
    source: Trace | Panel,
    detector: str = "adwin",
    *,
    loss: str | Loss | None = None,
    **settings: Any,
) -> tuple[Alarm, ...]:
    r"""Alarms on each agent's own loss and on the pool's, the earliest first.

    Only a rising loss raises an alarm: the change is placed where the cumulative
    deviation from the mean is largest, and if the mean after it is lower than the one
    before, the detector starts afresh without an alarm. Each agent is monitored over
    the cases it reported on. Cases are in the order in which they were decided; if an
    outcome is late, the alarm would be late by as much.

    Parameters
    ----------
    source : Trace or Panel
        A replay; or a panel, for its agents alone.
    detector : str
        ``adwin`` (Bifet & Gavaldà 2007) compares the older with the newer part of a
        window of adaptive length; ``page-hinkley`` (Page 1954) accumulates rises.
    loss : str or Loss, optional
        What to monitor; by default the loss of the learner, or Brier for a panel.
    settings
        For river's detector, for example ``delta``. It gets losses divided by their
        maximum, so that they lie in [0, 1]; log losses are capped at log 100.

    Examples
    --------
    >>> panel = Panel([[0.9, 0.8], [0.1, 0.2]] * 100, [1, 0] * 50 + [0, 1] * 50)
    >>> for alarm in alarms(panel):
    ...     print(alarm.who, alarm.case, round(alarm.before, 2), round(alarm.after, 2))
    agent0 114 0.01 0.81
    agent1 118 0.04 0.64
    """
    make("drift detector", detector, **settings)  # refuses bad settings first
    start = partial(make, "drift detector", detector, **settings)
    chosen = _loss(source, loss)
    panel = source.panel if isinstance(source, Trace) else source.sort_by_time()
    largest = MAX_LOG_LOSS if chosen.name == "log" else chosen.span(panel.classes)
    found: list[Alarm] = []
    for who, reports in _series(source, panel):
        cases = np.flatnonzero(~np.isnan(reports[:, 0]))
        losses = chosen.evaluate(reports[cases], panel.outcomes[cases])
        for place, before, after in _rises(np.minimum(losses / largest, 1.0), start):
            found.append(
                Alarm(who, int(cases[place]), before * largest, after * largest)
            )
    return tuple(sorted(found, key=lambda alarm: alarm.case))


def _loss(source: Trace | Panel, loss: str | Loss | None) -> Loss:
    if loss is None and isinstance(source, Trace):
        return source.learner.loss
    return as_loss(loss or "brier")


def _series(source: Trace | Panel, panel: Panel) -> Iterator[tuple[str, FloatArray]]:
    """Reports of each agent, and the pool's, (T, C); NaN where there is none."""
    if isinstance(source, Trace) and POOL in panel.agents:
        raise AgentError(
            f"no agent may be called {POOL!r}, which stands for the pool; rename it"
        )
    for i, agent in enumerate(panel.agents):
        yield agent, panel.values[:, i]
    if isinstance(source, Trace):
        pooled = source.pooled
        yield POOL, pooled[:, None] if pooled.ndim == 1 else pooled


def _rises(
    losses: FloatArray, start: Callable[[], Any]
) -> Iterator[tuple[int, float, float]]:
    """Where a detector finds a rise in the loss, with the means before and after."""
    detector, first = start(), 0
    for place, value in enumerate(losses.tolist()):
        detector.update(value)
        if detector.drift_detected:
            since = losses[first : place + 1]
            walk = np.cumsum(since - since.mean())
            cut = int(np.argmax(np.abs(walk[:-1]))) + 1 if len(walk) > 1 else 1
            if cut == len(since):  # nothing before it to compare with
                continue
            before, after = float(since[:cut].mean()), float(since[cut:].mean())
            if after > before:
                yield place, before, after
            detector, first = start(), place + 1
