"""What the columns of a table are: as the user declares it, and as it was resolved."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Self

from truepool.core.arrays import FloatArray
from truepool.tables.faults import Fault, TableFaults

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|"}
"""Separators that may be given by name; any other character stands for itself."""
UPDATES = LAST, LAST_ROW, TIME_WEIGHTED = ("last", "last-row", "time-weighted")
"""What counts of several reports of one agent on one case: the latest, of two at the
same time the lower row, or each for as long as it stood."""
RANGE = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*-\s*(-?\d+(?:\.\d+)?)\s*")
EVERY = "*"


@dataclass(frozen=True)
class Unit:
    """The numbers of an agent that count as 0 and as 1.

    >>> import numpy as np
    >>> Unit.of_scores("850-300").shares(np.array([410.0]))
    array([0.8])
    """

    zero: float = 0.0
    one: float = 1.0

    @classmethod
    def of_scores(cls, text: str) -> "Unit":
        """Read a range of scores: the one that counts as 0, then the one that is 1."""
        found = RANGE.fullmatch(text)
        if found is None or float(found[1]) == float(found[2]):
            raise bad_setting("scores", "a range such as 0-999", text)
        return cls(float(found[1]), float(found[2]))

    @property
    def kind(self) -> str:
        """Whether numbers are probabilities, percentages or scores."""
        return {PROBABILITY: "probability", PERCENT: "percent"}.get(self, "score")

    @property
    def low(self) -> float:
        """The smallest number that there is."""
        return min(self.zero, self.one)

    @property
    def high(self) -> float:
        """The largest number that there is."""
        return max(self.zero, self.one)

    @property
    def span(self) -> str:
        """The range as it is declared."""
        return f"{self.zero:g}-{self.one:g}"

    def shares(self, values: FloatArray) -> FloatArray:
        """Return numbers as shares of the range."""
        if self == PROBABILITY:
            return values
        return (values - self.zero) / (self.one - self.zero)


PROBABILITY, PERCENT = Unit(), Unit(0.0, 100.0)


def bad_setting(key: str, must: str, got: Any) -> TableFaults:
    """Return the refusal of a value that a key cannot have."""
    fields = {"key": key.replace("_", "-"), "must": must}
    return TableFaults([Fault("bad-setting", found=got, fields=fields)])


@dataclass(frozen=True)
class Declared:
    """What the user says of a table; what is not said is found out, or asked.

    Parameters
    ----------
    outcome : str, optional
        Column with the outcome: one of two labels, of K class names, or of 0..K-1.
    positive : label, optional
        Which of two labels the reports are probabilities of.
    agents, ignore : sequence of str, or str
        Columns that are agents, and columns that are not: names, or patterns such as
        ``model_*``. One text is one name.
    id, time : str, optional
        Columns that name and date the cases.
    columns : sequence of str, or str
        Columns that are kept beside the reports, such as an amount.
    weight, group, propensity : str, optional
        Columns with the weight of each case, with what cases have in common, and with
        the chance that the outcome of the case became known; see `truepool.Panel`.
    percent : bool, sequence of str, or str
        Whether reports are percentages; or the agents whose reports are.
    scores : mapping of str to str, or str
        Scores from the number that counts as 0 to the one that counts as 1, by agent or
        pattern, ``{"vendor": "0-999", "bureau": "850-300"}``; one text for all agents.
    missing : sequence of str, or str
        Words that mean "no report" and, in the outcome column, "no outcome yet".
    sep : str, optional
        What separates the columns of a text file, a character or "tab".
    decimal : {".", ","}, optional
        Decimal mark.
    time_format : str, optional
        How times are written, as in ``%d.%m.%Y %H:%M``. Several, separated by ``|``,
        where columns differ.
    long : sequence of three str, optional
        Columns with the case, the agent and the report of a table with one row per
        report; False where a table is not one.
    decision_time : str, optional
        Column of a long table: only reports made before that time count.
    updates : {"last", "last-row", "time-weighted"}
        Of a long table: what counts of several reports of one agent on one case.
    """

    outcome: str | None = None
    positive: Any = None
    agents: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    id: str | None = None
    time: str | None = None
    columns: tuple[str, ...] = ()
    weight: str | None = None
    group: str | None = None
    propensity: str | None = None
    percent: bool | tuple[str, ...] | None = None
    scores: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    sep: str | None = None
    decimal: str | None = None
    time_format: str | None = None
    long: tuple[str, str, str] | bool | None = None
    decision_time: str | None = None
    updates: str = LAST

    def __post_init__(self) -> None:
        checked = {
            each.name: _CHECKS.get(each.name, _text)(each.name, vars(self)[each.name])
            for each in fields(self)
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        for pattern, span in self.scores.items():
            both = isinstance(self.percent, tuple) and is_chosen(pattern, self.percent)
            if both or (self.percent is True and pattern == EVERY):
                raise bad_setting(f"scores.{pattern}", "left out, or percent", span)

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> Self:
        """Return what keys say, as a config file or a call spells them."""
        named = {name.replace("-", "_"): value for name, value in keys.items()}
        known = [each.name for each in fields(cls)]
        unknown = [name for name in named if name not in known]
        if unknown:
            from truepool.core.registry import check_settings

            check_settings("a table", unknown, known)
        return cls(**named)

    def with_keys(self, keys: Mapping[str, Any]) -> Self:
        """Return what is said with further keys, such as ``scores.vendor``."""
        own = dict(vars(self))
        for key, value in keys.items():
            name, _, part = key.partition(".")
            name = name.replace("-", "_")
            if part:
                own[name] = {**own[name], part: value}
            elif isinstance(own.get(name), tuple) and isinstance(value, list | tuple):
                own[name] = (*own[name], *value)
            elif isinstance(value, Mapping):
                own[name] = {**own[name], **value}
            else:
                own[name] = value
        return type(self)(**own)

    def unit(self, agent: str, *, signed: bool = False) -> Unit | None:
        """Return the unit that is declared for an agent, or a column of it.

        Where nothing is said of it, reports that are ``signed`` are percentages.

        >>> Declared(percent="vendor_*").unit("vendor_a"), Declared().unit("rf")
        (Unit(zero=0.0, one=100.0), None)
        """
        own = {span for pattern, span in self.scores.items() if pattern == agent} or {
            span
            for pattern, span in self.scores.items()
            if pattern != EVERY and is_chosen(agent, (pattern,))
        }
        if len(own) > 1:
            raise bad_setting(f"scores.{agent}", "one range", ", ".join(sorted(own)))
        if own or EVERY in self.scores:
            return Unit.of_scores(min(own, default=self.scores.get(EVERY, "")))
        if isinstance(self.percent, tuple):
            named = signed or is_chosen(agent, self.percent)
            return PERCENT if named else PROBABILITY
        if self.percent is None:
            return PERCENT if signed else None
        return PERCENT if self.percent else PROBABILITY

    def in_percent(self, agent: str) -> bool:
        """Whether the reports of an agent are declared to be percentages."""
        if isinstance(self.percent, tuple):
            return is_chosen(agent, self.percent)
        return bool(self.percent) and self.unit(agent) == PERCENT

    @property
    def formats(self) -> tuple[str, ...]:
        """Ways in which times are said to be written."""
        given = (self.time_format or "").split("|")
        return tuple(each.strip() for each in given if each.strip())

    def roles(self) -> dict[str, str]:
        """Columns that have a role, by the key that gives it; agents have patterns."""
        single = (
            "outcome",
            "id",
            "time",
            "weight",
            "group",
            "propensity",
            "decision_time",
        )
        named = {key.replace("_", "-"): vars(self)[key] for key in single}
        return {key: name for key, name in named.items() if name is not None}


def _text(key: str, value: Any) -> Any:
    if value is not None and not isinstance(value, str):
        raise bad_setting(key, "the name of a column", value)
    return value


def _names(key: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        value = [value]
    listed: list[Any] = [*value] if isinstance(value, Iterable) else [None]
    if not all(isinstance(name, str) and name.strip() for name in listed):
        raise bad_setting(key, "names of columns", value)
    return tuple(dict.fromkeys(listed))


def _percent(key: str, value: Any) -> bool | tuple[str, ...] | None:
    if value is None or isinstance(value, bool):
        return value
    names = _names(key, value)
    return True if EVERY in names else names or False


def _scores(key: str, value: Any) -> dict[str, str]:
    if value is None:
        return {}
    found = {EVERY: value} if isinstance(value, str) else value
    if not isinstance(found, Mapping):
        raise bad_setting(key, "a range such as 0-999, by agent", value)
    for pattern, span in found.items():
        if not isinstance(span, str):
            raise bad_setting(f"{key}.{pattern}", "a range such as 0-999", span)
        Unit.of_scores(span)
    return dict(found)


def _long(key: str, value: Any) -> tuple[str, str, str] | bool | None:
    if value is None or value is False:
        return value
    names = () if isinstance(value, str) else _names(key, value)
    if len(names) != 3:
        raise bad_setting(key, "three columns, of the case, agent and report", value)
    return (names[0], names[1], names[2])


def _separator(key: str, value: Any) -> str | None:
    if value is None:
        return None
    character = str(SEPARATORS.get(value, value))
    if not isinstance(value, str) or len(character) != 1 or not character.isascii():
        raise bad_setting(key, "one ASCII character, or tab", value)
    return character


def _decimal(key: str, value: Any) -> str | None:
    if value not in (None, ".", ","):
        raise bad_setting(key, "'.' or ','", value)
    return value  # type: ignore[no-any-return]


def _updates(key: str, value: Any) -> str:
    if value not in UPDATES:
        raise bad_setting(key, f"one of {', '.join(UPDATES)}", value)
    return str(value)


def _format(key: str, value: Any) -> str | None:
    """Refuse a format in which AM and PM count for nothing, or are not said.

    The parser ignores %p beside %H, and takes %I without %p for the morning; of zones
    it knows offsets only.
    """
    for form in str(_text(key, value) or "").split("|"):
        parts = set(re.findall("%(.)", form))
        must = {
            "offsets from UTC (%z) and no names of zones": "Z" in parts,
            "%I with %p, or %H without it": "H" in parts and "p" in parts,
            "%p with %I, or %H": "I" in parts and "p" not in parts,
        }
        for rule, broken in must.items():
            if broken:
                raise bad_setting(key, rule, form.strip())
    return value  # type: ignore[no-any-return]


_CHECKS: Mapping[str, Any] = {
    "positive": lambda key, v: v.strip() if isinstance(v, str) else v,
    "agents": _names,
    "ignore": _names,
    "columns": _names,
    "missing": _names,
    "percent": _percent,
    "scores": _scores,
    "sep": _separator,
    "decimal": _decimal,
    "time_format": _format,
    "long": _long,
    "updates": _updates,
}


def is_chosen(name: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern matches a column, or the agent whose class it is of.

    >>> is_chosen("rf:fraud", ["rf"]), is_chosen("rf", ["r*"]), is_chosen("rf", ["nb"])
    (True, True, False)
    """
    written = name
    agent, colon, label = name.rpartition(":")
    if colon:
        agent, name = agent.rstrip(), f"{agent.rstrip()}:{label.lstrip()}"
    agent = agent or name
    return any(
        pattern in (written, name, agent)
        or fnmatchcase(name, pattern)
        or fnmatchcase(agent, pattern)
        for pattern in patterns
    )


