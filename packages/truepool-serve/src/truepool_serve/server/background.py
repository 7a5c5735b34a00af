"""What a coordinator does by itself: refits that are due, and verification.

Either takes seconds to minutes of processor time. It runs in a process of its own, at
the lowest priority and on one thread, so that no request waits for it.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from truepool.core.errors import LedgerError, TruepoolError

if TYPE_CHECKING:
    from truepool_serve.server.coordinator import Coordinator
    from truepool_serve.server.rules import RefitJob

LOWEST = 19
"""Priority of the process (``nice``)."""
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)
Snapshot: TypeAlias = tuple[str, int, Callable[[], dict[str, bytes]]]
"""A pool, the number of an entry, and what packs the state after it."""
HOUR = 3600.0
WATCH_EVERY = 5.0
"""Seconds between two looks at the feeds."""
MORE = 10
"""New settled cases after which a refit that failed is tried again."""


class Background:
    """A thread that waits for what is due, and lets it be done."""

    def __init__(self, coordinator: "Coordinator", verify_every: float = 0.0) -> None:
        self.coordinator = coordinator
        self.seconds = HOUR * verify_every
        self.process: subprocess.Popen[bytes] | None = None
        self.is_closed = False
        self.failed: dict[tuple[str, str], int] = {}
        self.snapshots: SimpleQueue[Snapshot | None] = SimpleQueue()
        self.threads = [
            Thread(target=act, name=name, daemon=True)
            for name, act in (("work", self._run), ("snapshots", self._keep))
        ]

    def __enter__(self) -> "Background":
        act = self.coordinator.operations
        act.take_snapshot = lambda *words: self.snapshots.put(words)
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_closed = True
        self.snapshots.put(None)
        self.coordinator.operations.due.put(None)
        process = self.process
        if process is not None:
            process.kill()
        for thread in self.threads:
            thread.join()

    def _keep(self) -> None:
        """Pack snapshots, submit them like requests, and watch the feeds."""
        while not self.is_closed:
            try:
                item = self.snapshots.get(timeout=WATCH_EVERY)
            except Empty:
                self._attempt("watch", self.coordinator.alarms.update)
                continue
            if item is not None:
                self._attempt("snapshot", self.keep, *item)

    def keep(self, pool: str, n: int, pack: Callable[[], dict[str, bytes]]) -> None:
        """Pack the state of a pool after an entry, and keep it."""
        act, states = self.coordinator.operations, pack()
        self.coordinator.writer.submit(
            lambda: act.keep_snapshot(pool, n, states)
        ).result()

    def _run(self) -> None:
        due, verified = self.coordinator.operations.due, time.monotonic()
        while not self.is_closed:
            left = None
            if self.seconds:
                left = max(0.0, verified + self.seconds - time.monotonic())
            try:
                item = due.get(timeout=left)
            except Empty:
                self._attempt("verification", self.verify)
                verified = time.monotonic()
                continue
            if item is not None:
                self._attempt("refit", self.refit, *item)

    def _attempt(self, what: str, act: Callable[..., object], *words: Any) -> None:
        from truepool_serve.server.observation import LOGGER

        try:
            act(*words)
        except (TruepoolError, OSError) as error:
            if not self.is_closed:
                fields = {"of": list(map(str, words[:2])), "reason": str(error)}
                LOGGER.error(f"{what} failed", extra={"fields": fields})

    def refit(self, pool: str, rule: str) -> None:
        """Fit the pools of a rule, if that is still due, and submit them."""

        def fit(job: "RefitJob") -> dict[str, bytes]:
            if job.settled < self.failed.get((pool, rule), 0):
                return {}
            self.failed[pool, rule] = job.settled + MORE
            files = msgspec.msgpack.decode(self.work("refit", job.pack()))
            del self.failed[pool, rule]
            return dict(files)

        if self.coordinator.refit(pool, rule, fit):
            self.coordinator.metrics.refits.labels(pool).inc()

    def verify(self) -> None:
        """Verify every pool as it is now, and mark it."""
        from truepool_serve.server.records import RecordError

        database = self.coordinator.ledger.database
        found = json.loads(self.work("verify", database.place.encode()))
        self.coordinator.mark(
            {
                each["pool"]: RecordError(each["record"], each["reason"])
                if "reason" in each
                else None
                for each in found
            }
        )

    def work(self, job: str, content: bytes) -> bytes:
        """Return what the process makes of a job."""
        command = [sys.executable, "-W", "ignore", "-m", __name__, job]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=os.environ | ONE_THREAD
        )
        try:
            found, said = self.process.communicate(content)
        finally:
            code, self.process = self.process.poll(), None
        if code:
            lines = said.decode(errors="replace").strip().splitlines() or ["it ended"]
            raise LedgerError(f"the process of a {job} failed: {lines[-1]:.200}")
        return found


def _refit(content: bytes) -> bytes:
    from truepool_serve.server.rules import RefitJob

    return msgspec.msgpack.encode(RefitJob.unpack(content).run())


def _verify(content: bytes) -> bytes:
    from truepool_serve.server.ledger import Ledger
    from truepool_serve.server.verification import verify_all

    with Ledger(content.decode(), write=False) as ledger:
        return json.dumps([vars(each) for each in verify_all(ledger)]).encode()


JOBS = {"refit": _refit, "verify": _verify}


def main() -> None:
    """Do the job that the command line names."""
    os.nice(LOWEST)
    found = JOBS[sys.argv[1]](sys.stdin.buffer.read())
    sys.stdout.buffer.write(found)


if __name__ == "__main__":
    main()
