"""What the columns of a table are: what the user declares, and one look at the rows.

What the rows show beyond doubt is taken. What they cannot say, such as which of two
labels is positive, is a question; all questions are asked at once.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from truepool.tables import cells
from truepool.tables.class_columns import classes_by_colon, classes_by_label
from truepool.tables.columns import Inference, Look, look_at
from truepool.tables.faults import Cure, Note, Question
from truepool.tables.long_layout import ask_late, is_constant, long_columns
from truepool.tables.outcome import ordered_labels, outcome_column, outcome_labels
from truepool.tables.schema import (
    EVERY,
    PROBABILITY,
    TIME_WEIGHTED,
    Declared,
    Schema,
    is_chosen,
)
from truepool.tables.source import Source, column_fault
from truepool.tables.units import agent_units, ask_unnamed


def infer(
    source: Source,
    declared: Declared,
    table: pa.Table | None = None,
    *,
    labelled: bool = True,
    labels_of: Callable[[str], Mapping[Any, float]] | None = None,
) -> tuple[Schema, Inference]:
    """Find out what the columns are; ``labelled`` tables must have an outcome.

    Of others only a column that is named, or has a usual name, is one; it may be empty.
    Where the rows are not all there are, ``labels_of`` counts the labels of a column.
    The schema is complete only where there are neither faults nor questions.
    """
    rows = source.table() if table is None else table
    looks, mark = look_at(rows, declared.missing, declared.decimal)
    found = Inference(declared, looks, source.name)
    _check_roles(found)
    found.take(*(n for n in source.keys if not is_chosen(n, declared.agents)))
    id, time = (found.name_usual(key) for key in ("id", "time"))
    if id is not None and found.looks[id].is_class:
        found.refuse("plain-values", Cure("name-other"), column=id)
    found.by_class = classes_by_colon(found)
    if declared.long is not False and not found.by_class:
        found.long = long_columns(found)
    if declared.decision_time and found.long is None and not found.questions:
        found.refuse("not-long", Cure("name-columns", "long"))
    if not {*(found.long or ())} <= {*looks}:
        return Schema(), found  # nothing else can be said
    found.take(*(found.long or ()))
    outcome = outcome_column(found, labelled=labelled)
    found.take(outcome)
    counts = outcome_labels(found, outcome, labels_of)
    found.by_class = found.by_class or classes_by_label(found, counts)
    _find_agents(found, counts)
    id = None if found.long else id or _id(found)
    time = time or _time(found)
    found.take(id, time)
    for name in (time, declared.decision_time):
        _find_format(found, name)
    ask_late(found, time)
    units, signed = agent_units(found)
    if labelled:
        ask_unnamed(found)
    _check_agents(found)
    labels: list[Any] = []
    known = found.agents and not found.has("many-labels", "classes-differ")
    if outcome is not None and (counts or labelled) and known:
        labels = ordered_labels(found, outcome, counts)
        found.order_classes(labels)
    schema = Schema(
        found.agents,
        found.reports,
        found.classes,
        units,
        outcome,
        tuple(labels),
        id,
        time,
        declared.weight,
        declared.group,
        declared.propensity,
        declared.columns,
        found.long,
        declared.decision_time,
        declared.updates,
        declared.missing,
        mark,
        found.formats,
        tuple(found.open),
        signed,
    )
    return schema, found


def infer_asking(
    look: Callable[[Declared], tuple[Schema, Inference]],
    declared: Declared,
    answer: Callable[[Sequence[Question]], Mapping[str, Any]],
) -> tuple[Schema, Inference]:
    """Find out what the columns are, and ask as long as answers lead to new questions.

    Which columns a long table has must be known before its outcome is asked for.
    """
    schema, found = look(declared)
    while found.questions and not found.faults and (more := answer(found.questions)):
        asked, declared = found.questions, declared.with_keys(more)
        schema, found = look(declared)
        if found.questions == asked:
            break
    return schema, found


def _check_roles(found: Inference) -> None:
    """Refuse columns that are declared and not there, or for two things."""
    declared, names = found.declared, [*found.looks]
    roles = [*declared.roles().items()]
    for key, name in (*roles, *(("columns", name) for name in declared.columns)):
        if name not in names:
            found.faults.add(column_fault(key, name, names))
        elif key == "columns" and found.looks[name].is_class:
            found.refuse("plain-values", Cure("name-other"), column=name)
    for name, count in Counter(name for _, name in roles).items():
        if count > 1:
            keys = [key for key, own in roles if own == name]
            _refuse_roles(found, name, keys)
    keys_of = dict.fromkeys(declared.columns, "columns")
    keys_of |= {name: key for key, name in reversed(roles)}
    for name in declared.agents:
        if name in keys_of:
            _refuse_roles(found, name, ["agents", keys_of[name]])
    found.take(*keys_of)
    for name in () if declared.long else names:
        named = name in declared.agents and name not in declared.ignore
        if is_chosen(name, declared.ignore) and not named:
            found.take(name)
    if declared.updates == TIME_WEIGHTED and not declared.decision_time:
        found.refuse("no-decision-time", Cure("name-column", "decision-time"))
    if declared.updates == TIME_WEIGHTED and declared.weight:
        found.refuse("two-weights", Cure("unset", "weight"), column=declared.weight)


def _refuse_roles(found: Inference, name: str, keys: Sequence[str]) -> None:
    fields = {"keys": keys}
    found.refuse("two-roles", Cure("name-other"), column=name, fields=fields)


def _find_agents(found: Inference, labels: Iterable[Any]) -> None:
    """Find the agents, the columns of each, and the classes where there are some."""
    declared = found.declared
    if found.long is not None:
        owner = found.looks[found.long[1]]
        _check_spelling(found, owner)
        every = sorted({str(name) for name in owner.distinct})
        _check_patterns(found, [*every, *found.looks])
        found.agents = tuple(filter(found.is_agent, every))
        return
    _check_patterns(found, [*found.looks, *found.by_class])
    if found.by_class:
        own = {a: c for a, c in found.by_class.items() if found.is_agent(a)}
        found.classes = tuple(next(iter(own.values()), ()))
        found.reports = {a: tuple(c.values()) for a, c in own.items()}
    else:
        names = [
            n
            for n, look in found.open.items()
            if is_chosen(n, declared.agents)
            or (not declared.agents and _is_agent(look, declared))
        ]
        found.reports = {name: (name,) for name in names}
        nested = [n for n in names if found.looks[n].is_class]
        if nested and len(nested) < len(names):
            found.refuse(
                "one-or-classes",
                Cure("write-alike"),
                agent=nested[0],
                fields={"other": next(n for n in names if n not in nested)},
                found=nested[:1],
            )
        found.classes = tuple(sorted(map(str, labels))) if nested else ()
    found.agents = tuple(found.reports)
    for columns in found.reports.values():
        found.take(*columns)


def _is_agent(look: Look, declared: Declared) -> bool:
    """Whether a column holds reports, by its name or as its numbers fit a unit."""
    if look.is_report or look.has_unit:
        return True
    unit = declared.unit(look.name)
    if unit in (None, PROBABILITY) or look.numbers is None:
        return False
    percent = declared.percent if isinstance(declared.percent, tuple) else ()
    if is_chosen(look.name, [p for p in (*declared.scores, *percent) if p != EVERY]):
        return True
    inside = np.count_nonzero((look.known >= unit.low) & (look.known <= unit.high))
    return bool(not look.is_key and 2 * inside >= len(look.known) > 0)


def _check_patterns(found: Inference, names: Sequence[str]) -> None:
    """Refuse agents that are named and not there."""
    declared = found.declared
    for key, patterns in (("agents", declared.agents), ("ignore", declared.ignore)):
        for pattern in patterns:
            if not any(is_chosen(name, (pattern,)) for name in names):
                found.faults.add(column_fault(key, pattern, names, several=True))


def _check_agents(found: Inference) -> None:
    """Refuse a table with less than two agents, unless an answer may find them."""
    faults = [fault.fields for fault in found.faults.found.values()]
    named = any("agents" in (f.get("key"), *f.get("keys", ())) for f in faults)
    asked = {question.code for question in found.questions}
    if named or found.long or len(found.agents) > 1:
        return
    if not asked.isdisjoint(("which-long", "maybe-scores")):
        return
    kinds = {name: look.kind for name, look in found.open.items()}
    words = {"text"} >= {*kinds.values()} and not found.agents
    cure = Cure("jury") if words and len(kinds) > 1 else Cure("name-agents", "agents")
    columns = [f"{name} ({kind})" for name, kind in kinds.items()]
    fields = {"columns": columns}
    found.refuse("few-agents", cure, found=[*found.agents], fields=fields)


def _check_spelling(found: Inference, owner: Look) -> None:
    """Note agents whose names differ in upper and lower case only."""
    spelled = cells.spellings(map(str, owner.distinct))
    alike = [" and ".join(map(repr, own)) for own in spelled if len(own) > 1]
    if alike:
        fields = {"column": owner.name, "names": alike}
        found.notes.append(Note("agents-alike", fields, warning=True))


def _id(found: Inference) -> str | None:
    """Column that names the cases: the only one that tells them apart."""
    keys = [name for name, look in found.open.items() if look.is_key]
    return keys[0] if len(keys) == 1 else None


def _time(found: Inference) -> str | None:
    """Column that dates the cases, or the reports: the only one that holds dates.

    Of several in a long table it is the one that differs among reports on a case. Where
    none does, a column of dates with a few impossible ones is it, and is refused.
    """
    dates = [name for name, look in found.open.items() if look.is_time]
    dates = dates or [name for name, look in found.open.items() if look.is_nearly_time]
    if found.long is not None and len(dates) > 1:
        case = found.looks[found.long[0]].codes
        dates = [n for n in dates if not is_constant(found.open[n], case)]
    return dates[0] if len(dates) == 1 else None


def _find_format(found: Inference, name: str | None) -> None:
    """Find how times are written; ask where day and month may be exchanged."""
    look = found.looks.get(name or "")
    if look is None or look.text is None or not look.distinct:
        return
    declared = found.declared.formats
    if look.numbers is not None and not declared:
        return
    texts = look.distinct
    fits: Sequence[str] = cells.distinct_formats(texts, declared)
    if declared and not fits:
        fits = [max(declared, key=lambda form: cells.count_times(texts, form))]
    fits = fits or look.formats or cells.likely_formats(texts)
    if len(fits) > 1:
        fields = {"found": texts[0]}
        found.ask("which-format", "time-format", fits, column=name, fields=fields)
    elif fits and fits[0]:
        found.formats[look.name] = fits[0]
