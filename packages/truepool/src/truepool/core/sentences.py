"""Sentences: templates of ``words/``, found by code, filled with values.

A template is a format string of Python with more specifications: ``{count:#case}`` is a
count with its noun (2 cases), ``{count:is|are}`` chooses a word by a count or a list of
names, and ``{names:and}`` or ``{names:or}`` joins names. ``{x:number}``,
``{x:percent}``, ``{x:money}`` and ``{x:p}`` write a number, a share, a cost and a
p-value, with the interval where there is one; ``{x:share}`` a share with two digits,
``{x:report}`` a report and ``{x:pairs}`` pairs of names. What is spelled in another way
in Python, on the terminal and over HTTP has a template per dialect, and what has
several forms one for each, chosen by the field ``form``.
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
from truepool.core.formatting import (
    Interval,
    format_p_value,
    join_names,
    measured,
    measured_share,
    pluralize,
    share,
)

Dialect: TypeAlias = Literal["python", "terminal", "http"]


@final
@dataclass(frozen=True)
class Voice:
    """To whom a sentence speaks, and what is called a case, an agent and a report."""

    dialect: Dialect = "python"
    case: str = "case"
    agent: str = "agent"
    report: str = "report"
    currency: str = ""
    """Unit of the costs."""


PYTHON, TERMINAL = Voice(), Voice("terminal")
SPLIT = ("percent", "long")
"""Keys whose names one text may separate by commas."""


COUNTED = ("false alarms", "errors")
"""Units of costs that are counted, unlike money."""
NAMED = 5
"""So many names are listed; of more, the first ones."""
QUOTED = 4
"""Of more classes than these, a report is quoted by the likeliest."""


@final
class _Formatter(Formatter):
    def __init__(self, currency: str) -> None:
        self.currency = currency

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec.startswith("#"):
            return pluralize(value, format_spec[1:])
        if "|" in format_spec:
            count = len(value) if isinstance(value, list | tuple) else value
            one, _, many = format_spec.partition("|")
            return one if count == 1 else many
        if format_spec in ("and", "or"):
            return join_names([str(each) for each in value], format_spec) or "none"
        if format_spec == "number":
            return measured(value)
        if format_spec == "percent":
            return measured_share(value)
        if format_spec == "share":
            return share(value)
        if format_spec == "report":
            return report(value)
        if format_spec == "pairs":
            return join_names([f"{a} and {b}" for a, b in value], "as well as")
        if format_spec == "money":
            return cost(value, self.currency)
        if format_spec == "p":
            return format_p_value(value)
        return str(super().format_field(value, format_spec))


def report(value: float | Mapping[str, float]) -> str:
    """Return a report, with more than two classes that of each, or of the likeliest.

    >>> report(0.31), report({"red": 0.2, "green": 0.8})
    ('31 %', 'red 20 %, green 80 %')
    >>> report(dict(a=0.1, b=0.1, c=0.5, d=0.2, e=0.1))
    'c 50 %, others less'
    """
    if not isinstance(value, Mapping):
        return share(value)
    if len(value) > QUOTED:
        likeliest = max(value, key=lambda name: value[name])
        return f"{likeliest} {share(value[likeliest])}, others less"
    return ", ".join(f"{name} {share(p)}" for name, p in value.items())


def cost(value: Interval | float | None, unit: str) -> str:
    """Return a cost in its unit; what is counted is not what it costs.

    >>> cost(76.0, "EUR"), cost(76.0, "false alarms"), cost(1.0, "errors")
    ('76 EUR', 'the cost of 76 false alarms', 'the cost of 1 error')
    """
    amount, space, interval = measured(value).partition(" ")
    if unit not in COUNTED:
        return f"{amount} {unit}".rstrip() + space + interval
    noun = unit.removesuffix("s") if amount in ("1", "1.00") else unit
    amount = "1" if amount == "1.00" else amount
    return f"the cost of {amount} {noun}{space}{interval}"


def few(names: Sequence[str], most: int = NAMED) -> tuple[str, ...]:
    """Return the names, or the first ones and how many more there are.

    >>> few(["a", "b", "c"], 2), few(["a", "b"], 2)
    (('a', '2 others'), ('a', 'b'))
    """
    if len(names) <= most:
        return tuple(names)
    return (*names[: most - 1], f"{len(names) - most + 1:,} others")


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
        dialect = voice.dialect if voice.dialect in template else "python"
        form = fields.get("form")
        template = template[form if form in template else dialect]
    fill = _Formatter(voice.currency).vformat
    return fill(template, (), {"voice": voice, **fields})


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
