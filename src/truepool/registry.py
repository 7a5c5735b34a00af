"""The folder is the registry: a class is found because its file is there.

Other distributions add theirs by entry points, in a group named like the package:
``truepool.pools``, ``truepool.learners``, ``truepool.datasets`` and so on.
"""

import inspect
from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from truepool.errors import PluginError, UnknownNameError

IMPORT_ERRORS = (
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What importing somebody else's module may raise."""


@cache
def every(package: str) -> dict[str, type]:
    """All classes with a ``name`` of their own: of the package and of plug-ins."""
    found: dict[str, type] = {}
    for room in modules(package):
        for thing in vars(room).values():
            if (
                inspect.isclass(thing)
                and thing.__module__ == room.__name__
                and isinstance(vars(thing).get("name"), str)
            ):
                found[vars(thing)["name"]] = thing
    base = _shared_base(found.values())
    for name, entry in plugins(package, found).items():
        found[name] = _checked_class(entry, base)
    return dict(sorted(found.items()))


def named(package: str, kind: str, name: str) -> type:
    """Return the class of that name, or an error that offers the names there are."""
    known = every(package)
    if name not in known:
        raise UnknownNameError(kind, name, known)
    return known[name]


def modules(package: str) -> Iterator[ModuleType]:
    """Import the modules of a package, in the order of their names."""
    folder = import_module(package).__path__
    for info in sorted(iter_modules(folder), key=lambda info: info.name):
        yield import_module(f"{package}.{info.name}")


def plugins(group: str, builtin: Collection[str] = ()) -> dict[str, EntryPoint]:
    """Return what other distributions offer in a group, by name; nothing is loaded yet.

    A name that is taken, by truepool itself or by another distribution, is refused.
    """
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        name, owner = entry.name, distribution(entry)
        if name in builtin or name in found:
            other = "truepool" if name in builtin else distribution(found[name])
            raise PluginError(
                f"names in the entry-point group {group!r} must be unique; "
                f"the distribution {owner!r} offers {name!r}, which {other!r} has too. "
                f"Uninstall {owner!r}, or have it renamed there."
            )
        found[name] = entry
    return dict(sorted(found.items()))


def load(entry: EntryPoint) -> Any:
    """Return what an entry point names; one that cannot be imported is refused."""
    try:
        return entry.load()
    except IMPORT_ERRORS as error:
        owner = distribution(entry)
        raise PluginError(
            f"the plug-in {entry.name!r} ({entry.value}) of the distribution {owner!r} "
            f"cannot be loaded: {type(error).__name__}: {error}. "
            f"Reinstall or uninstall {owner!r}."
        ) from error


def distribution(entry: EntryPoint) -> str:
    """Name of the distribution that an entry point belongs to."""
    return entry.dist.name if entry.dist is not None else "unknown"


def _checked_class(entry: EntryPoint, base: type) -> type:
    thing = load(entry)
    if not inspect.isclass(thing) or not issubclass(thing, base):
        must, got = f"be a class that derives from {base.__name__}", repr(thing)
    elif inspect.isabstract(thing):
        must, got = "define all abstract methods", f"{thing.__name__}, which lacks some"
    elif vars(thing).get("name") != entry.name:
        name = vars(thing).get("name")
        must, got = f"have the name {entry.name!r}", f"{thing.__name__}.name = {name!r}"
    else:
        return thing
    owner = distribution(entry)
    raise PluginError(
        f"the plug-in {entry.name!r} ({entry.value}) of the distribution {owner!r} "
        f"must {must}; got {got}. Upgrade or uninstall {owner!r}."
    )


def _shared_base(classes: Collection[type]) -> type:
    """Nearest base that all classes of a package have in common.

    >>> _shared_base([bool, int]).__name__
    'int'
    """
    if not classes:
        return object
    first, *others = (inspect.getmro(thing) for thing in classes)
    return next(base for base in first if all(base in mro for mro in others))
