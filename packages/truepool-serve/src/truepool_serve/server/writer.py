"""The writer: one thread that drains what was asked and commits it together.

An operation is answered after the commit that makes it durable, never before. With one
commit for all that waits, durability costs little under load.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

from truepool.core.errors import (
    LearnerError,
    LedgerError,
    PluginError,
    PoolError,
    TruepoolError,
)
from truepool_serve.server.answers import Answer, Found, give
from truepool_serve.server.databases import ContentionError
from truepool_serve.server.metrics import Metrics

GROUP = 1000
"""Operations in one commit, at most."""
CROWD = 10
PAUSE = 0.0005
"""After a commit of a crowd of operations the next one waits so many seconds for more:
their threads then change turns once for all, which takes most of a commit's time."""
LONGEST_COMMIT = 20.0
"""Seconds after which nobody waits any longer for a database."""
FAULTS = (LedgerError, PluginError, LearnerError, PoolError)
"""Errors that are no refusals: an operation may have been half done by then."""
Operation = Callable[[], Any]


@dataclass(frozen=True, eq=False)
class JointOperation:
    """What is done at once for all who ask for it one after the other.

    ``act`` gets what each of them gives, and returns an answer or an error for each.
    ``count`` gets both when they are durable.
    """

    act: Callable[[list[Any]], list[Any]]
    count: Callable[[list[Any], list[Any]], None]


Count = Callable[[Any], None]
Item = tuple[Any, JointOperation | None, Count | None, Answer[Any]]
"""An operation and its count, or what a joint operation is given; and the answer."""


class Writer:
    """Runs operations in a thread of its own, and commits them in groups.

    ``transaction`` is a context manager that commits at its end. After a commit that
    failed, ``reset`` must undo what the operations did in memory.
    """

    def __init__(
        self, transaction: Callable[[], Any], reset: Operation, metrics: Metrics
    ) -> None:
        self.transaction = transaction
        self.reset = reset
        self.metrics = metrics
        self.queue: SimpleQueue[Item | None] = SimpleQueue()
        self.under_way: tuple[float, list[Item]] | None = None
        self.failure: tuple[float, BaseException] | None = None
        self.is_closed = Event()
        self.thread = Thread(target=self._run, name="ledger", daemon=True)
        self.thread.start()
        Thread(target=self._watch, name="watch", daemon=True).start()

    def submit(
        self, operation: Callable[[], Found], count: Count | None = None
    ) -> Answer[Found]:
        """Return the answer of an operation, known once it is durable.

        It is done even if the caller leaves. ``count`` gets an answer that is no error.
        """
        answer: Answer[Found] = Answer()
        self.queue.put((operation, None, count, answer))
        return answer

    def submit_jointly(self, joint: JointOperation, given: Any) -> Answer[Any]:
        """Like `submit`, of an operation that others may ask for at the same time."""
        answer: Answer[Any] = Answer()
        self.queue.put((given, joint, None, answer))
        return answer

    def check(self, seconds: float) -> None:
        """Raise the error of a commit that failed in the last seconds."""
        if self.failure is not None and time.monotonic() - self.failure[0] < seconds:
            raise self.failure[1]

    def close(self) -> None:
        """Finish what was asked, then stop."""
        self.is_closed.set()
        self.queue.put(None)
        self.thread.join()

    def _run(self) -> None:
        item: Item | None = self.queue.get()
        group: list[Item] = []
        while item is not None:
            if len(group) >= CROWD:
                time.sleep(PAUSE)
            group = [item]
            while len(group) < GROUP:
                try:
                    item = self.queue.get_nowait()
                except Empty:
                    break
                if item is None:
                    break
                group.append(item)
            self._commit(group)
            if item is not None:
                item = self.queue.get()

    def _watch(self) -> None:
        """Answer those who wait for a database that hangs.

        What they asked for may be done later, or not: they ask again.
        """
        while not self.is_closed.wait(LONGEST_COMMIT / 10):
            found = self.under_way
            if found is None or time.monotonic() - found[0] < LONGEST_COMMIT:
                continue
            waiting = list(found[1])
            while True:
                try:
                    item = self.queue.get_nowait()
                except Empty:
                    break
                if item is None:
                    self.queue.put(None)
                    break
                waiting.append(item)
            error = LedgerError(
                f"the ledger has not answered for {LONGEST_COMMIT:g} seconds"
            )
            give((item[-1], error) for item in waiting if not item[-1].done())

    def _commit(self, group: list[Item]) -> None:
        self.under_way = time.monotonic(), group
        try:
            self._commit_group(group)
        finally:
            self.under_way = None

    def _commit_group(self, group: list[Item]) -> None:
        # Nothing overtakes anything: only neighbours are done together.
        runs = [(joint, list(items)) for joint, items in groupby(group, itemgetter(1))]
        found: list[list[Any]] = []
        start = time.perf_counter()
        try:
            with self.transaction():
                for joint, items in runs:
                    found.append(_answers(joint, items))
        except BaseException as error:  # nothing of the group was written
            self.reset()
            self.metrics.failures.inc()
            apart = isinstance(error, ContentionError) or not isinstance(
                error, LedgerError
            )
            if not apart:
                self.failure = time.monotonic(), error
            if len(group) > 1 and apart:
                # One of them fails, and the others must not; or they lock several pools
                # in another order than another coordinator, and alone they do not.
                for alone in group:
                    self._commit_group([alone])
                return
            give((item[-1], error) for item in group)
            return
        self.metrics.committed(len(group), time.perf_counter() - start)
        for (joint, items), answers in zip(runs, found, strict=True):
            _count(joint, items, answers)
        give(zip(map(itemgetter(-1), group), chain(*found), strict=True))


def attempt(operation: Operation) -> Any:
    """Return the answer of an operation, or why it is refused."""
    try:
        return operation()
    except FAULTS:  # nothing of the transaction may stay
        raise
    except TruepoolError as error:
        return error


def _answers(joint: JointOperation | None, items: list[Item]) -> list[Any]:
    if joint is None:
        return [attempt(item[0]) for item in items]
    return joint.act([item[0] for item in items])


def _count(joint: JointOperation | None, items: list[Item], answers: list[Any]) -> None:
    if joint is not None:
        joint.count([item[0] for item in items], answers)
        return
    for (_, _, count, _), answer in zip(items, answers, strict=True):
        if count is not None and not isinstance(answer, BaseException):
            count(answer)
