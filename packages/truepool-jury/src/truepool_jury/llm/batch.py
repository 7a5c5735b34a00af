"""A batch of requests: sent a few at a time, retried, stored, within a budget."""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

from truepool.core.errors import EndpointError, SettingError
from truepool.core.files import DiskCache
from truepool.core.formatting import pluralize
from truepool_jury.llm import answer
from truepool_jury.llm.budget import Spending
from truepool_jury.llm.completion import Completion, Fault
from truepool_jury.llm.endpoint import Endpoint, is_unreachable
from truepool_jury.llm.retry import (
    LONGEST_REQUESTED_WAIT,
    QUOTA,
    Retry,
    is_temporary,
    requested_wait,
)
from truepool_jury.llm.template import Messages

MAX_FAILURES = 10
"""So many requests in a row that fail after all retries stop the batch."""
MAX_CONCURRENCY = 256
FINAL: dict[str, Fault] = {
    "context_length_exceeded": "too long",
    "content_filter": "refused",
}
"""Codes of errors that are answers: asking again would not help."""
SCHEMA_REFUSED = re.compile(r"response_format|json_schema|structured output", re.I)


@dataclass(frozen=True)
class Request:
    """Messages to send, and the name under which the completion is stored."""

    name: str
    messages: Messages
    reasoned: bool = False


@dataclass
class Batch:
    """Sends requests to one model and collects completions, stored as they arrive.

    ``completions`` may hold those that are there already, of ``total`` in all. After
    `run`, ``stopped`` says why it ended early, None if it did not.
    """

    endpoint: Endpoint
    cache: DiskCache[Completion]
    completions: dict[str, Completion]
    total: int
    spending: Spending
    retry: Retry = field(default_factory=Retry)
    concurrency: int = 8
    probability: answer.Probability = "stated"
    form: answer.Format = "auto"
    progress: Callable[[str, int, int], None] | None = None
    stopped: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.concurrency <= MAX_CONCURRENCY:
            raise SettingError(
                f"concurrency must be from 1 to {MAX_CONCURRENCY}; got "
                f"{self.concurrency}"
            )
        self._jitter = Random()
        self._failures = 0
        self._answered = False
        self._resume_at = 0.0

    def run(self, requests: Iterable[Request]) -> None:
        """Send the requests whose completions are not there."""
        self._show_progress()
        names = {r.name: r for r in requests if r.name not in self.completions}
        if names:
            _run(self._send_all(deque(names.values())))

    async def _send_all(self, queue: deque[Request]) -> None:
        async with self.endpoint.client() as client:
            # The first one alone: a wrong key or URL fails once, not many times.
            await self._work(client, queue, 1)
            workers = min(self.concurrency, len(queue))
            await asyncio.gather(*(self._work(client, queue) for _ in range(workers)))

    async def _work(
        self, client: Any, queue: deque[Request], most: int | None = None
    ) -> None:
        while queue and self.stopped is None and most != 0:
            full = self.spending.exhausted()
            if full is not None:
                if self.spending.under_way == 0:
                    self._stop_at_budget(full)
                return
            request = queue.popleft()
            self.spending.under_way += 1
            try:
                found = await self._complete(client, request)
            finally:
                self.spending.under_way -= 1
            if found is None:
                return
            self.completions[request.name] = found
            self._show_progress()
            most = None if most is None else most - 1

    async def _complete(self, client: Any, request: Request) -> Completion | None:
        """Return the completion of a request; None if the batch stops before it."""
        from openai import OpenAIError

        for attempt in count():
            await self._pause()
            if attempt and self.spending.calls_used_up:
                self._stop_at_budget(pluralize(self.spending.calls, "call"))
            if self.stopped is not None:
                break
            self.spending.calls += 1
            options = answer.options(
                self.form, self.probability, reasoned=request.reasoned
            )
            try:
                found = await self.endpoint.send(client, request.messages, options)
            except (OpenAIError, ValueError) as error:
                lost = await self._recover(client, error, attempt)
                if lost is None:
                    continue
                found = lost
            else:
                self._failures = 0
                self._answered = True
                self.spending.add(found)
            if found.fault != "failed":
                self.cache.store(request.name, found)
            return found
        return None

    async def _recover(
        self, client: Any, error: Exception, attempt: int
    ) -> Completion | None:
        """Return why there is no completion; None if it is worth another attempt."""
        from openai import APIStatusError, RateLimitError

        if isinstance(error, APIStatusError):
            if self.form == "auto" and _refuses_schema(error):
                self.form = "line"
                return None
            if error.code in FINAL:
                return Completion("", FINAL[error.code])
            requested = requested_wait(error.response.headers)
            if requested > LONGEST_REQUESTED_WAIT:
                self.stopped = f"the endpoint asks to wait {requested:,.0f} s"
                return None
            if error.code == QUOTA:
                self.stopped = "the endpoint says that the quota is used up"
                return None
        wait = self.retry.wait(error, attempt, self._jitter)
        if wait is not None and (self._answered or not is_unreachable(error)):
            if isinstance(error, RateLimitError):
                until = asyncio.get_running_loop().time() + wait
                self._resume_at = max(self._resume_at, until)
            else:
                await asyncio.sleep(wait)
            return None
        return await self._give_up(client, error)

    async def _give_up(self, client: Any, error: Exception) -> Completion:
        """Count a failure; raise if nothing else can be expected of the endpoint."""
        explained = await self.endpoint.explain(client, error)
        if not (self._answered and is_temporary(error)):
            raise EndpointError(f"{explained}{self._stored_so_far()}")
        self._failures += 1
        if self._failures >= MAX_FAILURES:
            self.stopped = f"{MAX_FAILURES} requests in a row failed: {explained}"
        return Completion("", "failed")

    async def _pause(self) -> None:
        """Wait until the endpoint may be asked again: all requests wait together."""
        loop = asyncio.get_running_loop()
        while (left := self._resume_at - loop.time()) > 0:
            await asyncio.sleep(left)

    def _show_progress(self) -> None:
        if self.progress is not None:
            words = self.spending.describe()
            self.progress(words, len(self.completions), self.total)

    def _stop_at_budget(self, budget: str) -> None:
        self.stopped = f"the budget of {budget} is used up"

    def _stored_so_far(self) -> str:
        done = count_stored(self.completions)
        if not done:
            return ""
        return (
            f" {done:,} of {self.total:,} answers are stored; the same "
            "command continues from there."
        )


def count_stored(completions: dict[str, Completion]) -> int:
    """Return how many completions are stored: all but those of failed calls."""
    return sum(found.fault != "failed" for found in completions.values())


def _refuses_schema(error: Any) -> bool:
    refused = error.status_code in (400, 404, 422, 501)
    return refused and bool(SCHEMA_REFUSED.search(f"{error.param} {error.message}"))


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, also inside a notebook, whose loop is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
    else:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, work).result()
