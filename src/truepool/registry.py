"""The folder is the registry: a class is found because its file is there.

Whatever has a name is made by `make`: a pool, a learner, a loss, a data set, ...
"""

import inspect
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

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


FOLDERS = {
    "pool": "truepool.pools",
    "learner": "truepool.learners",
    "payment": "truepool.games.mechanisms",
    "stress": "truepool.stress",
    "data set": "truepool.datasets",
    "model": "truepool.agents.zoo",
}
"""Kinds of which each is a file, and the package that is their folder."""
MODULES = {
    "loss": "truepool.losses",
    "response": "truepool.games.responses",
    "drift detector": "truepool.alarms",
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
    truepool.errors.UnknownNameError: no setting of hedge is called 'raet' \
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
