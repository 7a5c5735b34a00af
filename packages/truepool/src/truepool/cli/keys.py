"""Keys: everything that can be said about a table, its costs or a verb.

A key is given in ``pool.toml``, or as ``--set key=value``; those that most runs need
are options of their own too. What means the same is written the same in every verb.
"""

import inspect
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

import typer
from typer.models import OptionInfo

from truepool.core import distributions
from truepool.core.errors import SettingError, SourceError, suggestion
from truepool.core.files import missing_file

FILE = "pool.toml"
"""The file of keys that is found beside a table, or where a command runs."""


@dataclass(frozen=True)
class Key:
    """What the value of a key is, and what it means."""

    value: str
    help: str
    short: str | None = None


@dataclass(frozen=True)
class Setting:
    """A parameter of a verb that is a key, and no option."""

    name: str
    value: str
    help: str


LOSSES = "brier, log, spherical, cost or cost-brier"
NUMBER, COST = "NUMBER", "NUMBER|COLUMN"
PER_CASE = ", or the column that has it for each case"
KEYS = {
    "outcome": Key(
        "COLUMN",
        "Column with the outcome: one of two labels, or of 0 to K-1 (default: found).",
    ),
    "positive": Key(
        "LABEL",
        "The outcome label that reports are probabilities of. Required unless the "
        "labels are 0 and 1, or false and true.",
    ),
    "agents": Key(
        "NAME",
        "Columns that are agents: names or patterns such as 'model_*', separated by "
        "commas; ? stands for any character, such as a comma in a name (default: "
        "every column of probabilities). Repeatable.",
    ),
    "ignore": Key("COLUMN", "Column or agent to leave out. Repeatable."),
    "id": Key("COLUMN", "Column with the id of each case (default: found)."),
    "time": Key(
        "COLUMN",
        "Column with the time of each case (default: found). With times, pools are "
        "tested on cases later than those they were fitted on.",
    ),
    "time-format": Key(
        "FORMAT",
        "How times are written, as in '%d.%m.%Y %H:%M' (default: found). If columns "
        "differ, several formats, separated by |.",
    ),
    "weight": Key("COLUMN", "Column with the weight of each case, a positive number."),
    "group": Key(
        "COLUMN",
        "Column with what cases have in common, such as a customer: cases of one group "
        "stay in one fold, and intervals resample whole groups.",
    ),
    "propensity": Key(
        "COLUMN",
        "Column with the chance, above 0 and at most 1, that the outcome of the case "
        "became known. Cases are weighted by weight / propensity.",
    ),
    "sep": Key(
        "CHARACTER", "Separator of a text file, as in ';' or tab (default: found)."
    ),
    "decimal": Key("MARK", "Decimal mark: . or a comma (default: found)."),
    "missing": Key(
        "WORD",
        "A word that means no report, such as n/d; or a list of such words. An empty "
        "cell, NA, n/a, NaN and null mean that already.",
    ),
    "percent": Key(
        "true|NAMES",
        "All reports are percentages, or those of these agents. Numbers with a percent "
        "sign need no key.",
    ),
    "scores": Key(
        "LOW-HIGH",
        "Reports are scores, as in scores.vendor=0-999: s counts as s / 999. Where a "
        "high score means a low probability, HIGH-LOW. scores=1-5: those of all "
        "agents.",
    ),
    "long": Key(
        "CASE,AGENT,REPORT",
        "The table has one row per report; these three columns hold the case, the "
        "agent and the report (default: found). The time is then that of the report, "
        "and the latest report of an agent on a case counts.",
    ),
    "decision-time": Key(
        "COLUMN", "For a long table: only reports made before this time count."
    ),
    "updates": Key(
        "RULE",
        "For a long table: what counts when an agent reports on a case more than once: "
        "last, the latest report (default); last-row, likewise, and of two at the same "
        "time the one further down the table; or time-weighted, each report for as "
        "long as it stood before the decision time.",
    ),
    "cost-fn": Key(
        COST, f"Cost of a missed case, with two classes: a number{PER_CASE}."
    ),
    "cost-fp": Key(COST, "Cost of a false alarm, likewise."),
    "cost-tp": Key(COST, "Cost of a hit, likewise; a benefit is negative."),
    "cost-tn": Key(
        COST, "Cost of leaving a negative case alone, likewise; a benefit is negative."
    ),
    "currency": Key("NAME", "Unit of the costs, as in EUR (default: false alarms)."),
    "cost-matrix": Key(
        "ROWS",
        "Costs for K classes, one row per true class and one column per decision, in "
        "the order of the class columns: '0,1,1; 10,0,1; 10,1,0'.",
    ),
    "price": Key(
        "NUMBER",
        "What one report of an agent costs, in the unit of the costs, as in "
        "price.vendor=0.02.",
    ),
    "capacity": Key(
        "LIMIT",
        "Flag at most this many cases, the most valuable ones: a number, a "
        "share or a rate, as in 200, 5% or 200/day (hour, day, week, month). A case "
        "counts when it is decided: at its decision-time if there is one, else at its "
        "time.",
    ),
    "by": Key(
        "COLUMN", "Column that divides the cases into segments: who fails where."
    ),
    "threshold": Key(
        "NUMBER",
        "Decide positive above this probability (default: the threshold that "
        "minimises the expected cost).",
    ),
    "model": Key("NAME", "Which model."),
    "agent": Key("NAME", "Which agent."),
    "pool": Key("NAME", "Which pool."),
    "learner": Key("NAME", "Which online learner."),
    "payment": Key("NAME", "How agents are paid. Repeatable."),
    "loss": Key("NAME", f"Loss: {LOSSES}."),
    "level": Key("NUMBER", "Confidence level of the intervals."),
    "seed": Key("NUMBER", "The same seed gives the same numbers."),
    "jobs": Key("NUMBER", "Number of parallel processes; -1 uses all cores."),
    "engine": Key(
        "NAME",
        "Where the work is done: local (this machine), or ray (all nodes of a Ray "
        "cluster). The results are the same.",
    ),
    "address": Key(
        "HOST:PORT",
        "With engine=ray: head node of the cluster (default: RAY_ADDRESS if set, else "
        "a Ray of its own on this machine).",
    ),
    "output": Key("FILE", "File to write; - is standard output.", "-o"),
    "json": Key("FILE", "Write JSON to this file; - prints it."),
    "html": Key("FILE", "Write an HTML page to this file."),
    "markdown": Key("FILE", "Write Markdown to this file."),
    "plot": Key("FILE", "Draw to this SVG, PNG or PDF file."),
    "config": Key(
        "FILE",
        f"File of keys, such as truepool init writes (default: {FILE} beside the table "
        "or here, if there is one).",
    ),
    "set": Key("KEY=VALUE", "Set a key; truepool help keys lists them. Repeatable."),
    "last": Key("NUMBER", "How many of the most recent ones."),
    "quiet": Key("", "Print nothing but errors."),
    "force": Key("", "Replace files that truepool did not write."),
    "spreadsheet-safe": Key(
        "true",
        "In CSV, put an apostrophe before text that starts with =, +, - or @, which a "
        "spreadsheet would run as a formula.",
    ),
    "host": Key("ADDRESS", "Address to listen on."),
    "port": Key("NUMBER", "Port to listen on; 0 takes a free one."),
    "grpc-port": Key("NUMBER", "Also serve gRPC on this port; 0 takes a free one."),
    "tls-cert": Key("FILE", "Certificate, in PEM format."),
    "tls-key": Key("FILE", "Key of the certificate, in PEM format."),
    "insecure": Key("", "Listen beyond this machine even without TLS or tokens."),
    "check": Key("", "Check the options, then exit."),
    "trust": Key(
        "",
        "Load .joblib files. They can run any code: load only what you trust.",
    ),
}
"""Every key that more than one verb has, or may have. A verb's other keys are its own:
no second verb may use their names."""
SPLIT = ("agents", "ignore", "percent", "long")
"""Keys with names, which one text may separate by commas."""
ADDED = ("ignore", "missing")
"""Keys whose values add up: those of the file, and of the command."""
OF_TABLES = (
    "outcome",
    "positive",
    "agents",
    "ignore",
    "id",
    "time",
    "time_format",
    "sep",
    "decimal",
    "missing",
    "percent",
    "scores",
    "long",
    "decision_time",
    "updates",
    "weight",
    "group",
    "propensity",
)
"""Parameters that say what the columns of a table are."""
OF_COSTS = (
    "cost_fn",
    "cost_fp",
    "cost_tp",
    "cost_tn",
    "cost_matrix",
    "currency",
    "threshold",
)
"""Parameters that say what decisions cost."""
BY_AGENT = ("scores", "price")
"""Keys that are set for each agent, as in scores.vendor=0-999."""
WRITTEN = ("output", "json", "html", "markdown", "plot")
"""Keys that write a file. A file of keys that is found may name those of its own folder
only: whoever sends a folder with a table may put one into it."""
NAMED_ONLY = (
    "force", "trust", "base-url", "key-variable", "answers", "address", "traces",
    "host", "insecure",
)  # fmt: skip
"""Keys that reach another machine, run code or replace files: a file must be named."""
MOST_JOBS = 1_000
"""Largest number of processes that a command starts."""
OWN = {
    "percent": "true, false or names",
    "scores": "a range such as 0-999, or one for each agent",
    "price": "a number for each agent, as in price.vendor = 0.02",
    "long": "three columns, of the case, the agent and the report, or false",
}
"""Keys that may be of several types, and what they must be."""
CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "seed": (lambda n: n >= 0, "a whole number from 0 on"),
    "port": (lambda n: 0 <= n <= 65535, "a port, from 0 to 65535"),
    "grpc-port": (lambda n: 0 <= n <= 65535, "a port, from 0 to 65535"),
    "jobs": (
        lambda n: n == -1 or 1 <= n <= MOST_JOBS,
        f"1 to {MOST_JOBS:,} processes, or -1 for all cores",
    ),
}
"""Keys whose values have limits."""
KINDS: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number, such as 5",
    float: "a number with a decimal point, such as 0.5",
    str: "text or a number",
    Path: "the name of a file",
    list: "a text or a list of texts",
}
"""What the value of a key must be, in words."""


