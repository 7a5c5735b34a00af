"""A watch over the feeds of a pool: drift and dead-feed alarms, as entries come.

A monitor takes about a millisecond per case, so that it is kept between two looks and
sees only what is new.
"""

from dataclasses import dataclass
from typing import Any

from truepool.online.alarms import Alarm, Monitor
from truepool.online.alarms.monitor import FIRST_DRIFT
from truepool_serve.server.configuration import PoolConfig
from truepool_serve.server.settled import Decided

FALSE_ALARMS = 100_000
"""Mean number of cases between two false alarms of one detector on one agent."""
HISTORY = 5_000
"""Reports of a feed that its next ones are compared with: 4 kB each for five agents."""
REMEMBERED, NOTICED = 20_000, 1000
"""Cases and alarms that are remembered: a coordinator runs for months."""


@dataclass(frozen=True)
class Noticed:
    """An alarm with the decision that raised it, and the one it dates the change to."""

    alarm: Alarm
    n: int
    at: float
    since: float | None


class Watch:
    """Alarms of one pool with two labels; none where a monitor has nothing to say."""

    def __init__(self, pool: PoolConfig, agents: tuple[str, ...]) -> None:
        self.agents = agents
        self.last = 0
        self.noticed: list[Noticed] = []
        self._cases: dict[int, tuple[int, float]] = {}
        self._waiting: dict[int, int] = {}
        self._monitor: Monitor | None = None
        if len(agents) > 1 and len(pool.labels.names) == 2:
            self._monitor = Monitor(
                agents,
                costs=pool.costs if pool.costs.constant else None,
                threshold=pool.threshold,
                cases_per_false_alarm=FALSE_ALARMS,
                history=HISTORY,
            )

    @property
    def drift_watched(self) -> int | None:
        """Cases whose reports were tested for drift; None: no feed is watched."""
        if self._monitor is None:
            return None
        return max(0, self._monitor.case - FIRST_DRIFT + 1)

    @property
    def settled(self) -> int:
        """Outcomes seen."""
        return 0 if self._monitor is None else self._monitor.settled

    def first_of_last(self, decisions: int) -> int:
        """Entry of the first of so many of the last decisions."""
        if not self._cases:
            return 0
        first = next(iter(self._cases))
        return self._cases[max(first, first + len(self._cases) - decisions)][0]

    def update(self, decided: list[Decided]) -> list[Noticed]:
        """See the decisions and outcomes that are new, in the order of the ledger.

        Returns the alarms that they raise.
        """
        if self._monitor is None:
            return []
        count = len(self.noticed)
        before = self.last
        events: list[tuple[int, Decided, bool]] = []
        for one in decided:
            if one.n > self.last:
                events.append((one.n, one, False))
            if one.settled is not None and (
                one.n > self.last or one.n in self._waiting
            ):
                events.append((one.settled, one, True))
        for _, one, outcome in sorted(events, key=lambda event: event[0]):
            if outcome:
                self._settle(self._monitor, one)
            else:
                self._see(self._monitor, one)
        self.last = max((one.n for one in decided), default=self.last)
        self.last = max(self.last, before)
        new = self.noticed[count:]
        del self.noticed[:-NOTICED]
        for known in (self._cases, self._waiting):
            while len(known) > REMEMBERED:
                del known[next(iter(known))]
        return new

    def _see(self, monitor: Monitor, one: Decided) -> None:
        known = one.record.reports
        reports = {agent: known[agent] for agent in self.agents if agent in known}
        pooled = float(one.record.pooled[one.record.champion][1])
        self._waiting[one.n] = monitor.case
        self._cases[monitor.case] = one.n, one.at
        self._note(monitor.update(_scalars(reports), pooled=pooled), one)

    def _settle(self, monitor: Monitor, one: Decided) -> None:
        case = self._waiting.pop(one.n, None)
        if case is not None and one.outcome is not None:
            self._note(monitor.settle(case, one.outcome), one)

    def _note(self, alarms: tuple[Alarm, ...], one: Decided) -> None:
        for alarm in alarms:
            known = self._cases.get(-1 if alarm.since is None else alarm.since)
            since = None if known is None else known[1]
            self.noticed.append(Noticed(alarm, one.n, one.at, since))


def _scalars(reports: dict[str, Any]) -> dict[str, float]:
    """Probabilities of the positive label, also where both were reported."""
    return {
        agent: float(report[1] if isinstance(report, list) else report)
        for agent, report in reports.items()
    }
