"""Monitor: every detector at once, on a stream of cases."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from truepool.core.arrays import FloatArray, as_outcomes, logit
from truepool.core.errors import AgentError, OutcomeError, PanelError, SettingError
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.data.reports import check_reports
from truepool.measures.losses import Loss
from truepool.online.alarms.alarm import OUTCOMES, POOL, Alarm
from truepool.online.alarms.change_point import change, others
from truepool.online.alarms.conformal import MEMORY, RankDetector
from truepool.online.alarms.discrimination import WINDOW
from truepool.online.alarms.distribution import FALL, MINE, SHIFT, SPREAD, WEAKER, links
from truepool.online.alarms.repeats import RepeatDetector
from truepool.online.alarms.runs import RunDetector

DEARER, BLINDER = 0.1, 0.25
"""A rise of the cost, and a fall of the discrimination, below these shares of what was
before are small."""

SURE, PACE = 0.01, 10
"""An alarm is given where the test that looks back agrees at this level that the mean
changed; it is asked at every tenth value."""

WARM_UP = 200
"""Cases from which each agent's usual level and spread are learned."""


@dataclass(frozen=True, eq=False)
class _Case:
    """A case that waits for its outcome."""

    reports: FloatArray
    placed: FloatArray
    pooled: float | None
    time: Any


@dataclass(frozen=True)
class _Change:
    """Since when, an agent's own means around it, and its rise beside the others'."""

    since: int
    before: float
    after: float
    beside: float


class _Watch:
    """A series beside the others', and the agent's own, since the last alarm.

    What is watched is the contrast, or the ``own`` series where that varies less.
    """

    def __init__(self, every: float, seed: int, own: bool) -> None:
        self.detector = RankDetector(every, seed)
        self._own, self._seen = own, 0
        self._kept: deque[tuple[int, float, float]] = deque(maxlen=MEMORY)

    def update(self, case: int, own: float, beside: float) -> _Change | None:
        """Take a value in, and say what changed; None while nothing did.

        The change is placed where the CUSUM is largest. Everything is forgotten after
        it.
        """
        self._kept.append((case, own, beside))
        self._seen += 1
        alarmed = self.detector.update(own if self._own else beside)
        if not alarmed or self._seen % PACE:
            return None
        cases, mine, contrast = map(np.array, zip(*self._kept, strict=True))
        tested = change(mine if self._own else contrast)
        cut = tested.place
        if tested.p_value >= SURE:  # rather the others' spread than this mean
            return None
        self.detector.forget()
        self._kept.clear()
        return _Change(
            int(cases[cut]),
            float(mine[:cut].mean()),
            float(mine[cut:].mean()),
            float(contrast[cut:].mean() - contrast[:cut].mean()),
        )


