"""The folder is the registry: a class is found because its file is there.

Other distributions add theirs by entry points, in a group named like the package:
``truepool.pools``, ``truepool.learners``, ``truepool.datasets`` and so on. Whatever has
a name is made by `make`: a pool, a learner, a loss, a data set, ...
"""

import inspect
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from truepool.core.errors import PluginError, UnknownNameError

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


FOLDERS = {
    "pool": "truepool.pools",
    "learner": "truepool.learners",
    "payment": "truepool.games.payments",
    "stress": "truepool.stress",
    "data set": "truepool.datasets",
    "model": "truepool.agents.zoo",
}
"""Kinds of which each is a file, and the package that is their folder."""
MODULES = {
    "loss": "truepool.measures.losses",
    "response": "truepool.games.responses",
    "drift detector": "truepool.online.alarms.river_detectors",
}
"""Kinds that share a module, whose ``every`` lists them."""
KINDS = (*FOLDERS, *MODULES)


def names(kind: str) -> dict[str, Any]:
    """All things of a kind by name.

    >>> list(names("loss"))
    ['brier', 'log', 'spherical', 'cost', 'cost-brier']
    """
    if kind in FOLDERS:
        return dict(every(FOLDERS[kind]))
    if kind not in MODULES:
        raise UnknownNameError("kind", kind, KINDS)
    return dict(import_module(MODULES[kind]).every())


def find(kind: str, name: str) -> Any:
    """Return what is called so, or raise an error that offers the names there are.

    >>> find("pool", "vcg").complexity
    2
    """
    known = names(kind)
    if name not in known:
        raise UnknownNameError(kind, name, known)
    return known[name]


def make(kind: str, name: str, /, **settings: Any) -> Any:
    """Make the thing of that kind and name; a setting it does not take is refused.

    >>> make("learner", "hedge", rate=0.1).rate
    0.1
    >>> make("learner", "hedge", raet=0.1)
    Traceback (most recent call last):
    truepool.core.errors.UnknownNameError: no setting of hedge is called 'raet' \
(did you mean 'rate'?); known: horizon, loss, rate
    """
    found = find(kind, name)
    # A data set is read, anything else is constructed.
    maker = found.load if kind == "data set" else found
    takes = inspect.signature(maker).parameters
    # Who takes any setting hands it on to another library, and checks it there.
    if all(taken.kind is not taken.VAR_KEYWORD for taken in takes.values()):
        check_settings(name, settings, takes)
    return maker(**settings)


def check_settings(name: str, settings: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a setting that the thing of that name does not take.

    >>> check_settings("hedge", {"rate": 0.1}, ["rate", "horizon"])
    """
    known = list(known)
    for setting in settings:
        if setting not in known:
            raise UnknownNameError(f"setting of {name}", setting, known)


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
