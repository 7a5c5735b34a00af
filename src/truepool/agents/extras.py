"""Optional libraries that only some agents need."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from truepool.core.errors import MissingExtraError


def require(library: str, extra: str, who: str) -> Any:
    """Import an optional library, or say how to install it.

    >>> require("math", "agents", "counting").floor(1.5)
    1
    """
    if find_spec(library.split(".")[0]) is None:
        raise MissingExtraError(who, library.split(".")[0], extra)
    return import_module(library)
