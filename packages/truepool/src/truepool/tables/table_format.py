"""How a table is written, and what its columns mean."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from truepool.core.errors import SettingError
from truepool.panel.report_units import join_patterns, percent_option
from truepool.tables.agent_columns import ignored_columns, is_chosen
from truepool.tables.score_range import ScoreRange, parse_ranges

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|"}
"""Separators that may be given by name; any other character stands for itself."""

DECIMALS = (".", ",")

LONG = ("case", "agent", "report")
"""What the columns of a long table are called unless they are named."""

LONG_CLASSES = (
    "A long table has one probability per row. Of two classes, name the column of the "
    "positive one; of more, write one row per case, with columns agent:class "
    "(docs/messy_tables.md shows how)."
)
"""What to do with a long table that has one column per class."""

REPEATED = ("ignore", "missing", "scores")
"""Options that are given once per value."""

UPDATES = LAST, LAST_ROW, TIME_WEIGHTED = ("last", "last-row", "time-weighted")
"""What counts of several reports of one agent on one case."""


@dataclass(frozen=True, init=False)
class TableFormat:
    """How a table is written, and what its columns mean.

    Parameters
    ----------
    outcome : str
        Column with the outcome: one of two labels, of K class names, or of 0..K-1.
    positive : label, optional
        Which of two labels the reports are probabilities of.
    agents : sequence of str, or str, optional
        Names of the agents' columns, or patterns such as ``model_*``; in one text they
        are separated by commas. By default every column without another meaning.
    id, time : str, optional
        Columns that name and date the cases; ``id`` and ``time`` if they exist.
    ignore : sequence of str, or str
        Columns that are not agents; one text is one name.
    columns : sequence of str, or str
        Columns that the panel keeps beside the reports, such as an amount.
    weight, group, propensity : str, optional
        Columns with the weight of each case, with what cases have in common, and with
        the chance that the outcome of the case became known; see `truepool.Panel`.
    sep : str, optional
        Separator of a text file, a character or "tab"; by default it is detected.
    decimal : {".", ","}
        Decimal mark.
    missing : sequence of str, or str
        Words that mean "no report" and, in the outcome column, "no outcome yet", such
        as ``n/d``, beside the empty cell, NA, n/a, NaN and null.
    percent : bool, sequence of str, or str
        Whether reports are percentages, 0 to 100 or ``6.1%``; or the agents whose
        reports are, by names or patterns as in ``agents``, while those of the others
        are fractions.
    scores : sequence of str, or str
        Reports are scores from the first number to the second, ``"1-5"``: s counts as
        (s - 1) / 4. Those of some agents, ``"vendor=0-999"``, by names or patterns;
        where a high score means a low probability, ``"bureau=850-300"``.
    time_format : str, optional
        How times are written, as in ``%d.%m.%Y %H:%M``; by default ISO 8601. Several,
        separated by ``|``, where columns differ: each column must fit one of them.
    long : sequence of three str, optional
        Columns with the case, the agent and the report of a long table, which has one
        row per report.
    layout : {"wide", "long"}, optional
        Long without ``long`` means that these columns are called case, agent and
        report.
    decision_time : str, optional
        Column of a long table: only reports made before that time count.
    updates : {"last", "last-row", "time-weighted"}
        Of a long table: what counts of several reports of one agent on one case. The
        last one, where two at the same time are refused, or the lower row of the two
        counts; or each of them, for as long as it stood, until the decision time.

    Examples
    --------
    >>> TableFormat(sep="tab", agents="model_*, vendor").agents
    ('model_*', 'vendor')
    """

    outcome: str
    positive: Any
    agents: tuple[str, ...]
    id: str | None
    time: str | None
    ignore: tuple[str, ...]
    columns: tuple[str, ...]
    weight: str | None
    group: str | None
    propensity: str | None
    sep: str | None
    decimal: str
    missing: tuple[str, ...]
    percent: bool | tuple[str, ...]
    scores: tuple[str, ...]
    time_format: str | None
    long: tuple[str, str, str] | None
    decision_time: str | None
    updates: str

    def __init__(
        self,
        outcome: str = "y",
        *,
        positive: Any = None,
        agents: Sequence[str] | str | None = None,
        id: str | None = None,
        time: str | None = None,
        ignore: Sequence[str] | str | None = None,
        columns: Sequence[str] | str | None = None,
        weight: str | None = None,
        group: str | None = None,
        propensity: str | None = None,
        sep: str | None = None,
        decimal: str = ".",
        missing: Sequence[str] | str | None = None,
        percent: bool | Sequence[str] | str = False,
        scores: Sequence[str] | str | None = None,
        time_format: str | None = None,
        long: Sequence[str] | None = None,
        layout: str | None = None,
        decision_time: str | None = None,
        updates: str = LAST,
    ) -> None:
        if layout is not None:
            long = _layout(layout, long)
        fields = {
            "outcome": outcome,
            "positive": positive.strip() if isinstance(positive, str) else positive,
            "agents": _without(_names("agents", agents), _distinct("ignore", ignore)),
            "id": id,
            "time": time,
            "ignore": _distinct("ignore", ignore),
            "columns": _distinct("columns", columns),
            "weight": weight,
            "group": group,
            "propensity": propensity,
            "sep": None if sep is None else _separator(sep),
            "decimal": decimal,
            "missing": _distinct("missing", missing),
            "percent": _percent(percent),
            "scores": parse_ranges(scores) if scores else (),
            "time_format": time_format,
            "long": None if long is None else _three(long),
            "decision_time": decision_time,
            "updates": updates,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
            _check_text(name, value)
        if decimal not in DECIMALS:
            raise SettingError(
                f"a decimal mark must be '.' or ','; got {decimal!r} (--decimal)"
            )
        if self.sep == "." == decimal:
            raise SettingError(
                "the separator and the decimal mark must differ; both are '.'. Change "
                "--sep or --decimal."
            )
        if self.percent is True and self.scores:
            raise _two_units("all of them")
        if decision_time is not None and self.long is None:
            raise SettingError(
                "a decision time belongs to a long table, in which reports have times; "
                "got one without --long. Name the columns of the case, the agent and "
                "the report with --long."
            )
        if updates not in UPDATES:
            raise SettingError(
                f"updates must be one of {', '.join(UPDATES)}; got {updates!r} "
                "(--updates)"
            )
        if updates == TIME_WEIGHTED and decision_time is None:
            raise SettingError(
                "time-weighted reports count until each case ends; no column says when "
                "that is. Name it (--decision-time)."
            )
        if updates == TIME_WEIGHTED and weight is not None:
            raise SettingError(
                "time-weighted reports are weights already; got the weight column "
                f"{weight!r} as well. Leave it out (--weight)."
            )

    def score_range(self, name: str) -> ScoreRange | None:
        """Return the range of an agent's scores, or a column's; None without scores.

        >>> written = TableFormat(scores=["vendor_*=0-999"])
        >>> written.score_range("vendor_a"), written.score_range("gbm")
        (ScoreRange(agents=('vendor_*',), zero=0.0, one=999.0), None)
        """
        ranges = map(ScoreRange.parse, self.scores)
        own = [each for each in ranges if each.is_of(name)]
        if len(own) > 1:
            raise SettingError(
                f"the scores of an agent must have one range; those of {name!r} have "
                f"{len(own)}: {', '.join(self.scores)}. Name it once (--scores)."
            )
        return own[0] if own else None

    def in_percent(self, name: str) -> bool:
        """Whether the reports of an agent, or of a column, are percentages.

        >>> written = TableFormat(percent="vendor_*,rf")
        >>> written.in_percent("vendor_a"), written.in_percent("rf:fraud")
        (True, True)
        >>> written.in_percent("gbm")
        False
        """
        if isinstance(self.percent, bool):
            return self.percent
        return is_chosen(name, self.percent)

    def ends(self, name: str) -> tuple[float, float]:
        """Return the numbers of an agent, or of a column, that count as 0 and as 1.

        >>> written = TableFormat(percent="rf", scores="bureau=850-300")
        >>> written.ends("rf"), written.ends("bureau"), written.ends("gbm")
        ((0.0, 100.0), (850.0, 300.0), (0.0, 1.0))
        """
        span, percent = self.score_range(name), self.in_percent(name)
        if span is not None and percent:
            raise _two_units(f"those of {name!r}")
        if span is not None:
            return span.zero, span.one
        return 0.0, 100.0 if percent else 1.0

    def other_ends(self, agents: Iterable[str]) -> dict[str, tuple[float, float]]:
        """Return the ends of agents whose numbers are no fractions.

        >>> TableFormat(percent="rf").other_ends(["rf", "gbm"])
        {'rf': (0.0, 100.0)}
        """
        ends = {name: self.ends(name) for name in agents}
        return {name: own for name, own in ends.items() if own != (0.0, 1.0)}

    def named_units(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each option that names agents with a unit of their own, and the names.

        >>> list(TableFormat(percent="rf", scores=["a,b=0-999", "c=1-5"]).named_units())
        [('--percent', ('rf',)), ('--scores', ('a', 'b')), ('--scores', ('c',))]
        """
        if not isinstance(self.percent, bool):
            yield "--percent", self.percent
        for text in self.scores:
            yield "--scores", ScoreRange.parse(text).agents

    def percent_option(self, agents: Sequence[str]) -> str:
        """Return the option that reads these agents in percent too.

        >>> TableFormat(percent="vendor").percent_option(["rf"])
        '--percent=vendor,rf'
        """
        known = () if isinstance(self.percent, bool) else self.percent
        return percent_option([*known, *agents])

    @property
    def case_columns(self) -> tuple[str, ...]:
        """Columns that describe the cases and are never agents, each once."""
        single = (self.weight, self.group, self.propensity)
        return tuple(dict.fromkeys((*self.columns, *filter(None, single))))

    @property
    def unit(self) -> str:
        """What a row of the panel stands for: a case, or an interval of its life."""
        return "interval" if self.updates == TIME_WEIGHTED else "case"

    def options(self) -> list[str]:
        """Return the options of the command line that describe the table.

        >>> TableFormat("label", percent=True, ignore=["a b", "c"]).options()
        ['--outcome label', "--ignore 'a b' --ignore c", '--percent']
        """
        plain, found = vars(TableFormat()), []
        for name, value in {**vars(self), "ignore": self._ignored_agents()}.items():
            if name == "percent" and isinstance(value, tuple):
                found.append(percent_option(value))
            elif value != plain[name] and name != "columns":
                flag = f"--{name.replace('_', '-')}"
                words = _words(name, value)
                if name in REPEATED:
                    words = [f" {flag} ".join(words)]
                found.append(" ".join([flag, *words]))
        return found

    def _ignored_agents(self) -> tuple[str, ...]:
        """Ignored names that `agents` does not leave out by itself.

        >>> TableFormat(agents="a,b,c", ignore=["c", "notes"]).options()
        ['--agents a,b']
        """
        if not self.agents or any(set("*?[") & set(name) for name in self.agents):
            return self.ignore
        return tuple(name for name in self.ignore if is_chosen(name, self.agents))

    @property
    def apart(self) -> tuple[str, ...]:
        """Columns that have a name here and are no agents."""
        single = self.outcome, self.id, self.time, *self._for_learning
        return (*(name for name in single if name), *self.ignore, *self.columns)

    @property
    def _for_learning(self) -> tuple[str | None, ...]:
        return self.weight, self.group, self.propensity

    def of_new_cases(self, names: Sequence[str]) -> "TableFormat":
        """Return how a table of new cases with these columns is read.

        What only learning needs (weight, group, propensity) and what is ignored may be
        there or not.
        """
        unused = (*self.ignore, *(name for name in self._for_learning if name))
        there = ignored_columns(names, unused)
        ignore = tuple(name for name in there if name not in self.columns)
        updates = LAST if self.updates == TIME_WEIGHTED else self.updates
        told = replace(self, ignore=ignore, updates=updates)
        return replace(told, weight=None, group=None, propensity=None)


