"""Answers of the writer, and how those who asked on an event loop wait for them.

A commit answers many requests together. The loop is woken once for all of them: to wake
it takes a system call, which for a small request is longer than the request itself.
"""

import asyncio
from collections import deque
from concurrent.futures import Future
from typing import Any
from weakref import WeakKeyDictionary

Answer = Future[Any]


async def after(answer: Answer) -> Any:
    """Wait until what was asked is durable; return the answer, or raise its error.

    Whoever is cancelled meanwhile leaves; what was asked is done nevertheless.
    """
    if not answer.done():
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        mailbox = _MAILBOXES.get(loop) or _MAILBOXES.setdefault(loop, Mailbox())
        answer.add_done_callback(lambda _: mailbox.put(waiter))
        await waiter
    return answer.result()


class Mailbox:
    """Those whose answers are there, until the event loop has told them."""

    def __init__(self) -> None:
        self.waiters: deque[asyncio.Future[None]] = deque()
        self.announced = False

    def put(self, waiter: "asyncio.Future[None]") -> None:
        """Let somebody go on; called in any thread."""
        # Put first, announced after: the loop does it the other way round, and so
        # nobody is forgotten between the two.
        self.waiters.append(waiter)
        loop = waiter.get_loop()
        if not self.announced and not loop.is_closed():
            self.announced = True
            loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self.announced = False
        while self.waiters:
            waiter = self.waiters.popleft()
            if not waiter.done():  # else it has left
                waiter.set_result(None)


_MAILBOXES: WeakKeyDictionary[asyncio.AbstractEventLoop, Mailbox] = WeakKeyDictionary()
