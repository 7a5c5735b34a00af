"""Plug-ins: what other distributions offer by entry points, and who is to blame.

An error about a plug-in is one sentence that names it and its distribution.
"""

import inspect
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import wraps
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import walk_tb
from typing import Any, ClassVar, get_origin

from truepool.core.errors import PluginError, TruepoolError, suggestion

CHECKS, VERBS = "truepool.checks", "truepool.verbs"
"""Groups of functions; ``agent.llm`` is the verb ``llm`` of ``truepool agent``."""
KINDS, NAMES = "truepool.kinds", "truepool.names"
"""Groups of packages that hold a kind, and of what ``truepool.NAME`` returns."""
WORDS = "truepool.words"
"""Group of packages whose ``.toml`` files hold templates of sentences."""
GROUPS = (CHECKS, VERBS, KINDS, NAMES, WORDS)
"""Any other group has the name of the package of its kind."""
TRACEBACK = "TRUEPOOL_TRACEBACK"
"""The environment variable by which the command shows the traceback of an error."""


def every(group: str, builtin: Collection[str] = ()) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, without loading them.

    A name that truepool or another distribution has already is refused.
    """
    found, refused = offers(group, builtin)
    for error in refused.values():
        raise error
    return found


def offers(
    group: str, builtin: Collection[str] = ()
) -> tuple[dict[str, EntryPoint], dict[str, PluginError]]:
    """Return the entry points of a group by name, and those whose name is taken."""
    found: dict[str, EntryPoint] = {}
    refused: dict[str, PluginError] = {}
    for entry in entry_points(group=group):
        name, owner = entry.name, distribution(entry)
        if name in builtin or name in found:
            other = "truepool" if name in builtin else distribution(found[name])
            refused[name] = PluginError(
                f"names in the entry-point group {group!r} must be unique; "
                f"the distribution {owner!r} offers {name!r}, which {other!r} has too. "
                f"Uninstall {owner!r}, or rename it there."
            )
        else:
            found[name] = entry
    accepted = {name: found[name] for name in sorted(found) if name not in refused}
    return accepted, refused


def unknown_groups(known: Collection[str], name: str | None = None) -> list[str]:
    """Return a sentence about every group of truepool that is not a known one.

    A group with a typing error would otherwise be ignored in silence. With a ``name``,
    only entry points of that name count.
    """
    return [
        f"the distribution {distribution(entry)!r} offers {entry.name!r} in the "
        f"entry-point group {group!r}, which nothing reads{suggestion(group, known)}"
        for group in sorted(entry_points().groups)
        if group.startswith("truepool.") and group not in known
        for entry in entry_points(group=group)
        if name in (None, entry.name)
    ]


def load(entry: EntryPoint) -> Any:
    """Load an entry point; one that cannot be imported is refused."""
    with blame(entry, "cannot be loaded", "Reinstall"):
        return entry.load()


@contextmanager
def blame(
    entry: EntryPoint,
    what: str,
    cure: str = "Upgrade",
    *,
    spared: tuple[type[Exception], ...] = (PluginError,),
) -> Iterator[None]:
    """Turn an error of a plug-in into one sentence that names its distribution.

    It also says where in the plug-in that was, for the author.
    """
    try:
        yield
    except spared:
        raise
    except Exception as error:  # a plug-in may raise errors of its own
        reason = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")
        raise PluginError(
            f"{_name(entry)} {what}: {reason}{_place(entry, error)}. "
            f"{cure} or uninstall {distribution(entry)!r}; "
            f"{TRACEBACK}=1 shows the traceback."
        ) from error


def _place(entry: EntryPoint, error: Exception) -> str:
    """File and line of the package of a plug-in that an error came through last."""
    package, place = entry.module.split(".")[0], ""
    for frame, line in walk_tb(error.__traceback__):
        if str(frame.f_globals.get("__name__")).split(".")[0] == package:
            place = f" ({Path(frame.f_code.co_filename).name}, line {line})"
    return place


def refuse(entry: EntryPoint, must: str, got: Any) -> PluginError:
    """Return the error about a plug-in that is not what its group requires."""
    return PluginError(
        f"{_name(entry)} must {must}; got {describe(got)}. "
        f"Upgrade or uninstall {distribution(entry)!r}."
    )


def describe(thing: Any) -> str:
    """Return what something is, without an address in memory.

    >>> describe(describe), describe(EntryPoint), describe(3)
    ('the function describe(thing)', "the class 'EntryPoint'", '3')
    """
    if inspect.isclass(thing):
        return f"the class {thing.__name__!r}"
    if inspect.isfunction(thing):
        names = ", ".join(inspect.signature(thing).parameters)
        return f"the function {thing.__name__}({names})"
    return re.sub(" at 0x[0-9a-fA-F]+", "", repr(thing))[:200]


def distribution(entry: EntryPoint) -> str:
    """Name of the distribution that an entry point belongs to."""
    return entry.dist.name if entry.dist is not None else "unknown"


def origin(thing: type, group: str) -> str:
    """Return the words that name the distribution of a class, '' if it has none.

    >>> origin(int, "truepool.pools")
    ''
    """
    for entry in entry_points(group=group, name=str(vars(thing).get("name"))):
        if entry.load() is thing:
            return f" of the distribution {distribution(entry)!r}"
    return ""


def _name(entry: EntryPoint) -> str:
    owner = distribution(entry)
    return f"the plug-in {entry.name!r} ({entry.value}) of the distribution {owner!r}"


def load_class(entry: EntryPoint, base: type) -> type:
    """Load a class; one that lacks what its base class requires is refused."""
    thing = load(entry)
    if not inspect.isclass(thing) or not issubclass(thing, base):
        raise refuse(entry, f"be a class that derives from {base.__name__}", thing)
    name = vars(thing).get("name")
    if name != entry.name:
        must = f"have a class variable name = {entry.name!r} of its own"
        raise refuse(entry, must, name)
    if is_dataclass(base) and "__dataclass_fields__" not in vars(thing):
        must = "have the decorator @dataclass(frozen=True), as its base class has"
        raise refuse(entry, must, thing)
    for method in vars(base).get("guarded", ()):
        if inspect.isfunction(vars(thing).get(method)):
            setattr(thing, method, _guard(entry, vars(thing)[method]))
    lacks = {
        "define": _undefined(thing),
        "take (and pass to super().__init__) the settings": _untaken(thing, base),
    }
    for must, missing in lacks.items():
        if missing:
            raise refuse(entry, f"{must} {', '.join(missing)}", thing)
    return thing


def _guard(entry: EntryPoint, method: Any) -> Any:
    """Return a method whose errors are one sentence; truepool's own are so already."""
    what = f"failed in {method.__name__}"

    @wraps(method)
    def guarded(*values: Any, **named: Any) -> Any:
        with blame(entry, what, spared=(TruepoolError,)):
            return method(*values, **named)

    return guarded


def _undefined(thing: type) -> list[str]:
    """Abstract methods, and class variables without a value, of a class."""
    constant: Any = ClassVar
    declared = [
        name
        for base in reversed(inspect.getmro(thing))
        for name, kind in inspect.get_annotations(base).items()
        if get_origin(kind) is constant
    ]
    known = {name for base in inspect.getmro(thing) for name in vars(base)}
    methods = sorted(vars(thing).get("__abstractmethods__", ()))
    return [*methods, *(name for name in declared if name not in known)]


def _untaken(thing: type, base: type) -> list[str]:
    """Settings that the base class takes and the class does not."""
    taken = inspect.signature(thing).parameters
    return [
        name
        for name, setting in inspect.signature(base).parameters.items()
        if setting.kind is not setting.VAR_KEYWORD and name not in taken
    ]
