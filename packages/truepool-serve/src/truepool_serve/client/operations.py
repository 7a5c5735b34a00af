"""What a client can do, as steps: requests to send and seconds to wait."""

import json
import time
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any, TypeAlias
from urllib.parse import quote, urlsplit

import msgspec

from truepool.core.errors import ReportError, SettingError
from truepool_serve.client.buffer import Buffer
from truepool_serve.client.exchange import Exchange, Request, Steps
from truepool_serve.messages import (
    DecisionBody,
    DecisionLine,
    OutcomeLine,
    ReportLine,
)

BUFFER, DELAY = 1_000, 1.0
"""How many reports and outcomes wait, and for how many seconds, before all are sent."""
TIMEOUT = 30.0
"""Seconds that the coordinator has to answer one request."""
Case: TypeAlias = str | int
"""The name of a case; a number is its digits."""
Object: TypeAlias = dict[str, Any]


class Operations:
    """What a client can do, whoever sends it."""

    def __init__(self, url: str, patience: float, buffer: int, delay: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise SettingError(
                "the address of a coordinator must be a URL, as in "
                f"http://127.0.0.1:8765; got {url!r:.100}"
            )
        if buffer < 1:
            raise SettingError(f"buffer must be at least 1; got {buffer}")
        self.exchange = Exchange(url.rstrip("/"), patience, Random())
        self.buffer = Buffer()
        self.size, self.delay = buffer, delay
        self._oldest = 0.0

    def report(self, pool: str, case: Case, agent: str, probability: Any) -> bool:
        """Keep a report; return whether it is time to send."""
        found = check_report(agent, probability)
        line = ReportLine(case=str(case), agent=agent, probability=found)
        first = not self.buffer
        self.buffer.add_report(pool, line)
        return self._is_due(first)

    def settle(self, pool: str, case: Case, outcome: Case) -> bool:
        """Keep an outcome; return whether it is time to send."""
        if isinstance(outcome, bool) or not isinstance(outcome, str | int):
            raise SettingError(
                "an outcome must be a label of the pool, text or a whole number; case "
                f"{str(case)!r} has {outcome!r:.60}"
            )
        first = not self.buffer
        self.buffer.add_outcome(pool, OutcomeLine(case=str(case), outcome=outcome))
        return self._is_due(first)

    def _is_due(self, first: bool) -> bool:
        now = time.monotonic()
        if first:
            self._oldest = now
        return len(self.buffer) >= self.size or now - self._oldest >= self.delay

    def flush(self) -> Steps[dict[str, int]]:
        """Send all that waits."""
        return self.buffer.flush(self.exchange)

    def decide(
        self, pool: str, case: Case, columns: Mapping[str, float] | None
    ) -> Steps[Object]:
        """Decide a case."""
        body = DecisionBody(columns=dict(columns)) if columns else None
        content = None if body is None else msgspec.json.encode(body)
        path = _path(pool, "cases", str(case), "decision")
        return self.exchange.json(Request("POST", path, content))

    def decide_all(
        self, pool: str, cases: Iterable[Case] | Mapping[Case, Mapping[str, float]]
    ) -> Steps[Object]:
        """Decide cases, all or none."""
        columns = cases if isinstance(cases, Mapping) else dict.fromkeys(cases)
        lines = [
            DecisionLine(case=str(case), columns=dict(given) if given else None)
            for case, given in columns.items()
        ]
        content = msgspec.json.Encoder().encode_lines(lines)
        return self.exchange.json(Request("POST", _path(pool, "decisions"), content))

    def create(self, pool: Mapping[str, Any]) -> Steps[Object]:
        """Deploy a pool, or make sure that it is there."""
        content = json.dumps(dict(pool)).encode()
        return self.exchange.json(Request("POST", "/v1/pools", content))

    def pools(self) -> Steps[Object]:
        """Return the names of the pools."""
        return self.exchange.json(Request("GET", "/v1/pools"))

    def describe(self, pool: str) -> Steps[Object]:
        """Return what a pool is, and its weights."""
        return self.exchange.json(Request("GET", _path(pool)))

    def case(self, pool: str, case: Case) -> Steps[Object]:
        """Return what is known of a case."""
        return self.exchange.json(Request("GET", _path(pool, "cases", str(case))))

    def challengers(self, pool: str, last: int) -> Steps[Object]:
        """Return what each challenger would have saved."""
        path = f"{_path(pool, 'challengers')}?last={last}"
        return self.exchange.json(Request("GET", path))

    def panel(self, pool: str, last: int) -> Steps[bytes]:
        """Return the last cases with a known outcome as a Parquet file."""
        return self.exchange.ask(Request("GET", f"{_path(pool, 'panel')}?last={last}"))


def check_report(agent: str, report: Any) -> float | list[float]:
    """Return a report as numbers; refuse now what would be refused later.

    >>> check_report("ada", 1), check_report("ada", (0.25, 0.75))
    (1.0, [0.25, 0.75])
    """
    parts = report if isinstance(report, list | tuple) else [report]
    try:
        found = [float(part) for part in parts if not isinstance(part, str | bool)]
    except (TypeError, ValueError):
        found = []
    sound = bool(found) and all(0.0 <= part <= 1.0 for part in found)
    if len(found) != len(parts) or not sound:
        raise ReportError(
            "a report must lie in [0, 1], or be a list of one probability per class; "
            f"agent {agent!r} has {report!r:.60}. Leave out a report that is missing."
        )
    return found if parts is report else found[0]


def _path(pool: str, *parts: str) -> str:
    return "/".join(("/v1/pools", *(quote(part, safe="") for part in (pool, *parts))))