@final
class Monitor:
    """Watch feeds, costs, discrimination and the outcome rate, case by case.

    Parameters
    ----------
    agents : sequence of str
        Who reports; two agents or more, two classes.
    costs, threshold : Costs, float, optional
        What errors cost and where decisions are made, for the alarms on cost.
    every : float
        Cases between two false alarms of one detector on one agent, on average, where
        cases are exchangeable. Smaller finds faults sooner.
    seed : int
        Breaks ties of ranks.

    An outcome may come with its case, later by `settle`, or never. Alarms are of these
    kinds: ``constant``, ``stopped``, ``repeated`` (the feed broke); ``link`` (it no
    longer moves with the others), ``level``, ``scale`` (its reports changed); ``cost``,
    ``discrimination`` (it got worse); and ``outcome rate``. While a feed is constant,
    nothing else is said of it.

    Examples
    --------
    >>> monitor = Monitor(("ada", "bob", "cy"))
    >>> rng = np.random.default_rng(0)
    >>> for t in range(200):
    ...     said = rng.uniform(0.1, 0.9, 3)
    ...     if t >= 150:
    ...         said[1] = 0.05
    ...     for alarm in monitor.update(said):
    ...         print(alarm.who, alarm.kind, "at", alarm.case, "since", alarm.since)
    bob constant at 169 since 150
    """

    def __init__(
        self,
        agents: Sequence[str],
        *,
        costs: Costs | None = None,
        threshold: float | None = None,
        every: float = 100_000,
        seed: int = 0,
    ) -> None:
        if len(agents) < 2:
            raise AgentError(f"a monitor needs at least 2 agents; got {len(agents)}")
        if not every > 1:
            raise SettingError(
                f"every must be a number of cases above 1; got {every!r}"
            )
        self.agents = tuple(agents)
        self.case = 0
        self._every, self._seed = every, seed
        self._loss = Loss("cost", costs or Costs(), threshold)
        N = len(self.agents)
        self._constant = [RunDetector(every) for _ in range(N)]
        self._stopped = [RunDetector(every, of=1.0) for _ in range(N)]
        self._repeated = [RepeatDetector(every) for _ in range(N)]
        self._reported: list[list[int]] = [[] for _ in range(N)]
        self._recent: list[deque[float]] = [deque(maxlen=WINDOW) for _ in range(N)]
        self._warm: list[FloatArray] = []
        self._usual: tuple[FloatArray, FloatArray] | None = None
        self._watches: dict[tuple[str, str], _Watch] = {}
        self._waiting: dict[int, _Case] = {}
        self._positive = self._settled = 0
        self._last: Any = None

    def update(
        self,
        reports: Mapping[str, float] | ArrayLike,
        outcome: int | None = None,
        time: Any = None,
        *,
        pooled: float | None = None,
    ) -> tuple[Alarm, ...]:
        """Take one case in, and return the alarms it sets off.

        ``reports`` by name (who is not there has no report), or one per agent with NaN
        for none; ``pooled`` is what the pool made of them, to watch its cost too. Times
        must not go back.
        """
        said = self._checked(reports)
        if time is not None and self._last is not None and time < self._last:
            raise PanelError(
                f"cases must come in the order of time; got {time!r} after "
                f"{self._last!r}"
            )
        self._last = time if time is not None else self._last
        case, self.case = self.case, self.case + 1
        found = [*self._feeds(case, said, time), *self._reports(case, said, time)]
        self._waiting[case] = _Case(said, self._placed(said), pooled, time)
        if outcome is not None:
            found += self.settle(case, outcome)
        return tuple(found)

    def settle(self, case: int, outcome: int) -> tuple[Alarm, ...]:
        """Take the outcome of an earlier case in, and return the alarms it sets off."""
        if case not in self._waiting:
            raise OutcomeError(
                f"an outcome belongs to a case that waits for one; case {case} "
                + ("has it already" if 0 <= case < self.case else "was never seen")
            )
        y = as_outcomes([outcome], 2)
        kept = self._waiting.pop(case)
        return tuple(self._outcome(case, kept, int(y[0])))

    def forget(self, case: int) -> None:
        """Drop a case that will never have an outcome."""
        self._waiting.pop(case, None)

    def _checked(self, reports: Mapping[str, float] | ArrayLike) -> FloatArray:
        if isinstance(reports, Mapping):
            unknown = [name for name in reports if name not in self.agents]
            if unknown:
                raise AgentError(
                    f"reports must come from {', '.join(self.agents)}; got "
                    f"{unknown[0]!r}"
                )
            reports = [reports.get(name, float("nan")) for name in self.agents]
        row = np.asarray(reports, dtype=np.float64)
        if row.shape != (len(self.agents),):
            raise PanelError(
                f"a case has one report per agent, {len(self.agents)}; got an array of "
                f"shape {row.shape}"
            )
        values, _ = check_reports(row[None], self.agents, allow_empty_cases=True)
        return np.asarray(values[0, :, 0])

    # Reports alone

    def _feeds(self, case: int, said: FloatArray, time: Any) -> Iterator[Alarm]:
        """Runs and repetitions."""
        if np.isnan(said).all():  # no case, rather than no reports
            return
        for i, (agent, value) in enumerate(
            zip(self.agents, said.tolist(), strict=True)
        ):
            missing, seen = isnan(value), self._reported[i]
            if seen and self._stopped[i].update(float(missing)):
                since = case + 1 - self._stopped[i].length
                yield Alarm(agent, case, seen[-1], float("nan"), "stopped", since, time)
            if missing:
                continue
            seen.append(case)
            if self._constant[i].update(value):
                since = seen[-self._constant[i].length]
                yield Alarm(agent, case, float("nan"), value, "constant", since, time)
            if self._repeated[i].update(value):
                lag = self._repeated[i].lag
                since = seen[-self._repeated[i].matched]
                yield Alarm(agent, case, 0.0, float(lag), "repeated", since, time)

    def _reports(self, case: int, said: FloatArray, time: Any) -> Iterator[Alarm]:
        """Level, scale and the link to the others, once the usual is known."""
        z = logit(said)
        if self._usual is None:
            self._warm.append(z)
            if len(self._warm) == WARM_UP:
                self._usual = _usual(np.stack(self._warm))
                self._warm = []
            return
        centre, spread = self._usual
        z = np.clip((z - centre) / spread, -4.0, 4.0)[None]
        own, beside = links(z)
        for kind, mine, contrast in (
            ("level", z, z - others(z)),
            ("scale", np.abs(z), np.abs(z) - others(np.abs(z))),
            ("link", own, beside),
        ):
            for i, agent in enumerate(self.agents):
                yield from self._watched(
                    agent, kind, case, float(mine[0, i]), float(contrast[0, i]), time
                )

    # With outcomes

    def _outcome(self, case: int, kept: _Case, y: int) -> Iterator[Alarm]:
        """Cost, discrimination and the outcome rate."""
        cost = np.full((1, len(self.agents)), np.nan)
        known = ~np.isnan(kept.reports)
        cost[0, known] = self._loss.of(
            kept.reports[known, None], np.full(int(known.sum()), y)
        )
        series = [("cost", cost)]
        self._positive, self._settled = self._positive + y, self._settled + 1
        if y == (2 * self._positive <= self._settled):  # of the rarer class
            placed = kept.placed[None] if y else -kept.placed[None]
            series.append(("discrimination", placed))
        for kind, values in series:
            beside = values - others(values)
            for i, agent in enumerate(self.agents):
                yield from self._watched(
                    agent,
                    kind,
                    case,
                    float(values[0, i]),
                    float(beside[0, i]),
                    kept.time,
                )
        if kept.pooled is not None:
            lost = float(self._loss.of(np.array([[kept.pooled]]), np.array([y]))[0])
            yield from self._watched(POOL, "cost", case, lost, lost, kept.time)
        yield from self._watched(OUTCOMES, "outcome rate", case, y, y, kept.time)

    def _placed(self, said: FloatArray) -> FloatArray:
        """Normal score of each report's rank among the agent's last `WINDOW`."""
        placed = np.full(len(said), np.nan)
        for i, value in enumerate(said.tolist()):
            if isnan(value):
                continue
            recent = self._recent[i]
            if len(recent) == WINDOW:
                before = np.array(recent)
                rank = (before < value).sum() + (before == value).sum() / 2 + 0.5
                placed[i] = ndtri(rank / (WINDOW + 1))
            recent.append(value)
        return placed

    def _stuck(self) -> set[str]:
        """Agents whose feed is known to be constant now: one cause, one alarm."""
        feeds = zip(self.agents, self._constant, strict=True)
        return {agent for agent, feed in feeds if feed.stuck}

    def _watched(
        self, who: str, kind: str, case: int, own: float, beside: float, time: Any
    ) -> Iterator[Alarm]:
        if isnan(own) or isnan(beside) or who in self._stuck():
            return
        key = who, kind
        if key not in self._watches:
            seed = self._seed + len(self._watches)
            self._watches[key] = _Watch(self._every, seed, kind == "link")
        found = self._watches[key].update(case, own, beside)
        if found is not None and _counts(kind, found):
            before, after = found.before, found.after
            yield Alarm(who, case, before, after, kind, found.since, time)


