"""What was found in a table while it was read."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from truepool.core.formatting import pluralize
from truepool.panel.labels import format_labels, format_names
from truepool.tables.class_columns import describe_class_columns
from truepool.tables.csv_faults import NAMES
from truepool.tables.origin import Origin

GUESSED_ENCODING = (
    "The text is not UTF-8 and was read as Windows-1252 (guessed). If letters look "
    "wrong, save the table as CSV UTF-8."
)


def describe_rescaled(count: int) -> str:
    """Say how many reports over classes did not sum to 1 exactly."""
    was = "was" if count == 1 else "were"
    return f"{pluralize(count, 'report')} summed to nearly 1 and {was} rescaled."


def describe_amount(column: str, example: str) -> str:
    """Say how a column of amounts was read."""
    return f"Column {column!r} is read as amounts: {example}."


def describe_unknown(agents: Sequence[str]) -> str:
    """Say that agents of a long table are not those of the pool.

    >>> describe_unknown(["zoe"])
    "'zoe' is not an agent of the pool: left out."
    """
    are = "is not an agent" if len(agents) == 1 else "are not agents"
    return f"{format_labels(agents)} {are} of the pool: left out."


def describe_repeats(cases: int) -> str:
    """Say that cases have the id of an earlier one.

    >>> describe_repeats(1)
    '1 case repeats the id of an earlier one; each counts as a case of its own.'
    """
    return (
        f"{pluralize(cases, 'case')} {'repeats' if cases == 1 else 'repeat'} the id of "
        "an earlier one; each counts as a case of its own."
    )


def describe_alike(groups: Sequence[Sequence[str]], column: str) -> str:
    """Say that names of agents differ only in case, and so count apart.

    >>> describe_alike([["Ann", "ann"]], "who")[:64]
    "column 'who' has 1 name that is spelled in several ways, which d"
    """
    count = len(groups)
    what = "1 name that is" if count == 1 else f"{count:,} names that are"
    shown = format_names([" and ".join(map(repr, group)) for group in groups])
    return (
        f"column {column!r} has {what} spelled in several ways, which differ only in "
        f"upper and lower case: {shown}. Each spelling counts as an agent of its own; "
        "if they are the same, spell them one way in the table."
    )


def describe_copies(rows: int) -> str:
    """Say that rows are identical to an earlier one in every column.

    >>> describe_copies(1)[:55]
    '1 row is identical to an earlier one, the id included. '
    """
    are = "is" if rows == 1 else "are"
    return (
        f"{pluralize(rows, 'row')} {are} identical to an earlier one, the id included. "
        "Remove what was entered twice; until then each row counts as a case of its "
        "own."
    )


@dataclass(frozen=True)
class TableSummary:
    """Counts and guesses of a reader: what a user should know about the table.

    ``origin`` says what was guessed of the file; ``binary`` and ``numbered`` are agents
    whose columns hold only 0 and 1 beside fractions of others, or different whole
    numbers; ``doubtful`` says why other columns may be no agents; ``signed`` are those
    whose reports carry percent signs; ``amounts`` shows how columns of amounts were
    read; ``after`` counts the reports at or after the date
    of their case in a column that may be the decision time; the rest are counts.
    ``alike`` are spellings of the same name in a long table, in groups, and ``owner``
    its column of agents. ``intervals`` between updates are what ``cases`` of a long
    table are split into, if their reports are time-weighted. ``unknown`` are agents of
    a long table that are not those of the pool.
    """

    agents: tuple[str, ...] = ()
    origin: Origin = field(default_factory=Origin)
    binary: tuple[str, ...] = ()
    numbered: tuple[str, ...] = ()
    doubtful: Mapping[str, str] = field(default_factory=dict)
    signed: tuple[str, ...] = ()
    amounts: Mapping[str, str] = field(default_factory=dict)
    duplicate_ids: int = 0
    identical_rows: int = 0
    empty_cases: int = 0
    renormalized: int = 0
    replaced: int = 0
    late: int = 0
    after: Mapping[str, int] = field(default_factory=dict)
    alike: tuple[tuple[str, ...], ...] = ()
    owner: str = ""
    cases: int = 0
    intervals: int = 0
    unknown: tuple[str, ...] = ()

    def notes(self) -> list[str]:
        """Sentences about what was done, without being asked for."""
        notes = []
        if self.origin.separator is not None:
            separator = NAMES[self.origin.separator]
            notes.append(f"Columns are separated by {separator} (detected).")
        if self.origin.sheets:
            notes.extend(self.origin.other_sheets())
        if self.origin.encoding is not None:
            notes.append(GUESSED_ENCODING)
        if self.origin.class_columns:
            how = describe_class_columns(self.origin.class_columns)
            notes.append(f"{how[0].upper()}{how[1:]}.")
        for word, rows in self.origin.no_outcome.items():
            has = "has" if rows == 1 else "have"
            notes.append(
                f"{pluralize(rows, 'row')} {has} the outcome {word!r}, which counts "
                "as not known."
            )
        for name, spaced in self.origin.trimmed.items():
            names = pluralize(spaced, "name")
            notes.append(f"Spaces around {names} of column {name!r} are left out.")
        for name, example in self.amounts.items():
            notes.append(describe_amount(name, example))
        if self.replaced:
            notes.append(
                f"{pluralize(self.replaced, 'report')} replaced by a later one of the "
                "same agent on the same case."
            )
        if self.late:
            notes.append(
                f"{pluralize(self.late, 'report')} made at or after the decision time: "
                "left out."
            )
        if self.intervals:
            notes.append(
                f"{pluralize(self.cases, 'case')} split into "
                f"{pluralize(self.intervals, 'interval')} between updates; each counts "
                "by its share of the case's life."
            )
        if self.empty_cases:
            has = "has" if self.empty_cases == 1 else "have"
            count = pluralize(self.empty_cases, "case")
            notes.append(f"{count} {has} no report at all: left out.")
        if self.unknown:
            notes.append(describe_unknown(self.unknown))
        if self.renormalized:
            notes.append(describe_rescaled(self.renormalized))
        return notes

    def warnings(self) -> list[str]:
        """Sentences about what may be a mistake."""
        doubts = {
            **dict.fromkeys(
                self.binary, "holds only 0 and 1 while others hold fractions"
            ),
            **dict.fromkeys(self.numbered, "holds different whole numbers, like an id"),
            **{n: f"may be no agent: {why}" for n, why in self.doubtful.items()},
        }
        found = [
            f"column {name!r} {why}. If it is not an agent, leave it out (--ignore "
            f"{shlex.quote(name)}, or name the agents with --agents)."
            for name, why in doubts.items()
        ]
        for name, count in self.after.items():
            were = "was" if count == 1 else "were"
            found.append(
                f"{pluralize(count, 'report')} {were} made at or after {name!r} of "
                "their case and may know the outcome. If that is when a case was "
                f"closed or decided, pass --decision-time {shlex.quote(name)}."
            )
        if self.alike:
            found.append(describe_alike(self.alike, self.owner))
        others = self.duplicate_ids - self.identical_rows
        if self.identical_rows:
            found.append(describe_copies(self.identical_rows))
        if others > 0:
            found.append(describe_repeats(others))
        return found
