"""Operations as routes, and the OpenAPI document that describes them.

An operation is a function. Its parameters say what a request has: ``who`` is the
caller, ``body`` a message in JSON, ``request`` the request itself; what the path names
is part of the path, and numbers are in the query. What it returns is answered.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any, get_args

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from truepool.core.errors import RequestError
from truepool_serve.messages import Refusal, refusal

JSON = "application/json"
LINES = "application/x-ndjson"
REF = "#/components/schemas/{name}"
Act = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, eq=False)
class Operation:
    """What a request to a path does.

    ``lines`` is the message in each line of the body of a batch, ``media_type`` that of
    an answer that is no JSON.
    """

    method: str
    path: str
    act: Act
    answer: Any
    status: int = 200
    lines: type[Struct] | None = None
    media_type: str = JSON
    body: Parameter | None = None
    query: Mapping[str, Parameter] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.act.__name__

    @property
    def route(self) -> Route:
        """Return the route to it."""
        found = Route(self.path, self._handler(), methods=[self.method])
        found.methods = {self.method}  # no HEAD
        return found

    def _handler(self) -> Callable[[Request], Awaitable[Response]]:
        act, names = self.act, signature(self.act).parameters
        decoder = None
        if self.body is not None:
            decoder = msgspec.json.Decoder(self.body.annotation)
        wants_who, wants_request = "who" in names, "request" in names

        async def handle(request: Request) -> Response:
            words = request.path_params
            if wants_who:
                words["who"] = request.scope["state"]["caller"]
            if wants_request:
                words["request"] = request
            if self.query:
                words |= self._numbers(request)
            if decoder is not None and self.body is not None:
                content = await request.body()
                if content or self.body.default is Parameter.empty:
                    words["body"] = _read(decoder, request, content)
            found = await act(**words)
            if isinstance(found, Response):
                return found
            return Response(msgspec.json.encode(found), self.status, media_type=JSON)

        return handle

    def _numbers(self, request: Request) -> dict[str, int]:
        found = {}
        for name, parameter in self.query.items():
            text = request.query_params.get(name)
            try:
                found[name] = parameter.default if text is None else int(text)
            except ValueError:
                raise RequestError(
                    "invalid", f"{name} must be a whole number; got {text!r:.60}"
                ) from None
        return found


class Operations:
    """The operations of an application, in the order in which they are looked for."""

    def __init__(self) -> None:
        self.every: list[Operation] = []

    def add(
        self,
        method: str,
        path: str,
        *,
        status: int = 200,
        lines: type[Struct] | None = None,
        media_type: str = JSON,
    ) -> Callable[[Act], Act]:
        """Register a function as an operation."""

        def register(act: Act) -> Act:
            known = signature(act)
            query = {
                name: parameter
                for name, parameter in known.parameters.items()
                if parameter.default is not Parameter.empty and name != "body"
            }
            answer, body = known.return_annotation, known.parameters.get("body")
            said = status, lines, media_type
            self.every.append(Operation(method, path, act, answer, *said, body, query))
            return act

        return register

    def openapi(self, title: str, description: str) -> dict[str, Any]:
        """Return the document that describes them."""
        kinds: list[Any] = [Refusal]
        for each in self.every:
            if each.media_type == JSON:
                kinds.append(each.answer)
            if each.body is not None:
                kinds.append(each.body.annotation)
        schemas, components = msgspec.json.schema_components(kinds, ref_template=REF)
        for component in components.values():
            for tag in component.get("properties", {}).values():
                if len(tag.get("enum", ())) == 1:  # which of several kinds this is
                    tag.setdefault("description", f"Always `{tag['enum'][0]}`.")
        known = dict(zip(map(repr, kinds), schemas, strict=True))
        paths: dict[str, dict[str, Any]] = {}
        for each in self.every:
            place = each.path.replace(":name}", "}")
            described = _described(each, known)
            paths.setdefault(place, {})[each.method.lower()] = described
        return {
            "openapi": "3.1.0",
            "info": {"title": title, "description": description, "version": "v1"},
            "paths": paths,
            "components": {"schemas": components},
        }


def _read(decoder: Any, request: Request, content: bytes) -> Any:
    """Return the message in a body; refuse what is none."""
    kind = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if kind != JSON:
        raise RequestError(
            "invalid",
            f"the body of this request must be JSON; got {kind!r:.60}. Send it with "
            f"Content-Type: {JSON}",
        )
    try:
        return decoder.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        names = request.path_params
        who = [f"{k} {names[k]!r:.60}" for k in ("case", "agent") if k in names]
        raise refusal(error, f" ({', '.join(who)})" if who else "") from None


def _described(each: Operation, known: Mapping[str, Any]) -> dict[str, Any]:
    names = [part[1:].partition(":")[0] for part in each.path.split("/") if "{" in part]
    names = [name.rstrip("}") for name in names]
    words = (each.act.__doc__ or "").partition("\n")[0]
    found: dict[str, Any] = {
        "summary": each.name.replace("_", " ").capitalize(),
        "description": words,
        "operationId": each.name,
        "parameters": [
            {"name": n, "in": "path", "required": True, "schema": {"type": "string"}}
            for n in names
        ],
    }
    for name, parameter in each.query.items():
        _, meta = get_args(parameter.annotation)
        schema = {"type": "integer", "default": parameter.default}
        schema["description"] = meta.description
        found["parameters"].append({"name": name, "in": "query", "schema": schema})
    if each.body is not None:
        required = each.body.default is Parameter.empty
        content = {JSON: {"schema": known[repr(each.body.annotation)]}}
        found["requestBody"] = {"required": required, "content": content}
    if each.lines is not None:
        (line,) = msgspec.json.schema_components([each.lines])[1].values()
        schema = {"type": "string", "contentMediaType": LINES, "contentSchema": line}
        found["requestBody"] = {
            "required": True,
            "content": {LINES: {"schema": schema}},
        }
    schema, about = {"type": "string"}, "A file."
    if each.media_type == JSON:
        schema, about = known[repr(each.answer)], each.answer.__doc__ or ""
    answer = {each.media_type: {"schema": schema}}
    refused = {JSON: {"schema": known[repr(Refusal)]}}
    found["responses"] = {
        str(each.status): {"description": about, "content": answer},
        **{
            status: {"description": Refusal.__doc__, "content": refused}
            for status in ("4XX", "5XX")
        },
    }
    return found
