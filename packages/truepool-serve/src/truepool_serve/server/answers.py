"""Answers of the writer, and how those who asked wait for them.

A commit answers many requests together. An event loop is woken once for all of them:
to wake it takes a system call, which takes longer than a small request does.
"""

import asyncio
from collections.abc import Iterable
from threading import Event
from typing import Any, Generic, TypeVar

Found = TypeVar("Found")


class Answer(Generic[Found]):
    """What an operation returns, or the error it raises, once that is durable.

    It is for one caller, in a thread (`result`) or on an event loop (`after`). The
    locks of a `concurrent.futures.Future` would take longer than most operations.
    """

    __slots__ = ("_event", "_found", "_is_done", "_waiter")

    def __init__(self) -> None:
        self._is_done = False
        self._found: Any = None
        self._event: Event | None = None
        self._waiter: asyncio.Future[None] | None = None

    def done(self) -> bool:
        """Whether it is there."""
        return self._is_done

    def result(self, timeout: float | None = None) -> Found:
        """Wait until it is there; return it, or raise its error."""
        # Whoever waits leaves a note first and looks after; `give` does it the other
        # way round, and so nobody is forgotten between the two.
        if not self._is_done:
            event = self._event = Event()
            if not self._is_done and not event.wait(timeout):
                raise TimeoutError
        if isinstance(self._found, BaseException):
            raise self._found
        found: Found = self._found
        return found


async def after(answer: Answer[Found]) -> Found:
    """Wait until what was asked is durable; return the answer, or raise its error.

    Whoever is cancelled meanwhile leaves; what was asked is done nevertheless.
    """
    if not answer.done():
        waiter = answer._waiter = asyncio.get_running_loop().create_future()
        if not answer.done():
            await waiter
    return answer.result()


def give(answers: Iterable[tuple[Answer[Any], Any]]) -> None:
    """Give answers, some of which may be errors, to those who wait for them."""
    waiters: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for answer, found in answers:
        if answer._is_done:  # who waited too long has an error already
            continue
        answer._found = found
        answer._is_done = True
        if answer._event is not None:
            answer._event.set()
        if answer._waiter is not None:
            waiters.setdefault(answer._waiter.get_loop(), []).append(answer._waiter)
    for loop, those in waiters.items():
        try:
            loop.call_soon_threadsafe(_wake, those)
        except RuntimeError:  # it has ended, and nobody waits
            continue


def _wake(waiters: "list[asyncio.Future[None]]") -> None:
    for waiter in waiters:
        if not waiter.done():  # else it has left
            waiter.set_result(None)
