"""The folder is the registry: a class is found because its file is there."""

import inspect
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from truepool.errors import UnknownNameError


@cache
def every(package: str) -> dict[str, type]:
    """All concrete classes with a ``name`` of their own in the files of a package."""
    module = import_module(package)
    found: dict[str, type] = {}
    for info in sorted(iter_modules(module.__path__), key=lambda info: info.name):
        room = import_module(f"{package}.{info.name}")
        for thing in vars(room).values():
            if (
                inspect.isclass(thing)
                and thing.__module__ == room.__name__
                and isinstance(vars(thing).get("name"), str)
            ):
                found[vars(thing)["name"]] = thing
    return dict(sorted(found.items()))


def named(package: str, kind: str, name: str) -> type:
    """Return the class of that name, or an error that offers the names there are."""
    known = every(package)
    if name not in known:
        raise UnknownNameError(kind, name, known)
    return known[name]
