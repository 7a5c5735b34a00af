"""The coordinator over gRPC: `truepool.v1`, health and reflection."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import grpc
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from truepool.core.errors import SettingError, TruepoolError
from truepool_serve.server import wire
from truepool_serve.server.access import Caller
from truepool_serve.server.answers import Answer, after, give
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.grpc_operations import CHUNK, OPERATIONS, reports
from truepool_serve.server.http import LARGEST_BODY
from truepool_serve.server.metrics import Metrics
from truepool_serve.server.observation import error_code, error_message, observe

SERVICE = "truepool.v1.Coordinator"
CODE = "truepool-code"
"""Metadata that holds the code of an error, which stays the same."""
STATUS = {
    "invalid": grpc.StatusCode.INVALID_ARGUMENT,
    "unauthenticated": grpc.StatusCode.UNAUTHENTICATED,
    "forbidden": grpc.StatusCode.PERMISSION_DENIED,
    "unknown": grpc.StatusCode.NOT_FOUND,
    "conflict": grpc.StatusCode.ALREADY_EXISTS,
    "too-large": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "too-many": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "internal": grpc.StatusCode.INTERNAL,
    "unavailable": grpc.StatusCode.UNAVAILABLE,
}
"""gRPC status of each code of an error."""
WINDOW = 16
"""Batches of a stream that wait for their commit at once."""
Identify = Callable[[str | None], Any]


@dataclass(frozen=True)
class Certificates:
    """Files for TLS, in PEM format; with a client CA, callers need certificates."""

    cert: Path
    key: Path
    client_ca: Path | None = None

    @classmethod
    def read(cls, cert: Path | None, key: Path | None, ca: Path | None) -> Self | None:
        """Return the files, or None without TLS."""
        return None if cert is None or key is None else cls(cert, key, ca)

    def credentials(self) -> Any:
        """Return what gRPC takes."""
        root = None if self.client_ca is None else self.client_ca.read_bytes()
        pair = self.key.read_bytes(), self.cert.read_bytes()
        return grpc.ssl_server_credentials([pair], root, root is not None)


class GrpcServer:
    """A gRPC server of some services, with health and reflection."""

    def __init__(self, services: Mapping[str, Any]) -> None:
        options = [
            ("grpc.max_receive_message_length", LARGEST_BODY),
            ("grpc.so_reuseport", 0),  # a port that is taken must be refused
        ]
        self.server = grpc.aio.server(options=options)
        for name, handlers in services.items():
            generic = grpc.method_handlers_generic_handler(name, handlers)
            self.server.add_generic_rpc_handlers((generic,))
        self.names = tuple(services)
        self.health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self.health, self.server)
        shown = (*services, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(shown, self.server, wire.descriptors())

    def listen(self, host: str, port: int, certificates: Certificates | None) -> int:
        """Bind an address, and return its port."""
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        try:
            if certificates is None:
                return int(self.server.add_insecure_port(address))
            return int(self.server.add_secure_port(address, certificates.credentials()))
        except RuntimeError:
            raise SettingError(
                f"gRPC cannot listen on {host}, port {port}, which is not free or not "
                "ours. Name another host or port for it."
            ) from None

    async def start(self) -> None:
        """Serve."""
        await self.server.start()
        for name in ("", *self.names):
            await self.health.set(name, wire.SERVING)

    async def stop(self, grace: float) -> None:
        """Say that it ends, and finish what is under way."""
        await self.health.enter_graceful_shutdown()
        await self.server.stop(grace)


async def bind(
    services: Callable[[], Mapping[str, Any]],
    host: str,
    port: int,
    certificates: Certificates | None,
) -> tuple[GrpcServer, int]:
    """Return a server that has its port but does not serve yet, and the port.

    It belongs to the event loop that this runs on.
    """
    server = GrpcServer(services())
    return server, server.listen(host, port, certificates)


def beside(
    server: GrpcServer, grace: float
) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    """Return the lifespan of an HTTP application with a gRPC server beside it."""

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        await server.start()
        yield
        await server.stop(grace)

    return lifespan


def services(coordinator: Coordinator) -> dict[str, Any]:
    """Return the handlers of the services of a coordinator."""
    # They use what this module has for every service.
    from truepool_serve.server.inference import grpc_service, messages
    from truepool_serve.server.inference.pool_models import PoolModels

    models = grpc_service.handlers(PoolModels(coordinator), coordinator.metrics)
    return {SERVICE: _handlers(coordinator), messages.SERVICE: models}


def _handlers(coordinator: Coordinator) -> dict[str, Any]:
    identify = coordinator.access.identify
    found = {}
    for name, method in wire.methods(SERVICE).items():
        if method.streams_requests:
            found[name] = grpc.stream_stream_rpc_method_handler(
                _report_stream(method, coordinator)
            )
        elif method.streams_answers:
            found[name] = grpc.unary_stream_rpc_method_handler(
                _chunks(method, identify, coordinator)
            )
        else:
            act = partial(OPERATIONS[name], coordinator)
            found[name] = unary(method, identify, act, coordinator.metrics)
    return found


def unary(
    method: wire.Method,
    identify: Identify,
    act: Callable[[Any, dict[str, Any]], Awaitable[Any]],
    metrics: Metrics | None = None,
) -> Any:
    """Return a handler that answers a request by what ``act`` makes of its values."""

    async def answer(content: bytes, context: Any) -> bytes:
        start, status, caller = time.perf_counter(), "ok", None
        try:
            caller = identify(_authorization(context))
            found = await act(caller, method.request.unpack(content))
        except TruepoolError as error:
            status = error_code(error)
            await _refuse(context, error)
        except BaseException:
            status = "internal"
            raise
        finally:
            if metrics is not None:
                seconds = time.perf_counter() - start
                observe(metrics, f"gRPC {method.name}", status, seconds, caller)
        return method.answer.pack(found)

    return grpc.unary_unary_rpc_method_handler(answer)


def failure(error: TruepoolError) -> dict[str, str]:
    """Return the code and the sentence of an error."""
    return {"code": error_code(error), "message": error_message(error)}


async def _refuse(context: Any, error: TruepoolError) -> None:
    found = failure(error)
    details = found["message"].encode("utf-8", "replace").decode()
    metadata = ((CODE, found["code"]),)
    await context.abort(STATUS[found["code"]], details, metadata)


def _authorization(context: Any) -> str | None:
    pairs: Iterable[tuple[str, Any]] = context.invocation_metadata() or ()
    return next((value for name, value in pairs if name == "authorization"), None)


def _chunks(method: wire.Method, identify: Identify, coordinator: Coordinator) -> Any:
    """Return a handler that sends a table in parts that any client accepts."""

    async def answer(content: bytes, context: Any) -> AsyncIterator[bytes]:
        try:
            caller = identify(_authorization(context))
            values = method.request.unpack(content)
            table = await OPERATIONS[method.name](coordinator, caller, values)
        except TruepoolError as error:
            await _refuse(context, error)
        for start in range(0, len(table), CHUNK):
            yield method.answer.pack({"content": table[start : start + CHUNK]})

    return answer


def _report_stream(method: wire.Method, coordinator: Coordinator) -> Any:
    """Return a handler that takes batches as they come, and acknowledges in order."""

    def submit(caller: Caller, content: bytes) -> Any:
        values = method.request.unpack(content)
        return coordinator.report(caller, values["pool"], reports(values))

    async def read(contents: AsyncIterator[bytes], context: Any, queue: Any) -> None:
        async for content in contents:
            try:
                # A token may be revoked while its stream is open.
                caller = coordinator.access.identify(_authorization(context))
            except TruepoolError as error:
                await queue.put((None, error))
                return
            try:
                await queue.put((submit(caller, content), None))
            except TruepoolError as error:
                await queue.put((_refused(error), None))
        await queue.put((None, None))

    async def answer(
        contents: AsyncIterator[bytes], context: Any
    ) -> AsyncIterator[bytes]:
        queue: asyncio.Queue[Any] = asyncio.Queue(WINDOW)
        reader = asyncio.create_task(read(contents, context, queue))
        batch = 0
        try:
            while True:
                waiting, error = await queue.get()
                if error is not None:
                    await _refuse(context, error)
                if waiting is None:
                    return
                batch += 1
                yield method.answer.pack({"batch": batch, **await _receipt(waiting)})
        finally:
            reader.cancel()

    return answer


def _refused(error: TruepoolError) -> Answer:
    refused = Answer()
    give([(refused, error)])
    return refused


async def _receipt(waiting: Answer) -> dict[str, Any]:
    try:
        found: dict[str, Any] = await after(waiting)
        return found
    except TruepoolError as error:
        return {"error": failure(error)}
