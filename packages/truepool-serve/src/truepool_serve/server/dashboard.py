"""What the dashboard shows, read from the ledger when somebody looks."""

import time
from collections import defaultdict
from threading import Lock

from truepool_serve.render.dashboard_values import PoolView
from truepool_serve.server.access import Caller
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.pool_view import FEWEST, make_view
from truepool_serve.server.settled import Settled
from truepool_serve.server.watch import Watch

DECISIONS = 2_000
"""How many of the last decisions a page is about."""
CELLS = 100_000
"""With many agents, fewer decisions: as many as have so many reports."""
FRESH = 2.0
"""Seconds for which a page is not made again, whoever asks for it."""


class Dashboard:
    """Views of the pools of a coordinator; what was counted before is kept."""

    def __init__(self, coordinator: Coordinator) -> None:
        self.coordinator = coordinator
        self._pools: dict[str, _Pool] = defaultdict(_Pool)
        self._index: dict[str, _Pool] = defaultdict(_Pool)

    def pool(self, caller: Caller, name: str) -> PoolView:
        """Return the view of a pool."""
        caller.check("read", name)
        self.coordinator.describe(caller, name).result()  # refuses an unknown one
        known = self._pools[name]
        with known.lock:  # many who look at once cost as much as one
            return known.look(self.coordinator, caller, name)

    def pools(self, caller: Caller) -> list[PoolView]:
        """Return the views of all pools."""
        names = self.coordinator.pools(caller).result()
        return [self._brief(caller, name) for name in names]

    def _brief(self, caller: Caller, name: str) -> PoolView:
        """Return a view without costs, which take a second or two for each pool."""
        known = self._index[name]
        with known.lock:
            return known.look(self.coordinator, caller, name, brief=True)


class _Pool:
    """What is kept of a pool between two looks."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.view: PoolView | None = None
        self.made = 0.0
        self.number: int | None = None
        self.last = 0
        self.counts: dict[str, int] = {}
        self.joined: dict[str, int] = {}
        self.watch: Watch | None = None

    def look(
        self,
        coordinator: Coordinator,
        caller: Caller,
        name: str,
        *,
        brief: bool = False,
    ) -> PoolView:
        """Return a view that is fresh, with what is new since the last one."""
        if self.view is None or time.monotonic() - self.made > FRESH:
            self.view = self._read(coordinator, caller, name, brief)
            self.made = time.monotonic()
        return self.view

    def _read(
        self, coordinator: Coordinator, caller: Caller, name: str, brief: bool
    ) -> PoolView:
        find = coordinator.operations.find
        number, state = coordinator.writer.submit(lambda: find(name)).result()
        if number != self.number:  # it was deleted, and there is a new one
            self.number, self.last, self.watch = number, 0, None
            self.counts, self.joined = {}, {}
        described = coordinator.describe(caller, name).result()
        agents = tuple(described.agents)
        most = max(FEWEST, min(DECISIONS, CELLS // max(len(agents), 1)))
        with coordinator.ledger.reader() as reader:
            last, new = reader.counts(number, self.last)
            if "erase" in new:  # some of what was counted before is gone
                self.counts.clear()
                last, new = reader.counts(number, 0)
            self.joined |= reader.joined(number, self.last)
            decided = reader.decided(number, most)
        self.last = last
        for kind, count in new.items():
            self.counts[kind] = self.counts.get(kind, 0) + count
        if self.watch is None or self.watch.agents != agents:
            self.watch = Watch(state.pool, agents)
        self.watch.update(decided)
        known = [one for one in decided if one.outcome is not None]
        known.sort(key=lambda one: one.settled or 0)
        settled = Settled(state.pool, agents, known)
        error = coordinator.operations.unverified.get(name)
        return make_view(
            described,
            settled,
            decided,
            self.counts,
            self.watch,
            self.joined,
            "" if error is None else str(error),
            brief=brief,
        )
