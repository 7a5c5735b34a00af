"""Verdicts and labels from files: tables, logs of evaluation tools, labels apart."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from truepool.core.arrays import FloatArray
from truepool.core.sentences import Voice
from truepool.panel.layout import empty_cases
from truepool.panel.panel import Panel
from truepool.tables import (
    Cure,
    Declared,
    Fault,
    Note,
    Question,
    ReportTable,
    Table,
    TableFaults,
    Unit,
    cells,
)
from truepool.tables.decode import UNKNOWN, as_written
from truepool.tables.faults import FaultList
from truepool.tables.read import Answer, decode, examine, panel_of
from truepool.tables.schema import EVERY, LAST, Schema, is_chosen
from truepool.tables.source import Source, column_fault
from truepool_jury.juries.evaluation_logs import COLUMNS, read_log, tools_of
from truepool_jury.juries.runs import number_runs
from truepool_jury.juries.values import WEIGHT
from truepool_jury.juries.verdict_rows import VerdictRows
from truepool_jury.juries.worded_verdicts import (
    NumberedWords,
    find_labels,
    number_words,
)

JURY = Voice(case="item", agent="judge", report="verdict")
"""What a jury calls a case, an agent and a report."""
LONG_NAMES = (
    ("item", "case", "id", "item_id", "question", "sample"),
    ("judge", "agent", "model", "rater", "annotator", "grader"),
    ("verdict", "report", "score", "probability", "vote", "answer", "stars", "rating",
     "grade"),
)  # fmt: skip
"""What evaluation tools call the columns of a long table."""
SWAPPED = r"(.+) swapped \((.+)\)"
"""How truepool agent llm names the column of a pair in the other order."""


@dataclass(frozen=True, eq=False)
class VerdictTable:
    """Verdicts, how they were read, and what `truepool.jury` should know of them.

    ``repeated`` are columns that are one judge which answered more than once,
    ``swapped`` those of one that saw pairs in both orders; ``label_weights`` (n,) are
    None where no column has them, and ``scores`` where judges share no range of scores.
    """

    verdicts: Panel | ReportTable
    table: Table | None = None
    repeated: Sequence[tuple[str, ...]] = ()
    swapped: Sequence[tuple[str, str]] = ()
    label_weights: FloatArray | None = None
    scores: tuple[float, float] | None = None

    @property
    def id(self) -> str:
        """What the column of the items is called."""
        schema = Schema() if self.table is None else self.table.schema
        return schema.long[0] if schema.long else schema.id or "id"

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was done with the table."""
        return () if self.table is None else self.table.notes

    @property
    def empty_items(self) -> int:
        """Number of items without any verdict, which are left out."""
        return sum(n.fields["count"] for n in self.notes if n.code == "empty-cases")


def read_verdicts(
    source: Any,
    declared: Declared | None = None,
    *,
    tool: str | None = None,
    labels: Any = None,
    answer: Answer = lambda questions: {},
) -> VerdictTable:
    """Read verdicts; from the log of a ``tool``, with ``labels`` of another table.

    Verdicts may be the two labels of the outcome, in words, or any two words beside the
    labels 0 and 1. In a long table without times, several answers of one judge to one
    item are runs of it. The column ``weight`` says how many items each label stands
    for; it is empty for labels drawn at random.
    """
    try:
        return _read(source, declared or Declared(), tool, labels, answer)
    except TableFaults as faults:
        tools = tools_of(source) if tool is None else []
        refusal = _not_a_table(source, tools) if tools else faults
        raise refusal.in_words_of(JURY) from None


def _not_a_table(source: Any, tools: list[str]) -> TableFaults:
    """Return the refusal of a log that is read as a table."""
    cures = tuple(Cure("set", "tool", name) for name in tools)
    fault = Fault("a-log", fields={"tools": tools}, cures=cures)
    return TableFaults([fault], table=str(source))


