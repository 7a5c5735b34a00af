"""Connections to one agent over HTTP/1.1, kept open between calls.

A shared pool of connections looks through all calls whenever one ends: 300 calls at
once take seconds. Each agent has its own here, and one that is slow delays no other.
"""

import asyncio
import ssl
from urllib.parse import urlsplit

import h11

from truepool.core.errors import AgentFaultError

MOST_CALLS = 300
"""To one agent at once."""
MOST_IDLE = 50
"""Connections that are kept open to one agent while nobody calls it."""
PART = 65_536


class _Connection:
    """One connection, which has one call at a time."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.reader, self.writer = reader, writer
        self.state = h11.Connection(h11.CLIENT)
        self.is_new = True

    async def call(
        self, request: h11.Request, content: bytes, largest: int
    ) -> tuple[int, bytes]:
        """Return the status and the body of an answer."""
        sent = self.state.send(request)
        sent += self.state.send(h11.Data(content)) or b""
        self.writer.write(sent + (self.state.send(h11.EndOfMessage()) or b""))
        status, body = 0, bytearray()
        while True:
            event = self.state.next_event()
            if event is h11.NEED_DATA:
                self.state.receive_data(await self.reader.read(PART))
            elif isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > largest:
                    raise AgentFaultError(f"an answer has at most {largest:,} bytes")
            elif isinstance(event, h11.EndOfMessage):
                return status, bytes(body)

    def reuse(self) -> bool:
        """Whether another call may follow."""
        self.is_new = False
        if self.state.our_state is not h11.DONE or (
            self.state.their_state is not h11.DONE
        ):
            return False
        self.state.start_next_cycle()
        return not self.reader.at_eof()

    def close(self) -> None:
        """End it."""
        self.writer.close()


class AgentConnections:
    """The connections to the host of one agent, on one event loop."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host, self.name = parts.hostname or "", parts.netloc
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self.tls = ssl.create_default_context() if parts.scheme == "https" else None
        self.idle: list[_Connection] = []
        self.calls = 0

    @property
    def has_room(self) -> bool:
        """Whether another call may begin; if not, that is not the agent's fault."""
        return self.calls < MOST_CALLS

    async def post(
        self, path: str, headers: dict[str, str], content: bytes, largest: int
    ) -> tuple[int, bytes]:
        """Return the status and the body of the answer to a request."""
        fields = {"host": self.name, "content-length": str(len(content)), **headers}
        request = h11.Request(
            method="POST", target=path or "/", headers=list(fields.items())
        )
        self.calls += 1
        try:
            while self.idle:
                connection = self.idle.pop()
                try:
                    return await self._call(connection, request, content, largest)
                except (OSError, h11.RemoteProtocolError):
                    continue  # it was closed while nobody used it
            return await self._call(await self._open(), request, content, largest)
        finally:
            self.calls -= 1

    async def _call(
        self,
        connection: _Connection,
        request: h11.Request,
        content: bytes,
        largest: int,
    ) -> tuple[int, bytes]:
        ended = False
        try:
            found = await connection.call(request, content, largest)
            ended = True
            return found
        finally:
            if ended and connection.reuse() and len(self.idle) < MOST_IDLE:
                self.idle.append(connection)
            else:
                connection.close()

    async def _open(self) -> _Connection:
        try:
            streams = await asyncio.open_connection(self.host, self.port, ssl=self.tls)
        except OSError:
            raise AgentFaultError("no connection") from None
        return _Connection(*streams)

    def close(self) -> None:
        """Close what nobody uses."""
        while self.idle:
            self.idle.pop().close()