def _without(agents: tuple[str, ...], ignored: Sequence[str]) -> tuple[str, ...]:
    """Names of agents without those that are ignored."""
    if not agents or not ignored:
        return agents
    out = ignored_columns(agents, ignored)
    rest = tuple(name for name in agents if name not in out)
    if not rest:
        raise SettingError(
            f"an agent must be left; all of {', '.join(agents)} are ignored. Take "
            "one out of --ignore."
        )
    return rest


def _check_text(name: str, value: Any) -> None:
    """Refuse text that no file can hold, such as a word of invalid bytes."""
    try:
        str(value).encode()
        "".join(value if isinstance(value, tuple) else ()).encode()
    except UnicodeEncodeError:
        raise SettingError(
            f"--{name.replace('_', '-')} must be valid Unicode; got {value!r}"
        ) from None


def _words(name: str, value: Any) -> list[str]:
    """Return the value of an option as words of a shell."""
    if value is True:
        return []
    if name == "agents":
        return [shlex.quote(join_patterns(value))]
    if value == "\t":  # a shell, and whoever copies it, loses the character
        return ["tab"]
    given = value if isinstance(value, tuple) else (value,)
    return [shlex.quote(str(part)) for part in given]


def _distinct(keyword: str, names: Sequence[str] | str | None) -> tuple[str, ...]:
    """Names, each once; one text is one name, since a name may have commas."""
    if names is None:
        return ()
    single = isinstance(names, str) or not isinstance(names, Iterable)
    listed: tuple[Any, ...] = (names,) if single else tuple(names)
    odd = next((name for name in listed if not isinstance(name, str)), None)
    if odd is not None:
        raise SettingError(f"{keyword} must be text; got {odd!r}. Write '{odd}'.")
    return tuple(dict.fromkeys(listed))


