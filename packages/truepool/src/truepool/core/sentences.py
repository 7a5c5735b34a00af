"""Sentences: templates of ``words/``, found by code, filled with values.

A template is a format string of Python with three more specifications:
``{count:#case}`` is a count with its noun (2 cases), ``{count:is|are}`` chooses a word
by a count, and ``{names:and}`` or ``{names:or}`` joins names. What is spelled in
another way in Python, on the terminal and over HTTP has a template per dialect.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from shlex import quote
from string import Formatter
from typing import Any, Literal, TypeAlias, final

from truepool.core import plugins
from truepool.core.formatting import join_names, pluralize

Dialect: TypeAlias = Literal["python", "terminal", "http"]


@final
@dataclass(frozen=True)
class Voice:
    """To whom a sentence speaks, and what is called a case, an agent and a report."""

    dialect: Dialect = "python"
    case: str = "case"
    agent: str = "agent"
    report: str = "report"


PYTHON, TERMINAL = Voice(), Voice("terminal")
SPLIT = ("percent", "long")
"""Keys whose names one text may separate by commas."""


@final
class _Formatter(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec.startswith("#"):
            return pluralize(value, format_spec[1:])
        if "|" in format_spec:
            one, _, many = format_spec.partition("|")
            return one if value == 1 else many
        if format_spec in ("and", "or"):
            return join_names([str(each) for each in value], format_spec) or "none"
        return str(super().format_field(value, format_spec))


@cache
def catalogue() -> dict[str, dict[str, Any]]:
    """Templates by kind and code: the library's own, and those of other packages."""
    packages = ["truepool.words"]
    packages += sorted(entry.value for entry in entry_points(group=plugins.WORDS))
    found: dict[str, dict[str, Any]] = {}
    for package in packages:
        for file in files(package).iterdir():
            if file.name.endswith(".toml"):
                for kind, templates in tomllib.loads(file.read_text("utf-8")).items():
                    found.setdefault(kind, {}).update(templates)
    return found


def say(kind: str, code: str, fields: Mapping[str, Any], voice: Voice = PYTHON) -> str:
    """Return the sentence for a code.

    >>> say("place", "line", {"number": 5})
    'line 5'
    """
    template = catalogue()[kind][code]
    if isinstance(template, dict):
        template = template.get(voice.dialect, template["python"])
    return _Formatter().vformat(template, (), {"voice": voice, **fields})


def setting(key: str, value: Any, voice: Voice = PYTHON) -> str:
    """Return how a key is given a value.

    >>> setting("decimal", ","), setting("decimal", ",", TERMINAL)
    ("decimal=','", '--set decimal=,')
    >>> setting("positive", "ja", TERMINAL)
    '--positive ja'
    >>> setting("scores", {"a": "1-5", "b": "1-5"}, TERMINAL)
    '--set scores.a=1-5 --set scores.b=1-5'
    """
    name, _, part = key.partition(".")
    if isinstance(value, Mapping) and voice.dialect != "python":
        parts = value.items()
        return " ".join(setting(f"{key}.{own}", each, voice) for own, each in parts)
    if voice.dialect == "python":
        value = {part: value} if part else value
        fields = {"key": name.replace("-", "_"), "value": value}
        return say("setting", "set", fields, voice)
    flag = catalogue()["options"].get(key)
    if voice.dialect == "terminal" and flag is not None:
        listed = value if isinstance(value, list | tuple) else [value]
        return " ".join(f"{flag} {quote(str(part))}" for part in listed)
    given = quote(f"{key}={_given(key, value)}")
    return say("setting", "set", {"key": key, "value": value, "given": given}, voice)


def settings(keys: Mapping[str, Any], voice: Voice = PYTHON) -> str:
    """Return how several keys are given their values.

    >>> settings({"positive": "ja", "missing": ["?"]}, TERMINAL)
    "--positive ja --set 'missing=?'"
    """
    joint = ", " if voice.dialect == "python" else " "
    return joint.join(setting(key, value, voice) for key, value in keys.items())


def key_name(key: str, voice: Voice = PYTHON) -> str:
    """Return what a key is called where it is set.

    >>> key_name("decision-time"), key_name("agents", TERMINAL)
    ('decision_time=', '--agents')
    """
    flag = catalogue()["options"].get(key)
    if voice.dialect == "terminal" and flag is not None:
        return str(flag)
    name = key.replace("-", "_") if voice.dialect == "python" else key
    return say("setting", "name", {"key": name}, voice)


def _given(key: str, value: Any) -> str:
    """Return a value as ``--set`` takes it: plain names without brackets and quotes.

    >>> _given("percent", ["a", "b"]), _given("missing", ["n/d"])
    ('a,b', 'n/d')
    >>> _given("missing", ["a", "b"]), _given("percent", ["a, b"])
    ('["a", "b"]', '["a, b"]')
    """
    listed = isinstance(value, list | tuple) and (len(value) == 1 or key in SPLIT)
    if listed and all(isinstance(each, str) and _is_bare(each) for each in value):
        return ",".join(value)
    return _in_toml(value)


def _is_bare(text: str) -> bool:
    """Whether text is read as itself where a value of TOML could stand."""
    try:
        return str(tomllib.loads(f"v = {text}")["v"]) == text
    except tomllib.TOMLDecodeError:
        return bool(text) and text == text.strip() and "," not in text


def _in_toml(value: Any) -> str:
    """Return a value as a file of keys has it; text without its quotes."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(_quoted(each) for each in value)}]"
    return str(value)


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else _in_toml(value)


def join(parts: Iterable[str], word: str = "and") -> str:
    """Join parts of a sentence."""
    return join_names(list(parts), word)


def leaving_out(out: Sequence[str], agents: Sequence[str]) -> str:
    """Options that take some agents out; none where a pool has too few without them.

    >>> leaving_out(["b"], ["a", "b", "c"]), leaving_out(["b"], ["a", "b"])
    ('--ignore b', '')
    """
    if not out or len({*agents} - {*out}) < 2:
        return ""
    return setting("ignore", [*out], TERMINAL)


def reversing(agent: str) -> str:
    """End a sentence with the key that reverses an agent's reports.

    >>> reversing("rf").partition(".")[0]
    ': pass `--set scores'
    """
    key = f"scores.{agent}"
    return (
        f": pass `{setting(key, '1-0', TERMINAL)}`, of percentages "
        f"`{setting(key, '100-0', TERMINAL)}`, of scores their range the other way "
        "round."
    )
