"""The registry: a class is found because its file is in the folder of its kind.

Other distributions add theirs by entry points, in a group with the name of the package:
``truepool.pools``, ``truepool.learners``, ``truepool.datasets`` and so on. `make` makes
anything that has a name: a pool, a learner, a loss, a data set, ...
"""

import inspect
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from truepool.core import distributions, plugins
from truepool.core.errors import TruepoolError, UnknownNameError


@cache
def every(package: str) -> dict[str, type]:
    """All classes of the package and of plug-ins that define a ``name``."""
    found: dict[str, type] = {}
    for module in modules(package):
        for thing in vars(module).values():
            if (
                inspect.isclass(thing)
                and thing.__module__ == module.__name__
                and isinstance(vars(thing).get("name"), str)
            ):
                found[vars(thing)["name"]] = thing
    base = _shared_base(found.values())
    for name, entry in plugins.every(package, found).items():
        found[name] = plugins.load_class(entry, base)
    return dict(sorted(found.items()))


FOLDERS = {
    "pool": "truepool.pools",
    "learner": "truepool.learners",
    "data set": "truepool.datasets",
    "model": "truepool.agents.zoo",
}
"""Kinds with one file each, and the package that is their folder."""
GROUPS = (*FOLDERS.values(), *plugins.GROUPS)
"""Entry-point groups that something reads."""
MODULES = {
    "loss": "truepool.measures.losses",
    "drift detector": "truepool.online.alarms.river_detectors",
}
"""Kinds that share a module, which lists them by ``every``."""


@cache
def places() -> dict[str, str]:
    """Package or module of each kind; plug-ins may add kinds, named by entry points.

    >>> places()["pool"]
    'truepool.pools'
    """
    own = {**FOLDERS, **MODULES}
    added = plugins.every(plugins.KINDS, own)
    return own | {kind: entry.value for kind, entry in added.items()}


def names(kind: str) -> dict[str, Any]:
    """All things of a kind by name.

    >>> list(names("loss"))
    ['brier', 'log', 'spherical', 'cost', 'cost-brier']
    """
    if kind not in places():
        raise UnknownNameError("kind", kind, places())
    return dict(import_module(places()[kind]).every())


def find(kind: str, name: str) -> Any:
    """Return the thing of that kind and name, or refuse the name with a suggestion.

    >>> find("pool", "vcg").complexity
    2
    """
    known = names(kind)
    if name not in known:
        raise unknown(kind, name, known)
    return known[name]


def unknown(kind: str, name: str, known: Collection[str]) -> TruepoolError:
    """Return the error about a name that nothing of a kind has.

    What another distribution of truepool has is answered by what to install. There is a
    hint where the name carries settings, or stands in an entry-point group that nothing
    reads.

    >>> print(unknown("pool", "vcg(loss='log')", ["mean", "vcg"]))
    no pool is called "vcg(loss='log')"; known: mean, vcg. \
Settings are given in Python: truepool.pools.make('vcg', loss='log')
    """
    missing = distributions.missing(kind, name)
    if missing is not None:
        return missing
    hint, (start, bracket, settings) = "", str(name).partition("(")
    if kind in FOLDERS and kind != "data set" and bracket and start in known:
        given = ", ".join(filter(None, (repr(start), settings.removesuffix(")"))))
        hint = f". Settings are given in Python: {FOLDERS[kind]}.make({given})"
        hint += "; the coordinator takes them as `settings`" * (kind == "learner")
    misread = plugins.unknown_groups(GROUPS, str(name)) if kind in FOLDERS else []
    hint += "".join(f". {sentence[0].upper()}{sentence[1:]}" for sentence in misread)
    return UnknownNameError(kind, name, known, hint)


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
    # A maker that takes any setting passes it on to a library that checks it.
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


def _shared_base(classes: Collection[type]) -> type:
    """Nearest base that all classes of a package have in common.

    >>> _shared_base([bool, int]).__name__
    'int'
    """
    if not classes:
        return object
    first, *others = (inspect.getmro(thing) for thing in classes)
    return next(base for base in first if all(base in mro for mro in others))
