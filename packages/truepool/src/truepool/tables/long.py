"""Long tables: one row per report, turned into one row per case."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray
from truepool.panel.sparse import DENSE_CELLS, SparseReports, prefers_sparse
from truepool.tables import cells
from truepool.tables.decode import Decoder, as_written
from truepool.tables.faults import Cure, FaultList, Note, Place
from truepool.tables.schema import LAST_ROW, TIME_WEIGHTED, Schema


@dataclass(frozen=True, eq=False)
class Intervals:
    """Reports (S, N) that stood between two updates of a case.

    ``case`` (S,) is the number of the case, ``share`` (S,) that of its life; the shares
    of a case sum to 1.
    """

    values: FloatArray
    case: IntArray
    share: FloatArray


@dataclass(frozen=True, eq=False)
class CaseReports:
    """Reports (T, N) of a long table by case, and the cases' other columns.

    ``given`` are sparse where there are many cells, most of them empty; ``times`` (T,)
    are those of the decision, or of the last report on each case. ``columns`` is a
    table with one row per case, and ``first`` (T,) the first row of each.
    """

    given: FloatArray | SparseReports
    ids: Array
    times: Array | None
    columns: pa.Table
    first: IntArray
    intervals: Intervals | None
    notes: tuple[Note, ...]


def by_case(rows: pa.Table, schema: Schema, decoder: Decoder) -> CaseReports | None:
    """Turn one row per report into one row per case; None where that cannot be done.

    Of several reports of one agent on one case the latest counts; a report made at the
    decision time may already know the outcome, so it does not. What is wrong is noted.
    """
    case_name, agent_name, report_name = schema.long or ("", "", "")
    notes: list[Note] = []
    faults = decoder.faults
    keys = []
    for name in (case_name, agent_name):
        column = cells.plain(rows.column(name))
        gone = cells.is_empty(column)
        faults.add_rows(
            "key-missing", gone, lambda t: None, column=name, cures=(Cure("fill-in"),)
        )
        keys.append(_trimmed(name, column, notes))
    if faults:
        return None
    (cases, case), (names, owner) = (_in_order(key) for key in keys)
    number = {name: i for i, name in enumerate(schema.agents)}
    agent = np.array([number.get(str(name), -1) for name in names], dtype=int)[owner]
    unknown = [str(name) for name in names if str(name) not in number]
    if len(unknown) == len(names):
        faults.refuse(
            "no-agents", Cure("rename"), found=unknown, fields={"agents": schema.agents}
        )
        return None
    reports, shown = _shares(rows, report_name, owner, names, decoder)
    used = ~np.isnan(reports) & (agent >= 0)
    times, limit = _times(rows, schema, cases, case, decoder)
    if faults:
        return None
    if times is not None and limit is not None:
        before = used & (times < limit)
        late = int(used.sum() - before.sum())
        if late and not before.any():
            faults.refuse(
                "all-late", Cure("check-times"), count=late, column=schema.decision_time
            )
            return None
        if late:
            notes.append(Note("late", {"count": late}))
        used = before
    if unknown:
        new = schema.outcome is None  # of others, the user chose the agents
        notes.append(Note("agents-unknown", {"names": unknown}, warning=new))
    at = np.flatnonzero(used)
    if times is not None:
        at = at[np.argsort(times[at], kind="stable")]
    place = case * len(number) + agent
    if schema.updates != LAST_ROW:
        _check_ties(
            place[at],
            shown[at],
            None if times is None else times[at],
            at,
            cases,
            schema,
            faults,
        )
    shape = len(cases), len(number)
    values = SparseReports.from_cells(case[at], agent[at], reports[at], *shape)
    dated = times if limit is None else limit
    last = None if dated is None else _latest(dated, case, len(cases))
    replaced, intervals = len(at) - len(values.values), None
    if schema.updates == TIME_WEIGHTED and times is not None and last is not None:
        if len(at) * len(number) > DENSE_CELLS:
            faults.refuse(
                "many-intervals",
                Cure("last"),
                count=len(at),
                fields={"most": DENSE_CELLS, "agents": len(number)},
            )
            return None
        made = (case[at], agent[at], reports[at], times[at])
        intervals = _split_lives(*made, last, np.full(shape, np.nan))
        fields = {"cases": len(cases), "count": len(intervals.case)}
        notes.append(Note("intervals", fields))
    elif replaced:
        notes.append(Note("replaced", {"count": replaced}))
    sparse = prefers_sparse(values.cells, len(values.values))
    given = values if sparse else values.dense()[:, :, 0]
    ids = np.empty(len(cases), dtype=object)
    ids[:] = cases
    columns, first = _case_columns(rows, schema, cases, case, faults)
    return CaseReports(given, ids, last, columns, first, intervals, tuple(notes))


def _trimmed(name: str, column: pa.Array, notes: list[Note]) -> pa.Array:
    """Names without the spaces around them; they are noted."""
    if not cells.is_text(column):
        return column
    text = pc.utf8_trim_whitespace(column)
    if not text.equals(column):
        spaced = pc.unique(text.filter(pc.fill_null(pc.not_equal(text, column), False)))
        notes.append(Note("names-trimmed", {"column": name, "count": len(spaced)}))
    return text


def _in_order(column: pa.Array) -> tuple[list[Any], IntArray]:
    """Names in order of appearance, and the number of each row's name."""
    coded = pc.dictionary_encode(column)
    return coded.dictionary.to_pylist(), np.asarray(coded.indices, dtype=np.int64)