def option(name: str, help: str | None = None, **settings: Any) -> Any:
    """Return a key that is an option too; ``help`` replaces the shared help."""
    known = KEYS[name]
    flags = [f"--{name}"] if known.short is None else [f"--{name}", known.short]
    if known.value:
        settings.setdefault("metavar", known.value)
    return typer.Option(*flags, help=help or known.help, **settings)


def key(name: str, help: str | None = None, value: str | None = None) -> Setting:
    """Return a key that is no option; one of a verb's own has help and value here."""
    known = KEYS.get(name, Key("", ""))
    return Setting(name, known.value if value is None else value, help or known.help)


@dataclass(frozen=True)
class Parameter:
    """What a parameter of a verb takes: key and type, and whether it is an option."""

    name: str
    key: str
    type: Any
    default: Any
    option: bool
    value: str = ""
    help: str = ""


VERBS: dict[str, dict[str, Parameter]] = {}
"""Parameters by key of every verb that has keys."""
READERS: set[str] = set()
"""Verbs that read a table with outcomes, which a file describes for all of them."""


def register(
    verb: str, parameters: Iterable[inspect.Parameter]
) -> dict[str, Parameter]:
    """Let a file give the keys of a verb; return them."""
    found = (_described(each) for each in parameters if get_args(each.annotation))
    VERBS[verb] = {each.key: each for each in found if each is not None}
    return VERBS[verb]


