"""An iterator whose next items are made in another thread."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def prefetch(items: Iterable[T], ahead: int = 2) -> Iterator[T]:
    """Yield the items in their order, and make up to ``ahead`` of the next meanwhile.

    What makes them must release the GIL to gain anything. An error is raised where its
    item would have come.

    >>> list(prefetch(n * n for n in range(4)))
    [0, 1, 4, 9]
    """
    iterator, end = iter(items), object()
    with ThreadPoolExecutor(1) as maker:
        waiting = deque(maker.submit(next, iterator, end) for _ in range(ahead))
        while (item := waiting.popleft().result()) is not end:
            waiting.append(maker.submit(next, iterator, end))
            yield item  # type: ignore[misc]
