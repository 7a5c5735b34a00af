"""An endpoint that speaks OpenAI's chat protocol, and what its errors mean."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

from truepool.core.distributions import require
from truepool.core.errors import EndpointError, SettingError, suggestion
from truepool.core.formatting import amount, printable
from truepool_jury.llm.completion import Completion
from truepool_jury.llm.template import Messages

KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
RESERVED = ("model", "messages", "stream", "n")
"""Fields of a request that have options of their own, or would change its meaning."""
CONNECT_TIMEOUT = 10.0
"""Longest wait for a connection, in seconds."""
MAX_SHOWN = 200
"""Characters of an endpoint's message that are shown."""


@dataclass(frozen=True)
class Endpoint:
    """Where requests go, which model answers them, and the key that pays for them.

    The key is never shown, stored or logged.
    """

    model: str
    key: str = field(repr=False)
    base_url: str | None = None
    key_variable: str = KEY_VARIABLE
    timeout: float = 60.0
    stream: bool = False
    request: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_environment(
        cls,
        model: str,
        *,
        base_url: str | None = None,
        key_variable: str = KEY_VARIABLE,
        timeout: float = 60.0,
        stream: bool = False,
        request: Mapping[str, Any] | None = None,
    ) -> Self:
        """Return the endpoint whose key, and URL if not given, the environment has."""
        require("openai", "truepool-jury[llm]", "asking a language model")
        key = os.environ.get(key_variable, "").strip()
        if not key:
            raise EndpointError(
                f"the key of the endpoint must be in the environment variable "
                f"{key_variable}, which is not set. Set it, or name another variable "
                "(key-variable); where no key is needed, any text will do."
            )
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise EndpointError(
                f"a key has no spaces and only plain characters; the one in "
                f"{key_variable} has others. Copy it again."
            )
        if not 0 < timeout < float("inf"):
            raise SettingError(
                f"timeout must be a positive number of seconds; got {timeout:g}"
            )
        for name in request or {}:
            if name in RESERVED:
                raise SettingError(
                    f"a request has its own {name!r}; other fields may be added. Leave "
                    "it out."
                )
        url = base_url or os.environ.get(URL_VARIABLE) or None
        return cls(
            model, key, _check_url(url), key_variable, timeout, stream, request or {}
        )

    def client(self) -> Any:
        """Return a client that retries nothing: `truepool_jury.llm.retry` does."""
        from httpx2 import Timeout
        from openai import AsyncOpenAI

        return AsyncOpenAI(
            api_key=self.key,
            base_url=self.base_url,
            timeout=Timeout(self.timeout, connect=min(self.timeout, CONNECT_TIMEOUT)),
            max_retries=0,
        )

    async def send(self, client: Any, messages: Messages, options: Any) -> Completion:
        """Send one request; ValueError if what came back is no whole completion."""
        from openai.types.chat import ChatCompletion

        fields = {"model": self.model, "messages": messages, **options}
        fields["extra_body"] = dict(self.request)
        if self.stream:
            found = await self._stream(client, fields)
        else:
            found = await client.chat.completions.create(**fields)
        if not isinstance(found, ChatCompletion):
            raise EndpointError(
                f"the endpoint must return chat completions; {client.base_url} returns "
                f"something else. Check the base URL, which usually ends in /v1."
            )
        return Completion.from_response(found, self.key)

    async def _stream(self, client: Any, fields: dict[str, Any]) -> Any:
        from openai import ContentFilterFinishReasonError, LengthFinishReasonError

        fields["stream_options"] = {"include_usage": True}
        try:
            async with client.chat.completions.stream(**fields) as events:
                found = await events.get_final_completion()
        except (LengthFinishReasonError, ContentFilterFinishReasonError) as stop:
            return stop.completion
        if any(choice.finish_reason is None for choice in found.choices):
            raise ValueError("the stream ended before the answer did")
        return found

    async def explain(self, client: Any, error: Exception) -> EndpointError:
        """Return an error of the client as a sentence with a cure."""
        from openai import APIStatusError, APITimeoutError

        where = str(client.base_url)
        if is_unreachable(error):
            return EndpointError(
                f"there must be an endpoint at {where}; no connection could be made "
                f"({self.censor(error.__cause__)}). Check the base URL, "
                f"which {URL_VARIABLE} may have; it usually ends in /v1."
            )
        if isinstance(error, APITimeoutError):
            return EndpointError(
                f"the endpoint must answer within {amount(self.timeout)} s; {where} "
                "did not. Allow a longer timeout, or a lower concurrency."
            )
        if not isinstance(error, APIStatusError):
            return EndpointError(
                f"the endpoint must return whole completions; {where} did not: "
                f"{self.censor(error.__cause__ or error)}. Try again later."
            )
        if error.status_code in (401, 403):
            return EndpointError(
                f"the endpoint must accept the key; {where} refuses the one in "
                f"{self.key_variable} ({error.status_code}). Set a valid one, or name "
                "another variable (key-variable)."
            )
        if error.status_code == 404:
            return await self._explain_404(client, where)
        return EndpointError(
            f"the endpoint must accept the request; {where} answers "
            f"{error.status_code}: {self.censor(error.message)}"
        )

    async def _explain_404(self, client: Any, where: str) -> EndpointError:
        from openai import OpenAIError

        try:
            known = [model.id async for model in client.models.list()]
        except (OpenAIError, ValueError, TypeError, AttributeError):
            return EndpointError(
                f"there must be chat completions at {where}; it knows neither them nor "
                f"a list of models. Check the model {self.model!r}, and the base URL, "
                f"which {URL_VARIABLE} may have; it usually ends in /v1."
            )
        close = suggestion(self.model, known) or (
            f"; it has {', '.join(known[:5])}" if known else ""
        )
        return EndpointError(
            f"the model must be one of the endpoint; {where} has no "
            f"{self.model!r}{self.censor(close)}. Name another model."
        )

    def censor(self, text: object) -> str:
        """Return a message of the endpoint, shortened and without the key."""
        words = printable(" ".join(str(text).replace(self.key, "***").split()))
        return words if len(words) <= MAX_SHOWN else f"{words[:MAX_SHOWN]}..."


def is_unreachable(error: Exception) -> bool:
    """Whether no connection could be made, as where there is no such server."""
    from httpx2 import ConnectError, ConnectTimeout, UnsupportedProtocol

    causes = (ConnectError, ConnectTimeout, UnsupportedProtocol)
    return isinstance(error.__cause__, causes)


def _check_url(url: str | None) -> str | None:
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        sound = False
    if not sound:
        raise SettingError(
            "a base URL starts with http:// or https:// and a host, as in "
            f"http://localhost:8000/v1; got {url!r}"
        )
    if parts.username or parts.password or parts.query:
        raise SettingError(
            "a base URL has no user name, password or query, because URLs are shown; "
            f"the one for {parts.hostname} has. Put the key into {KEY_VARIABLE}."
        )
    return url