def _shares(
    rows: pa.Table, name: str, owner: IntArray, names: Sequence[Any], decoder: Decoder
) -> tuple[FloatArray, FloatArray]:
    """Return the probabilities (R,) of the reports, and the numbers as written."""
    schema, known = decoder.schema, {*decoder.schema.agents}
    column = cells.plain(rows.column(name))
    found = cells.numbers(column, schema.mark, schema.missing)
    shares = np.full(len(column), np.nan)
    order = np.argsort(owner, kind="stable")
    ends = np.searchsorted(owner[order], np.arange(len(names) + 1))
    for code, agent in enumerate(map(str, names)):
        if agent in known:
            at = order[ends[code] : ends[code + 1]]
            own = found.take(at)
            shares[at] = decoder.shares(
                agent, name, own, partial(column.take, pa.array(at)), at
            )
    return shares, found.values


def _times(
    rows: pa.Table, schema: Schema, cases: list[Any], case: IntArray, decoder: Decoder
) -> tuple[Array | None, Array | None]:
    """Return the times (R,) of the reports and of the decisions, if there are any."""
    times, limit = (
        None if name is None else decoder.times(name, cells.plain(rows.column(name)), 0)
        for name in (schema.time, schema.decision_time)
    )
    faults = decoder.faults
    if limit is None or faults:
        return times, limit
    if times is None:
        faults.refuse("no-report-time", Cure("name-column", "time"))
        return times, limit
    kinds = [
        "dates" if each.dtype.kind == "M" else "numbers" for each in (times, limit)
    ]
    if kinds[0] != kinds[1]:
        fields = {"other": schema.time, "kinds": kinds}
        faults.refuse(
            "times-differ",
            Cure("name-other"),
            column=schema.decision_time,
            fields=fields,
        )
        return times, None
    differs = limit != _latest(limit, case, len(cases))[case]
    column = rows.column(str(schema.decision_time))
    faults.add_rows(
        "decision-times",
        differs,
        lambda t: str(column[t].as_py()),
        column=schema.decision_time,
        cures=(Cure("one-time"),),
        fields={"case": cases[case[int(np.argmax(differs))]]} if differs.any() else {},
    )
    return times, limit