def _names(option: str, given: Iterable[str] | None) -> tuple[str, ...]:
    """Return names or patterns; in one text they are separated by commas."""
    if given is None:
        return ()
    parts = given.split(",") if isinstance(given, str) else [*given]
    names = tuple(name.strip() if isinstance(name, str) else "" for name in parts)
    if not all(names):
        mark = "=" if option == "percent" else " "
        raise SettingError(
            f"{option} must be names or patterns; got {', '.join(map(str, parts))!r}. "
            f"Write --{option}{mark}a,b,c or --{option}{mark}'model_*'."
        )
    return names


def _percent(given: bool | Iterable[str]) -> bool | tuple[str, ...]:
    """Whether all reports are percentages, or the agents whose reports are."""
    if isinstance(given, bool) or (isinstance(given, str) and not given):
        return bool(given)
    if not isinstance(given, Iterable):
        raise SettingError(
            f"percent must be True, False or names of agents; got {given!r}"
        )
    names = _names("percent", given)
    return "*" in names or tuple(dict.fromkeys(names)) or False


def _two_units(whose: str) -> SettingError:
    return SettingError(
        f"reports are either percentages or scores; {whose} are said to be both. Name "
        "the agents of each, as in --percent=a --scores b=0-999, or leave one out."
    )


def _separator(sep: str) -> str:
    character = SEPARATORS.get(sep, sep)
    if len(character) != 1 or not character.isascii():
        raise SettingError(
            f"a separator must be one ASCII character, or tab; got {sep!r} (--sep)"
        )
    return character


def _layout(layout: str, long: Sequence[str] | None) -> Sequence[str] | None:
    """Return the columns of a long table, None for a wide one."""
    if layout not in ("wide", "long"):
        raise SettingError(f"a layout must be 'wide' or 'long'; got {layout!r}")
    if layout == "wide" and long is not None:
        raise SettingError(
            "a wide table has no columns of cases, agents and reports; got "
            f"layout='wide' with long={long!r}. Leave out one of them."
        )
    return LONG if layout == "long" and long is None else long


def _three(long: Sequence[str]) -> tuple[str, str, str]:
    if isinstance(long, str) or len(long) != 3 or len(set(long)) != 3:
        cure = "Write --long question forecaster probability."
        if not isinstance(long, str) and len(set(long)) > 3:
            cure = LONG_CLASSES
        raise SettingError(
            "a long table needs three columns, for the case, agent and report; "
            f"got {long!r}. {cure}"
        )
    case, agent, report = long
    return case, agent, report