def _described(parameter: inspect.Parameter) -> Parameter | None:
    type_, info = get_args(parameter.annotation)[:2]
    plain = [part for part in get_args(type_) if part is not None.__class__]
    kind = plain[0] if len(plain) < len(get_args(type_)) else type_
    if isinstance(info, Setting):
        return Parameter(
            parameter.name,
            info.name,
            kind,
            parameter.default,
            False,
            info.value,
            info.help,
        )
    if not isinstance(info, OptionInfo):
        return None
    # In an annotation, typer keeps the first flag where a default would stand.
    flags = [str(flag) for flag in (info.default, *(info.param_decls or ()))]
    long = next((flag[2:] for flag in flags if flag.startswith("--")), parameter.name)
    name = long.partition("/")[0].replace("_", "-")
    return Parameter(
        parameter.name,
        name,
        kind,
        parameter.default,
        True,
        info.metavar or "",
        info.help or "",
    )


def find_file(table: Path | None) -> Path | None:
    """Return the file of keys beside a table, or in the working directory."""
    beside = [] if table is None else [table.parent / FILE]
    return next((path for path in (*beside, Path(FILE)) if path.is_file()), None)


def check_found(path: Path, values: Mapping[str, Any]) -> None:
    """Refuse keys of a file that was found, and not named, which could do harm."""
    folder = path.parent.resolve()
    for name, value in values.items():
        inside = name in WRITTEN and (
            str(value) == "-" or Path(value).resolve().is_relative_to(folder)
        )
        if name in NAMED_ONLY or (name in WRITTEN and not inside):
            raise SettingError(
                f"{path} was found and not named, so it may not say {name} = {value}: "
                "it may come from whoever sent the table. Name the file (--config "
                f"{shlex.quote(str(path))}), or say it on the command line."
            )


