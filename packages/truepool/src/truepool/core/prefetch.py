"""An iterator whose next items are made in another thread."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar

T = TypeVar("T")


def prefetch(items: Iterable[T], ahead: int = 2) -> Iterator[T]:
    """Yield the items in their order, and make up to ``ahead`` of the next meanwhile.

    What makes them must release the GIL to gain anything. An error is raised where its
    item would have come. Context variables, such as the names of rows, have the values
    that they have here.

    >>> list(prefetch(n * n for n in range(4)))
    [0, 1, 4, 9]
    """
    iterator, end = iter(items), object()
    step = partial(copy_context().run, next, iterator, end)
    with ThreadPoolExecutor(1) as maker:
        waiting = deque(maker.submit(step) for _ in range(ahead))
        while (item := waiting.popleft().result()) is not end:
            waiting.append(maker.submit(step))
            yield item  # type: ignore[misc]
