"""The protocol over gRPC: ``inference.GRPCInferenceService``."""

from collections.abc import Callable
from typing import Any

from truepool import __version__
from truepool.core.errors import RequestError
from truepool_serve.server import wire
from truepool_serve.server.grpc_server import unary
from truepool_serve.server.inference.messages import SERVICE, pack, unpack
from truepool_serve.server.inference.models import (
    EXTENSIONS,
    SERVER,
    VERSION,
    Inference,
    Models,
    check_version,
)
from truepool_serve.server.metrics import Metrics

OPEN = ("ServerLive", "ServerReady", "ServerMetadata")
"""Methods that need no token."""


def handlers(models: Models, metrics: Metrics | None = None) -> dict[str, Any]:
    """Return the methods of the service."""

    async def live(caller: Any, values: dict[str, Any]) -> Any:
        return {"live": True}

    async def ready(caller: Any, values: dict[str, Any]) -> Any:
        await models.check_ready()
        return {"ready": True}

    async def server(caller: Any, values: dict[str, Any]) -> Any:
        return {"name": SERVER, "version": __version__, "extensions": EXTENSIONS}

    async def model(caller: Any, values: dict[str, Any]) -> Any:
        check_version(values["name"], values["version"])
        return (await models.card(caller, values["name"])).to_dict()

    async def model_ready(caller: Any, values: dict[str, Any]) -> Any:
        try:
            await model(caller, values)
        except RequestError as error:
            if error.code != "unknown":
                raise
            return {"ready": False}  # as other servers answer
        return {"ready": True}

    async def infer(caller: Any, values: dict[str, Any]) -> Any:
        asked = parse(values)
        answers = await models.answer(caller, asked)
        return {
            "model_name": asked.model,
            "model_version": VERSION,
            "id": asked.id,
            **pack(answers, "outputs"),
        }

    acts: dict[str, Callable[..., Any]] = {
        "ServerLive": live,
        "ServerReady": ready,
        "ServerMetadata": server,
        "ModelMetadata": model,
        "ModelReady": model_ready,
        "ModelInfer": infer,
    }
    return {
        name: unary(
            method, _nobody if name in OPEN else models.identify, acts[name], metrics
        )
        for name, method in wire.methods(SERVICE).items()
    }


def parse(values: dict[str, Any]) -> Inference:
    """Return what a request asks."""
    return Inference(
        values["model_name"],
        unpack(values, "inputs"),
        tuple(output["name"] for output in values.get("outputs", [])),
        values["id"],
        values["model_version"],
        values.get("parameters", {}),
    )


def _nobody(authorization: str | None) -> None:
    return None
