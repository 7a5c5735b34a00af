"""Where work is done: in this process, in others of this machine, or on a cluster."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Self, TypeVar, final

from truepool.core.errors import SettingError, UnknownNameError

A = TypeVar("A")
B = TypeVar("B")

ENGINES = ("local", "ray")


class Engine(ABC):
    """Maps a pure function over items; workers change when it is done, never what.

    An engine is used as a context: what it starts or connects to ends with it.
    """

    @property
    def in_process(self) -> bool:
        """Whether the work runs in this process, and can show its own progress."""
        return False

    @abstractmethod
    def map(self, work: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """Yield the results in the order of the items."""

    @abstractmethod
    def map_unordered(
        self, work: Callable[[A], B], items: Iterable[A]
    ) -> Iterator[tuple[int, B]]:
        """Yield results as soon as they are there, each with the place of its item."""

    def __enter__(self) -> Self:
        return self

    def __exit__(  # noqa: B027
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what was started."""


@final
@dataclass(frozen=True)
class Processes(Engine):
    """So many processes of this machine (joblib); -1 is one for each core.

    >>> with Processes() as engine:
    ...     list(engine.map(abs, [-2, 1]))
    [2, 1]
    """

    jobs: int = 1

    @property
    def in_process(self) -> bool:
        """Whether the work runs in this process."""
        return self.jobs == 1

    def map(self, work: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """Yield the results in the order of the items."""
        if self.in_process:
            yield from map(work, items)
            return
        from joblib import Parallel, delayed

        run = Parallel(n_jobs=self.jobs, return_as="generator")
        yield from run(delayed(work)(item) for item in items)

    def map_unordered(
        self, work: Callable[[A], B], items: Iterable[A]
    ) -> Iterator[tuple[int, B]]:
        """Yield results as soon as they are there, each with the place of its item."""
        if self.in_process:
            yield from enumerate(map(work, items))
            return
        from joblib import Parallel, delayed

        # batch_size=1: joblib returns a batch of items only when its last one is done.
        run = Parallel(n_jobs=self.jobs, batch_size=1, return_as="generator_unordered")
        yield from run(
            delayed(_with_place)(place, work, item) for place, item in enumerate(items)
        )


def _with_place(place: int, work: Callable[[A], B], item: A) -> tuple[int, B]:
    return place, work(item)


def make_engine(
    name: str = "local", address: str | None = None, *, jobs: int = 1
) -> Engine:
    """Return an engine by name; nothing is started or connected to yet.

    ``address`` is HOST:PORT of the head node of a Ray cluster; without it a Ray of its
    own runs on this machine while the engine is open. ``jobs`` is for ``local``.
    """
    if name not in ENGINES:
        raise UnknownNameError("engine", name, ENGINES)
    if name == "ray":
        from truepool.core.engine.ray_cluster import RayCluster

        return RayCluster(address)
    if address is not None:
        raise SettingError(
            f"address is the head node of a Ray cluster; got {address!r} with the "
            f"engine {name!r}. Set engine=ray, or leave out the address."
        )
    return Processes(jobs)


def map_with_progress(
    engine: Engine,
    work: Callable[[A, Callable[[int], None]], B],
    items: Iterable[A],
    size: Callable[[A], int],
    progress: Callable[[int], None],
) -> Iterator[B]:
    """Map work that shows its own progress; elsewhere, an item counts when it is done.

    ``work`` takes an item and the function that it calls with the rows just done,
    ``size`` says how many rows an item has.
    """
    items = list(items)
    if engine.in_process:
        yield from engine.map(_Call(work, progress), items)
        return
    for item, result in zip(items, engine.map(_Call(work), items), strict=True):
        progress(size(item))
        yield result


def _no_progress(rows: int) -> None:
    """Show nothing: the process that does the work has no terminal."""


@dataclass(frozen=True, eq=False)
class _Call(Generic[A, B]):
    work: Callable[[A, Callable[[int], None]], B]
    progress: Callable[[int], None] = _no_progress

    def __call__(self, item: A) -> B:
        return self.work(item, self.progress)
