"""The client for asyncio."""

import asyncio
import ssl
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import httpx

from truepool.core.errors import TruepoolError
from truepool_serve.client.exchange import PATIENCE, Failure, Reply, Step, Steps
from truepool_serve.client.messages import (
    BufferedClient,
    failure,
    headers,
    panel,
    reply,
    words,
)
from truepool_serve.client.operations import BUFFER, DELAY, TIMEOUT, Case, Object

if TYPE_CHECKING:
    from truepool.panel.panel import Panel

Result = TypeVar("Result")


class AsyncClient(BufferedClient):
    """A client of a coordinator for asyncio; several tasks may share it.

    It has the settings and the methods of `Client`, to be awaited, and is used with
    ``async with``.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        patience: float = PATIENCE,
        timeout: float = TIMEOUT,
        buffer: int = BUFFER,
        delay: float = DELAY,
        tls: ssl.SSLContext | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(url, patience=patience, buffer=buffer, delay=delay)
        self._http = httpx.AsyncClient(
            base_url=self.operations.exchange.url,
            headers=headers(token),
            timeout=timeout,
            verify=True if tls is None else tls,
            transport=transport,
        )
        self._lock = asyncio.Lock()

    async def report(self, pool: str, case: Case, agent: str, probability: Any) -> None:
        """Report a probability of the positive label, or a list of one per label."""
        if self.operations.report(pool, case, agent, probability):
            await self.flush()

    async def settle(self, pool: str, case: Case, outcome: Case) -> None:
        """Give the outcome of a case that was decided."""
        if self.operations.settle(pool, case, outcome):
            await self.flush()

    async def flush(self) -> dict[str, int]:
        """Send all that waits; return how many were stored, settled and repeated."""
        async with self._lock:
            return await self._run(self.operations.flush())

    async def decide(
        self, pool: str, case: Case, columns: Mapping[str, float] | None = None
    ) -> Object:
        """Decide a case by the reports on it; the same answer if asked again."""
        await self.flush()
        return await self._run(self.operations.decide(pool, case, columns))

    async def decide_all(
        self, pool: str, cases: Iterable[Case] | Mapping[Case, Mapping[str, float]]
    ) -> list[Object]:
        """Decide cases, all or none; of a mapping, with what their costs depend on."""
        await self.flush()
        found = await self._run(self.operations.decide_all(pool, cases))
        return list(found["decisions"])

    async def create(self, pool: Mapping[str, Any]) -> Object:
        """Deploy a pool; nothing happens if the same pool is there already."""
        return await self._run(self.operations.create(pool))

    async def pools(self) -> list[str]:
        """Return the names of the pools."""
        return list((await self._run(self.operations.pools()))["pools"])

    async def describe(self, pool: str) -> Object:
        """Return what a pool is, and its weights."""
        return await self._run(self.operations.describe(pool))

    async def case(self, pool: str, case: Case) -> Object:
        """Return what is known of a case."""
        return await self._run(self.operations.case(pool, case))

    async def challengers(self, pool: str, last: int = 10_000) -> list[Object]:
        """Return what each challenger would have saved in the last cases."""
        found = await self._run(self.operations.challengers(pool, last))
        return list(found["challengers"])

    async def panel(self, pool: str, last: int = 10_000) -> "Panel":
        """Return the last cases with a known outcome, for `truepool.audit`."""
        content = await self._run(self.operations.panel(pool, last))
        return panel(content, await self.describe(pool))

    async def close(self) -> None:
        """Close the connections; what waits is not sent."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            # A task that was cancelled must end.
            if error is None or isinstance(error, Exception):
                await self.flush()
        except TruepoolError as reason:
            if error is None:
                raise
            error.add_note(str(reason))
        finally:
            self._note_losses(error)
            await self.close()

    async def _run(self, steps: Steps[Result]) -> Result:
        answer: Reply | Failure | None = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                result: Result = end.value
                return result
            answer = await self._do(step)

    async def _do(self, step: Step) -> Reply | Failure | None:
        if isinstance(step, float):
            await asyncio.sleep(step)
            return None
        try:
            return reply(await self._http.request(**words(step)))
        except httpx.TransportError as error:
            return failure(error)
