"""A monitor that runs every detector on a stream of cases."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from truepool.core.arrays import BoolArray, FloatArray, as_outcomes, logit
from truepool.core.errors import AgentError, OutcomeError, PanelError, SettingError
from truepool.measures.losses import Loss
from truepool.online.alarms.alarm import OUTCOMES, POOL, Alarm
from truepool.online.alarms.change_point import others
from truepool.online.alarms.conformal import MEMORY
from truepool.online.alarms.conformal import WARM_UP as FIRST_VALUES
from truepool.online.alarms.discrimination import WINDOW
from truepool.online.alarms.distribution import directions, links
from truepool.online.alarms.repeats import RepeatDetector
from truepool.online.alarms.runs import HISTORY, RunDetector
from truepool.online.alarms.series import SeriesDetector, matters
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.panel.reports import check_reports

WARM_UP = 200
"""The number of cases from which each agent's usual level and spread are learned."""

FIRST_SETTLED = FIRST_VALUES + 1
"""The settled case from which costs and the outcome rate are tested."""

FIRST_DRIFT = WARM_UP + FIRST_VALUES + 1
"""The case from which the level, spread and link of reports are tested."""

MIN_HISTORY = 100
"""With a shorter history the detectors would have nothing to compare with."""


@dataclass(frozen=True, eq=False)
class _Case:
    """A case that is waiting for its outcome."""

    reports: FloatArray
    placements: FloatArray
    pooled: float | None
    time: Any


