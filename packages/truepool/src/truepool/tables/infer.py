"""What the columns of a table are: what the user declares, and one look at the rows.

What the rows show beyond doubt is taken. What they cannot say, such as which of two
labels is positive, is a question; all questions are asked at once.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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
from truepool.tables.units import agent_units, signed_agents


def infer(
    source: Source,
    declared: Declared,
    table: pa.Table | None = None,
    *,
    labelled: bool = True,
    labels_of: Callable[[str], list[Any]] | None = None,
) -> tuple[Schema, Inference]:
    """Find out what the columns are; ``labelled`` tables must have an outcome.

    Of others only a column that is named, or has a usual name, is one; it may be empty.
    Where the rows are not all there are, ``labels_of`` returns the labels of a column.
    The schema is complete only where there are neither faults nor questions.
    """
    rows = source.table() if table is None else table
    looks, mark = look_at(rows, declared.missing, declared.decimal)
    found = Inference(declared, looks, source.name)
    _check_roles(found)
    found.take(*(n for n in source.keys if not is_chosen(n, declared.agents)))
    formats: dict[str, str] = {}
    id, time = (found.name_usual(key) for key in ("id", "time"))
    if id is not None and found.looks[id].is_class:
        found.refuse("plain-values", column=id, cures=(Cure("name-other"),))
    by_class, long = classes_by_colon(found), None
    if declared.long is not False and not by_class:
        long = long_columns(found)
    if declared.decision_time and long is None and not found.questions:
        found.refuse("not-long", cures=(Cure("name-columns", "long"),))
    if not {*(long or ())} <= {*looks}:
        return Schema(), found  # nothing else can be said
    found.take(*(long or ()))
    outcome = outcome_column(found, by_class, long, labelled=labelled)
    found.take(outcome)
    labels = outcome_labels(found, outcome, labels_of)
    by_class = by_class or classes_by_label(found, labels)
    agents, reports, classes = _agents(found, by_class, labels, long)
    for own in reports.values():
        found.take(*own)
    id = None if long else id or _id(found)
    time = time or _time(found, long)
    found.take(id, time)
    for name in (time, declared.decision_time):
        _format(found, name, formats)
    ask_late(found, long, time, formats)
    units = agent_units(found, agents, reports, long)
    wrong = not agents or found.has("many-labels", "classes-differ")
    if outcome is not None and (labels or labelled) and not wrong:
        labels = ordered_labels(found, outcome, labels, classes)
        if classes and labels:
            place = [[*classes].index(str(label)) for label in labels]
            reports = {
                a: own if len(own) == 1 else tuple(own[k] for k in place)
                for a, own in reports.items()
            }
            classes = tuple(classes[k] for k in place)
    schema = Schema(
        agents,
        reports,
        classes,
        units,
        outcome,
        tuple(labels),
        id,
        time,
        declared.weight,
        declared.group,
        declared.propensity,
        declared.columns,
        long,
        declared.decision_time,
        declared.updates,
        declared.missing,
        mark,
        formats,
        tuple(found.open),
        signed_agents(found, reports, long, agents),
    )
    return schema, found


def infer_asking(
    look: Callable[[Declared], tuple[Schema, Inference]],
    declared: Declared,
    answer: Callable[[Sequence[Question]], Mapping[str, Any]],
) -> tuple[Schema, Inference]:
    """Find out what the columns are, and ask as long as answers lead to new questions.

    Which column is the outcome must be known before its positive label is asked for.
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
    roles = declared.roles()
    for key, name in roles.items():
        if name not in names:
            found.faults.add(column_fault(key, name, names))
    for name in declared.columns:
        if name not in names:
            found.faults.add(column_fault("columns", name, names))
        elif found.looks[name].is_class:
            found.refuse("plain-values", column=name, cures=(Cure("name-other"),))
    twice = Counter(roles.values())
    for name, count in twice.items():
        if count > 1:
            keys = [key for key, own in roles.items() if own == name]
            found.refuse(
                "two-roles",
                column=name,
                fields={"keys": keys},
                cures=(Cure("name-other"),),
            )
    for name in declared.agents:
        if name in roles.values() or name in declared.columns:
            key = next((key for key, own in roles.items() if own == name), "columns")
            found.refuse(
                "two-roles",
                column=name,
                fields={"keys": ["agents", key]},
                cures=(Cure("name-other"),),
            )
    found.take(*roles.values(), *declared.columns)
    if not declared.long:
        named = {*declared.agents}
        found.take(
            *(
                n
                for n in names
                if n in declared.ignore
                or (n not in named and is_chosen(n, declared.ignore))
            )
        )
    if declared.updates == TIME_WEIGHTED and not declared.decision_time:
        found.refuse("no-decision-time", cures=(Cure("name-column", "decision-time"),))
    if declared.updates == TIME_WEIGHTED and declared.weight:
        found.refuse(
            "two-weights", column=declared.weight, cures=(Cure("unset", "weight"),)
        )


