"""A look at an unknown table: what its columns may mean, and what it cannot say.

What can be read off the table is decided: a column with probabilities is an agent. What
cannot, which label is positive above all, becomes a question.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from truepool.core.errors import TruepoolError
from truepool.core.formatting import pluralize
from truepool.panel.row_names import row_name
from truepool.tables.class_columns import describe_class_columns
from truepool.tables.column_profile import (
    ColumnProfile,
    name_class_columns,
    profile_columns,
)
from truepool.tables.csv_faults import NAMES
from truepool.tables.doubtful_columns import name_parts
from truepool.tables.origin import Origin
from truepool.tables.outcome_column import spelled_alike
from truepool.tables.profile_agents import (
    ask_for_percentages,
    ask_for_words,
    doubt_agents,
    find_agents,
    find_percentages,
    find_propensity,
)
from truepool.tables.profile_findings import Findings
from truepool.tables.profile_long import find_long
from truepool.tables.profile_outcome import find_outcome
from truepool.tables.profile_scores import ask_for_score_columns
from truepool.tables.profile_times import find_time
from truepool.tables.profile_votes import ask_for_votes, describe_verdicts
from truepool.tables.question import Question
from truepool.tables.reader import INDEXES, load_panel, read_source
from truepool.tables.summary import describe_alike
from truepool.tables.table_format import TableFormat

SEGMENTS = 20
"""A column of text with more different values says what cases have in common, such as a
customer; one with fewer, of what kind they are."""

CODE_NAMES = frozenset(
    ("id", "no", "nr", "number", "code", "key", "account", "card", "client", "customer",
     "patient", "mrn", "user", "merchant", "device", "host", "holder", "policyholder",
     "insured", "member", "claimant", "household")
)  # fmt: skip
"""How a column of whole numbers is called that name something."""
TOTALS = frozenset(
    ("total", "totals", "grand total", "sum", "sums", "summe", "gesamt", "insgesamt",
     "totale", "suma", "totaal")
)  # fmt: skip
"""What a cell of the last row says if the row adds up the others."""
COST_NAMES = frozenset(("cost", "costs", "fee", "price"))
"""How a column is called that may hold what a review, or a false alarm, costs."""


@dataclass(frozen=True)
class TableProfile:
    """What was found in a table, as options by name, each with the reason.

    ``questions`` are for the user to answer; ``problem`` is why the table cannot be
    read even then; ``unused`` says of the other columns what they hold. The columns of
    a ``jury`` look like verdicts of judges.
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
    jury: bool = False
    warnings: tuple[str, ...] = ()
    """What may be a mistake in the table."""


def profile_table(path: Path) -> TableProfile:
    """Look at a table of which nothing is known yet."""
    frame, origin = read_source(path, TableFormat())
    separator = origin.separator
    total = _describe_total(frame, origin)
    rows = len(frame) - len(total)
    table = frame.to_native().slice(0, rows)
    columns, joined = name_class_columns(profile_columns(table))
    look = Findings({name: c for name, c in columns.items() if name not in INDEXES})
    find_propensity(look)
    if not find_long(look):
        find_agents(look)
        if "outcome" not in look.options:
            find_outcome(look, look.open)
        doubt_agents(look, columns)
        _find_id(look)
        find_time(look)
    if joined and "agents" in look.reasons:
        look.reasons["agents"] += f"; {describe_class_columns(joined)}"
    if separator is not None:
        name = "tab" if separator == "\t" else separator
        look.set("sep", name, f"{NAMES[separator]} in the header")
    _find_decimal(look, columns)
    find_percentages(look)
    ask_for_percentages(look)
    ask_for_score_columns(look, columns.get(look.options.get("outcome", "")))
    ask_for_votes(look)
    ask_for_words(look)
    _find_groups(look)
    _find_constant_cost(look)
    named = [v for question in look.questions for v, _ in question.choices]
    rest = {name: c for name, c in look.open.items() if name not in named}
    profile = TableProfile(
        rows,
        look.options,
        look.reasons,
        tuple(sorted(look.questions, key=lambda question: not question.required)),
        {name: column.describe() for name, column in rest.items()},
        tuple(name for name, column in rest.items() if column.is_amount),
        look.classes,
        encoding=origin.encoding,
        jury=look.jury,
        warnings=(
            *origin.other_sheets(),
            *total,
            *_warnings(look),
            *describe_verdicts(look),
        ),
    )
    return replace(profile, problem=look.problem or _problem(path, profile))


