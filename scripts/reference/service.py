"""The service: its operations over HTTP, and the codes of its errors."""

import tempfile
from pathlib import Path
from typing import Any

from reference.page import NOTE, join

EXIT_CODES = """\
| code | means |
|---|---|
| 0 | fine |
| 1 | a finding to fail on (`--fail-on`), or a budget of `agent llm` is used up |
| 2 | bad input: one sentence on standard error, nothing half-written |
| 130 | stopped by Ctrl+C |
| 143 | `serve` was stopped by SIGTERM |"""


def http() -> str:
    """Return the operations over HTTP, as OpenAPI describes them."""
    api = openapi()
    schemas = api["components"]["schemas"]
    parts = [
        "# HTTP",
        NOTE,
        "Every operation of [`truepool serve`](../serve.md) under `/v1`, and its "
        "health and metrics, from its OpenAPI document (`GET /openapi.json`). The "
        "[dashboard](../serve.md#the-dashboard) (`/` and `/pools/{pool}`) and the Open "
        "Inference Protocol (`/v2`, see [protocols](../protocols.md)) are not in it. "
        "Names in braces are parts of the path; bodies are JSON "
        "unless another type is named. Errors have a [code](errors.md) and are a "
        f"{link('Refusal')}. The [objects](#objects) in answers are at the end.",
    ]
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            parts.append(f"## {method.upper()} {path}")
            parts.append(f"{operation['description'].rstrip('.')}.")
            parts += request(operation, schemas)
            parts.append(response(operation))
    parts.append("## Objects")
    for name in sorted(schemas):
        if not name.endswith("Body"):  # those are shown where they are sent
            parts += [f"### {name}", schemas[name]["description"]]
            if named := schemas[name].get("properties"):
                parts.append(table("field", [(n, named[n], "") for n in named]))
    return join(parts)


def openapi() -> dict[str, Any]:
    """Return the OpenAPI document of the service."""
    from truepool_serve.server.coordinator import Coordinator
    from truepool_serve.server.http import describe
    from truepool_serve.server.http import openapi as document

    with tempfile.TemporaryDirectory() as folder:
        with Coordinator(Path(folder) / "pools.db") as coordinator:
            return document(describe(coordinator))


def request(operation: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    """Return a table of the query and one of the body of an operation."""
    rows = [
        (entry["name"], entry["schema"], "")
        for entry in operation.get("parameters", ())
        if entry["in"] == "query"
    ]
    found = [table("query", rows)] if rows else []
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = dereference(content["schema"], schemas)
        if "contentSchema" in schema:
            found.append(f"Body: `{kind}`, one object per line.")
            schema = schema["contentSchema"]
        found.append(table("field", properties(schema)))
    return found


def response(operation: dict[str, Any]) -> str:
    """Say what an operation answers when it succeeds."""
    (status,) = (code for code in operation["responses"] if code.startswith("2"))
    ((kind, content),) = operation["responses"][status]["content"].items()
    if "$ref" in content["schema"]:
        return f"Answer: {type_name(content['schema'])}."
    return f"Answer: `{kind}`."


Rows = list[tuple[str, dict[str, Any], str]]


def properties(schema: dict[str, Any]) -> Rows:
    """Return the fields of an object, and which of them are required in a request."""
    needed = schema.get("required", ())
    return [
        (name, entry, "Required." if name in needed else "")
        for name, entry in schema["properties"].items()
    ]


def dereference(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the schema that a reference, or a choice with null, is about."""
    for choice in (schema, *schema.get("anyOf", ())):
        if "$ref" in choice:
            found: dict[str, Any] = schemas[choice["$ref"].rpartition("/")[2]]
            return found
    return schema


def link(name: str) -> str:
    """Return a link to an object on the page."""
    return f"[{name}](#{name.lower()})"


def table(what: str, rows: Rows) -> str:
    """Return a table of fields with their types, and defaults where there are any."""
    shown = any(schema.get("default") is not None for _, schema, _ in rows)
    columns = [what, "type", *(["default"] if shown else []), "meaning"]
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for name, schema, note in rows:
        default = schema.get("default")
        value = "" if default is None else f"`{default}`"
        words = " ".join(filter(None, (note, schema.get("description", ""))))
        cells = [f"`{name}`", type_name(schema), *([value] if shown else []), words]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def type_name(schema: dict[str, Any]) -> str:
    """Return the type of a field in words.

    >>> type_name({"anyOf": [{"type": "number"}, {"type": "array"}]})
    'number or array'
    """
    if "$ref" in schema:
        return link(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(type_name(choice) for choice in schema["anyOf"])
    kind = str(schema.get("type", "any"))
    within = schema.get("items") or schema.get("additionalProperties")
    if isinstance(within, dict) and "$ref" in within:
        return f"{kind} of {type_name(within)}"
    return kind


def errors() -> str:
    """Return the codes of requests, the exit codes and the classes of errors."""
    from truepool.core import errors as module
    from truepool_serve.server import http as http_server
    from truepool_serve.server.inference import grpc_server

    codes = ["| code | HTTP | gRPC |", "|---|---|---|"]
    for code, status in http_server.STATUS.items():
        codes.append(f"| `{code}` | {status} | {grpc_server.STATUS[code].name} |")
    method = (
        "A method that a path does not have is `invalid` with the status 405; the "
        "header `Allow` has those that it has."
    )
    kinds = ["| class | is also | means |", "|---|---|---|"]
    for kind in vars(module).values():
        if isinstance(kind, type) and issubclass(kind, module.TruepoolError):
            bases = ", ".join(f"`{base.__name__}`" for base in kind.__bases__)
            means = (kind.__doc__ or "").splitlines()[0]
            kinds.append(f"| `{kind.__name__}` | {bases} | {means} |")
    return join(
        [
            "# Errors",
            NOTE,
            "A message says what must hold, who broke it, where, what was received, and"
            " the cure.",
            "## Exit codes",
            EXIT_CODES,
            "## Codes of the service",
            "They stay the same; the sentence beside them may change. Over gRPC the"
            " code is in the trailing metadata, as `truepool-code`.",
            "\n".join(codes),
            method,
            "## Classes in Python",
            "All are in `truepool.core.errors`; `except tp.TruepoolError` catches"
            " them.",
            "\n".join(kinds),
        ]
    )
