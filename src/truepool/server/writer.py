"""The writer: one thread that drains what was asked and commits it together.

An operation is answered after the commit that makes it durable, never before. With one
commit for all that waits, durability costs little under load.
"""

import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from truepool.core.errors import LedgerError, TruepoolError
from truepool.server.databases import ContentionError
from truepool.server.metrics import Metrics

GROUP = 1000
"""Operations in one commit, at most."""
Operation = Callable[[], Any]


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
        self.queue: SimpleQueue[tuple[Operation, Future[Any]] | None] = SimpleQueue()
        self.thread = Thread(target=self._run, name="ledger", daemon=True)
        self.thread.start()

    def submit(self, operation: Operation) -> "Future[Any]":
        """Return the future result of an operation, known once it is durable.

        It is done even if the caller leaves: the future cannot be cancelled.
        """
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        self.queue.put((operation, future))
        return future

    def close(self) -> None:
        """Finish what was asked, then stop."""
        self.queue.put(None)
        self.thread.join()

    def _run(self) -> None:
        going = True
        while going:
            first = self.queue.get()
            group = []
            item: Any = first
            while item is not None:
                group.append(item)
                if len(group) == GROUP:
                    break
                try:
                    item = self.queue.get_nowait()
                except Empty:
                    break
            going = item is not None
            if group:
                self._commit(group)

    def _commit(self, group: list[tuple[Operation, "Future[Any]"]]) -> None:
        answers: list[tuple[Future[Any], Any, BaseException | None]] = []
        start = time.perf_counter()
        try:
            with self.transaction():
                for operation, future in group:
                    try:
                        answers.append((future, operation(), None))
                    except LedgerError:
                        raise
                    except TruepoolError as error:
                        answers.append((future, None, error))
        except BaseException as error:  # nothing of the group was written
            self.reset()
            self.metrics.failures.inc()
            apart = isinstance(error, ContentionError) or not isinstance(
                error, LedgerError
            )
            if len(group) > 1 and apart:
                # One of them fails, and the others must not; or they lock several pools
                # in another order than another coordinator, and alone they do not.
                for alone in group:
                    self._commit([alone])
                return
            answers = [(future, None, error) for _, future in group]
        else:
            self.metrics.committed(len(group), time.perf_counter() - start)
        for future, answer, failure in answers:
            if failure is None:
                future.set_result(answer)
            else:
                future.set_exception(failure)
