"""One thread per process: cells run in parallel, not the code inside them."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any

POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit numerical libraries to one thread, also those that are loaded later.

    With more threads than free cores, boosted trees take a hundred times as long, and
    some models give different numbers.
    """
    from threadpoolctl import threadpool_limits

    before = {name: os.environ.get(name) for name in POOLS}
    os.environ.update(dict.fromkeys(POOLS, "1"))
    try:
        with threadpool_limits(1):
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit the linear algebra of numpy to one thread.

    For many small problems in a row, whose threads would only wait for each other. It
    takes a hundredth of the time of `one_thread`, and knows no library loaded later.
    """
    limit: AbstractContextManager[Any] = _blas().limit(limits=1)
    return limit


@lru_cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