@final
class Monitor:
    """Monitor feeds, costs, discrimination and the outcome rate, case by case.

    Parameters
    ----------
    agents : sequence of str
        Names of the agents, at least two; there are two classes.
    costs, threshold : Costs, float, optional
        Costs of errors and decision threshold, for the alarms on cost.
    cases_per_false_alarm : float
        Mean number of cases between two false alarms of one detector on one agent, if
        cases are exchangeable. With a smaller number faults are found sooner.
    seed : int
        Breaks ties between ranks.
    history : int
        How many cases are remembered, at least 100; this bounds the memory. Reports
        that are sent again later than this are not found, and of the cases that wait
        for an outcome the oldest is dropped when there are more.

    An outcome may arrive with its case, later through `settle`, or never. The kinds of
    alarm are ``constant``, ``stopped``, ``repeated`` (the feed broke); ``link`` (it no
    longer moves with the others), ``level``, ``scale`` (its reports changed); ``cost``,
    ``discrimination`` (the agent got worse); and ``outcome rate``. While a feed is
    constant, it raises no other alarm, and the others are not compared with it.

    Examples
    --------
    >>> monitor = Monitor(("ada", "bob", "cy"))
    >>> rng = np.random.default_rng(0)
    >>> for t in range(200):
    ...     reports = rng.uniform(0.1, 0.9, 3)
    ...     if t >= 150:
    ...         reports[1] = 0.05
    ...     for alarm in monitor.update(reports):
    ...         print(alarm.who, alarm.kind, "at", alarm.case, "since", alarm.since)
    bob constant at 169 since 150
    """

    def __init__(
        self,
        agents: Sequence[str],
        *,
        costs: Costs | None = None,
        threshold: float | None = None,
        cases_per_false_alarm: float = 100_000,
        seed: int = 0,
        history: int = HISTORY,
    ) -> None:
        if len(agents) < 2:
            raise AgentError(f"a monitor needs at least 2 agents; got {len(agents)}")
        if not cases_per_false_alarm > 1:
            raise SettingError(
                "cases_per_false_alarm must be greater than 1; "
                f"got {cases_per_false_alarm!r}"
            )
        if not history >= MIN_HISTORY:
            raise SettingError(
                f"history must be at least {MIN_HISTORY} cases; got {history!r}"
            )
        self.agents = tuple(agents)
        self.case = 0
        self.history = history
        self._interval, self._seed = cases_per_false_alarm, seed
        self._loss = Loss("cost", costs or Costs(), threshold)
        N = len(self.agents)
        rate = cases_per_false_alarm
        self._constant = [RunDetector(rate, history=history) for _ in range(N)]
        self._stopped = [RunDetector(rate, 1.0, history) for _ in range(N)]
        self._repeated = [RepeatDetector(rate, history) for _ in range(N)]
        self._reported: list[deque[int]] = [deque(maxlen=history) for _ in range(N)]
        self._recent: list[deque[float]] = [deque(maxlen=WINDOW) for _ in range(N)]
        self._warm_up: list[FloatArray] = []
        self._baseline: tuple[FloatArray, FloatArray, FloatArray] | None = None
        self._detectors: dict[tuple[str, str], SeriesDetector] = {}
        self._waiting: dict[int, _Case] = {}
        self._positive = self.settled = 0
        self._last: Any = None

    def update(
        self,
        reports: Mapping[str, float] | ArrayLike,
        outcome: int | None = None,
        time: Any = None,
        *,
        pooled: float | None = None,
    ) -> tuple[Alarm, ...]:
        """Add one case and return the alarms it raises.

        ``reports`` is a dict by agent (an agent that is not in it has no report), or
        one number per agent with NaN for no report; with ``pooled``, the pooled
        probability, the cost of the pool is monitored too. Times must not decrease.
        """
        values = self._checked(reports)
        if time is not None and self._last is not None and time < self._last:
            raise PanelError(
                f"cases must be in time order; got {time!r} after {self._last!r}"
            )
        self._last = time if time is not None else self._last
        case, self.case = self.case, self.case + 1
        found = [
            *self._feed_alarms(case, values, time),
            *self._report_alarms(case, values, time),
        ]
        self._waiting[case] = _Case(values, self._placements(values), pooled, time)
        if len(self._waiting) > self.history:
            del self._waiting[next(iter(self._waiting))]
        if outcome is not None:
            found += self.settle(case, outcome)
        return tuple(found)

    def settle(self, case: int, outcome: int) -> tuple[Alarm, ...]:
        """Add the outcome of an earlier case and return the alarms it raises."""
        if case not in self._waiting:
            raise OutcomeError(
                f"the case must be waiting for its outcome; case {case} "
                + ("no longer is" if 0 <= case < self.case else "was never seen")
            )
        y = as_outcomes([outcome], 2)
        stored = self._waiting.pop(case)
        return tuple(self._outcome_alarms(case, stored, int(y[0])))

    def drop(self, case: int) -> None:
        """Drop a case that will never have an outcome."""
        self._waiting.pop(case, None)

    def _checked(self, reports: Mapping[str, float] | ArrayLike) -> FloatArray:
        if isinstance(reports, Mapping):
            unknown = [name for name in reports if name not in self.agents]
            if unknown:
                raise AgentError(
                    f"every report must belong to one of {', '.join(self.agents)}; got "
                    f"one of {unknown[0]!r}"
                )
            reports = [reports.get(name, float("nan")) for name in self.agents]
        row = np.asarray(reports, dtype=np.float64)
        if row.shape != (len(self.agents),):
            raise PanelError(
                f"a case needs one report per agent, {len(self.agents)}; got an array "
                f"of shape {row.shape}"
            )
        values, _ = check_reports(row[None], self.agents, allow_empty_cases=True)
        return np.asarray(values[0, :, 0])

    # Reports alone

    def _feed_alarms(self, case: int, values: FloatArray, time: Any) -> Iterator[Alarm]:
        """Alarms on runs and repeats."""
        if np.isnan(values).all():  # an empty case says nothing about feeds
            return
        for i, (agent, value) in enumerate(
            zip(self.agents, values.tolist(), strict=True)
        ):
            missing, seen = isnan(value), self._reported[i]
            if seen and self._stopped[i].update(float(missing)):
                since = case + 1 - self._stopped[i].length
                yield Alarm(agent, case, seen[-1], float("nan"), "stopped", since, time)
            if missing:
                continue
            seen.append(case)
            if self._constant[i].update(value):
                since = seen[-min(self._constant[i].length, len(seen))]
                yield Alarm(agent, case, float("nan"), value, "constant", since, time)
            if self._repeated[i].update(value):
                lag = self._repeated[i].lag
                since = seen[-min(self._repeated[i].matched, len(seen))]
                yield Alarm(agent, case, 0.0, float(lag), "repeated", since, time)

    def _report_alarms(
        self, case: int, values: FloatArray, time: Any
    ) -> Iterator[Alarm]:
        """Level, scale and the link to the others, once the baseline is known."""
        z = logit(values)
        if self._baseline is None:
            self._warm_up.append(z)
            if len(self._warm_up) == WARM_UP:
                self._baseline = _baseline(np.stack(self._warm_up))
                self._warm_up = []
            return
        centre, spread, sign = self._baseline
        z = np.clip((z - centre) / spread, -4.0, 4.0)[None]
        peers = self._peers()
        own, contrast = links(sign * z, peers)
        for kind, mine, relative in (
            ("level", z, z - sign * others(sign * z, peers)),
            ("scale", np.abs(z), np.abs(z) - others(np.abs(z), peers)),
            ("link", own, contrast),
        ):
            for i, agent in enumerate(self.agents):
                yield from self._detect(
                    agent, kind, case, float(mine[0, i]), float(relative[0, i]), time
                )

    # With outcomes

    def _outcome_alarms(self, case: int, stored: _Case, y: int) -> Iterator[Alarm]:
        """Alarms on cost, discrimination and the outcome rate."""
        cost = np.full((1, len(self.agents)), np.nan)
        known = ~np.isnan(stored.reports)
        cost[0, known] = self._loss.evaluate(
            stored.reports[known, None], np.full(int(known.sum()), y)
        )
        series = [("cost", cost)]
        self._positive, self.settled = self._positive + y, self.settled + 1
        if y == (2 * self._positive <= self.settled):  # of the rarer class
            placements = stored.placements[None] if y else -stored.placements[None]
            series.append(("discrimination", placements))
        for kind, values in series:
            contrast = values - others(values, self._peers())
            for i, agent in enumerate(self.agents):
                yield from self._detect(
                    agent,
                    kind,
                    case,
                    float(values[0, i]),
                    float(contrast[0, i]),
                    stored.time,
                )
        if stored.pooled is not None:
            lost = float(
                self._loss.evaluate(np.array([[stored.pooled]]), np.array([y]))[0]
            )
            yield from self._detect(POOL, "cost", case, lost, lost, stored.time)
        yield from self._detect(OUTCOMES, "outcome rate", case, y, y, stored.time)

    def _placements(self, values: FloatArray) -> FloatArray:
        """Normal score of each report's rank among the agent's last `WINDOW`."""
        placements = np.full(len(values), np.nan)
        for i, value in enumerate(values.tolist()):
            if isnan(value):
                continue
            recent = self._recent[i]
            if len(recent) == WINDOW:
                before = np.array(recent)
                rank = (before < value).sum() + (before == value).sum() / 2 + 0.5
                placements[i] = ndtri(rank / (WINDOW + 1))
            recent.append(value)
        return placements

    def _peers(self) -> BoolArray:
        """Agents (N,) that others are compared with: those with a feed that moves."""
        return np.array([not feed.stuck for feed in self._constant])

    def _constant_agents(self) -> set[str]:
        """Agents whose feed is constant now: one cause should raise one alarm."""
        moving = zip(self.agents, self._peers(), strict=True)
        return {agent for agent, moves in moving if not moves}

    def _detect(
        self, who: str, kind: str, case: int, own: float, contrast: float, time: Any
    ) -> Iterator[Alarm]:
        if isnan(own) or isnan(contrast) or who in self._constant_agents():
            return
        key = who, kind
        if key not in self._detectors:
            seed = self._seed + len(self._detectors)
            memory = min(MEMORY, self.history)
            self._detectors[key] = SeriesDetector(
                self._interval, seed, memory, kind == "link"
            )
        found = self._detectors[key].update(case, own, contrast)
        if found is not None and matters(kind, found):
            before, after = found.before, found.after
            yield Alarm(who, case, before, after, kind, found.since, time)