def _agents(
    found: Inference,
    by_class: Mapping[str, Mapping[str, str]],
    labels: Sequence[Any],
    long: tuple[str, str, str] | None,
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Agents, the columns of each, and the classes where there is one for each."""
    declared = found.declared
    if long is not None:
        owner = found.looks.get(long[1])
        if owner is not None:
            _check_spelling(found, owner)
        every = sorted({str(name) for name in owner.distinct}) if owner else []
        _check_patterns(found, [*every, *found.looks])
        chosen = [
            n
            for n in every
            if not is_chosen(n, declared.ignore)
            and (not declared.agents or is_chosen(n, declared.agents))
        ]
        return tuple(chosen), {}, ()
    _check_patterns(found, [*found.looks, *by_class])
    if by_class:
        own = {
            a: c
            for a, c in by_class.items()
            if not is_chosen(a, declared.ignore)
            and (not declared.agents or is_chosen(a, declared.agents))
        }
        classes = tuple(next(iter(own.values()), ()))
        _few_agents(found, [*own])
        return tuple(own), {a: tuple(c.values()) for a, c in own.items()}, classes
    if declared.agents:
        names = [n for n in found.open if is_chosen(n, declared.agents)]
    else:
        names = [
            n
            for n, look in found.open.items()
            if look.is_report or look.has_unit or _is_declared(look, declared)
        ]
    nested = [n for n in names if found.looks[n].is_class]
    if nested and len(nested) < len(names):
        other = next(n for n in names if n not in nested)
        found.refuse(
            "one-or-classes",
            agent=nested[0],
            fields={"other": other},
            found=nested[:1],
            cures=(Cure("write-alike"),),
        )
    classes = tuple(str(k) for k in sorted(labels, key=str)) if nested else ()
    sure = [
        n
        for n in names
        if declared.agents
        or not found.looks[n].has_unit
        or declared.unit(n) is not None
    ]
    if len(names) < 2 or not sure:
        _few_agents(found, sure)
    return tuple(names), {name: (name,) for name in names}, classes


def _is_declared(look: Look, declared: Declared) -> bool:
    """Whether a column has a declared unit, by its name or as its numbers fit."""
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


def _few_agents(found: Inference, agents: Sequence[str]) -> None:
    """Refuse a table with less than two agents; ask about what could be one."""
    possible = [n for n, look in found.open.items() if look.has_unit]
    faults = [fault.fields for fault in found.faults.found.values()]
    if any("agents" in (each.get("key"), *each.get("keys", ())) for each in faults):
        return
    if any(question.key == "long" for question in found.questions):
        return  # then a column has the agents
    if len(agents) < 2 and not (possible and not found.declared.agents):
        columns = {n: _kind(look) for n, look in found.open.items() if n not in agents}
        found.refuse(
            "few-agents",
            found=[*agents],
            cures=(Cure("name-agents", "agents"),),
            fields={"columns": [f"{n} ({kind})" for n, kind in columns.items()]},
        )


def _kind(look: Look) -> str:
    if look.is_time:
        return "times"
    return "text" if look.numbers is None else "numbers"


def _check_spelling(found: Inference, owner: Look) -> None:
    """Note agents whose names differ in upper and lower case only."""
    spelled: dict[str, list[str]] = {}
    for name in owner.distinct:
        spelled.setdefault(str(name).casefold(), []).append(str(name))
    alike = [" and ".join(map(repr, own)) for own in spelled.values() if len(own) > 1]
    if alike:
        found.notes.append(
            Note("agents-alike", {"column": owner.name, "names": alike}, warning=True)
        )


def _id(found: Inference) -> str | None:
    """Column that names the cases: the only one that tells them apart."""
    keys = [name for name, look in found.open.items() if look.is_key]
    return keys[0] if len(keys) == 1 else None


def _time(found: Inference, long: tuple[str, str, str] | None) -> str | None:
    """Column that dates the cases, or the reports: the only one that holds dates.

    Of several in a long table it is the one that differs among reports on a case.
    """
    dates = [name for name, look in found.open.items() if look.is_time]
    if long is not None and len(dates) > 1:
        case = found.looks[long[0]].codes
        dates = [n for n in dates if not is_constant(found.open[n], case)]
    return dates[0] if len(dates) == 1 else None


def _format(found: Inference, name: str | None, formats: dict[str, str]) -> None:
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
        found.ask(
            "which-format", "time-format", fits, column=name, fields={"found": texts[0]}
        )
    elif fits and fits[0]:
        formats[look.name] = fits[0]
