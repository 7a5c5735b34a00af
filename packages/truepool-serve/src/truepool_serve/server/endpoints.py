"""Where an agent answers: a protocol, an address, and how features become a request."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self
from urllib.parse import urlsplit

from truepool.core.errors import SettingError, suggestion
from truepool_serve.server.configuration import LONGEST_NAME, MOST_CLASSES

OIP_HTTP, OIP_GRPC, MLFLOW, CHAT = "oip-http", "oip-grpc", "mlflow", "openai-chat"
SCHEMES = {
    OIP_HTTP: ("http", "https"),
    OIP_GRPC: ("grpc", "grpcs"),
    MLFLOW: ("http", "https"),
    CHAT: ("http", "https"),
}
"""How the address of each protocol begins."""
OWN = {
    OIP_HTTP: ("model", "version", "input", "output", "features", "labels"),
    OIP_GRPC: ("model", "version", "input", "output", "features", "labels"),
    MLFLOW: ("features", "labels"),
    CHAT: ("model", "question", "template", "answer_format"),
}
"""Further fields of each protocol."""
REQUIRED = {OIP_HTTP: ("model",), OIP_GRPC: ("model",), CHAT: ("model", "question")}
FORMATS = ("line", "schema", "tool")
TEMPLATES = ("cot", "direct", "judge")
"""Templates of truepool-jury that need one case and nothing else. A ledger that names
one can be read where truepool-jury is not installed."""
KEY_VARIABLE = re.compile(r"TRUEPOOL_KEY_[A-Z0-9_]{1,60}")
"""Only these variables of the environment are ever sent, each to its own agent."""
LONGEST_URL, LONGEST_QUESTION, MOST_FEATURES = 2000, 10_000, 10_000


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An address that may be called, and nothing else is."""

    protocol: str
    url: str
    key_variable: str | None = None
    model: str | None = None
    version: str | None = None
    input: str | None = None
    output: str | None = None
    features: tuple[str, ...] | None = None
    labels: tuple[Any, ...] | None = None
    question: str | None = None
    template: str | None = None
    answer_format: str | None = None

    @classmethod
    def parse(cls, given: Any) -> Self:
        """Check the JSON of an endpoint, as a request or the ledger has it."""
        known = _known_fields(cls, given)
        protocol = known["protocol"]
        _check_url(protocol, known.get("url"))
        for name in ("features", "labels"):
            if name in known:
                known[name] = _names(name, known[name])
        for name in REQUIRED.get(protocol, ()):
            if name not in known:
                raise SettingError(f"an endpoint of {protocol} must have {name!r}")
        if "input" in known and "features" not in known:
            raise SettingError(
                "an endpoint with one 'input' for all features must have 'features', "
                "their names in order"
            )
        variable = known.get("key_variable")
        if variable is not None and not KEY_VARIABLE.fullmatch(variable):
            raise SettingError(
                "key_variable must name a variable of the coordinator's environment "
                f"that begins with TRUEPOOL_KEY_; got {variable!r:.60}"
            )
        if protocol == CHAT:
            _check_chat(known)
        return cls(**known)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON that `parse` understands."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
            if value is not None
        }

    @property
    def key(self) -> str | None:
        """The key of the agent, from the environment, where it needs one."""
        return os.environ.get(self.key_variable or "") or None

    @property
    def headers(self) -> dict[str, str]:
        """What tells the agent who is asking."""
        key = self.key
        return {} if key is None else {"authorization": f"Bearer {key}"}


def _known_fields(cls: Any, given: Any) -> dict[str, Any]:
    """Fields of the protocol, each of its type."""
    if not isinstance(given, Mapping):
        raise SettingError(f"an endpoint must be a JSON object; got {given!r:.60}")
    protocol = given.get("protocol")
    if protocol not in SCHEMES:
        raise SettingError(
            f"the protocol of an endpoint is one of {', '.join(SCHEMES)}; got "
            f"{protocol!r:.60}"
        )
    allowed = ("protocol", "url", "key_variable", *OWN[str(protocol)])
    for name, value in given.items():
        if name not in allowed:
            raise SettingError(
                f"an endpoint of {protocol} has no {name!r:.60}"
                f"{suggestion(str(name), allowed)}; known: {', '.join(allowed)}"
            )
        longest = LONGEST_QUESTION if name == "question" else LONGEST_NAME
        plain = isinstance(value, str) and 1 <= len(value) <= longest
        if name not in ("url", "features", "labels") and not plain:
            raise SettingError(
                f"{name} of an endpoint must be text of 1 to {longest:,} characters; "
                f"got {value!r:.60}"
            )
    known = {field.name for field in fields(cls)}
    return {name: value for name, value in given.items() if name in known}


def _check_url(protocol: str, url: Any) -> None:
    schemes = SCHEMES[protocol]
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        sound = parts.scheme in schemes and bool(parts.hostname)
        sound = sound and parts.port != 0 and len(url) <= LONGEST_URL
        sound = sound and url.isascii() and url.isprintable() and " " not in url
    except ValueError:
        sound = False
    if not sound:
        raise SettingError(
            f"the url of an endpoint of {protocol} begins with {schemes[0]}:// or "
            f"{schemes[1]}:// and a host; got {url!r:.100}"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise SettingError(
            "the url of an endpoint has no user, password, query or fragment, because "
            f"it is shown; the one for {parts.hostname} has. Put a key into "
            "key_variable."
        )
    if protocol == OIP_GRPC and parts.path not in ("", "/"):
        raise SettingError(f"the url of an endpoint of {protocol} has no path")


def _names(what: str, given: Any) -> tuple[Any, ...]:
    kinds = (str, int) if what == "labels" else str
    most = MOST_CLASSES if what == "labels" else MOST_FEATURES
    plain = isinstance(given, list | tuple) and 1 <= len(given) <= most
    if (
        not plain
        or any(isinstance(n, bool) or not isinstance(n, kinds) for n in given)
        or len(set(given)) != len(given)
    ):
        raise SettingError(
            f"{what} of an endpoint must be a list of 1 to {most:,} different names; "
            f"got {given!r:.60}"
        )
    return tuple(given)


def _check_chat(known: Mapping[str, Any]) -> None:
    name = known.get("template", "direct")
    if name not in TEMPLATES:  # a name and never a file
        raise SettingError(
            f"the template of an endpoint is one of {', '.join(TEMPLATES)}; got "
            f"{name!r:.60}"
        )
    if known.get("answer_format", FORMATS[0]) not in FORMATS:
        raise SettingError(
            f"answer_format is one of {', '.join(FORMATS)}; got "
            f"{known['answer_format']!r:.60}"
        )
