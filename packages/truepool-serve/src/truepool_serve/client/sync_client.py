"""The client that waits for each answer."""

import ssl
import time
from collections.abc import Iterable, Mapping
from threading import RLock
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


class Client(BufferedClient):
    """A client of a coordinator; several threads may share it.

    Reports and outcomes are kept and sent in batches: when ``buffer`` of them wait,
    when one comes and the oldest has waited for ``delay`` seconds, before a decision,
    by `flush`, and at the end of a ``with`` block. What could not be sent is sent
    again for ``patience`` seconds and then stays, and the error is raised. What
    `flush` has returned for is durable, and nothing is stored twice.

    Parameters
    ----------
    url : str
        Address of the coordinator, as in ``http://127.0.0.1:8765``.
    token : str, optional
        Token of an agent, an operator or an admin.
    patience, timeout, delay : float
        Seconds to send a request again, to wait for an answer, and to keep a report.
    buffer : int
        How many reports and outcomes may wait.
    tls : ssl.SSLContext, optional
        Certificates, where the usual ones are not enough.
    transport : httpx.BaseTransport, optional
        How requests are sent, instead of over the network.

    Examples
    --------
    >>> import truepool as tp
    >>> client = tp.Client("http://127.0.0.1:8765")
    >>> client.report("fraud", "4711", "ada", 0.2)
    >>> client.waiting
    1
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
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(url, patience=patience, buffer=buffer, delay=delay)
        self._http = httpx.Client(
            base_url=self.operations.exchange.url,
            headers=headers(token),
            timeout=timeout,
            verify=True if tls is None else tls,
            transport=transport,
        )
        self._lock = RLock()

    def report(self, pool: str, case: Case, agent: str, probability: Any) -> None:
        """Report a probability of the positive label, or a list of one per label."""
        with self._lock:
            if self.operations.report(pool, case, agent, probability):
                self.flush()

    def settle(self, pool: str, case: Case, outcome: Case) -> None:
        """Give the outcome of a case that was decided."""
        with self._lock:
            if self.operations.settle(pool, case, outcome):
                self.flush()

    def flush(self) -> dict[str, int]:
        """Send all that waits; return how many were stored, settled and repeated."""
        with self._lock:
            return self._run(self.operations.flush())

    def decide(
        self, pool: str, case: Case, columns: Mapping[str, float] | None = None
    ) -> Object:
        """Decide a case by the reports on it; the same answer if asked again."""
        self.flush()
        return self._run(self.operations.decide(pool, case, columns))

    def decide_all(
        self, pool: str, cases: Iterable[Case] | Mapping[Case, Mapping[str, float]]
    ) -> list[Object]:
        """Decide cases, all or none; of a mapping, with what their costs depend on."""
        self.flush()
        found = self._run(self.operations.decide_all(pool, cases))
        return list(found["decisions"])

    def create(self, pool: Mapping[str, Any]) -> Object:
        """Deploy a pool; nothing happens if the same pool is there already."""
        return self._run(self.operations.create(pool))

    def pools(self) -> list[str]:
        """Return the names of the pools."""
        return list(self._run(self.operations.pools())["pools"])

    def describe(self, pool: str) -> Object:
        """Return what a pool is, and its weights."""
        return self._run(self.operations.describe(pool))

    def case(self, pool: str, case: Case) -> Object:
        """Return what is known of a case."""
        return self._run(self.operations.case(pool, case))

    def challengers(self, pool: str, last: int = 10_000) -> list[Object]:
        """Return what each challenger would have saved in the last cases."""
        found = self._run(self.operations.challengers(pool, last))
        return list(found["challengers"])

    def panel(self, pool: str, last: int = 10_000) -> "Panel":
        """Return the last settled cases, for `truepool.audit`."""
        content = self._run(self.operations.panel(pool, last))
        return panel(content, self.describe(pool))

    def close(self) -> None:
        """Close the connections; what waits is not sent."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            # Whoever presses Ctrl+C does not want to wait.
            if error is None or isinstance(error, Exception):
                self.flush()
        except TruepoolError as reason:
            if error is None:
                raise
            error.add_note(str(reason))
        finally:
            self._note_losses(error)
            self.close()

    def _run(self, steps: Steps[Result]) -> Result:
        answer: Reply | Failure | None = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                result: Result = end.value
                return result
            answer = self._do(step)

    def _do(self, step: Step) -> Reply | Failure | None:
        if isinstance(step, float):
            time.sleep(step)
            return None
        try:
            return reply(self._http.request(**words(step)))
        except httpx.TransportError as error:
            return failure(error)