def monitor_panel(panel: Panel, **settings: Any) -> tuple[Alarm, ...]:
    """Run a `Monitor` over a panel in time order and return its alarms.

    Includes the cases without an outcome (`Panel.with_pending`).

    >>> panel = Panel(np.random.default_rng(0).random((40, 2)), [0, 1] * 20)
    >>> monitor_panel(panel)
    ()
    """
    if panel.classes != 2:
        raise PanelError(f"a monitor needs two classes; the panel has {panel.classes}")
    monitor = Monitor(panel.agents, **settings)
    rows: list[tuple[Any, int | None, FloatArray]] = [
        (None if panel.times is None else panel.times[t], int(panel.outcomes[t]), row)
        for t, row in enumerate(panel.values[:, :, 0])
    ]
    if panel.pending is not None:
        times = panel.pending.times
        for p, row in enumerate(panel.pending.values[:, :, 0]):
            rows.append((None if times is None else times[p], None, row))
    found: list[Alarm] = []
    for place in panel.order_with_pending.tolist():
        time, outcome, values = rows[place]
        found += monitor.update(values, outcome, time)
    return tuple(found)


def _baseline(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, standard deviation and direction of each agent's log-odds, (N,).

    0, 1 and 1 without reports.
    """
    known = ~np.isnan(z)
    count = np.maximum(known.sum(axis=0), 1)
    centre = np.where(known, z, 0.0).sum(axis=0) / count
    apart = np.where(known, z - centre, 0.0)
    spread = np.sqrt(np.square(apart).sum(axis=0) / count)
    spread = np.where(spread > 0, spread, 1.0)
    return centre, spread, directions((z - centre) / spread)
