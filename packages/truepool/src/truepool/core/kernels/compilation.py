"""Compilation by numba, with its cache on disk where there is a folder for it."""

from collections.abc import Callable
from typing import Any

from numba import njit


def jit(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles a function with these options of numba.

    numba keeps compiled code beside the source, or in the user's cache folder. If
    neither can be written, as in a locked-down container, it refuses to compile with a
    cache; the function is then compiled again in every process.
    """

    def decorate(function: Any) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:
            return njit(**options)(function)

    return decorate
