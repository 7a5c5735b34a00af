"""New cases beside the table that was learned from: which columns are the same."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from truepool.core.errors import closest
from truepool.tables import cells
from truepool.tables.class_columns import JOINTS
from truepool.tables.columns import Look, look_at
from truepool.tables.faults import Cure, Fault, FaultList, Note
from truepool.tables.schema import (
    LAST,
    PERCENT,
    PROBABILITY,
    TIME_WEIGHTED,
    Declared,
    Schema,
    Unit,
    is_chosen,
)
from truepool.tables.source import INDEXES, Dialect, Source, column_fault, open_source

FIRST = 1_000
"""Rows that say how numbers are written."""


def match(
    source: Any, known: Schema, declared: Declared, columns: Sequence[str] = ()
) -> "Any":
    """Return new cases and what their columns are, by the schema of the fit.

    Columns that the schema does not know are left out and named once. An agent without
    a column has no reports, and is named; a table without any agent is refused.
    """
    from truepool.tables.read import Table

    missing = tuple(dict.fromkeys((*known.missing, *declared.missing)))
    text = tuple(n for n in (declared.id or known.id, *(known.long or ())[:2]) if n)
    opened = open_source(source, Dialect(declared.sep, missing, text))
    names, faults, notes = opened.names, FaultList(), list[Note]()
    if declared.updates == TIME_WEIGHTED:
        faults.refuse("new-intervals", Cure("unset", "updates"))
    long = _long(known, declared, names)
    reports = {} if long else _reports(known, opened, faults, notes)
    id = _column(
        "id", declared.id, known.id or (known.long or ("id",))[0], names, faults
    )
    time = _column("time", declared.time, known.time, names, faults)
    for key, patterns in (
        ("percent", declared.percent if isinstance(declared.percent, tuple) else ()),
        ("scores", [*declared.scores]),
    ):
        for pattern in patterns:
            if not any(is_chosen(agent, (pattern,)) for agent in known.agents):
                faults.add(column_fault(key, pattern, known.agents, several=True))
    for name in columns:
        if name not in names:
            faults.add(_no_cost_column(name, known, names))
    if declared.decision_time is not None and declared.decision_time not in names:
        faults.add(column_fault("decision-time", declared.decision_time, names))
    units = {a: declared.unit(a) or known.unit(a) for a in known.agents}
    decision = declared.decision_time or known.decision_time
    schema = replace(
        known,
        reports=reports,
        classes=() if long else known.classes,
        units={a: u for a, u in units.items() if u != PROBABILITY},
        outcome=None,
        id=None if long else id,
        time=time,
        weight=None,
        group=None,
        propensity=None,
        kept=tuple(columns),
        long=long,
        decision_time=decision if long and decision in names else None,
        updates=declared.updates
        if declared.updates != LAST
        else known.updates
        if long and known.updates != TIME_WEIGHTED
        else LAST,
        missing=missing,
        decimal=declared.decimal or known.decimal,
        formats=_formats(known, declared, time),
        unused=(),
    )
    apart = {
        *schema.columns,
        known.outcome,
        known.weight,
        known.group,
        known.propensity,
        *known.kept,
        *known.unused,
        *opened.keys,
        *INDEXES,
    }
    unused = tuple(name for name in names if name not in apart)
    if unused:
        notes.append(Note("not-used", {"names": unused}))
    if unused and known.id is not None and id is None and not long:
        fields = {"column": known.id, "key": "id", "value": "COLUMN"}
        notes.append(Note("no-ids", fields, warning=True))
    faults.raise_all(opened.place, opened.name)
    return Table(opened, replace(schema, unused=unused), (*opened.notes, *notes))


def _long(
    known: Schema, declared: Declared, names: Sequence[str]
) -> tuple[str, str, str] | None:
    """Columns of a long table: those that are named, or those of the fit if present."""
    if isinstance(declared.long, tuple):
        return declared.long
    if declared.long is None and known.long:
        own = (declared.id or known.long[0], *known.long[1:])
        return own if {*own} <= {*names} else None
    return None


def _column(
    key: str,
    named: str | None,
    usual: str | None,
    names: Sequence[str],
    faults: FaultList,
) -> str | None:
    """Return the column that is named, or that of the fit where there is one."""
    if named is not None:
        if named not in names:
            faults.add(column_fault(key, named, names))
        return named
    if usual in names:
        return usual
    return key if key in names else None


def _reports(
    known: Schema, source: Source, faults: FaultList, notes: list[Note]
) -> Mapping[str, tuple[str, ...]]:
    """Columns of each agent; those of classes may be joined in another way."""
    names = {name.replace(" :", ":").replace(": ", ":"): name for name in source.names}
    names |= {name: name for name in source.names}
    found: dict[str, tuple[str, ...]] = {}
    for agent in known.agents:
        usual = known.reports.get(agent, (agent,))
        ways = [usual]
        if known.classes:
            ways += [
                tuple(f"{agent}{joint}{k}" for k in known.classes)
                for joint in (":", *JOINTS)
            ] + [(agent,)]
        own = next((w for w in ways if any(name in names for name in w)), usual)
        found[agent] = tuple(names.get(name, name) for name in own)
        lost = [name for name in own if name not in names]
        if 0 < len(lost) < len(own):
            faults.refuse("class-column", Cure("rename"), agent=agent, found=lost)
    silent = [a for a, own in found.items() if not any(n in names for n in own)]
    if len(silent) == len(found):
        close = closest(silent[0], source.names) if silent else None
        faults.refuse(
            "no-agents",
            Cure("rename-to", "", (close, silent[0])) if close else Cure("rename"),
            found=[*source.names],
            fields={"agents": known.agents},
        )
    elif silent:
        apart = {
            *known.columns,
            *known.unused,
            *(n for own in found.values() for n in own),
        }
        close = closest(silent[0], [n for n in source.names if n not in apart])
        code = "agents-missing" if close is None else "agents-misspelled"
        notes.append(Note(code, {"names": silent, "close": close}, warning=True))
    return found


def _no_cost_column(name: str, known: Schema, names: Sequence[str]) -> Fault:
    rest = [n for n in names if n not in known.columns]
    close = closest(name, rest)
    cures = (Cure("rename-to", "", (close, name)),) if close else ()
    return Fault("no-cost-column", column=name, cures=(*cures, Cure("add-column")))


def _formats(known: Schema, declared: Declared, time: str | None) -> Mapping[str, str]:
    formats = dict(known.formats)
    for name in (time, declared.decision_time):
        if name is not None and declared.formats:
            formats[name] = declared.formats[0]
    if time is not None and time not in formats and known.time in formats:
        formats[time] = formats[known.time]
    return formats


def refine(
    schema: Schema, rows: pa.RecordBatch | pa.Table, declared: Declared
) -> Schema:
    """Return the schema with the decimal mark and percent signs of some first rows."""
    own = {name for names in schema.reports.values() for name in names}
    own |= {schema.long[2]} if schema.long else set()
    first = rows if schema.long else rows.slice(0, FIRST)
    text = pa.table(
        {
            name: column
            for name in first.schema.names
            if name in own and cells.is_text(column := cells.plain(first.column(name)))
        }
    )
    if not text.num_columns:
        return schema
    looks, mark = look_at(text, schema.missing, declared.decimal)
    units: dict[str, Unit] = dict(schema.units)
    signs = []
    owners = _signed_owners(schema, first, looks)
    for agent in schema.agents:
        names = schema.reports.get(agent, ())
        signed = agent in owners or any(looks[n].signed for n in names if n in looks)
        signs += [agent] if signed else []
        if signed and declared.unit(agent, signed=True) == PERCENT:
            units.setdefault(agent, PERCENT)
    return replace(
        schema, decimal=mark or schema.decimal, units=units, signed=tuple(signs)
    )


def _signed_owners(
    schema: Schema, rows: pa.RecordBatch | pa.Table, looks: Mapping[str, Look]
) -> set[str]:
    """Agents of a long table whose reports carry percent signs."""
    numbers = looks[schema.long[2]].numbers if schema.long else None
    if schema.long is None or numbers is None or numbers.signed is None:
        return set()
    owner = cells.trim(cells.plain(rows.column(schema.long[1])))
    return {*owner.filter(pa.array(numbers.signed)).unique().to_pylist()}
