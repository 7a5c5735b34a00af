"""The part of JSON schema that `audit.schema.json` uses."""

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
    "null": type(None),
}  # fmt: skip


def faults(value, schema, root=None, place="$"):
    """Yield where a value is not what a schema says."""
    root = root or schema
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        tried = [list(faults(value, one, root, place)) for one in schema["anyOf"]]
        if all(tried):
            yield from min(tried, key=len)
        return
    if "const" in schema and value != schema["const"]:
        yield f"{place}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is none of {schema['enum']}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    is_bool = isinstance(value, bool) and "boolean" not in kinds
    if kinds and (
        is_bool
        or not isinstance(value, tuple(t for k in kinds for t in _all(TYPES[k])))
    ):
        yield f"{place}: {value!r} is no {' or '.join(kinds)}"
        return
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{place}: {name} is missing"
        for name, each in value.items():
            if name in known:
                yield from faults(each, known[name], root, f"{place}.{name}")
            elif schema.get("additionalProperties") is False:
                yield f"{place}: {name} is unknown"
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", len(value)):
            yield f"{place}: more than {schema['maxItems']}"
        for i, each in enumerate(value):
            yield from faults(each, schema.get("items", {}), root, f"{place}[{i}]")


def _all(kind):
    return kind if isinstance(kind, tuple) else (kind,)
