"""A completion: what a model returned for one request, as it is stored."""

from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias, get_args

Fault: TypeAlias = Literal["refused", "cut off", "unreadable", "too long", "failed"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
"""Why a report is missing."""
VERDICTS = {"yes": 1.0, "no": 0.0}


@dataclass(frozen=True)
class Completion:
    """Text of an answer, why it is none, and what it used.

    ``model`` is what the endpoint says who answered. ``tokens_in`` and ``tokens_out``
    are None where the endpoint does not count them. ``verdict_logprobs`` are the
    tokens that could have stood in place of the verdict.
    """

    text: str
    fault: Fault | None = None
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    verdict_logprobs: dict[str, float] | None = None

    @classmethod
    def from_response(cls, found: Any, key: str) -> Self:
        """Return what is kept of a ``ChatCompletion``; the key of the user is not."""
        choice = found.choices[0] if found.choices else None
        usage, message = found.usage, None if choice is None else choice.message
        known: dict[str, Any] = {
            "model": str(found.model or "").replace(key, "***"),
            "tokens_in": None if usage is None else usage.prompt_tokens,
            "tokens_out": None if usage is None else usage.completion_tokens,
        }
        if choice is None or message is None:
            return cls("", "unreadable", **known)
        logprobs = _verdict_logprobs(choice)
        text = _text(message).replace(key, "***")
        return cls(text, _fault(choice), verdict_logprobs=logprobs, **known)


def plain(token: str) -> str:
    """Return a token without quotes, spaces and capitals.

    >>> plain(' "Yes')
    'yes'
    """
    return token.strip(" \t\r\n\"'.,{}:").lower()


def _text(message: Any) -> str:
    """Return the content, or the arguments of the tool that was called instead."""
    if message.tool_calls:
        return str(message.tool_calls[0].function.arguments)
    return str(message.content or "")


def _fault(choice: Any) -> Fault | None:
    if choice.message.refusal or choice.finish_reason == "content_filter":
        return "refused"
    return "cut off" if choice.finish_reason == "length" else None


def _verdict_logprobs(choice: Any) -> dict[str, float] | None:
    """Log-probabilities at the last token that is a verdict."""
    tokens = (choice.logprobs and choice.logprobs.content) or []
    for token in reversed(tokens):
        if plain(token.token) in VERDICTS:
            return {top.token: top.logprob for top in token.top_logprobs or []}
    return None
