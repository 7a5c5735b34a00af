"""Calls to agents at their registered addresses, with limits on time and size.

No redirect is followed, no proxy or password of the environment is used, and nothing
of the caller is passed on: an agent gets the features, the name of the case and its own
key.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import h11
import numpy as np

from truepool.core.errors import (
    AgentFaultError,
    ReportError,
    RequestError,
    TruepoolError,
)
from truepool.core.formatting import printable
from truepool.online.stream import coordinates
from truepool.panel.labels import Labels
from truepool_serve.messages import AnyEndpoint, Chat, Endpoint, OpenInferenceGrpc
from truepool_serve.server import adapters
from truepool_serve.server.agent_connections import MOST_CALLS, AgentConnections

LOGGER = logging.getLogger("truepool_serve.server")
DEADLINE = 2.0
"""Seconds that agents have to answer unless a pool or a request says otherwise."""
LARGEST_ANSWER = 2**20
"""Bytes of an answer."""
LONGEST_REASON = 200
"""Characters that are kept of what an agent says about an error of its own."""
FIRST_BACKOFF, LONGEST_BACKOFF = 100, 1000
"""Milliseconds until a broken connection of gRPC is tried again."""
Reports = dict[str, Any]
Faults = dict[str, str]


@dataclass
class _Connections:
    """Connections of one event loop."""

    loop: asyncio.AbstractEventLoop
    http: dict[str, AgentConnections]
    channels: dict[str, Any]


class AgentCalls:
    """Asks agents about a case, and pools whoever answers in time."""

    def __init__(self) -> None:
        self._open: _Connections | None = None

    async def fan_out(
        self,
        endpoints: Mapping[str, AnyEndpoint],
        labels: Labels,
        case: str,
        features: Mapping[str, Any],
        deadline: float,
    ) -> tuple[Reports, Faults]:
        """Return the reports of those who answered, and why the others did not."""
        self._check_room(endpoints)
        tasks = {
            asyncio.create_task(
                self._ask(agent, endpoint, labels, case, features)
            ): agent
            for agent, endpoint in endpoints.items()
        }
        reports: Reports = {}
        faults: Faults = {}
        if not tasks:
            return reports, faults
        try:
            await asyncio.wait(tasks, timeout=deadline)
        finally:
            for task in tasks:
                task.cancel()
        for task, agent in tasks.items():
            if not task.done() or task.cancelled():
                faults[agent] = f"no answer within {deadline:g} s"
            elif task.exception() is not None:
                # An answer that no test foresaw: of this agent, and of no other.
                error = task.exception()
                LOGGER.error("fault", exc_info=error)
                faults[agent] = f"an answer that cannot be read: {type(error).__name__}"
            else:
                found = task.result()
                (faults if isinstance(found, str) else reports)[agent] = found
        return reports, faults

    async def close(self) -> None:
        """Close all connections."""
        was, self._open = self._open, None
        if was is not None and was.loop is asyncio.get_running_loop():
            for connections in was.http.values():
                connections.close()
            for channel in was.channels.values():
                await channel.close()

    async def _ask(
        self,
        agent: str,
        endpoint: AnyEndpoint,
        labels: Labels,
        case: str,
        features: Mapping[str, Any],
    ) -> Any:
        """Return a report, or text that says why there is none."""
        try:
            if isinstance(endpoint, Chat):  # the first import takes a second
                with suppress(TruepoolError):
                    await asyncio.to_thread(adapters.language_models)
            adapter = adapters.make(endpoint, case, features)
            if isinstance(endpoint, OpenInferenceGrpc):
                answer = await self._call_grpc(endpoint, adapter)
            else:
                answer = await self._call_http(adapter)
            return check_report(agent, adapter.read(answer), endpoint, labels)
        except AgentFaultError as fault:
            return printable(str(fault))  # it is stored, and sent as UTF-8

    async def _call_http(self, adapter: Any) -> bytes:
        path = urlsplit(adapter.url).path
        headers, content = adapter.headers, adapter.content
        try:
            status, body = await self._http(adapter.endpoint).post(
                path, headers, content, LARGEST_ANSWER
            )
        except (h11.ProtocolError, OSError) as error:
            raise AgentFaultError(
                f"the connection failed: {type(error).__name__}"
            ) from None
        if 300 <= status < 400:
            raise AgentFaultError(f"status {status}: redirects are not followed")
        if status != 200:
            raise AgentFaultError(_status(status, _words(body), adapter.endpoint.key))
        return body

    def _http(self, endpoint: Endpoint) -> AgentConnections:
        """Connections of one agent, whom no other agent can keep waiting."""
        http = self._connections().http
        if endpoint.url not in http:
            http[endpoint.url] = AgentConnections(endpoint.url)
        return http[endpoint.url]

    def _check_room(self, endpoints: Mapping[str, AnyEndpoint]) -> None:
        """Refuse to decide without an agent that is only not asked because of us."""
        for agent, endpoint in endpoints.items():
            over_grpc = isinstance(endpoint, OpenInferenceGrpc)
            if not over_grpc and not self._http(endpoint).has_room:
                raise RequestError(
                    "unavailable",
                    f"{MOST_CALLS} calls to agent {agent!r:.60} are under way; the "
                    "case is not decided. Ask again later.",
                )

    async def _call_grpc(self, endpoint: Endpoint, adapter: Any) -> bytes:
        import grpc

        channel = self._channel(endpoint)
        send = channel.unary_unary(adapter.url)
        metadata = tuple(endpoint.headers.items())
        try:
            answer: bytes = await send(adapter.content, metadata=metadata)
        except grpc.RpcError as error:
            name = error.code().name
            if name == "UNAVAILABLE":
                raise AgentFaultError("no connection") from None
            reason = _status(name, error.details() or "", endpoint.key)
            raise AgentFaultError(reason) from None
        return answer

    def _connections(self) -> _Connections:
        """Connections of this event loop; those of another one cannot be used."""
        loop = asyncio.get_running_loop()
        if self._open is None or self._open.loop is not loop:
            self._open = _Connections(loop, {}, {})
        return self._open

    def _channel(self, endpoint: Endpoint) -> Any:
        import grpc

        channels = self._connections().channels
        scheme, _, address = endpoint.url.rstrip("/").partition("://")
        if endpoint.url not in channels:
            options = [
                ("grpc.max_receive_message_length", LARGEST_ANSWER),
                ("grpc.enable_http_proxy", 0),
                ("grpc.initial_reconnect_backoff_ms", FIRST_BACKOFF),
                ("grpc.max_reconnect_backoff_ms", LONGEST_BACKOFF),
            ]
            if scheme == "grpcs":
                credentials = grpc.ssl_channel_credentials()
                made = grpc.aio.secure_channel(address, credentials, options)
            else:
                made = grpc.aio.insecure_channel(address, options)
            channels[endpoint.url] = made
        return channels[endpoint.url]


def check_report(agent: str, values: Any, endpoint: Endpoint, labels: Labels) -> Any:
    """Return the answer of an agent about one case as a report."""
    K, order = len(labels.names), endpoint.labels or labels.names
    if isinstance(values, Mapping):
        if set(values) != set(map(str, labels.names)):
            raise AgentFaultError(f"other labels: {list(values)!r:.60}")
        values, order = [[values[str(label)] for label in labels.names]], labels.names
    try:
        found = np.asarray(values)
    except ValueError:  # lists of different lengths
        raise AgentFaultError(f"no numbers: {values!r:.60}") from None
    if found.dtype.kind not in "iuf" or _has_truth(values):
        raise AgentFaultError(f"no numbers: {values!r:.60}")
    found = found.astype(np.float64)
    if found.shape not in ((1,), (1, 1), (1, K)):
        raise AgentFaultError(f"wrong length: shape {list(found.shape)} for one case")
    if np.isnan(found).any():
        raise AgentFaultError("NaN instead of a probability")
    flat = found.ravel()
    if flat.size == 1 and K > 2:
        raise AgentFaultError(f"wrong length: 1 probability for {K} labels")
    if flat.size == K:
        if set(order) != set(labels.names):
            raise AgentFaultError(f"other labels: {list(order)!r:.60}")
        flat = flat[[list(order).index(label) for label in labels.names]]
    report: Any = flat.tolist() if flat.size > 1 else float(flat[0])
    try:
        coordinates(agent, report, K)
    except ReportError:
        raise AgentFaultError(f"no probability: {report!r:.60}") from None
    return report


def _has_truth(values: Any) -> bool:
    """Whether true or false is among the values, which numpy makes 1 or 0."""
    if isinstance(values, list):
        return any(map(_has_truth, values))
    return isinstance(values, bool)


def _words(content: bytes) -> str:
    """What an answer says went wrong, in the forms that model servers use."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return content.decode(errors="replace")
    for name in ("error", "detail", "message"):
        if isinstance(found, dict) and name in found:
            found = found[name]
    return found if isinstance(found, str) else json.dumps(found)


def _status(status: int | str, words: str, key: str | None) -> str:
    """A status and what the agent says about it: one line, without its key."""
    line = " ".join(words.replace(key, "***").split() if key else words.split())
    shown = "".join(c for c in line if c.isprintable())[:LONGEST_REASON]
    return f"status {status}: {shown}" if shown else f"status {status}"
