"""Keys and values as lines of TOML."""

import json
import re
from collections.abc import Mapping
from typing import Any


def to_toml(values: Mapping[str, Any]) -> str:
    """Return keys as the lines of a file.

    >>> print(to_toml({"positive": "ja", "scores.a": "0-9", "percent": ["b"]}), end="")
    positive = "ja"
    scores.a = "0-9"
    percent = ["b"]
    """
    lines = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            lines.append(
                to_toml({f"{name}.{own}": each for own, each in value.items()})
            )
            continue
        first, dot, part = name.partition(".")
        if part and not re.fullmatch("[A-Za-z0-9_-]+", part):
            part = toml_value(part)
        lines.append(f"{first}{dot}{part} = {toml_value(value)}\n")
    return "".join(lines)


def toml_value(value: Any) -> str:
    r"""Return a value in TOML; its texts are written as in JSON, on one visible line.

    >>> print(toml_value(["ja", "a\u2028b"]))
    ["ja", "a\U00002028b"]
    """
    listed = list(value) if isinstance(value, tuple) else value
    text = json.dumps(listed, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)
