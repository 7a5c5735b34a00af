"""The service: its operations over HTTP and gRPC, and the codes of its errors."""

import re
import tempfile
from pathlib import Path
from typing import Any

from reference.page import NOTE, ROOT, join

EXIT_CODES = """\
| code | means |
|---|---|
| 0 | fine |
| 1 | a finding to fail on (`--fail-on`), or a budget of `agent llm` is used up |
| 2 | bad input: one sentence on standard error, nothing half-written |"""


def http() -> str:
    """Return the operations over HTTP, as OpenAPI describes them."""
    from truepool.server.coordinator import Coordinator
    from truepool.server.http import app

    with tempfile.TemporaryDirectory() as folder:
        coordinator = Coordinator(Path(folder) / "pools.db")
        api = app(coordinator).openapi()
        coordinator.close()
    parts = [
        "# HTTP",
        NOTE,
        "Every operation of [`truepool serve`](../serve.md), from its OpenAPI document "
        "(`GET /openapi.json`). Names in braces are parts of the path; bodies are JSON "
        "unless another type is named. Errors have a [code](errors.md).",
    ]
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            parts.append(f"## {method.upper()} {path}")
            parts.append(f"{operation['description'].rstrip('.')}.")
            parts += fields(operation, api["components"]["schemas"])
    return join(parts)


def fields(operation: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    """Return a table of the query and one of the body of an operation."""
    rows = [
        (entry["name"], entry["schema"], "")
        for entry in operation.get("parameters", ())
        if entry["in"] == "query"
    ]
    found = [table("query", "meaning", rows)] if rows else []
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = dereference(content["schema"], schemas)
        named = schema.get("properties", {})
        needed = schema.get("required", ())
        rows = [
            (name, entry, "Required." if name in needed else "")
            for name, entry in named.items()
        ]
        found.append(table("field", "", rows) if rows else f"Body: `{kind}`.")
    return found


def dereference(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the schema that a reference, or a choice with null, is about."""
    for choice in (schema, *schema.get("anyOf", ())):
        if "$ref" in choice:
            found: dict[str, Any] = schemas[choice["$ref"].rpartition("/")[2]]
            return found
    return schema


def table(what: str, last: str, rows: list[tuple[str, dict[str, Any], str]]) -> str:
    """Return a table of fields with their types."""
    lines = [f"| {what} | type | default | {last} |", "|---|---|---|---|"]
    for name, schema, note in rows:
        default = schema.get("default")
        shown = "" if default is None else f"`{default}`"
        words = " ".join(filter(None, (note, schema.get("description", ""))))
        lines.append(f"| `{name}` | {type_name(schema)} | {shown} | {words} |")
    return "\n".join(lines)


def type_name(schema: dict[str, Any]) -> str:
    """Return the type of a field in words.

    >>> type_name({"anyOf": [{"type": "number"}, {"type": "array"}]})
    'number or array'
    """
    if "anyOf" in schema:
        return " or ".join(type_name(choice) for choice in schema["anyOf"])
    return str(schema.get("type", "any"))


def grpc() -> str:
    """Return the methods of the coordinator, and its ``.proto`` file."""
    folder = ROOT / "src" / "truepool" / "server" / "protocol"
    text = (folder / "coordinator.proto").read_text()
    lines = ["| method | request | response | |", "|---|---|---|---|"]
    pattern = r"((?:  //.*\n)*)  rpc (\w+)\(([\w ]+)\) returns \(([\w ]+)\);"
    for comment, name, request, response in re.findall(pattern, text):
        words = " ".join(re.findall(r"// (.*)", comment))
        lines.append(f"| `{name}` | `{request}` | `{response}` | {words} |")
    return join(
        [
            "# gRPC: services and messages",
            NOTE,
            "Methods of the service `truepool.v1.Coordinator`; [how to use it]"
            "(../grpc.md). Errors have a [code](errors.md).",
            "\n".join(lines),
            "## coordinator.proto",
            f"```proto\n{text.strip()}\n```",
        ]
    )


def errors() -> str:
    """Return the codes of requests, the exit codes and the classes of errors."""
    from truepool.core import errors as module
    from truepool.server import grpc_server
    from truepool.server import http as http_server

    codes = ["| code | HTTP | gRPC |", "|---|---|---|"]
    for code, status in http_server.STATUS.items():
        codes.append(f"| `{code}` | {status} | {grpc_server.STATUS[code].name} |")
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
            "## Classes in Python",
            "All are in `truepool.core.errors`; `except tp.TruepoolError` catches"
            " them.",
            "\n".join(kinds),
        ]
    )
