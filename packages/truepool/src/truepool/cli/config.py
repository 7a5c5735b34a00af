"""A config file: options by their long names, in TOML. The command line wins."""

import inspect
import re
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

from typer.models import OptionInfo

from truepool.core import distributions, plugins
from truepool.core.errors import PluginError, SettingError, SourceError, suggestion
from truepool.core.files import missing_file

NAMES = ("agents", "percent")
"""Options that take several names in one text; a file may give them as a list."""

SWITCHES = {"percent": ("", "*")}
"""Options with names that may be true or false as well, and the names of either."""

KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text or a number",
    Path: "the name of a file",
    list: "a text or a list of texts",
    tuple: "a list of three texts",
}
"""What the value of an option must be, in words."""


@dataclass(frozen=True)
class Option:
    """An option of a verb: its parameter, and the type of its value."""

    parameter: str
    type: Any


VERBS: dict[str, dict[str, Option]] = {}
"""Options by long name, without dashes, of every verb that takes a config file."""


def register(verb: str, parameters: Iterable[inspect.Parameter]) -> None:
    """Let a config file give the options of a verb."""
    described = (each for each in parameters if get_args(each.annotation))
    VERBS[verb] = {
        name: option for name, option in map(_option, described) if option is not None
    }


def _option(parameter: inspect.Parameter) -> tuple[str, Option | None]:
    type, info = get_args(parameter.annotation)[:2]
    if not isinstance(info, OptionInfo):
        return parameter.name, None
    plain = [part for part in get_args(type) if part is not None.__class__]
    optional = len(plain) < len(get_args(type))
    # In an annotation, typer keeps the first flag where a default would stand.
    flags = [str(flag) for flag in (info.default, *(info.param_decls or ()))]
    long = next((flag[2:] for flag in flags if flag.startswith("--")), parameter.name)
    return long.partition("/")[0].replace("_", "-"), Option(
        parameter.name, plain[0] if optional else type
    )


def read(path: Path, verb: str) -> dict[str, Any]:
    """Values of a verb's parameters, by the file; its own section comes first."""
    _register_plugins()
    general: dict[str, Any] = {}
    sections: dict[str, Mapping[str, Any]] = {verb: {}}
    for name, value in _load(path).items():
        if isinstance(value, dict):
            if name not in VERBS and distributions.home("verb", name) is not None:
                continue  # for a command that is not installed here
            if name not in VERBS:
                known = (
                    suggestion(name, VERBS) or f"; known: {', '.join(sorted(VERBS))}"
                )
                raise SettingError(
                    f"a section of a config file must be a command; {path} has "
                    f"[{name}]{known}"
                )
            sections[name] = value
        else:
            general[name] = value
    every = {name: option for own in VERBS.values() for name, option in own.items()}
    for name in general:
        _check_known(path, name, every, "no command has such an option")
    for section, values in sections.items():
        for name in values:
            _check_known(path, name, VERBS[section], f"{section} has no such option")
    own = VERBS[verb]
    chosen = {name: value for name, value in general.items() if name in own}
    return {
        own[name].parameter: _value(path, name, value, own[name].type)
        for name, value in (chosen | dict(sections[verb])).items()
    }


def _register_plugins() -> None:
    """Import the verbs of plug-ins: their options are keys of the file too."""
    found, _ = plugins.offers(plugins.VERBS)
    for entry in found.values():
        with suppress(PluginError):  # the verb says so when it is used
            plugins.load(entry)


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise SourceError(
            f"{missing_file(path).replace('no file', 'no config file')}. Write one "
            "with truepool init TABLE."
        ) from None
    except OSError as error:
        raise SourceError(
            f"the config file {str(path)!r} cannot be read: {error.strerror}"
        ) from None
    except UnicodeDecodeError:
        raise SourceError(
            f"a config file must be UTF-8 text; {str(path)!r} is not"
        ) from None
    except tomllib.TOMLDecodeError as error:
        _check_repeated_key(path, str(error))
        raise SourceError(
            f'a config file must be TOML, as in outcome = "label"; {str(path)!r} is '
            f"not: {str(error)[:1].lower()}{str(error)[1:]}"
        ) from None


def _check_repeated_key(path: Path, fault: str) -> None:
    """Refuse a key that stands twice, if that is the fault: the parser names neither.

    A line within a text of several lines may look like a key, so that the line must be
    the one that the parser complains of.
    """
    where = re.search(r"at line (\d+)", fault)
    section, lines = "", dict[tuple[str, str], int]()
    text = path.read_text(encoding="utf-8-sig").splitlines()
    for line, words in enumerate(text, start=1):
        if words.lstrip().startswith("["):
            section = words.strip()
        key = words.partition("=")[0].strip() if "=" in words else ""
        first = lines.setdefault((section, key), line)
        if key and first < line == int(where[1] if where else len(text)):
            raise SourceError(
                f"a key of a config file must stand once; {str(path)!r} has {key!r} on "
                f"lines {first} and {line}. Leave one of them out."
            )


def _check_known(path: Path, name: str, known: Iterable[str], fault: str) -> None:
    if name not in known:
        raise SettingError(
            f"a key of a config file must be an option without its dashes; {path} has "
            f"{name!r}, and {fault}{suggestion(name, known)}"
        )


def _value(path: Path, name: str, value: Any, type: Any) -> Any:
    """Return a value as the command line would give it."""
    kind = get_origin(type) or type
    texts = isinstance(value, list) and all(isinstance(v, str) for v in value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    switch = name in SWITCHES
    if switch and isinstance(value, bool):
        return SWITCHES[name][value]
    if name in NAMES and texts and all(value):
        return ",".join(value)
    if kind is str and (isinstance(value, str) or (number and not switch)):
        return str(value)
    if kind is float and number:
        return float(value)
    if kind in (int, bool) and value.__class__ is kind:
        return value
    if kind is Path and isinstance(value, str):
        return value
    if kind is tuple and texts and len(value) == len(get_args(type)):
        return value
    if kind is list and (texts or isinstance(value, str)):
        return [value] if isinstance(value, str) else value
    words = "true, false or a list of names" if switch else KINDS.get(kind, "")
    if issubclass(kind, Enum):
        if value in list(kind):
            return value
        words = " or ".join(repr(str(member.value)) for member in kind)
    raise SettingError(f"{name} in {path} must be {words}; got {value!r}")