def _read(
    source: Any, declared: Declared, tool: str | None, labels: Any, answer: Answer
) -> VerdictTable:
    replies = dict[str, Any]()

    def ask(questions: Sequence[Question]) -> Mapping[str, Any]:
        found = answer(questions)
        replies.update(found)
        return found

    if tool is not None:
        source = read_log(Path(source), tool)
        outcome = COLUMNS[3] if labels is None else declared.outcome
        declared = replace(declared, long=COLUMNS[:3], outcome=outcome)
    first = examine(source, declared, labelled=False).table
    rows, declared = _layout(first, declared)
    if labels is not None:
        rows, declared = _join_labels(first, rows, declared, labels)
    rows, declared, repeated = _split_runs(rows, declared, first.schema.time)
    weight, declared = declared.weight, _keep_weights(first.source, rows, declared)
    plain = VerdictRows(rows, first.name, first.source.place, first.source.notes)
    columns, _ = _possible_columns(rows, declared, first.schema)
    words = number_words(plain, rows, declared, columns, ask)
    declared = words.declared
    verdicts, table = _verdicts(_resolve(replace(plain, rows=words.rows), words, ask))
    agents = table.schema.agents
    weights = None
    if weight is not None and isinstance(verdicts, Panel):
        weights = np.asarray(verdicts.columns[weight], dtype=np.float64)
    return VerdictTable(
        verdicts, table, [runs for runs in repeated if {*runs} <= {*agents}],
        _both_orders(agents), weights, _shared_range(declared.with_keys(replies)),
    )  # fmt: skip


def _layout(first: Table, declared: Declared) -> tuple[pa.Table, Declared]:
    """Return the rows and what is known of their layout; names stay as written."""
    schema, rows, long = first.schema, _rows(first), declared.long
    if long is None and not declared.agents:
        long = schema.long or _long_by_name(rows)
    named = long[:2] if isinstance(long, tuple) else (schema.id,)
    for name in named:
        if name in rows.column_names:
            rows = _as_written(first.source, rows, str(name))
    declared = replace(declared, long=long, outcome=declared.outcome or schema.outcome,
                       decimal=declared.decimal or schema.decimal)  # fmt: skip
    if declared.outcome is None and not declared.agents:
        columns, others = _possible_columns(rows, declared, schema)
        outcome = find_labels(rows, declared, columns, others)
        declared = replace(declared, outcome=outcome)
    if isinstance(long, tuple) and declared.outcome in long:
        fault = Fault("two-roles", column=declared.outcome, cures=(Cure("name-other"),),
                      fields={"keys": ["long", "outcome"]})  # fmt: skip
        raise TableFaults([fault], table=first.name)
    return rows, declared


def _as_written(source: Source, rows: pa.Table, name: str) -> pa.Table:
    """Return the rows with names as a file has them: 007 is not 7."""
    text = source.text(name)
    return rows if text is None else _with_column(rows, name, text)


def _rows(table: Table) -> pa.Table:
    return table.source.table() if table.rows is None else table.rows


def _long_by_name(rows: pa.Table) -> tuple[str, str, str] | None:
    """Columns of the item, the judge and the verdict, where all are called like it.

    The judges are text, and items and judges occur more than once.
    """
    names = [[name for name in rows.column_names if name.lower() in usual]
             for usual in LONG_NAMES]  # fmt: skip
    repeated = {name for own in names[:2] for name in own
                if len(rows.column(name).unique()) < len(rows)}  # fmt: skip
    items, judges = ([name for name in own if name in repeated] for own in names[:2])
    judges = [name for name in judges if cells.is_text(cells.plain(rows.column(name)))]
    if items and judges and names[2]:
        return items[0], judges[0], names[2][0]
    return None


def _possible_columns(
    rows: pa.Table, declared: Declared, schema: Schema
) -> tuple[list[str], list[str]]:
    """Columns that may hold verdicts, and of a long table those that may say more."""
    roles = {*declared.roles().values(), *declared.columns, schema.id, schema.time}
    chosen = declared.agents or (EVERY,)
    long = declared.long if isinstance(declared.long, tuple) else ()
    found = [
        name for name in rows.column_names
        if name not in roles and name not in long and is_chosen(name, chosen)
        and not is_chosen(name, declared.ignore)
    ]  # fmt: skip
    if not long:
        return found, []
    return [name for name in long[2:] if name in rows.column_names], found


def _resolve(source: Source, words: NumberedWords, answer: Answer) -> Table:
    """Return the table; refuse it with all that is wrong or not known, words too."""
    found = examine(source, words.declared, labelled=False, answer=answer)
    faults = [*words.faults, *found.faults]
    asked = {question.text(): question for question in found.questions}
    questions = [*(asked | {each.text(): each for each in words.questions}).values()]
    if (faults or questions) and not (found.faults or found.questions):
        faults += _cell_faults(found.table)
    if faults or questions:
        raise TableFaults(faults, questions, source.name)
    return found.table