def _split_lives(
    case: IntArray,
    agent: IntArray,
    reports: FloatArray,
    times: Array,
    ends: Array,
    standing: FloatArray,
) -> Intervals:
    """Split the life of each case wherever somebody reports.

    Reports are in order of time. A life begins with the first report on the case and
    ends at ``ends`` (T,); ``standing`` (T, N) are the reports before it, none.
    """
    order = np.argsort(case, kind="stable")
    case, agent, times = case[order], agent[order], times[order]
    reports = reports[order]
    moved = (case[1:] != case[:-1]) | (times[1:] != times[:-1])
    starts = np.flatnonzero(np.append(True, moved))
    owner, begin = case[starts], times[starts]
    opens = np.append(True, owner[1:] != owner[:-1])  # the first interval of a case
    until = np.where(np.roll(opens, -1), ends[owner], np.roll(begin, -1))
    life = (ends[owner] - begin[opens][np.cumsum(opens) - 1]).astype(np.float64)
    length = (until - begin).astype(np.float64)
    share = length / life
    values = np.empty((len(starts), standing.shape[1]))
    for s, rows in enumerate(np.split(np.arange(len(case)), starts[1:])):
        standing[owner[s], agent[rows]] = reports[rows]
        values[s] = standing[owner[s]]
    silent = np.setdiff1d(np.arange(len(ends)), owner)  # cases without any report
    every = np.concatenate([owner, silent])
    in_order = np.argsort(every, kind="stable")
    return Intervals(
        np.concatenate([values, standing[silent]])[in_order],
        every[in_order],
        np.concatenate([share, np.ones(len(silent))])[in_order],
    )


def _latest(times: Array, case: IntArray, cases: int) -> Array:
    """Return the latest time of each case, (T,)."""
    latest = np.empty(cases, dtype=times.dtype)
    order = np.argsort(times, kind="stable")
    latest[case[order]] = times[order]
    return latest


def _check_ties(
    place: IntArray,
    shown: FloatArray,
    times: Array | None,
    rows: IntArray,
    cases: list[Any],
    schema: Schema,
    faults: FaultList,
) -> None:
    """Note two reports of an agent on a case of which neither is the later one."""
    order = np.argsort(place, kind="stable")
    same = place[order][1:] == place[order][:-1]
    if times is not None:
        same &= times[order][1:] == times[order][:-1]
    same &= shown[order][1:] != shown[order][:-1]
    if not same.any():
        return
    at = int(np.argmax(same))
    t, i = divmod(int(place[order][at]), len(schema.agents))
    cures = [Cure("correct-times") if schema.time else Cure("name-column", "time")]
    if schema.updates == TIME_WEIGHTED:
        cures.append(Cure("remove-others"))
    else:
        cures.append(Cure("last-row", "updates", LAST_ROW))
    faults.refuse(
        "two-reports",
        *cures,
        agent=schema.agents[i],
        count=int(same.sum()),
        row=int(rows[order][at + 1]),
        found=[float(v) for v in shown[order][at : at + 2]],
        fields={"case": cases[t]},
    )


def _case_columns(
    rows: pa.Table, schema: Schema, cases: list[Any], case: IntArray, faults: FaultList
) -> tuple[pa.Table, IntArray]:
    """Return the other columns with one row per case; two values of one are noted."""
    order = np.argsort(case, kind="stable")
    first = order[np.searchsorted(case[order], np.arange(len(cases)))]
    single = (schema.outcome, schema.weight, schema.group, schema.propensity)
    names = dict.fromkeys(
        n for n in (*single, *schema.kept) if n is not None and n in rows.column_names
    )
    columns = {}
    for name in names:
        column = cells.plain(rows.column(name))
        gone = cells.is_empty(column, schema.missing)
        # The first row of each case that has a value, else its first row.
        ranked = np.lexsort((np.arange(len(case)), gone, case))
        own = ranked[np.searchsorted(case[ranked], np.arange(len(cases)))]
        coded = pc.dictionary_encode(
            cells.trim(column) if cells.is_text(column) else column
        )
        codes = np.asarray(pc.fill_null(coded.indices, -1))
        wrong: BoolArray = ~gone & (codes != codes[own][case])
        row = int(np.argmax(wrong))
        cell = as_written(column)
        faults.add_rows(
            "values-differ",
            wrong,
            cell,
            column=name,
            cures=(Cure("correct-one"),),
            fields={"case": cases[case[row]], "other": cell(int(own[case[row]]))},
        )
        columns[name] = column.take(pa.array(own))
    return pa.table(columns), first


def place_of(case: Any) -> Place:
    """Return where a person finds a case of a long table."""
    return Place("case", case)