@dataclass(frozen=True)
class Schema:
    """What every column of a table is.

    ``reports`` has the columns of each agent, one, or one per class; of a ``long``
    table, whose agents are in the rows, it is empty. ``units`` are those of agents that
    report no probabilities. ``labels`` are the outcome's, in the order of the classes;
    none where no outcome is known. ``kept`` columns stay beside the reports,
    ``formats`` say how columns of times are written, and ``unused`` ones mean nothing.
    """

    agents: tuple[str, ...] = ()
    reports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    units: Mapping[str, Unit] = field(default_factory=dict)
    outcome: str | None = None
    labels: tuple[Any, ...] = ()
    id: str | None = None
    time: str | None = None
    weight: str | None = None
    group: str | None = None
    propensity: str | None = None
    kept: tuple[str, ...] = ()
    long: tuple[str, str, str] | None = None
    decision_time: str | None = None
    updates: str = LAST
    missing: tuple[str, ...] = ()
    decimal: str | None = None
    formats: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    signed: tuple[str, ...] = ()
    """Agents whose reports carry percent signs."""

    def unit(self, agent: str) -> Unit:
        """Return the unit of an agent."""
        return self.units.get(agent, PROBABILITY)

    @property
    def mark(self) -> str:
        """The decimal mark of text."""
        return self.decimal or "."

    @property
    def row(self) -> str:
        """What a row of the panel stands for: a case, or an interval of its life."""
        return "interval" if self.updates == TIME_WEIGHTED else "case"

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that are read, each once."""
        single = (
            self.outcome,
            self.id,
            self.time,
            self.weight,
            self.group,
            self.propensity,
            self.decision_time,
        )
        names = [name for own in self.reports.values() for name in own]
        names += [name for name in single if name is not None]
        return tuple(dict.fromkeys((*names, *self.kept, *(self.long or ()))))

    def declared(self) -> Declared:
        """Return what a user would say of a table like this one."""
        scores = {a: u.span for a, u in self.units.items() if u != PERCENT}
        named = tuple(a for a, u in self.units.items() if u == PERCENT)
        percent = True if len(named) == len(self.agents) > 0 else named
        positive = None
        if len(self.labels) == 2 and self.labels not in ((0, 1), (False, True)):
            positive = self.labels[1]
        return Declared(
            self.outcome,
            positive,
            () if self.long else self.agents,
            (),
            self.id,
            self.time,
            self.kept,
            self.weight,
            self.group,
            self.propensity,
            percent or None,
            scores,
            self.missing,
            None,
            self.decimal,
            " | ".join(dict.fromkeys(self.formats.values())) or None,
            self.long,
            self.decision_time,
            self.updates,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as JSON and TOML have it."""
        found = {
            each.name: vars(self)[each.name]
            for each in fields(self)
            if vars(self)[each.name] not in ((), {}, None)
        }
        if self.units:
            found["units"] = {a: [u.zero, u.one] for a, u in self.units.items()}
        return {
            name: _listed(value) if name not in ("units",) else value
            for name, value in found.items()
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Self:
        """Return the schema of its dictionary."""
        known = {each.name for each in fields(cls)}
        values = {n: _tupled(v) for n, v in found.items() if n in known}
        if "units" in values:
            values["units"] = {a: Unit(*ends) for a, ends in values["units"].items()}
        return cls(**values)

    @classmethod
    def of_options(cls, old: Mapping[str, Any], agents: Sequence[str]) -> Self:
        """Return the schema of a pool that a version before schemas saved."""
        scores: dict[str, str] = {}
        for text in old.get("scores") or ():
            names, _, span = text.rpartition("=")
            scores |= dict.fromkeys(names.split(",") if names else [EVERY], span)
        declared = Declared(percent=old.get("percent") or None, scores=scores)
        units = {agent: declared.unit(agent) for agent in agents}
        long = old.get("long")
        return cls(
            tuple(agents),
            {} if long else {agent: (agent,) for agent in agents},
            units={a: u for a, u in units.items() if u not in (None, PROBABILITY)},
            outcome=old.get("outcome"),
            id=old.get("id"),
            time=old.get("time"),
            weight=old.get("weight"),
            group=old.get("group"),
            propensity=old.get("propensity"),
            kept=tuple(old.get("columns") or ()),
            long=long and (long[0], long[1], long[2]),
            updates=old.get("updates", LAST),
            decision_time=old.get("decision_time"),
            missing=tuple(old.get("missing") or ()),
            decimal="," if old.get("decimal") == "," else None,
            formats=_written(old),
            unused=tuple(old.get("ignore") or ()),
        )

    def without(self, names: Sequence[str]) -> Self:
        """Return the schema of a table in which only some agents report."""
        kept = tuple(name for name in self.agents if name not in names)
        return replace(
            self,
            agents=kept,
            reports={a: self.reports[a] for a in kept},
            units={a: u for a, u in self.units.items() if a in kept},
        )


def _written(old: Mapping[str, Any]) -> dict[str, str]:
    names = [old.get("time") or "time", old.get("decision_time")]
    form = old.get("time_format")
    return {name: form for name in names if name and form}


def _listed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _listed(each) for name, each in value.items()}
    return [_listed(each) for each in value] if isinstance(value, tuple) else value


def _tupled(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _tupled(each) for name, each in value.items()}
    return tuple(map(_tupled, value)) if isinstance(value, list) else value