def _cell_faults(table: Table) -> tuple[Fault, ...]:
    try:
        decode(table)
    except TableFaults as error:
        return error.faults
    return ()


def _verdicts(table: Table) -> tuple[Panel | ReportTable, Table]:
    """Return a panel or, where no item has a label, the reports on all items."""
    cases = decode(table)
    blank = empty_cases(cases.layout)
    known = np.zeros(len(cases), bool)
    if cases.outcomes is not None:
        known = (cases.outcomes != UNKNOWN) & ~blank
    if known.sum() == 1:
        fault = Fault("single-label", column=table.schema.outcome,
                      cures=(Cure("label-more"),))  # fmt: skip
        raise TableFaults([fault], table=table.name)
    if known.any():
        return panel_of(table)
    notes = [*cases.notes]
    if blank.any():
        notes.append(Note("empty-cases", {"count": int(blank.sum())}))
    return cases.take(~blank), replace(table, notes=tuple(notes))


def _shared_range(declared: Declared) -> tuple[float, float] | None:
    """Return the range of scores that all judges share; None where there is none."""
    if EVERY not in declared.scores:
        return None
    unit = Unit.of_scores(declared.scores[EVERY])
    return unit.zero, unit.one


def _both_orders(judges: Sequence[str]) -> list[tuple[str, str]]:
    """Columns that truepool agent llm writes for one judge that saw both orders."""
    found = ((re.fullmatch(SWAPPED, name), name) for name in judges)
    pairs = [(f"{m[1]} ({m[2]})", name) for m, name in found if m is not None]
    return [pair for pair in pairs if pair[0] in judges]


def _split_runs(
    rows: pa.Table, declared: Declared, time: str | None
) -> tuple[pa.Table, Declared, list[tuple[str, ...]]]:
    """Give each run of a judge a name of its own, where a judge answered twice."""
    long = declared.long
    if time is not None or declared.updates != LAST or not isinstance(long, tuple):
        return rows, declared, []
    if not {*long} <= {*rows.column_names}:
        return rows, declared, []  # the fault of the missing one comes later
    items, judges, _ = (_texts(rows, name) for name in long)
    gone = cells.is_empty(cells.plain(rows.column(long[2])), declared.missing)
    answered = [row for row in np.flatnonzero(~gone).tolist() if judges[row]]
    columns, groups = number_runs(
        [items[row] for row in answered], [str(judges[row]) for row in answered]
    )
    if not groups:
        return rows, declared, []
    for row, column in zip(answered, columns, strict=True):
        judges[row] = column
    return _with_column(rows, long[1], judges), _of_runs(declared, groups), groups


