"""What was not sent yet: reports and outcomes by pool, sent in batches."""

import json
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote

import msgspec

from truepool.core.errors import RequestError
from truepool_serve.client.exchange import Exchange, Request, Steps
from truepool_serve.messages import Message, OutcomeLine, ReportLine

Batch: TypeAlias = dict[tuple[str, ...], bytes]
"""Lines of JSON by their key: case and agent, or case."""
LINE_FAULTS = ("conflict", "forbidden", "invalid", "too-large")
"""Codes of a refusal that may be the fault of one line; others concern all lines."""


@dataclass(frozen=True)
class Refusal:
    """A report or an outcome that the coordinator will never take, and why."""

    pool: str
    line: dict[str, Any]
    code: str
    message: str


class Buffer:
    """Reports and outcomes that wait to be sent, each once."""

    def __init__(self) -> None:
        self.reports: dict[str, Batch] = {}
        self.outcomes: dict[str, Batch] = {}
        self.refused: list[Refusal] = []

    def __len__(self) -> int:
        """How many wait."""
        parts = (*self.reports.values(), *self.outcomes.values())
        return sum(len(batch) for batch in parts)

    def add_report(self, pool: str, line: ReportLine) -> None:
        """Add a report on a case."""
        key = (line.case, line.agent)
        self._add(self.reports.setdefault(pool, {}), key, line, "a report")

    def add_outcome(self, pool: str, line: OutcomeLine) -> None:
        """Add the outcome of a case."""
        key = (line.case,)
        self._add(self.outcomes.setdefault(pool, {}), key, line, "an outcome")

    def _add(
        self, batch: Batch, key: tuple[str, ...], line: Message, what: str
    ) -> None:
        text = msgspec.json.encode(line)
        old = batch.setdefault(key, text)
        if old != text:
            raise RequestError(
                "conflict",
                f"{what} cannot be changed; {old.decode()} waits to be sent, got "
                f"{text.decode()}",
            )

    def flush(self, exchange: Exchange) -> Steps[dict[str, int]]:
        """Send all that waits, reports first; return how many were new.

        What cannot be sent now stays. What is refused is in ``refused``, and the first
        refusal is raised after all else was sent.
        """
        counts = {"stored": 0, "settled": 0, "repeated": 0}
        known = len(self.refused)
        for batches, name, codes in (
            (self.reports, "reports", LINE_FAULTS),
            # An outcome is also refused because its case was not decided.
            (self.outcomes, "outcomes", (*LINE_FAULTS, "unknown")),
        ):
            for pool in list(batches):
                path = f"/v1/pools/{quote(pool, safe='')}/{name}"
                send = self._send(exchange, path, pool, batches[pool], codes, counts)
                yield from send
                if not batches[pool]:
                    del batches[pool]
        new = self.refused[known:]
        if new:
            others = f" ({len(new) - 1} more were refused)" if len(new) > 1 else ""
            raise RequestError(new[0].code, new[0].message + others)
        return counts

    def _send(
        self,
        exchange: Exchange,
        path: str,
        pool: str,
        batch: Batch,
        codes: tuple[str, ...],
        counts: dict[str, int],
    ) -> Steps[None]:
        """Send a batch; if it is refused, its halves, so that others do not suffer."""
        parts = [list(batch)] if batch else []
        while parts:
            keys = parts.pop()
            content = b"\n".join(batch[key] for key in keys)
            try:
                stored = yield from exchange.json(Request("POST", path, content))
            except RequestError as error:
                if error.code not in codes:
                    raise
                if len(keys) > 1:
                    half = len(keys) // 2
                    parts += [keys[half:], keys[:half]]
                    continue
                line = json.loads(batch[keys[0]])
                self.refused.append(Refusal(pool, line, error.code, str(error)))
            else:
                for name, count in stored.items():
                    counts[name] = counts.get(name, 0) + int(count)
            for key in keys:
                del batch[key]
