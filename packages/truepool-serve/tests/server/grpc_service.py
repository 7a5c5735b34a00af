"""A gRPC server in a thread of its own, and a caller of its methods by name."""

import asyncio
import threading

import grpc

from truepool_serve.server import wire
from truepool_serve.server.grpc_server import CODE, SERVICE, GrpcServer

LOOPS = []


def loop():
    """Return the event loop of all servers of this process, in a thread of its own.

    gRPC takes one loop per process well, and several of them badly.
    """
    if not LOOPS:
        LOOPS.append(asyncio.new_event_loop())
        threading.Thread(target=LOOPS[0].run_forever, daemon=True).start()
    return LOOPS[0]


def run(work):
    """Run a coroutine in that loop, and return what it gives."""
    return asyncio.run_coroutine_threadsafe(work, loop()).result(60)


class Served:
    """Services that are served on a free port of this machine until the block ends."""

    def __init__(self, make, certificates=None) -> None:
        self.make, self.certificates = make, certificates

    def __enter__(self) -> "Served":
        run(self._start())
        return self

    async def _start(self) -> None:
        self.server = GrpcServer(self.make())
        self.port = self.server.listen("127.0.0.1", 0, self.certificates)
        await self.server.start()

    def __exit__(self, *_: object) -> None:
        run(self.server.stop(1))


class Client:
    """Calls methods by name with plain values; raw bytes go as they are."""

    def __init__(self, channel, token=None, service=SERVICE) -> None:
        self.channel, self.token, self.service = channel, token, service

    @property
    def metadata(self):
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()

    def call(self, name, values=None, timeout=120):
        method = wire.methods(self.service)[name]
        path = f"/{self.service}/{name}"
        extra = {"metadata": self.metadata, "timeout": timeout}
        if method.streams_requests:
            send = self.channel.stream_stream(path)
            answers = send((pack(method, v) for v in values), **extra)
            return [method.answer.unpack(answer) for answer in answers]
        if method.streams_answers:
            answers = self.channel.unary_stream(path)(pack(method, values), **extra)
            return [method.answer.unpack(answer) for answer in answers]
        answer = self.channel.unary_unary(path)(pack(method, values), **extra)
        return method.answer.unpack(answer)

    def refused(self, name, values=None):
        """Return the status, the stable code and the sentence of a refusal."""
        try:
            found = self.call(name, values)
        except grpc.RpcError as error:
            return refusal(error)
        raise AssertionError(found)


def refusal(error):
    """Return the status, the stable code and the sentence of an error, which is one."""
    assert "\n" not in error.details()
    trailing = dict(error.trailing_metadata() or ())
    return error.code(), trailing.get(CODE), error.details()


def pack(method, values):
    return values if isinstance(values, bytes) else method.request.pack(values or {})
