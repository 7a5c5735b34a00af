"""The protocol over HTTP: JSON, and the extension for binary tensors."""

import gzip
import zlib
from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from truepool import __version__
from truepool.core.errors import RequestError, TruepoolError
from truepool_serve.server.http import LARGEST_BODY, STATUS
from truepool_serve.server.inference.models import (
    EXTENSIONS,
    SERVER,
    VERSION,
    Inference,
    Models,
    check_version,
)
from truepool_serve.server.inference.tensors import Tensor
from truepool_serve.server.observation import error_code
from truepool_serve.server.path_names import methods_of_path, show_path

HEADER = "inference-header-content-length"
"""Length of the JSON before the raw bytes of tensors."""
COMPRESSED = 1024
"""Bytes from which an answer is compressed, for a caller that accepts it."""
ANY_WINDOW = 47
"""Setting of zlib that reads both gzip and deflate."""


class InputBody(msgspec.Struct):
    """An input tensor; its data may follow as raw bytes."""

    name: str
    datatype: str
    shape: list[int]
    parameters: dict[str, Any] = {}
    data: Any = None


class OutputBody(msgspec.Struct):
    """An output that is wanted."""

    name: str
    parameters: dict[str, Any] = {}


class InferenceBody(msgspec.Struct):
    """A request for an inference."""

    inputs: list[InputBody]
    id: str = ""
    parameters: dict[str, Any] = {}
    outputs: list[OutputBody] = []


BODY = msgspec.json.Decoder(InferenceBody)


def app(models: Models, lifespan: Any = None) -> Starlette:
    """Return the ASGI application of models, for paths from ``/v2``."""

    async def live(request: Request) -> Response:
        return JSONResponse({"live": True})

    async def ready(request: Request) -> Response:
        await models.check_ready()
        return JSONResponse({"ready": True})

    async def server(request: Request) -> Response:
        known = {"name": SERVER, "version": __version__, "extensions": list(EXTENSIONS)}
        return JSONResponse(known)

    async def model(request: Request) -> Response:
        return JSONResponse((await _card(request)).to_dict())

    async def model_ready(request: Request) -> Response:
        found = await _card(request)
        return JSONResponse({"name": found.name, "ready": True})

    async def _card(request: Request) -> Any:
        caller = models.identify(request.headers.get("authorization"))
        name, version = _names(request)
        check_version(name, version)
        return await models.card(caller, name)

    async def infer(request: Request) -> Response:
        caller = models.identify(request.headers.get("authorization"))
        body, asked = parse(request, _decompress(request, await request.body()))
        answers = await models.answer(caller, asked)
        return _response(request, body, asked, answers)

    model_path = "/v2/models/{model:name}"
    routes = [
        Route("/v2", server),
        Route("/v2/", server),
        Route("/v2/health/live", live),
        Route("/v2/health/ready", ready),
    ]
    for path in (model_path, f"{model_path}/versions/{{version:name}}"):
        routes += [
            Route(path, model),
            Route(f"{path}/ready", model_ready),
            Route(f"{path}/infer", infer, methods=["POST"]),
        ]
    handlers: dict[Any, Any] = {TruepoolError: _refuse, HTTPException: _refuse_path}
    return Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)


def parse(request: Request, content: bytes) -> tuple[InferenceBody, Inference]:
    """Return the body of a request, and what it asks."""
    length = request.headers.get(HEADER)
    cut = len(content)
    if length is not None:
        if not (length.isascii() and length.isdigit()) or int(length) > cut:
            raise RequestError(
                "invalid", f"{HEADER} must be the length of the JSON; got {length:.40}"
            )
        cut = int(length)
    try:
        body = BODY.decode(content[:cut])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RequestError(
            "invalid", f"the request must be JSON of the protocol: {error}"
        ) from None
    inputs = _inputs(body.inputs, content[cut:])
    name, version = _names(request)
    outputs = tuple(output.name for output in body.outputs)
    return body, Inference(name, inputs, outputs, body.id, version)


def _inputs(given: Sequence[InputBody], raw: bytes) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    place = 0
    for part in given:
        size = part.parameters.get("binary_data_size")
        if size is None:
            tensor = Tensor.read(part.name, part.datatype, part.shape, part.data)
        elif type(size) is int and 0 <= size <= len(raw) - place:
            content = raw[place : place + size]
            tensor = Tensor.unpack(part.name, part.datatype, part.shape, content)
            place += size
        else:
            raise RequestError(
                "invalid",
                f"binary_data_size of tensor {part.name!r:.60} must be the length of "
                f"its bytes; got {size!r:.40}",
            )
        if part.name in found:
            raise RequestError("invalid", f"tensor {part.name!r:.60} is given twice")
        found[part.name] = tensor
    if place != len(raw):
        raise RequestError(
            "invalid", f"{len(raw) - place} bytes after the JSON belong to no tensor"
        )
    return found


def _response(
    request: Request, body: InferenceBody, asked: Inference, answers: list[Tensor]
) -> Response:
    usual = body.parameters.get("binary_data_output", False)
    binary = {o.name: o.parameters.get("binary_data", usual) for o in body.outputs}
    outputs, raw = [], []
    for tensor in answers:
        part: dict[str, Any] = {
            "name": tensor.name,
            "datatype": tensor.datatype,
            "shape": tensor.shape,
        }
        if binary.get(tensor.name, usual) is True:
            raw.append(tensor.pack())
            part["parameters"] = {"binary_data_size": len(raw[-1])}
        else:
            part["data"] = tensor.to_list()
        outputs.append(part)
    known = {"model_name": asked.model, "model_version": VERSION, "outputs": outputs}
    if asked.id:
        known["id"] = asked.id
    content = msgspec.json.encode(known)
    headers = {}
    if raw:
        headers[HEADER] = str(len(content))
        content = b"".join([content, *raw])
    accepted = request.headers.get("accept-encoding", "")
    if "gzip" in accepted and len(content) >= COMPRESSED:
        headers["content-encoding"] = "gzip"
        content = gzip.compress(content, 1)
    kind = "application/octet-stream" if raw else "application/json"
    return Response(content, headers=headers, media_type=kind)


def _decompress(request: Request, content: bytes) -> bytes:
    """Return a body as it was before its compression, if it is not too large."""
    encoding = request.headers.get("content-encoding", "identity")
    if encoding == "identity":
        return content
    if encoding not in ("gzip", "deflate"):
        raise RequestError(
            "invalid",
            f"a body is compressed with gzip or deflate; got {encoding!r:.40}",
        )
    reader = zlib.decompressobj(ANY_WINDOW)
    try:
        found = reader.decompress(content, LARGEST_BODY)
    except zlib.error:
        raise RequestError("invalid", f"the body is no {encoding}") from None
    if reader.unconsumed_tail:
        raise RequestError("too-large", f"a request has at most {LARGEST_BODY:,} bytes")
    return found


def _names(request: Request) -> tuple[str, str]:
    found = request.path_params
    return found["model"], found.get("version", "")


async def _refuse(request: Request, error: Any) -> Response:
    code = error_code(error)
    headers = {"WWW-Authenticate": "Bearer"} if code == "unauthenticated" else None
    return JSONResponse({"error": str(error)}, STATUS[code], headers)


async def _refuse_path(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    path = show_path(request.url.path)
    sentence = f"{request.method} {path} is not part of the protocol"
    if status != 405:
        return JSONResponse({"error": sentence}, status)
    methods = methods_of_path(request)
    sentence = f"{sentence}; this path takes {' or '.join(methods)}"
    return JSONResponse({"error": sentence}, status, {"Allow": ", ".join(methods)})
