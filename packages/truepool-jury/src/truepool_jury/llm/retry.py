"""Retries: whether a failed request is sent again, and after how long."""

import time
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from random import Random
from typing import Any

from truepool.core.errors import SettingError

LONGEST_REQUESTED_WAIT = 600.0
"""Seconds that an endpoint may ask to wait; after a longer one the run stops."""
QUOTA = "insufficient_quota"
"""Code of an endpoint whose limit no waiting lifts."""


@dataclass(frozen=True)
class Retry:
    """Exponential backoff with jitter; a Retry-After of the endpoint comes first.

    The wait before retry i = 0, 1, ... is a random part, from a half to all, of
    ``first_wait`` 2^i, at most ``longest_wait`` seconds.
    """

    retries: int = 5
    first_wait: float = 0.5
    longest_wait: float = 30.0

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise SettingError(f"retries must be at least 0; got {self.retries}")

    def wait(self, error: Any, retry: int, jitter: Random) -> float | None:
        """Return the seconds to wait before a retry; None if there must be none."""
        from openai import APIStatusError

        if retry >= self.retries or not is_temporary(error):
            return None
        longest = min(self.first_wait * 2.0**retry, self.longest_wait)
        backoff = longest * jitter.uniform(0.5, 1)
        if isinstance(error, APIStatusError):
            return max(backoff, requested_wait(error.response.headers))
        return backoff


def is_temporary(error: Exception) -> bool:
    """Whether asking again may help: rate limits, faults of the server, timeouts."""
    from openai import APIConnectionError, APIStatusError

    if isinstance(error, APIStatusError):
        return error.status_code in (408, 409, 429) or error.status_code >= 500
    # A timeout, a connection that broke, an answer that was cut on its way.
    return isinstance(error, APIConnectionError | ValueError)


def requested_wait(headers: Any) -> float:
    """Return the seconds that a response asks to wait, as a number or a date.

    >>> requested_wait({"retry-after": "7"}), requested_wait({"retry-after-ms": "20"})
    (7.0, 0.02)
    >>> requested_wait({}), requested_wait({"retry-after": "soon"})
    (0.0, 0.0)
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            return max(0.0, float(text) / unit)
        except ValueError:
            date = parsedate_tz(text)
            return 0.0 if date is None else max(0.0, mktime_tz(date) - time.time())
    return 0.0