def read_file(path: Path, verb: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values of a verb's keys in a file: of all verbs, and of its own section.

    What the file says of a table is for verbs that read one with outcomes.
    """
    from truepool.cli import verbs

    verbs.describe_all()
    general: dict[str, Any] = {}
    sections: dict[str, Mapping[str, Any]] = {verb: {}}
    for name, value in _nested(_load(path)):
        if not isinstance(value, dict) or name in KEYS:
            general[name] = value
        elif name in VERBS:
            sections[name] = value
        elif distributions.home("verb", name) is None:
            known = suggestion(name, VERBS) or f"; known: {', '.join(sorted(VERBS))}"
            raise SettingError(
                f"a section of a file of keys must be a command; {path} has "
                f"[{name}]{known}"
            )
    every = {name: each for own in VERBS.values() for name, each in own.items()}
    for name in general:
        _check_known(str(path), name, every, "no command has such a key")
    for section, values in sections.items():
        for name in values:
            _check_known(str(path), name, VERBS[section], f"{section} has no such key")
    keys, where = VERBS[verb], str(path)
    apart = () if verb in READERS else OF_TABLES
    return (
        {
            name: convert(where, keys[name], value)
            for name, value in general.items()
            if name in keys and keys[name].name not in apart
        },
        {name: convert(where, keys[name], v) for name, v in sections[verb].items()},
    )


def _nested(found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what a file says; the section [agent.train] has its name in one."""
    groups = {name.partition(".")[0] for name in VERBS if "." in name}
    for name, value in found.items():
        if name in groups and isinstance(value, dict):
            yield from ((f"{name}.{verb}", own) for verb, own in value.items())
        else:
            yield name, value


def read_settings(settings: Iterable[str], verb: str) -> dict[str, Any]:
    """Values of a verb's keys as the command line sets them, ``key=value``."""
    found: dict[str, Any] = {}
    for text in settings:
        name, sign, value = text.partition("=")
        name, _, part = name.strip().partition(".")
        name = name.replace("_", "-")
        if not sign:
            raise SettingError(f"--set takes KEY=VALUE; got {text!r}")
        _check_known("--set", name, VERBS[verb], f"{verb} has no such key")
        given = _toml(value)
        if part:
            if name not in BY_AGENT:
                raise SettingError(
                    f"only {' and '.join(BY_AGENT)} are set for each agent; got "
                    f"{text!r}"
                )
            given = {part: given}
        if isinstance(given, dict) and isinstance(found.get(name), dict):
            given = found[name] | given
        elif name in found and _adds_up(VERBS[verb][name], found[name], given):
            given = [*_list(name, found[name]), *_list(name, given)]
        elif name in found:
            raise SettingError(f"a key is set once; got {name} twice")
        found[name] = given
    return {n: convert("--set", VERBS[verb][n], value) for n, value in found.items()}


def _adds_up(parameter: Parameter, *values: Any) -> bool:
    """Whether a key that is set twice means both: names, or words."""
    names = not any(isinstance(value, bool) for value in values)
    return get_origin(parameter.type) is list or (parameter.key == "percent" and names)


def _toml(text: str) -> Any:
    """Return a value as a file would have it; what is no TOML is text, .2 is 0.2."""
    if re.fullmatch(r"[-+]?(\.\d+|\d+\.)", text):
        return float(text)
    with suppress(tomllib.TOMLDecodeError):
        value = tomllib.loads(f"v = {text}")["v"]
        if isinstance(value, bool | int | float | str | list):
            return value
    return text.strip()


def _list(name: str, value: Any) -> list[str]:
    """Return names; one text may separate them by commas."""
    parts = value if isinstance(value, list) else [value]
    if name in SPLIT:
        parts = [each.strip() for part in parts for each in str(part).split(",")]
    return [str(part) for part in parts if str(part)]


def from_text(parameter: Parameter, text: str) -> Any:
    """Return the value of a key that is given as text."""
    value = _toml(text)
    if parameter.type is bool:
        value = {"1": True, "yes": True, "0": False, "no": False}.get(text, value)
    return convert("the environment", parameter, value)


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise SourceError(
            f"{missing_file(path).replace('no file', 'no file of keys')}. Write one "
            "with truepool init TABLE."
        ) from None
    except OSError as error:
        raise SourceError(
            f"the file of keys {str(path)!r} cannot be read: {error.strerror}"
        ) from None
    except UnicodeDecodeError:
        raise SourceError(
            f"a file of keys must be UTF-8 text; {str(path)!r} is not"
        ) from None
    except tomllib.TOMLDecodeError as error:
        _check_repeated_key(path, str(error))
        raise SourceError(
            f'a file of keys must be TOML, as in outcome = "label"; {str(path)!r} is '
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
        name = words.partition("=")[0].strip() if "=" in words else ""
        first = lines.setdefault((section, name), line)
        if name and first < line == int(where[1] if where else len(text)):
            raise SourceError(
                f"a key must stand once; {str(path)!r} has {name!r} on lines {first} "
                f"and {line}. Leave one of them out."
            )


def _check_known(where: str, name: str, known: Iterable[str], fault: str) -> None:
    if name not in known:
        raise SettingError(
            f"{where} names the key {name!r}, and {fault}{suggestion(name, known)}; "
            "truepool help keys lists them"
        )


def convert(where: str, parameter: Parameter, value: Any) -> Any:
    """Return the value of a key in the type that a verb takes."""
    name, kind = parameter.key, get_origin(parameter.type) or parameter.type
    found = _of_its_own(name, value) if name in OWN else _of_type(name, kind, value)
    if found is None or (name in CHECKS and not CHECKS[name][0](found)):
        words = OWN.get(name) or CHECKS.get(name, (None, None))[1] or KINDS.get(kind)
        if isinstance(kind, type) and issubclass(kind, Enum):
            words = " or ".join(repr(str(member.value)) for member in kind)
        raise SettingError(f"{name} ({where}) must be {words or 'text'}; got {value!r}")
    return found


def _of_its_own(name: str, value: Any) -> Any:
    """Return the value of a key that may be of several types; None where it is none."""
    texts = isinstance(value, list) and all(isinstance(v, str | int) for v in value)
    if name == "percent" and (isinstance(value, bool) or value == "*"):
        return value is not False
    if name == "long" and value is False:
        return value
    if name == "scores":
        return value if isinstance(value, str | dict) else None
    if name == "price":
        known = isinstance(value, dict) and all(map(_is_number, value.values()))
        return {agent: float(each) for agent, each in value.items()} if known else None
    names = _list(name, value) if texts or isinstance(value, str) else []
    if name == "long":
        return tuple(names) if len(names) == 3 else None
    return names or None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_type(name: str, kind: Any, value: Any) -> Any:
    """Return a value in its type, None where it is none of it."""
    number = _is_number(value)
    texts = isinstance(value, list) and all(isinstance(v, str | int) for v in value)
    if kind is list:
        given = texts or isinstance(value, str) or number
        return _list(name, value) if given else None
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value) if value in list(kind) else None
    if kind is str:
        return str(value) if isinstance(value, str) or number else None
    if kind is float:
        return float(value) if number else None
    if kind is Path:
        return Path(value) if isinstance(value, str) else None
    return value if value.__class__ is kind else None


def every() -> list[tuple[str, str, str, list[str]]]:
    """Return every key: name, value, help, and the verbs that have it."""
    from truepool.cli import verbs

    verbs.describe_all()
    found: dict[str, tuple[str, str, list[str]]] = {}
    for verb, own in VERBS.items():
        for name, each in own.items():
            shared = KEYS.get(name)
            value = shared.value if shared else each.value
            help = shared.help if shared else each.help
            found.setdefault(name, (value, help, []))[2].append(verb)
    return [(name, *found[name]) for name in sorted(found)]
