"""Long tables: one row per report."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray
from truepool.core.errors import OutcomeError, PanelError, ReportError, SourceError
from truepool.core.formatting import pluralize
from truepool.panel.panel import check_times
from truepool.panel.row_names import row_name
from truepool.panel.sparse import DENSE_CELLS, SparseReports, prefers_sparse
from truepool.tables.numbers import is_empty
from truepool.tables.report_columns import parse_long_reports
from truepool.tables.table_format import LAST_ROW, TIME_WEIGHTED, TableFormat
from truepool.tables.time_zones import Zones
from truepool.tables.times import parse_times, time_formats

TEXT = (nw.String, nw.Categorical, nw.Enum)
"""Types of columns whose names may have spaces around them."""


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
class LongReports:
    """Reports (T, N) of a long table, the case of each row, and what was left out.

    ``given`` are sparse where there are many cells, most of them empty. ``times`` (T,)
    are those of the decision, or of the last report on each case; ``intervals`` are
    there if updates are time-weighted. Without a decision time, ``after`` counts the
    reports at or after the dates of each column that could be one.
    """

    given: FloatArray | SparseReports
    agents: tuple[str, ...]
    ids: Array
    times: Array | None
    case: IntArray
    replaced: int
    late: int
    intervals: Intervals | None
    signed: tuple[str, ...]
    """Agents whose reports carry percent signs."""
    after: Mapping[str, int]
    """Reports made at or after the dates in other columns."""


def trim_names(
    frame: nw.DataFrame[Any], long: tuple[str, str, str]
) -> tuple[nw.DataFrame[Any], dict[str, int]]:
    """Trim the names of cases and agents; also count those with spaces around them.

    >>> import pyarrow as pa
    >>> table = nw.from_native(pa.table({"q": ["a", "a "], "who": ["ann", " bob"]}))
    >>> trimmed, counts = trim_names(table, ("q", "who", "p"))
    >>> trimmed["q"].to_list(), counts
    (['a', 'a'], {'q': 1, 'who': 1})
    """
    counts = {}
    for name in long[:2]:
        if name not in frame.columns or frame[name].dtype not in TEXT:
            continue
        names = frame[name].cast(nw.String)
        trimmed = names.str.strip_chars()
        changed = (names != trimmed).fill_null(False)
        if changed.any():
            counts[name] = trimmed.filter(changed).n_unique()
            frame = frame.with_columns(trimmed)
    return frame, counts


def pivot(
    frame: nw.DataFrame[Any],
    written: TableFormat,
    columns: tuple[str, str, str],
    time: str | None,
) -> LongReports:
    """Turn one row per report into one row per case and one column per agent.

    Of several reports of one agent on one case the latest counts; a report made at the
    decision time may already know the outcome, so it does not.
    """
    case_name, agent_name, report_name = columns
    for name in (case_name, agent_name):
        empty = is_empty(frame[name])
        if empty.any():
            raise SourceError(
                "every row of a long table needs a case and an agent; column "
                f"{name!r} is empty in {row_name(int(np.argmax(empty)))}. Fill it in, "
                "or "
                "remove the row."
            )
    cases, case = _order(frame[case_name])
    known, agent = _order(frame[agent_name])
    agents = sorted({str(name) for name in known})
    number = {name: i for i, name in enumerate(agents)}
    agent = np.array([number[str(name)] for name in known])[agent]
    reports, signed = parse_long_reports(frame[report_name], agents, agent, written)
    times, zones = None, Zones()
    if time is not None:
        times = check_times(parse_times(frame[time], written, zones=zones))
    used = ~np.isnan(reports)
    limit = None
    if written.decision_time is not None:
        if times is None:
            raise SourceError(
                "a decision time needs the times of the reports; there is no time "
                "column. Name it (--time)."
            )
        limit = parse_times(frame[written.decision_time], written, zones=zones)
        limit = np.asarray(check_times(limit))
        _check_same_kind(times, limit, str(time), written.decision_time)
        _check_one_limit(limit, cases, case, frame[written.decision_time])
        used &= times < limit
    dated = times if limit is None else limit
    late = int((~np.isnan(reports)).sum() - used.sum())
    if late and not used.any():
        raise SourceError(
            "some report must be made before the decision time; all "
            f"{late:,} were made at that time or later. Check --time and "
            "--decision-time."
        )
    place = case * len(agents) + agent
    rows = np.flatnonzero(used)
    after = {}
    if times is not None and limit is None:
        after = _reports_after(frame, written, time, times[rows], case[rows], rows)
    if times is not None:
        rows = rows[np.argsort(times[rows], kind="stable")]
        times = times[rows]
    if written.updates != LAST_ROW:
        cure = "remove all but one"
        if written.updates != TIME_WEIGHTED:
            cure = "pass --updates last-row if the later report is further down"
        zero, one = np.array([written.ends(name) for name in agents])[agent[rows]].T
        shown = np.round(zero + (one - zero) * reports[rows], 9)
        _check_ties(place[rows], shown, times, cases, agents, cure)
    shape = len(cases), len(agents)
    values = SparseReports.from_cells(case[rows], agent[rows], reports[rows], *shape)
    ids = np.empty(len(cases), dtype=object)
    ids[:] = cases
    ends = None if dated is None else _latest(dated, case, len(cases))
    replaced, intervals = len(rows) - len(values.values), None
    if written.updates == TIME_WEIGHTED and times is not None and ends is not None:
        _check_intervals(len(rows), len(agents))
        table = np.full(shape, np.nan)
        made = (case[rows], agent[rows], reports[rows], times)
        replaced, intervals = 0, _split_lives(*made, ends, table)
    sparse = prefers_sparse(values.cells, len(values.values))
    given = values if sparse else values.dense()[:, :, 0]
    return LongReports(
        given, tuple(agents), ids, ends, case, replaced, late, intervals, signed, after
    )


def _check_same_kind(times: Array, limit: Array, time: str, decision_time: str) -> None:
    """Refuse dates that are compared with numbers."""
    kinds = [
        "dates" if each.dtype.kind == "M" else "numbers" for each in (times, limit)
    ]
    if kinds[0] != kinds[1]:
        raise SourceError(
            f"times and decision times must both be dates or both numbers; {time!r} "
            f"holds {kinds[0]} and {decision_time!r} {kinds[1]}. Name other columns "
            "(--time, --decision-time)."
        )


def _check_one_limit(
    limit: Array, cases: list[Any], case: IntArray, column: nw.Series[Any]
) -> None:
    """Refuse two decision times of a case: what came after the first one may count."""
    differs = limit != _latest(limit, case, len(cases))[case]
    if differs.any():
        row = int(np.argmax(differs))
        other = int(np.argmax((case == case[row]) & (limit != limit[row])))
        raise SourceError(
            f"a case must have one decision time; column {column.name!r} has "
            f"{column[row]} in {row_name(row)} and {column[other]} in "
            f"{row_name(other)} for case {cases[case[row]]!r}. Write the same in all "
            "its rows: the earlier one, if reports made after it may know the outcome."
        )


def _reports_after(
    frame: nw.DataFrame[Any],
    written: TableFormat,
    time: str | None,
    times: Array,
    case: IntArray,
    rows: IntArray,
) -> dict[str, int]:
    """Count the reports made at or after the dates in other columns.

    Those columns have one date per case. One that all reports come after, such as the
    day on which a question opened, is no decision time.
    """
    known = {time, *written.apart, *(written.long or ())}
    found = {}
    for name in frame.columns:
        dates = None
        if times.dtype.kind == "M" and name not in known:
            dates = _dates_of_cases(frame[name], case, rows, written)
        if dates is not None:
            found[name] = int((times >= dates).sum())
    return {name: count for name, count in found.items() if 0 < count < len(rows)}


def _dates_of_cases(
    column: nw.Series[Any], case: IntArray, rows: IntArray, written: TableFormat
) -> Array | None:
    """Dates (S,) of the cases of some rows; None if the column holds no such thing."""
    if column.dtype not in (nw.String, nw.Datetime, nw.Date):
        return None
    text = column.dtype == nw.String
    distinct, code = _order(column.fill_null("") if text else column)
    if len(np.unique(case * len(distinct) + code[rows])) > len(np.unique(case)):
        return None
    empty = [value is None or not str(value).strip() for value in distinct]
    values = [value for value, gone in zip(distinct, empty, strict=True) if not gone]
    if not values:
        return None
    if text:
        forms = time_formats(value.strip() for value in values)
        own = tuple(f for f in forms if f and f in (written.time_format or ""))
        if len(own or forms) != 1:
            return None
        written = replace(written, time_format=(own or forms)[0] or None)
        series = nw.new_series(column.name, values, nw.String(), backend="pyarrow")
        parsed = parse_times(series, written)
    else:
        parsed = np.array(values, dtype=object)
    dates = np.full(len(distinct), np.datetime64("NaT", "us"))
    dates[~np.array(empty)] = check_times(parsed)
    return dates[code[rows]]


def _check_intervals(updates: int, agents: int) -> None:
    if updates * agents > DENSE_CELLS:
        raise SourceError(
            "time-weighted updates need a row of all agents after each report, at most "
            f"{DENSE_CELLS:,} numbers; got {updates:,} reports and {agents:,} agents. "
            "Leave the option out: the last report of an agent on a case then counts."
        )


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
    by_case = np.argsort(every, kind="stable")
    return Intervals(
        np.concatenate([values, standing[silent]])[by_case],
        every[by_case],
        np.concatenate([share, np.ones(len(silent))])[by_case],
    )


def _latest(times: Array, case: IntArray, cases: int) -> Array:
    """Return the latest time of each case, (T,)."""
    latest = np.empty(cases, dtype=times.dtype)
    order = np.argsort(times, kind="stable")
    latest[case[order]] = times[order]
    return latest


def outcomes_by_case(
    column: nw.Series[Any], long: LongReports
) -> tuple[Array, BoolArray]:
    """Outcome (T,) of each case, and which have none; two that differ are refused."""
    return _by_case(column.to_list(), is_empty(column), long, "outcome", OutcomeError)


def _by_case(
    cells: list[Any],
    empty: BoolArray,
    long: LongReports,
    what: str,
    error: type[PanelError],
) -> tuple[Array, BoolArray]:
    """Value (T,) of each case, and which have none; two that differ are refused."""
    values = np.empty(len(long.ids), dtype=object)
    known = np.zeros(len(long.ids), dtype=bool)
    for row, (t, value) in enumerate(zip(long.case, cells, strict=True)):
        if empty[row]:
            continue
        if known[t] and values[t] != value:
            raise error(
                f"a case must have one {what}; case {long.ids[t]!r} has "
                f"{values[t]!r} and, in {row_name(row)}, {value!r}. Correct one, or "
                "the order of the columns: --long CASE AGENT REPORT."
            )
        values[t], known[t] = value, True
    return values, ~known


def column_by_case(name: str, column: Array, long: LongReports) -> Array:
    """Value (T,) of each case in a column that describes the cases."""
    cells = column.tolist()
    gone = np.array([cell is None or cell != cell for cell in cells])
    values, empty = _by_case(cells, gone, long, f"value of {name!r}", PanelError)
    return values if empty.any() else np.array(values.tolist())


def _order(column: nw.Series[Any]) -> tuple[list[Any], IntArray]:
    """Names in order of appearance, and the number of each row's name."""
    if column.dtype == nw.String:  # a list of a million texts takes 70 MB
        coded = column.to_arrow().dictionary_encode()
        order = np.asarray(coded.indices.to_numpy(), dtype=np.int64)
        return coded.dictionary.to_pylist(), order
    names = column.to_list()
    known: dict[Any, int] = {}
    numbers = [known.setdefault(name, len(known)) for name in names]
    return list(known), np.array(numbers, dtype=np.int64)


def _check_ties(
    place: IntArray,
    reports: FloatArray,
    times: Array | None,
    cases: list[Any],
    agents: list[str],
    cure: str,
) -> None:
    """Refuse two reports for one cell of which neither is the later one."""
    order = np.argsort(place, kind="stable")
    same = place[order][1:] == place[order][:-1]
    if times is not None:
        same &= times[order][1:] == times[order][:-1]
    same &= reports[order][1:] != reports[order][:-1]
    if same.any():
        row = int(np.argmax(same))
        t, i = divmod(int(place[order][row]), len(agents))
        first, second = reports[order][row : row + 2]
        why, first_cure = "both have the same time", "Correct their times"
        if times is None:
            why = "no time says which is later"
            first_cure = "Name the column of their times (--time)"
        raise ReportError(
            f"an agent must have one report per case; {agents[i]!r} has {first:g} and "
            f"{second:g} on case {cases[t]!r}, and {why} "
            f"({pluralize(int(same.sum()), 'such pair')} in all). {first_cure}, or "
            f"{cure}."
        )
