"""The protocol over gRPC: ``inference.GRPCInferenceService``, health and reflection."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import grpc
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from truepool import __version__
from truepool.core.errors import RequestError, SettingError, TruepoolError
from truepool_serve.server.http import LARGEST_BODY
from truepool_serve.server.inference import protobuf
from truepool_serve.server.inference.models import (
    EXTENSIONS,
    SERVER,
    VERSION,
    Inference,
    Models,
    check_version,
)
from truepool_serve.server.inference.protobuf import SERVICE
from truepool_serve.server.metrics import Metrics
from truepool_serve.server.observation import error_code, error_message, observe

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
OPEN = ("ServerLive", "ServerReady", "ServerMetadata")
"""Methods that need no token."""
Act = Callable[[Any, Any], Awaitable[Any]]
"""From the caller and the request to the fields of the answer, or the answer."""


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
    """A gRPC server of models, with health and reflection.

    It belongs to the event loop that it is made on.
    """

    def __init__(self, models: Models, metrics: Metrics | None = None) -> None:
        options = [
            ("grpc.max_receive_message_length", LARGEST_BODY),
            ("grpc.so_reuseport", 0),  # a port that is taken must be refused
        ]
        self.server = grpc.aio.server(options=options)
        generic = grpc.method_handlers_generic_handler(
            SERVICE, handlers(models, metrics)
        )
        self.server.add_generic_rpc_handlers((generic,))
        self.health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self.health, self.server)
        shown = (SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(shown, self.server, protobuf.descriptors())

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
        for name in ("", SERVICE):
            await self.health.set(name, protobuf.SERVING)

    async def stop(self, grace: float | None) -> None:
        """Say that it ends, and finish what is under way."""
        await self.health.enter_graceful_shutdown()
        await self.server.stop(grace)


async def bind(
    models: Models,
    metrics: Metrics | None,
    host: str,
    port: int,
    certificates: Certificates | None,
) -> tuple[GrpcServer, int]:
    """Return a server that has its port but does not serve yet, and the port."""
    server = GrpcServer(models, metrics)
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


def handlers(models: Models, metrics: Metrics | None) -> dict[str, Any]:
    """Return the methods of the service."""
    _, inferred = protobuf.methods()["ModelInfer"]

    async def live(caller: Any, asked: Any) -> Any:
        return {"live": True}

    async def ready(caller: Any, asked: Any) -> Any:
        await models.check_ready()
        return {"ready": True}

    async def server(caller: Any, asked: Any) -> Any:
        return {"name": SERVER, "version": __version__, "extensions": EXTENSIONS}

    async def model(caller: Any, asked: Any) -> Any:
        check_version(asked.name, asked.version)
        return (await models.card(caller, asked.name)).to_dict()

    async def model_ready(caller: Any, asked: Any) -> Any:
        try:
            await model(caller, asked)
        except RequestError as error:
            if error.code != "unknown":
                raise
            return {"ready": False}  # as other servers answer
        return {"ready": True}

    async def infer(caller: Any, asked: Any) -> Any:
        inference = parse(asked)
        answers = await models.answer(caller, inference)
        found = inferred(
            model_name=asked.model_name, model_version=VERSION, id=asked.id
        )
        protobuf.add(answers, found.outputs, found.raw_output_contents)
        return found

    acts: dict[str, Act] = {
        "ServerLive": live,
        "ServerReady": ready,
        "ServerMetadata": server,
        "ModelMetadata": model,
        "ModelReady": model_ready,
        "ModelInfer": infer,
    }
    return {
        name: _unary(name, _nobody if name in OPEN else models.identify, act, metrics)
        for name, act in acts.items()
    }


def parse(asked: Any) -> Inference:
    """Return what a request asks."""
    return Inference(
        asked.model_name,
        protobuf.tensors(asked.inputs, asked.raw_input_contents),
        tuple(output.name for output in asked.outputs),
        asked.id,
        asked.model_version,
    )


def _unary(
    name: str,
    identify: Callable[[str | None], Any],
    act: Act,
    metrics: Metrics | None,
) -> Any:
    """Return a handler that answers a request by what ``act`` makes of it."""
    request, answer = protobuf.methods()[name]

    async def handle(content: bytes, context: Any) -> bytes:
        start, status, caller = time.perf_counter(), "ok", None
        try:
            caller = identify(_authorization(context))
            found = await act(caller, protobuf.read(request, content))
        except TruepoolError as error:
            status = error_code(error)
            await _refuse(context, status, error_message(error))
        except BaseException:
            status = "internal"
            raise
        finally:
            if metrics is not None:
                seconds = time.perf_counter() - start
                observe(metrics, f"gRPC {name}", status, seconds, caller)
        if isinstance(found, dict):
            found = answer(**found)
        return bytes(found.SerializeToString())

    return grpc.unary_unary_rpc_method_handler(handle)


async def _refuse(context: Any, code: str, sentence: str) -> None:
    details = sentence.encode("utf-8", "replace").decode()
    await context.abort(STATUS[code], details, ((CODE, code),))


def _authorization(context: Any) -> str | None:
    pairs: Iterable[tuple[str, Any]] = context.invocation_metadata() or ()
    return next((value for name, value in pairs if name == "authorization"), None)


def _nobody(authorization: str | None) -> None:
    return None
