"""Alarms on the feeds of every pool, whether or not somebody looks at a page."""

import json
import logging
import time
import urllib.request
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from truepool.core.errors import SettingError
from truepool_serve import messages
from truepool_serve.messages import to_builtins
from truepool_serve.server.pool_view import recovery
from truepool_serve.server.watch import Noticed, Watch

if TYPE_CHECKING:
    from truepool_serve.server.coordinator import Coordinator

LOGGER = logging.getLogger("truepool_serve.server")
LAST = 2_000
"""Decisions that a new watch begins with, and after which an alarm is over."""
PATIENCE = 5.0
"""Seconds that a webhook has to answer."""


@dataclass
class _Watched:
    """A pool: its watch, up to which entry it has seen, and the alarms that last."""

    watch: Watch
    seen: int
    open: list[Noticed]


class Alarms:
    """The alarms of a coordinator, brought up to date every few seconds."""

    def __init__(self, coordinator: "Coordinator", webhook: str | None = None) -> None:
        self.coordinator, self.webhook = coordinator, webhook
        self.pools: dict[str, _Watched] = {}

    def update(self) -> None:
        """See what is new in every pool."""
        known = dict(self.coordinator.operations.pools)
        for name in set(self.pools) - set(known):
            del self.pools[name]
        for name, (number, state) in known.items():
            watched = self.pools.get(name)
            if watched is not None and watched.seen == state.n:
                continue
            self._see(name, number, state)

    def _see(self, name: str, number: int, state: Any) -> None:
        watched = self.pools.get(name)
        is_new = watched is None or watched.watch.agents != state.active
        if watched is None or is_new or watched.seen > state.n:
            watch = Watch(state.pool, state.active)
            watched = self.pools[name] = _Watched(watch, 0, [])
        last = state.n
        with self.coordinator.ledger.reader() as reader:
            decided = reader.decided(number, LAST, watched.seen)
        new = watched.watch.update(decided)
        recent = watched.watch.first_of_last(LAST)
        watched.open = [
            one
            for one in (*watched.open, *new)
            if one.n >= recent and recovery(one, decided) is None
        ]
        watched.seen = last
        for one in new:
            if one in watched.open:
                self._say(name, one)

    def _say(self, pool: str, one: Noticed) -> None:
        content = {"pool": pool, **to_builtins(describe(one))}
        LOGGER.error("alarm", extra={"fields": content})
        if self.webhook is None:
            return
        request = urllib.request.Request(
            self.webhook,
            json.dumps({"event": "alarm", "at": time.time(), **content}).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            urllib.request.urlopen(request, timeout=PATIENCE).close()
        except OSError as error:
            fields = {"pool": pool, "reason": str(error)}
            LOGGER.error("webhook failed", extra={"fields": fields})

    def of(self, pool: str) -> list[messages.Alarm]:
        """Return the alarms of a pool that last."""
        watched = self.pools.get(pool)
        return [] if watched is None else [describe(one) for one in watched.open]


def describe(one: Noticed) -> messages.Alarm:
    """Return an alarm as it is answered."""
    alarm = one.alarm
    return messages.Alarm(
        who=alarm.who,
        kind=alarm.kind,
        before=alarm.before if isfinite(alarm.before) else None,
        after=alarm.after if isfinite(alarm.after) else None,
        raised=one.at,
        since=one.since,
    )


def check_webhook(url: str) -> str:
    """Refuse what is no address of a web server."""
    if not url.startswith(("http://", "https://")):
        raise SettingError(
            "alarm-webhook must be a URL that begins with http:// or https://; got "
            f"{url!r:.100}"
        )
    return url
