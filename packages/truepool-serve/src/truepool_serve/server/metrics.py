"""Metrics of a coordinator, in the format that Prometheus reads.

Labels are pools, operations and status codes: never a case, an agent or a report.
"""

from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

SECONDS = (
    0.0005,
    0.001,
    0.002,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    10.0,
)
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Upper bounds of the histograms: of times, and of operations in one commit."""
STATE = {
    "entries": "Decisions, outcomes and changes in the ledger of a pool",
    "agents": "Agents of a pool",
    "open_cases": "Decided cases that wait for an outcome",
    "alarms": "Alarms on feeds of the pool that are not over",
    "unverified": "1: a record of the pool is not as it should be",
}


class Metrics:
    """Counts and times since the coordinator was started."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = self._counter("requests", "Requests", "operation", "status")
        self.reports = self._counter("reports", "Reports that were stored", "pool")
        self.decisions = self._counter(
            "decisions", "Decisions that were answered", "pool"
        )
        self.outcomes = self._counter("outcomes", "Outcomes that were learned", "pool")
        self.failures = self._counter("failed_commits", "Commits that failed")
        self.refits = self._counter("refits", "Refits that were taken over", "pool")
        self.request_seconds = self._histogram(
            "request_seconds", "Time of a request", SECONDS, "operation"
        )
        self.commit_seconds = self._histogram(
            "commit_seconds", "Time of a commit, with its operations", SECONDS
        )
        self.group = self._histogram(
            "commit_operations", "Operations per commit", SIZES
        )

    def watch(self, operations: Any, queue: Any, alarms: Any) -> None:
        """Read the state of the pools and the writer's queue when asked."""
        self.registry.register(_State(operations, queue, alarms))

    def committed(self, operations: int, seconds: float) -> None:
        """Note a commit."""
        self.group.observe(operations)
        self.commit_seconds.observe(seconds)

    def to_text(self) -> bytes:
        """Return all metrics as text."""
        return generate_latest(self.registry)

    def _counter(self, name: str, help: str, *labels: str) -> Counter:
        return Counter(f"truepool_{name}", help, labels, registry=self.registry)

    def _histogram(
        self, name: str, help: str, bounds: tuple[float, ...], *labels: str
    ) -> Histogram:
        return Histogram(
            f"truepool_{name}", help, labels, buckets=bounds, registry=self.registry
        )


class _State(Collector):
    """What the pools are like at the moment of a question."""

    def __init__(self, operations: Any, queue: Any, alarms: Any) -> None:
        self.operations, self.alarms = operations, alarms
        self.queue = queue

    def collect(self) -> Iterator[GaugeMetricFamily]:
        found = {
            name: GaugeMetricFamily(f"truepool_{name}", help, labels=["pool"])
            for name, help in STATE.items()
        }
        unverified = dict(self.operations.unverified)
        for pool in {*self.operations.pools, *unverified}:
            found["unverified"].add_metric([pool], pool in unverified)
            found["alarms"].add_metric([pool], len(self.alarms.of(pool)))
        for pool, (_, state) in list(self.operations.pools.items()):
            waiting = [rule.waiting for rule in list(state.rules.values())]
            found["entries"].add_metric([pool], state.n)
            found["agents"].add_metric([pool], len(state.active))
            found["open_cases"].add_metric([pool], max(waiting, default=0))
        yield from found.values()
        yield GaugeMetricFamily(
            "truepool_queue", "Operations that wait to be written", self.queue.qsize()
        )
