"""A gRPC server in a thread of its own, and a caller of its methods by name."""

import asyncio
import threading

import grpc

from truepool_serve.server.inference.grpc_server import CODE, SERVICE, GrpcServer
from truepool_serve.server.inference.pool_models import PoolModels
from truepool_serve.server.inference.protobuf import add, methods

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
    """Models that are served on a free port of this machine until the block ends."""

    def __init__(self, models, metrics=None, certificates=None) -> None:
        self.models, self.metrics, self.certificates = models, metrics, certificates

    @classmethod
    def pools(cls, local, certificates=None):
        """Serve the pools of a coordinator."""
        coordinator = local.coordinator
        return cls(PoolModels(coordinator), coordinator.metrics, certificates)

    def __enter__(self) -> "Served":
        run(self._start())
        return self

    async def _start(self) -> None:
        self.server = GrpcServer(self.models, self.metrics)
        self.port = self.server.listen("127.0.0.1", 0, self.certificates)
        await self.server.start()

    def __exit__(self, *_: object) -> None:
        run(self.server.stop(1))


class Client:
    """Calls methods by name with the fields of a request; raw bytes go as they are."""

    def __init__(self, channel, token=None) -> None:
        self.channel, self.token = channel, token

    def call(self, name, fields=None, timeout=120):
        request, answer = methods()[name]
        content = fields
        if not isinstance(fields, bytes):
            fields = dict(fields or {})
            tensors = fields.pop("tensors", ())
            message = request(**fields)
            if tensors:
                add(tensors, message.inputs, message.raw_input_contents)
            content = message.SerializeToString()
        extra = (("authorization", f"Bearer {self.token}"),) if self.token else ()
        send = self.channel.unary_unary(f"/{SERVICE}/{name}")
        return answer.FromString(send(content, metadata=extra, timeout=timeout))

    def refused(self, name, fields=None):
        """Return the status, the stable code and the sentence of a refusal."""
        try:
            found = self.call(name, fields)
        except grpc.RpcError as error:
            return refusal(error)
        raise AssertionError(found)


def refusal(error):
    """Return the status, the stable code and the sentence of an error, which is one."""
    assert "\n" not in error.details()
    trailing = dict(error.trailing_metadata() or ())
    return error.code(), trailing.get(CODE), error.details()