def _of_runs(declared: Declared, groups: Sequence[tuple[str, ...]]) -> Declared:
    """Return what is said of judges of their runs, too."""

    def runs(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(run for group in groups if is_chosen(group[0], names)
                     for run in group)  # fmt: skip

    percent = declared.percent
    if isinstance(percent, tuple):
        percent = (*percent, *runs(percent))
    spans = {run: span for judge, span in declared.scores.items() if judge != EVERY
             for run in runs((judge,))}  # fmt: skip
    return replace(
        declared, agents=(*declared.agents, *runs(declared.agents)),
        ignore=(*declared.ignore, *runs(declared.ignore)), percent=percent,
        scores={**declared.scores, **spans},
    )  # fmt: skip


def _texts(rows: pa.Table, name: str) -> list[str | None]:
    """Cells of a column as text without spaces around it."""
    return cells.trim(cells.plain(rows.column(name))).to_pylist()  # type: ignore[no-any-return]


def _with_column(rows: pa.Table, name: str, values: Any) -> pa.Table:
    column = pa.array(values, pa.string())
    if name in rows.column_names:
        return rows.set_column(rows.column_names.index(name), name, column)
    return rows.append_column(name, column)


def _keep_weights(source: Source, rows: pa.Table, declared: Declared) -> Declared:
    """Read the weights of labels beside the reports: only labels have them."""
    name = declared.weight
    if name is None:
        return declared
    if name not in rows.column_names:
        fault = column_fault("weight", name, rows.column_names)
        cures = (*fault.cures, Cure("chosen-labels"))
        raise TableFaults([replace(fault, cures=cures)], table=source.name)
    _check_weights(source, rows, name)
    return replace(declared, weight=None, columns=(*declared.columns, name))


def _check_weights(source: Source, rows: pa.Table, name: str) -> None:
    """Refuse weights that are no numbers."""
    column, faults = cells.plain(rows.column(name)), FaultList()
    odd = cells.numbers(column).odd
    if odd is not None:
        faults.add_rows("amount-odd", odd, as_written(column), column=name,
                        cures=(Cure("fix"),))  # fmt: skip
    faults.raise_all(source.place, source.name)


def _join_labels(
    first: Table, rows: pa.Table, declared: Declared, labels: Any
) -> tuple[pa.Table, Declared]:
    """Put the labels of a table beside the verdicts, by the ids of the items.

    Its column of ids has the name that the table of verdicts gives it, or ``id``.
    """
    table = examine(labels, Declared(missing=declared.missing), labelled=False).table
    long = declared.long if isinstance(declared.long, tuple) else None
    key = long[0] if long else declared.id or first.schema.id or "id"
    if key not in rows.column_names:
        raise TableFaults(
            [column_fault("id", key, rows.column_names)], table=first.name
        )
    usual = [name for name in (declared.id, key, "id") if name is not None]
    id = next((name for name in usual if name in table.source.names), key)
    outcome = _check_labels(table, id, declared)
    given, faults = _as_written(table.source, _rows(table), id), FaultList()
    items, names = _texts(rows, key), _texts(given, id)
    labels_of = _values(given, outcome, declared.missing)
    labelled = np.array([label is not None for label in labels_of])
    known = {*items}
    unknown = labelled & [name not in known for name in names]
    faults.add_rows("label-without-item", unknown, lambda t: names[t], column=id,
                    cures=(Cure("fix"), Cure("leave-out-case")))  # fmt: skip
    at = np.flatnonzero(labelled).tolist()
    for column in dict.fromkeys((outcome, declared.weight or outcome)):
        if column in given.column_names:
            values = _values(given, column, declared.missing)
            new = [(row, names[row], values[row]) for row in at]
            rows = _merge(rows, column, items, new, declared.missing, faults)
    faults.raise_all(table.source.place, table.name)
    return rows, replace(declared, outcome=outcome)


def _check_labels(table: Table, id: str, declared: Declared) -> str:
    """Return the column of the labels.

    Refuse labels without ids, and chosen ones that would count as random ones.
    """
    names, faults, questions = table.source.names, [], []
    outcome = declared.outcome or table.schema.outcome
    if id not in names:
        faults.append(column_fault("id", id, names))
    if outcome is None:
        fields = {"columns": [name for name in names if name != id]}
        own = ("COLUMN",)
        questions.append(
            Question("no-outcome", "outcome", own, free="COLUMN", fields=fields)
        )
    elif outcome not in names:
        faults.append(column_fault("outcome", outcome, names))
    if (
        declared.weight is None
        and WEIGHT in names
        and any(_texts(_rows(table), WEIGHT))
    ):
        cures = (Cure("set", "weight", WEIGHT), Cure("remove-column"))
        faults.append(Fault("weights-not-named", column=WEIGHT, cures=cures))
    if faults or questions:
        raise TableFaults(faults, questions, table.name)
    if declared.weight in names:
        _check_weights(table.source, _rows(table), str(declared.weight))
    return str(outcome)


def _values(rows: pa.Table, name: str, missing: Sequence[str]) -> list[str | None]:
    """Labels or weights of a column as text: 1 is '1', also where others are empty."""
    found = cells.labels(cells.plain(rows.column(name)), missing).to_pylist()
    return [None if value is None else str(value) for value in found]


def _merge(
    rows: pa.Table, name: str, items: Sequence[str | None],
    given: Sequence[tuple[int, str | None, str | None]], missing: Sequence[str],
    faults: FaultList,
) -> pa.Table:  # fmt: skip
    """Return the rows with values that are ``given``; what is there must agree."""
    before: list[str | None] = [None] * len(items)
    if name in rows.column_names:
        before = _values(rows, name, missing)
    there = {i: value for i, value in zip(items, before, strict=True) if value}
    found: dict[str | None, str] = {}
    for row, item, value in given:
        if value is None:
            continue
        first = found.setdefault(item, value)
        other = there.get(item, value) if first == value else first
        if other != value:
            fields = {"case": item, "other": other}
            faults.add(Fault("values-differ", column=name, row=row, found=value,
                             cures=(Cure("correct-one"),), fields=fields))  # fmt: skip
    merged = [found.get(item) if own is None else own
              for item, own in zip(items, before, strict=True)]  # fmt: skip
    return _with_column(rows, name, merged)
