"""An exchange: one request, sent until it is answered or patience ends.

Everything that a client sends may be sent again: the coordinator knows a report by its
pool, case and agent, and a decision or an outcome by its pool and case.
"""

import json
import time
from collections.abc import Generator
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias, TypeVar

from truepool.core.errors import RequestError, SettingError

FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0
"""Seconds before the first retry, doubled for each further one, and at most."""
PATIENCE = 60.0
"""Seconds that a request is sent again before its error is raised."""
LONGEST_SHOWN = 200
"""Characters that are shown of an answer that is not of a coordinator."""
NO_TOKEN = (
    "a valid token is needed; give it as token=, as in "
    "tp.Client('http://localhost:8765', token='tp_...')"
)
"""The coordinator speaks of a header, which a client writes itself."""
TEMPORARY = (408, 425, 429, 500, 502, 503, 504)
"""Statuses after which the same request may succeed."""


@dataclass(frozen=True)
class Request:
    """What to send."""

    method: str
    path: str
    content: bytes | None = None


@dataclass(frozen=True)
class Reply:
    """What was answered; ``wait`` is how many seconds the coordinator asks to wait."""

    status: int
    content: bytes
    wait: float = 0.0


@dataclass(frozen=True)
class Failure:
    """Nothing was answered, and why; the request may have been carried out."""

    reason: str


Step: TypeAlias = Request | float
"""A request to send, or the seconds to wait."""
Result = TypeVar("Result")
Steps: TypeAlias = Generator[Step, Reply | Failure | None, Result]


@dataclass(frozen=True)
class Exchange:
    """Sends requests to a coordinator, each until it is answered."""

    url: str
    patience: float
    jitter: Random

    def __post_init__(self) -> None:
        if not self.patience >= 0:
            raise SettingError(
                f"patience must be a number of seconds, 0 or more; got {self.patience}"
            )

    def ask(self, request: Request) -> Steps[bytes]:
        """Return the content of an answer; raise what the coordinator refuses."""
        end, attempt = time.monotonic() + self.patience, 0
        while True:
            reply = yield request
            if isinstance(reply, Reply) and reply.status < 300:
                return reply.content
            wait = self._wait(attempt)
            if isinstance(reply, Reply):
                if reply.status not in TEMPORARY:
                    raise _refusal(reply)
                wait = max(wait, reply.wait)
            attempt += 1
            if time.monotonic() + wait > end:
                raise self._unavailable(reply, attempt)
            yield wait

    def json(self, request: Request) -> Steps[Any]:
        """Return the value of an answer in JSON."""
        content = yield from self.ask(request)
        try:
            return json.loads(content)
        except ValueError:
            raise RequestError("invalid", self._strange(content)) from None

    def _wait(self, attempt: int) -> float:
        """Exponential backoff, of which a random half keeps clients apart."""
        longest = min(FIRST_WAIT * 2.0 ** min(attempt, 60), LONGEST_WAIT)
        return longest * self.jitter.uniform(0.5, 1.0)

    def _unavailable(
        self, reply: Reply | Failure | None, attempts: int
    ) -> RequestError:
        if isinstance(reply, Reply):
            error = _refusal(reply)
            return RequestError(
                error.code, f"{error} ({attempts} attempts in {self.patience:g} s)"
            )
        reason = reply.reason if reply else "no answer"
        return RequestError(
            "unavailable",
            f"a coordinator must answer at {self.url}; it did not in {attempts} "
            f"attempts ({reason}). Start it with `truepool serve`, or check the "
            "address.",
        )

    def _strange(self, content: bytes) -> str:
        shown = content[:LONGEST_SHOWN].decode(errors="replace")
        return f"a coordinator must answer at {self.url} in JSON; got {shown!r}"


def _refusal(reply: Reply) -> RequestError:
    """The error in an answer; a proxy in between answers in other ways."""
    try:
        error = json.loads(reply.content)["error"]
        code, sentence = str(error["code"]), str(error["message"])
        return RequestError(code, NO_TOKEN if code == "unauthenticated" else sentence)
    except (ValueError, LookupError, TypeError):
        code = "unavailable" if reply.status in TEMPORARY else "invalid"
        shown = reply.content[:LONGEST_SHOWN].decode(errors="replace")
        return RequestError(
            code,
            f"the answer must come from a coordinator; got status {reply.status} with "
            f"{shown!r}",
        )