def _describe_total(frame: nw.DataFrame[Any], origin: Origin) -> list[str]:
    """Say that the last row holds totals, if a cell that no other row has says so."""
    last = len(frame) - 1
    for name, cell in zip(frame.columns, frame.row(last), strict=True):
        word = cell.strip(" :").casefold() if isinstance(cell, str) else ""
        if last and word in TOTALS and (frame[name] == cell).sum() == 1:
            with origin.named_in_errors():
                place = row_name(last)
            return [
                f"The last row ({place}) looks like totals: column {name!r} has "
                f"{cell!r}. It is left out here; remove it, because the other commands "
                "read it as a case."
            ]
    return []


def _warnings(look: Findings) -> Iterator[str]:
    """Warn of names of agents that are spelled in several ways."""
    alike = [] if look.owner is None else spelled_alike(look.owner.distinct)
    if look.owner is not None and alike:
        yield describe_alike(alike, look.owner.name)


def _problem(path: Path, profile: TableProfile) -> str | None:
    """Return why a table cannot be read with what was found, None if it can."""
    options = {name.replace("-", "_"): v for name, v in profile.options.items()}
    scores = any(question.option == "scores" for question in profile.questions)
    if profile.jury and not (scores and "outcome" in options):
        return None  # words, and items without a label, are read by a jury only
    for question in profile.questions:
        if not question.required:
            continue
        if question.option == "missing":
            options["missing"] = [word for word, _ in question.choices]
            continue
        if question.option not in ("positive", "percent", "scores"):
            return None
        options[question.option] = question.choices[0][0]
    try:
        load_panel(path, TableFormat(**options))
    except TruepoolError as error:
        return str(error)
    return None


def _find_decimal(look: Findings, columns: Mapping[str, ColumnProfile]) -> None:
    """Set the decimal comma by the reports, or by other numbers if these have no mark.

    Amounts with a currency are read with either mark.
    """
    numbers = [c for c in columns.values() if not c.currency]
    reports = [c for c in numbers if c.is_report and (c.comma or c.point)]
    if any(column.comma for column in reports or numbers):
        look.set("decimal", ",", "decimal commas in the numbers")


def _find_id(look: Findings) -> None:
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


def _find_constant_cost(look: Findings) -> None:
    """Offer a column of costs with one number in every row as that of a false alarm."""
    for name, column in look.open.items():
        n = column.numbers
        if look.classes or COST_NAMES.isdisjoint(name_parts(name)):
            continue
        if n is not None and len(n) == 1 and column.complete and n[0] > 0:
            sentence = (
                f"{name!r} is {n[0]:g} in every row. If that is what a false alarm "
                f"costs, add --cost-fp {n[0]:g}."
            )
            look.offer("cost-fp", sentence, (float(n[0]), f"{name!r} in every row"))
            del look.open[name]
            return


def _is_code(column: ColumnProfile) -> bool:
    """Whether whole numbers name something, by what they are called: no amounts."""
    if not _is_called_code(column) or column.numbers is None:
        return False
    return bool((column.numbers == np.floor(column.numbers)).all())


def _is_called_code(column: ColumnProfile) -> bool:
    return not CODE_NAMES.isdisjoint(name_parts(column.name))


def _repeats(column: ColumnProfile) -> bool:
    """Whether half of the rows repeat a value; of a customer or the like, any row."""
    if _is_called_code(column):
        return len(column.distinct) < int((column.codes >= 0).sum())
    return len(column.distinct) <= column.rows / 2


def _find_groups(look: Findings) -> None:
    """Offer columns of text that say what cases have in common, or of what kind."""
    asked = [q for q in look.questions if q.option == "outcome"]
    outcomes = {name for question in asked for name, _ in question.choices}
    words = {
        n: c for n, c in look.open.items() if c.numbers is None and n not in outcomes
    }
    texts = {
        n: c for n, c in words.items()
        if not (c.dated or c.time_formats or c.nearly_times or c.spelled_alike)
    }  # fmt: skip
    asked_about = {column.name for column in look.suggested}  # whether it is an agent
    texts |= {
        n: c for n, c in look.open.items() if _is_code(c) and n not in asked_about
    }
    many = {
        n: c for n, c in texts.items() if SEGMENTS < len(c.distinct) and _repeats(c)
    }
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
            look.offer(option, sentence, *choices)