def watch(panel: Panel, **settings: Any) -> tuple[Alarm, ...]:
    """Alarms that a `Monitor` gives on a panel, in time order, the earliest first.

    Cases without an outcome (`Panel.awaiting`) are watched with the others.

    >>> panel = Panel(np.random.default_rng(0).random((40, 2)), [0, 1] * 20)
    >>> watch(panel)
    ()
    """
    if panel.classes != 2:
        raise PanelError(
            f"a monitor watches reports of two classes; the panel has {panel.classes}"
        )
    monitor = Monitor(panel.agents, **settings)
    rows: list[tuple[Any, int | None, FloatArray]] = [
        (None if panel.times is None else panel.times[t], int(panel.outcomes[t]), row)
        for t, row in enumerate(panel.values[:, :, 0])
    ]
    places = [float(t) for t in range(len(panel))]
    if panel.pending is not None:
        times = panel.pending.times
        for p, row in enumerate(panel.pending.values[:, :, 0]):
            rows.append((None if times is None else times[p], None, row))
            places.append(float(panel.pending.position[p]) - 0.5)
    if panel.times is None:
        order = np.argsort(places, kind="stable")
    else:
        order = np.argsort(np.array([row[0] for row in rows]), kind="stable")
    found: list[Alarm] = []
    for place in order.tolist():
        time, outcome, said = rows[place]
        found += monitor.update(said, outcome, time)
    return tuple(found)


def _usual(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and spread of each agent's log-odds; 0 and 1 where it has none."""
    known = ~np.isnan(z)
    count = np.maximum(known.sum(axis=0), 1)
    centre = np.where(known, z, 0.0).sum(axis=0) / count
    apart = np.where(known, z - centre, 0.0)
    spread = np.sqrt(np.square(apart).sum(axis=0) / count)
    return centre, np.where(spread > 0, spread, 1.0)


def _counts(kind: str, found: _Change) -> bool:
    """Whether a change is large, for the worse, and the agent's beside the others."""
    rise = found.after - found.before
    mine = found.beside * np.sign(rise) >= MINE * abs(rise)
    match kind:
        case "level":
            return bool(mine and abs(rise) >= SHIFT)
        case "scale":
            return bool(mine and abs(rise) >= SPREAD)
        case "link":
            return bool(mine and -rise >= max(FALL, WEAKER * found.before))
        case "cost":
            return bool(mine and rise > DEARER * found.before)
        case "discrimination":
            return bool(mine and -rise > BLINDER * abs(found.before))
        case _:
            return True
