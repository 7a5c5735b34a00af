"""A look at an unknown table: what its columns may mean, and what it cannot say.

What can be read off the table is decided: a column with probabilities is an agent. What
cannot, which label is positive above all, becomes a question.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from truepool.core.errors import TruepoolError
from truepool.core.formatting import pluralize
from truepool.data.tables.column_profile import (
    ColumnProfile,
    agents_in_percent,
    columns_by_class,
    describe_units,
    format_mean,
    profile_columns,
)
from truepool.data.tables.doubtful_columns import (
    doubtful_columns,
    name_parts,
    percent_columns,
)
from truepool.data.tables.files import NAMES
from truepool.data.tables.question import (
    Question,
    agent_question,
    percent_question,
    word_question,
)
from truepool.data.tables.reader import INDEXES, load_panel, read_source
from truepool.data.tables.table_format import TableFormat
from truepool.data.tables.times import BETWEEN, ISO

OUTCOMES = (
    "y", "outcome", "label", "target", "class", "truth", "resolved", "resolution",
    "result", "fraud", "attack", "default", "churn",
)  # fmt: skip
"""Of several columns with two values, one of such a name is the outcome."""


SEGMENTS = 20
"""A column of text with more different values says what cases have in common, such as a
customer; one with fewer, of what kind they are."""


@dataclass(frozen=True)
class TableProfile:
    """What was found in a table, as options by name, each with the reason.

    ``questions`` are for the user to answer; ``problem`` is why the table cannot be
    read even then; ``unused`` says of the other columns what they hold.
    """

    rows: int
    options: Mapping[str, Any]
    reasons: Mapping[str, str]
    questions: tuple[Question, ...]
    unused: Mapping[str, str]
    amounts: tuple[str, ...]
    classes: tuple[str, ...] = ()
    """Names of the classes, in order, where columns are of classes."""
    problem: str | None = None
    encoding: str | None = None
    """Encoding of the text, where it was guessed."""


@dataclass
class _Look:
    """Columns without a meaning yet, and what was found so far."""

    open: dict[str, ColumnProfile]
    reports: list[ColumnProfile] = field(default_factory=list)
    classes: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)

    def set(self, option: str, value: Any, reason: str, *used: str) -> None:
        self.options[option], self.reasons[option] = value, reason
        for name in used:
            del self.open[name]

    def ask(self, option: str, sentence: str, *choices: tuple[Any, str]) -> None:
        self.questions.append(Question(option, sentence, choices))

    @property
    def times(self) -> list[str]:
        return [name for name, column in self.open.items() if column.time_formats]


def profile_table(path: Path) -> TableProfile:
    """Look at a table of which nothing is known yet."""
    frame, origin = read_source(path, TableFormat())
    separator = origin.separator
    columns = profile_columns(frame.to_native())
    look = _Look({name: c for name, c in columns.items() if name not in INDEXES})
    if not _find_long(look):
        _find_agents(look)
        _ask_for_words(look)
        _find_outcome(look, look.open)
        _doubt_agents(look, columns)
        _find_id(look)
        _find_time(look)
    if separator is not None:
        name = "tab" if separator == "\t" else separator
        look.set("sep", name, f"{NAMES[separator]} in the header")
    if any(column.comma for column in columns.values()):
        look.set("decimal", ",", "decimal commas in the numbers")
    _find_percentages(look)
    _ask_for_percentages(look)
    _find_groups(look)
    named = [v for question in look.questions for v, _ in question.choices]
    rest = {name: c for name, c in look.open.items() if name not in named}
    profile = TableProfile(
        len(frame),
        look.options,
        look.reasons,
        tuple(look.questions),
        {name: column.describe() for name, column in rest.items()},
        tuple(name for name, column in rest.items() if column.is_amount),
        look.classes,
        encoding=origin.encoding,
    )
    return replace(profile, problem=_problem(path, profile))


def _problem(path: Path, profile: TableProfile) -> str | None:
    """Return why a table cannot be read with what was found, None if it can."""
    options = {name.replace("-", "_"): v for name, v in profile.options.items()}
    for question in profile.questions:
        if not question.required:
            continue
        if question.option not in ("positive", "percent"):
            return None
        options[question.option] = question.choices[0][0]
    try:
        load_panel(path, TableFormat(**options))
    except TruepoolError as error:
        return str(error)
    return None


def _find_agents(look: _Look) -> None:
    by_agent = columns_by_class(look.open)
    first = next(iter(by_agent.values()), [])
    classes = [name.rpartition(":")[2] for name in first]
    if all(name.isdecimal() for name in classes):
        classes.sort(key=int)
    look.classes = tuple(classes)
    if not by_agent:
        by_agent = {n: [n] for n, column in look.open.items() if column.is_report}
    if len(by_agent) < 2:
        _ask_for_agents(look)
        return
    used = [name for names in by_agent.values() for name in names]
    look.reports = [look.open[name] for name in used]
    look.set("agents", list(by_agent), describe_units(look.reports), *used)


def _ask_for_agents(look: _Look) -> None:
    """Ask which columns are agents where fewer than two look like probabilities."""
    large = {n: c for n, c in look.open.items() if c.lies_within(100.0) and not c.is_id}
    every = ((n, c.describe()) for n, c in (large or look.open).items())
    look.ask("agents", "which columns hold the reports of agents?", *every)
    above = [name for name, column in large.items() if not column.lies_within(1.0)]
    if above:
        some = (above, "if those of the others are fractions")
        look.ask(
            "percent",
            "are the reports percentages?",
            (True, "if the reports lie between 0 and 100"),
            *([some] if len(above) < len(large) else []),
        )


def _ask_for_words(look: _Look) -> None:
    """Ask about columns that look like reports but for a word or two."""
    found = {name: column.words for name, column in look.open.items() if column.words}
    if found:
        look.questions.append(word_question(found))


def _doubt_agents(look: _Look, columns: Mapping[str, ColumnProfile]) -> None:
    """Ask about columns that look like reports and may be something else."""
    if look.classes or "agents" not in look.options:
        return
    outcome = columns.get(look.options.get("outcome", ""))
    labels = None
    if outcome is not None:
        labels = np.where(outcome.codes < 0, np.nan, outcome.codes)
    reports = {column.name: column.by_row for column in look.reports}
    doubts = doubtful_columns(reports, labels)
    if doubts:
        look.questions.append(agent_question("ignore", doubts))


def _find_percentages(look: _Look) -> None:
    """Take columns with percent signs for percentages; others up to 1 are fractions."""
    percent = agents_in_percent(look.reports, by_class=bool(look.classes))
    if percent is True:
        look.set("percent", True, "percent signs in the reports")
    elif percent:
        reason = "percent signs; the other agents lie between 0 and 1"
        look.set("percent", percent, reason)


def _ask_for_percentages(look: _Look) -> None:
    """Ask about columns up to 100 without percent signs that rise with the reports."""
    if look.classes or "agents" not in look.options:
        return
    large = {n: c.by_row for n, c in look.open.items() if c.lies_within(100.0)}
    found = percent_columns(large, [column.by_row for column in look.reports])
    if found:
        percent = look.options.get("percent", [])
        question = percent_question(found, look.options["agents"], percent)
        look.questions.append(question)


def _find_outcome(look: _Look, columns: Mapping[str, ColumnProfile]) -> None:
    fit = [
        column for column in columns.values()
        if (set(column.distinct) <= {*look.classes} if look.classes
            else len(column.distinct) == 2) and column.distinct
    ]  # fmt: skip
    usual = [column for column in fit if _is_usual(column.name)]
    chosen = usual if len(fit) > 1 else fit
    if len(chosen) != 1:
        none = " None has two different values." if not fit else ""
        choices = ((column.name, column.describe()) for column in fit)
        look.ask("outcome", f"which column holds the outcome?{none}", *choices)
        return
    column = chosen[0]
    rest = " and ".join(repr(other.name) for other in fit if other is not column)
    also = f"; {rest} could be one too" if rest else ""
    counts = ", ".join(f"{k!r} in {n:,} rows" for k, n in column.counts.items())
    look.set("outcome", column.name, counts + also, column.name)
    labels = {label.casefold() for label in column.distinct}
    if len(labels) == 2 and labels not in (
        {"0", "1"},
        {"0.0", "1.0"},
        {"false", "true"},
    ):
        sentence = "which label are the reports probabilities of?"
        choices = ((k, _mean_report(look, column, k)) for k in column.distinct)
        look.ask("positive", sentence, *choices)


def _is_usual(name: str) -> bool:
    return any(part in OUTCOMES for part in name_parts(name))


def _mean_report(look: _Look, outcome: ColumnProfile, label: str) -> str:
    """Say what agents report on average where this label was the outcome."""
    rows = outcome.codes == outcome.distinct.index(label)
    reports = [c for c in look.reports if not look.classes or c.name.endswith(label)]
    mean = format_mean([column.by_row[rows] for column in reports], reports)
    count = f"{outcome.counts[label]:,} rows"
    return f"{count}; the mean report there is {mean}" if mean else count


def _find_id(look: _Look) -> None:
    ids = [name for name, column in look.open.items() if column.is_id]
    if "id" in look.open:
        look.set("id", "id", "names the cases", "id")
    elif ids:
        look.set("id", ids[0], "a different value in each row", ids[0])
    elif named := [n for n, column in look.open.items() if _repeats_few(column)] or [
        n for n, column in look.open.items() if column.is_nearly_unique
    ]:
        repeated = look.open[named[0]].rows - len(look.open[named[0]].distinct)
        reason = f"{pluralize(repeated, 'row')} with the id of an earlier one"
        look.set("id", named[0], reason, named[0])


def _repeats_few(column: ColumnProfile) -> bool:
    """Whether a column is called an id, and most rows have a value of their own."""
    named = {"id", "case"} & {*name_parts(column.name)}
    return bool(named) and column.complete and 2 * len(column.distinct) > column.rows


def _find_time(look: _Look) -> None:
    times = ["time"] if "time" in look.times else look.times
    if len(times) > 1:
        choices = ((name, f"as in {look.open[name].distinct[0]!r}") for name in times)
        sentence = "which column dates the cases?"
        look.questions.append(Question("time", sentence, tuple(choices), False))
    elif times:
        _set_time(look, times[0], "dates the cases")


def _find_groups(look: _Look) -> None:
    """Offer columns of text that say what cases have in common, or of what kind."""
    words = {n: c for n, c in look.open.items() if c.numbers is None}
    texts = {
        n: c for n, c in words.items() if not (c.dated or c.time_formats or c.words)
    }
    many = {n: c for n, c in texts.items() if SEGMENTS < len(c.distinct) <= c.rows / 2}
    few = {n: c for n, c in texts.items() if 2 <= len(c.distinct) <= SEGMENTS}
    for option, sentence, columns in (
        ("group", "do the cases of one of these belong together (--group)?", many),
        (
            "by",
            "which column, not the outcome, divides the cases into segments (--by)?",
            few,
        ),
    ):
        choices = tuple((name, column.describe()) for name, column in columns.items())
        if choices:
            look.questions.append(Question(option, sentence, choices, False))


def _set_time(look: _Look, name: str, reason: str) -> None:
    column = look.open[name]
    look.set("time", name, reason, name)
    example = f"as in {column.distinct[0]!r}"
    if len(column.time_formats) > 1:
        choices = ((written, example) for written in column.time_formats)
        look.ask("time-format", "how are the times written?", *choices)
    elif column.time_formats[0]:
        look.set("time-format", column.time_formats[0], example)


def _add_format(look: _Look, name: str) -> None:
    """Add the format of a second column of times, where it is another one."""
    column, first = look.open[name], look.options.get("time-format")
    if any(question.option == "time-format" for question in look.questions):
        return  # the answer may fit both
    forms = [f or ISO[0] for f in column.time_formats]
    if column.dated or first in forms or (first is None and "" in column.time_formats):
        return
    both = forms[0] if first is None else f"{first} {BETWEEN} {forms[0]}"
    if len(forms) == 1:
        look.set("time-format", both, f"{name} as in {column.distinct[0]!r}")


def _find_long(look: _Look) -> bool:
    """Find out whether there is one row per report, several of them on each case."""
    reports = [name for name, column in look.open.items() if column.is_report]
    times = look.times
    if len(reports) != 1:
        return False
    keys = {
        name: column for name, column in look.open.items()
        if name not in (*reports, *times) and column.complete
        and 2 <= len(column.distinct) < column.rows
    }  # fmt: skip
    for case, column in keys.items():
        fixed = {n: c for n, c in look.open.items() if c.is_constant_by(column)}
        agents = [name for name in keys if name not in fixed]
        outcomes = {
            n: c for n, c in fixed.items() if len(c.distinct) == 2 and n != case
        }
        if len(agents) != 1 or not outcomes:
            continue
        cases, several = len(column.distinct), len(keys[agents[0]].distinct)
        reason = f"one row per report: {cases:,} cases, {several:,} agents"
        look.reports = [look.open[reports[0]]]
        columns = [case, agents[0], reports[0]]
        look.set("long", columns, reason, *columns)
        _find_outcome(look, outcomes)
        moving = [name for name in times if name not in fixed]
        ends = [name for name in times if name in fixed]
        if len(moving) == 1:
            _set_time(look, moving[0], "when each report was made")
            if len(ends) == 1:
                _add_format(look, ends[0])
                look.set("decision-time", ends[0], "only earlier reports count", *ends)
        else:
            _find_time(look)
        return True
    return False
