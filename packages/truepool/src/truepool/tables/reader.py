"""Tables in: from a file or a frame to reports by agent."""

import os
import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any, Protocol

import narwhals as nw
import numpy as np
import pyarrow as pa

from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray
from truepool.core.errors import (
    AgentError,
    OutcomeError,
    ReportError,
    SourceError,
    suggestion,
)
from truepool.core.registry import check_settings
from truepool.panel.case_columns import CaseColumns
from truepool.panel.labels import Labels, format_names
from truepool.panel.layout import (
    as_table,
    check_layout,
    empty_cases,
    squeeze,
    take_cases,
)
from truepool.panel.panel import Panel
from truepool.panel.row_names import case_name, cases_of_rows, named_cases
from truepool.panel.sparse import SparseReports
from truepool.tables.agent_columns import (
    binary_columns,
    by_agent,
    choose_agents,
    group_by_agent,
    has_numbers,
    ignored_columns,
    numbered_columns,
)
from truepool.tables.class_columns import (
    JOINTS,
    class_columns,
    rename_class_columns,
)
from truepool.tables.doubtful_columns import doubtful_columns
from truepool.tables.files import read_file, read_names
from truepool.tables.long import (
    column_by_case,
    outcomes_by_case,
    pivot,
    trim_names,
)
from truepool.tables.numbers import (
    describe_amounts,
    is_empty,
    parse_column,
    parse_numbers,
)
from truepool.tables.origin import Origin
from truepool.tables.outcome_column import (
    check_spelling,
    spelled_alike,
    trim_outcomes,
)
from truepool.tables.report_columns import parse_reports
from truepool.tables.summary import TableSummary, describe_unknown
from truepool.tables.table_format import LONG_CLASSES, TableFormat
from truepool.tables.time_zones import Zones
from truepool.tables.times import parse_times
from truepool.tables.units import (
    check_long_percentages,
    check_percentages,
    check_rows,
)

SETTINGS = (*signature(TableFormat).parameters,)
"""What may be said about how a table is written."""

INDEXES = ("", "__index_level_0__", "Unnamed: 0")
"""Columns that pandas writes for its row index; they are no agents."""

CASE_OPTIONS = "--cost-fn, --cost-fp, --cost-tp, --cost-tn or --by"
"""What names columns of the cases on the command line."""


class CaseCheck(Protocol):
    """Refuses cases by their columns and ids, those without an outcome apart."""

    def __call__(
        self, columns: CaseColumns, ids: Array | None, *, pending: bool
    ) -> object:
        """Raise an error that names the case at fault."""


def _accept(columns: CaseColumns, ids: Array | None, *, pending: bool) -> None:
    """Refuse no case."""


class TableWarning(UserWarning):
    """A table that can be read, and in which something looks like a mistake."""


@dataclass(frozen=True, eq=False)
class ReportTable:
    """Reports without outcomes, ``given`` as (T, N), as (T, N, K) or sparse."""

    given: FloatArray | SparseReports
    agents: tuple[str, ...]
    ids: Array | None
    times: Array | None
    classes: tuple[str, ...] = ()
    """What the K classes are called, where the columns name them."""
    summary: TableSummary = field(default_factory=TableSummary)
    columns: CaseColumns = field(default_factory=CaseColumns)
    share: FloatArray | None = None
    """Share (T,) of the life of its case that each row stands for."""

    @cached_property
    def values(self) -> FloatArray:
        """Reports (T, N) or (T, N, K), NaN where there is none."""
        return as_table(self.given)

    @property
    def coordinates(self) -> FloatArray:
        """Reports as coordinates, (T, N, C): C = 1 for binary, else C = K."""
        return self.values if self.values.ndim == 3 else self.values[:, :, None]

    @property
    def layout(self) -> FloatArray | SparseReports:
        """Sparse reports, or coordinates (T, N, C)."""
        sparse = isinstance(self.given, SparseReports)
        return self.given if sparse else self.coordinates

    def __len__(self) -> int:
        """Return the number of cases, T."""
        return len(self.given)

    def take(self, cases: BoolArray | IntArray) -> "ReportTable":
        """Return the reports on some of the cases."""
        return replace(
            self,
            given=take_cases(self.given, cases),
            ids=None if self.ids is None else self.ids[cases],
            times=None if self.times is None else self.times[cases],
            columns=self.columns.take(cases),
            share=None if self.share is None else self.share[cases],
        )

    def keep(self, names: Sequence[str]) -> dict[str, Array]:
        """Return some of the columns."""
        return {name: self.columns[name] for name in names}

    def column(self, name: str | None) -> Array | None:
        """Return a column, None where none is named."""
        return None if name is None else self.columns[name]


def read_panel(
    source: Any,
    outcome: str = "y",
    *,
    allow_empty_cases: bool = False,
    **written: Any,
) -> Panel:
    """Read a panel from a file or a frame.

    Parameters
    ----------
    source : path or frame
        A CSV, TSV, Excel, Parquet or JSON lines file; a pandas, polars or pyarrow
        frame.
    outcome : str
        Column with the outcome: one of two labels, of K class names, or of 0..K-1.
        Rows where it is empty, or one of the words ``missing``, have no outcome yet:
        they become the panel's ``pending`` cases.
    allow_empty_cases : bool
        Keep cases without any report, which only `truepool.replay` can skip. By default
        they are left out.
    **written
        How the table is written and what its columns mean: ``positive``, ``agents``,
        ``id``, ``time``, ``ignore``, ``columns``, ``weight``, ``group``,
        ``propensity``, ``sep``, ``decimal``, ``missing``, ``percent``, ``scores``,
        ``time_format``, ``layout``, ``long``, ``decision_time`` and ``updates``; see
        `TableFormat`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_panel(pa.table({"ada": [0.9, 0.2], "bob": [0.6, None], "y": [1, 0]}))
    Panel(2 cases, 2 agents (ada, bob), 2 classes, 25.0 % missing)
    >>> table = pa.table({"ada": ["6%", "82%"], "bob": ["11%", "74%"], "y": [0, 1]})
    >>> read_panel(table, percent=True).reports
    array([[0.06, 0.11],
           [0.82, 0.74]])
    """
    check_settings("read_panel", written, SETTINGS)
    if not isinstance(outcome, str):
        raise OutcomeError(
            f"outcome must be the name of a column; got {outcome!r}. Name it or, where "
            "no outcome is known yet, pass the table to "
            "truepool.read_reports(table, pool.agents_) with the same keywords."
        )
    panel, summary = load_panel(
        source, TableFormat(outcome, **written), allow_empty_cases=allow_empty_cases
    )
    for sentence in summary.warnings():
        warnings.warn(sentence, TableWarning, stacklevel=2)
    return panel


def load_panel(
    source: Any,
    written: TableFormat,
    *,
    allow_empty_cases: bool = False,
    check: CaseCheck = _accept,
) -> tuple[Panel, TableSummary]:
    """Return the panel of a table, and what was found while reading it.

    Errors of ``check`` name the rows of the table.
    """
    frame, origin = read_source(source, written)
    with origin.named_in_errors():
        panel, summary = _panel(frame, written, check, allow_empty_cases)
    return panel, replace(summary, origin=origin)


def _panel(
    frame: nw.DataFrame[Any],
    written: TableFormat,
    check: CaseCheck,
    allow_empty_cases: bool,
) -> tuple[Panel, TableSummary]:
    if written.outcome not in frame.columns:
        raise OutcomeError(
            f"the table needs an outcome column; there is no {written.outcome!r}"
            f"{suggestion(written.outcome, frame.columns)}; columns: "
            f"{', '.join(frame.columns)}. Say which one holds the outcome (--outcome), "
            "or answer the question about it in the config file. Cases without any "
            "outcome are for truepool score, in Python for truepool.read_reports."
        )
    check_unit_names(frame, written)
    reports, outcomes, empty = _table(frame, written, whole=True)
    labels = dict.fromkeys(outcomes[~empty].tolist())
    check_spelling(labels, written.outcome, frame[written.outcome].to_list())
    if empty.all():
        raise OutcomeError(
            f"some cases must have an outcome; column {written.outcome!r} is empty in "
            f"all {len(frame):,} rows. Say which column holds the outcome (--outcome)."
        )
    blank = empty_cases(reports.layout)
    skipped = blank & (not allow_empty_cases)
    known = ~empty & ~skipped
    with _named_cases(reports, written, known):
        panel = _settled(reports, outcomes, known, written, allow_empty_cases)
        if written.percent and panel.classes == 2:
            columns = _bare_percentages(panel, written, reports.summary.signed)
            check_rows(columns, panel.outcomes, panel.ids)
        check(panel.columns, panel.ids, pending=False)
    summary = replace(
        reports.summary,
        agents=panel.agents,
        doubtful=_doubtful(panel, reports, written),
        empty_cases=int(skipped.sum()),
    )
    later = empty & ~skipped
    if not later.any():
        return panel, summary
    with _named_cases(reports, written, later):
        reports, _, _ = name_classes(reports, outcomes, known, written)
        waiting = reports.take(later)
        pending = panel.with_pending(
            waiting.given,
            ids=waiting.ids,
            times=waiting.times,
            position=np.cumsum(known)[later],
            columns=waiting.keep(written.columns),
        )
        check(waiting.columns, waiting.ids, pending=True)
    return pending, summary


def check_unit_names(frame: nw.DataFrame[Any], written: TableFormat) -> None:
    """Refuse names of agents in percent, or with scores, that no agent has.

    An agent that is ignored may be named, so that a config file can name it; one that
    is used otherwise too is refused as such (`choose_agents`).
    """
    if not (written.scores or isinstance(written.percent, tuple)):
        return
    if written.long is None:
        names = _report_columns(frame.columns, replace(written, ignore=()))
        names += [name for name in written.case_columns if name in frame.columns]
    elif written.long[1] in frame.columns:
        found = frame[written.long[1]].drop_nulls().unique().to_list()
        names = sorted(map(str, found))
    else:
        return
    for flag, patterns in written.named_units():
        choose_agents(names, patterns, flag)


def _doubtful(
    panel: Panel, reports: ReportTable, written: TableFormat
) -> dict[str, str]:
    """Say why columns may be no agents, where nobody named the agents."""
    if written.agents or written.long is not None or reports.classes:
        return {}
    known = {*reports.summary.binary, *reports.summary.numbered}
    columns = zip(panel.agents, panel.values[:, :, 0].T, strict=True)
    return doubtful_columns(
        {name: values for name, values in columns if name not in known},
        panel.outcomes.astype(np.float64),
    )


@contextmanager
def _named_cases(
    reports: ReportTable, written: TableFormat, kept: BoolArray
) -> Iterator[None]:
    """Name some of the cases by their rows or, of a long table, by their ids."""
    rows, ids = np.flatnonzero(kept), reports.ids
    by_row = cases_of_rows(rows)
    if written.long is not None and ids is not None:
        by_row = named_cases(lambda t: f"case {ids[rows[t]]!r}")
    with by_row:
        yield


def _settled(
    reports: ReportTable,
    outcomes: Array,
    known: BoolArray,
    written: TableFormat,
    allow_empty_cases: bool,
) -> Panel:
    """Panel of the cases with an outcome."""
    reports, labels, numbers = name_classes(reports, outcomes, known, written)
    settled = reports.take(known)
    weighted, groups = settled.share, settled.column(written.group)
    panel = Panel(
        settled.given,
        numbers,
        settled.agents,
        positive=None if labels else written.positive,
        ids=settled.ids,
        times=settled.times,
        columns=settled.keep(written.columns),
        weights=settled.column(written.weight) if weighted is None else weighted,
        groups=groups,
        questions=None if weighted is None else settled.ids,
        propensity=settled.column(written.propensity),
        allow_empty_cases=allow_empty_cases,
    )
    return panel if labels is None else panel.with_labels(labels)


def load_verdicts(
    source: Any, written: TableFormat
) -> tuple[Panel | ReportTable, TableSummary]:
    """Return the panel of a table or, where no case has an outcome, its reports.

    An outcome column that was named must be there.
    """
    frame, origin = read_source(source, written)
    name = written.outcome
    there = name in frame.columns
    if is_empty(frame[name]).all() if there else name == TableFormat().outcome:
        check_unit_names(frame, written)
        with origin.named_in_errors():
            agents = _table(frame, written, whole=True)[0].agents
            reports = load_reports(frame, agents, written)
        return reports, replace(reports.summary, origin=origin)
    if there and (~is_empty(frame[name])).sum() == 1:
        raise OutcomeError(
            f"at least 2 cases must have an outcome, or none; column {name!r} has 1. "
            "Label another one."
        )
    with origin.named_in_errors():
        panel, summary = load_panel(frame, written)
    return panel, replace(summary, origin=origin)


def _bare_percentages(
    panel: Panel, written: TableFormat, signed: Sequence[str]
) -> Iterator[tuple[str, FloatArray, IntArray]]:
    """Yield each agent in percent with its reports and the cases that they are about.

    Percent signs leave no doubt, so that agents who write them are left out.
    """
    cells = panel.sparse or SparseReports.from_dense(panel.reports)
    order = np.argsort(cells.agent, kind="stable")
    ends = cells.agent_counts.cumsum()[:-1]
    for agent, own in zip(panel.agents, np.split(order, ends), strict=True):
        if written.in_percent(agent) and agent not in signed:
            yield agent, cells.values[own], cells.case[own]


def read_reports(
    source: Any, agents: Sequence[str], outcome: str = "y", **written: Any
) -> ReportTable:
    """Read reports of known agents, in whatever order their columns are.

    An outcome column, should there be one already, is left out. The keywords are those
    of `read_panel`. Cases without any report are left out. Of a long table, agents who
    report on none of the cases have no reports, and others than those known are left
    out with a warning.

    >>> import pyarrow as pa
    >>> read_reports(pa.table({"bob": [0.6], "ada": [0.9]}), ("ada", "bob")).values
    array([[0.9, 0.6]])
    """
    check_settings("read_reports", written, SETTINGS)
    reports = load_reports(source, agents, TableFormat(outcome, **written))
    if reports.summary.unknown:
        sentence = describe_unknown(reports.summary.unknown)
        warnings.warn(sentence, TableWarning, stacklevel=2)
    return reports


def load_reports(
    source: Any,
    agents: Sequence[str],
    written: TableFormat,
    labels: Labels | None = None,
    check: CaseCheck = _accept,
) -> ReportTable:
    """Return the reports of known agents on new cases; empty cases are left out."""
    frame, origin = read_source(source, written)
    with origin.named_in_errors():
        reports = _known_reports(frame, agents, written, labels, check)
    return replace(reports, summary=replace(reports.summary, origin=origin))


def _known_reports(
    frame: nw.DataFrame[Any],
    agents: Sequence[str],
    written: TableFormat,
    labels: Labels | None,
    check: CaseCheck,
) -> ReportTable:
    if labels is not None:
        frame = frame.rename(class_columns(frame.columns, map(str, labels.names)))
    reports, _, _ = _table(frame, written.of_new_cases(frame.columns))
    missing = [name for name in agents if name not in reports.agents]
    unknown = [name for name in reports.agents if name not in agents]
    if written.long is not None and len(unknown) < len(reports.agents):
        reports = _match_agents(reports, agents)
    elif missing or unknown:
        faults = []
        if missing:
            faults.append(
                f"missing: {format_names([*map(repr, missing)])} (rename a column, or "
                "add an empty one if there are no reports)"
            )
        if unknown:
            faults.append(f"not known: {format_names([*map(repr, unknown)])}")
        raise AgentError(
            "the new table must have the agents that were learned from, by name; "
            f"{'; '.join(faults)}. Columns that are not agents can be ignored by name "
            "(--ignore)."
        )
    if reports.classes:
        reports = _in_order_of(labels, reports)
    reports = _select(reports, agents)
    blank = empty_cases(reports.layout)
    kept = ~blank | blank.all()
    with _named_cases(reports, written, kept):
        reports = reports.take(kept)
        values, _ = check_layout(reports.given, reports.agents)
        check(reports.columns, reports.ids, pending=True)
    summary = replace(
        reports.summary,
        agents=reports.agents,
        empty_cases=int(blank.sum()),
        unknown=tuple(unknown),
    )
    return replace(reports, given=squeeze(values), summary=summary)


def _match_agents(reports: ReportTable, agents: Sequence[str]) -> ReportTable:
    """Return the reports of known agents; those who made none have none.

    Forecasters join, leave or never appear.
    """
    given, number = reports.given, {name: i for i, name in enumerate(agents)}
    places = np.array([number.get(name, -1) for name in reports.agents])
    if isinstance(given, SparseReports):
        matched = given.match_agents(places, len(agents))
        return replace(reports, given=matched, agents=tuple(agents))
    values = np.full((len(given), len(agents)), np.nan)
    known = places >= 0
    values[:, places[known]] = given[:, known]
    return replace(reports, given=values, agents=tuple(agents))


def _select(reports: ReportTable, agents: Sequence[str]) -> ReportTable:
    """Return the reports of these agents, in this order."""
    place = {name: i for i, name in enumerate(reports.agents)}
    order = [place[name] for name in agents]
    given = reports.given
    if isinstance(given, SparseReports):
        new = np.full(len(place), -1)
        new[order] = np.arange(len(order))
        return replace(
            reports, given=given.match_agents(new, len(order)), agents=tuple(agents)
        )
    return replace(reports, given=given[:, order], agents=tuple(agents))


def load_table(source: Any, written: TableFormat) -> ReportTable:
    """Return the reports of all agents of a table, outcomes left aside."""
    frame, origin = read_source(source, written)
    with origin.named_in_errors():
        return _table(frame, written)[0]


def read_column_names(source: str | os.PathLike[str], **written: Any) -> list[str]:
    """Names of the columns of a file.

    >>> from importlib.resources import files
    >>> read_column_names(str(files("truepool.datasets") / "example.csv"))[:3]
    ['id', 'malignant', 'logistic']
    """
    return read_names(Path(source), TableFormat(**written))


def read_frame(source: Any, id: str | None = None) -> nw.DataFrame[Any]:
    """Return the table of a file or a frame, its names checked; ``id`` stays text."""
    return read_source(source, TableFormat(id=id))[0]


def read_source(source: Any, written: TableFormat) -> tuple[nw.DataFrame[Any], Origin]:
    """Return the table of a file or a frame, and what was guessed of the file."""
    origin = Origin()
    if isinstance(source, str | os.PathLike):
        source, origin = read_file(Path(source), written)
    given = _column_names(source)
    names = [str(name) for name in given]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise AgentError(
            "column names must be unique; got "
            f"{', '.join(map(repr, sorted(twice)))} more than once. Rename one."
        )
    if names != given:  # pandas takes any value for a name
        source = source.set_axis(names, axis=1)
    try:
        frame: nw.DataFrame[Any] = nw.from_native(source, eager_only=True)
    except TypeError:
        raise SourceError(
            "a panel is read from a path or a pandas, polars or pyarrow frame; "
            f"got {type(source).__name__}. Use Panel(...) for arrays."
        ) from None
    if not len(frame):
        raise SourceError(
            "the table must have at least one row below its header; it has none. Write "
            "the cases into it, or name another table"
        )
    frame, words = trim_outcomes(frame, written)
    trimmed: dict[str, int] = {}
    if written.long is not None:
        frame, trimmed = trim_names(frame, written.long)
    frame, found = rename_class_columns(frame, written)
    return frame, replace(
        origin, no_outcome=words, trimmed=trimmed, class_columns=found
    )


def _column_names(source: Any) -> Sequence[Any]:
    if isinstance(source, pa.Table):
        return list(source.column_names)
    return list(getattr(source, "columns", ()))


def _table(
    frame: nw.DataFrame[Any], written: TableFormat, *, whole: bool = False
) -> tuple[ReportTable, Array, BoolArray]:
    """Reports of a wide or long table, its outcomes, and which cases have none.

    Percentages of a ``whole`` table, or of one with outcomes, must not be small as
    fractions are; those of some new cases may.
    """
    units = bool(written.percent) and (whole or written.outcome in frame.columns)
    for role, name, options in _named_columns(written, frame.columns):
        if name is not None and name not in frame.columns:
            known = by_agent(frame.columns)
            joined = tuple(f"{name}{joint}" for joint in (":", *JOINTS))
            if role == "long" and sum(each.startswith(joined) for each in known) > 1:
                raise SourceError(
                    f"there is no long column {name!r}; columns: {', '.join(known)}. "
                    f"{LONG_CLASSES}"
                )
            raise SourceError(
                f"there is no {role} column {name!r}{suggestion(name, known)}; "
                f"columns: {', '.join(known)}. Name one of them ({options})."
            )
    for role, name in (("weight", written.weight), ("propensity", written.propensity)):
        if name is not None:
            what = f"the {role} of a case"
            parse_numbers(frame[name], written, what, whole=True)
    time = _usual(written.time, "time", frame.columns)
    with cases_of_rows(np.arange(len(frame))):
        if written.long is not None:
            return _long_table(frame, written, written.long, time, units=units)
        reports = _wide_table(frame, written, time, units=units)
    if written.outcome not in frame.columns:
        nothing = np.full(len(frame), None, dtype=object)
        return reports, nothing, np.ones(len(frame), dtype=bool)
    column = frame[written.outcome]
    return reports, np.asarray(column.to_numpy()), is_empty(column)


def _named_columns(
    written: TableFormat, names: Sequence[str]
) -> Iterator[tuple[str, str | None, str]]:
    """Yield the role of every column that is named, its name, and the option for it.

    An agent can be ignored by its name too: that of columns such as ``rf:fraud``.
    """
    yield "id", written.id, "--id"
    yield "time", written.time, "--time"
    for name in written.ignore if written.long is None else ():
        if not ignored_columns(names, (name,)):
            yield "ignored", name, "--ignore"
    yield from (("long", name, "--long") for name in written.long or ())
    yield "decision time", written.decision_time, "--decision-time"
    yield "weight", written.weight, "--weight"
    yield "group", written.group, "--group"
    yield "propensity", written.propensity, "--propensity"
    yield from (("case", name, CASE_OPTIONS) for name in written.columns)


def _long_table(
    frame: nw.DataFrame[Any],
    written: TableFormat,
    columns: tuple[str, str, str],
    time: str | None,
    *,
    units: bool,
) -> tuple[ReportTable, Array, BoolArray]:
    long = pivot(frame, written, columns, time)
    for name in written.ignore:
        if name not in (*frame.columns, *long.agents):
            raise SourceError(
                f"there is no agent or column {name!r} to ignore"
                f"{suggestion(name, [*long.agents, *frame.columns])}. Name another one "
                "(--ignore)."
            )
    there = [name for name in long.agents if name not in written.ignore]
    chosen = choose_agents(there, written.agents)
    own = {name: parse_column(frame[name], written) for name in written.case_columns}
    summary = TableSummary(
        replaced=long.replaced,
        late=long.late,
        after=long.after,
        signed=long.signed,
        alike=tuple(map(tuple, spelled_alike(chosen))),
        owner=columns[1],
        amounts=_amounts(frame, own, written),
    )
    of_cases = {name: column_by_case(name, own[name], long) for name in own}
    reports = ReportTable(
        long.given,
        long.agents,
        long.ids,
        long.times,
        summary=summary,
        columns=CaseColumns(of_cases, len(long.ids), copy=False),
    )
    if units:
        given = _select(reports, chosen).given
        with named_cases(lambda t: f"case {long.ids[t]!r}"):
            check_long_percentages(given, chosen, written, long.signed)
    outcomes = np.full(len(long.ids), None, dtype=object)
    empty = np.ones(len(long.ids), dtype=bool)
    if written.outcome in frame.columns:
        outcomes, empty = outcomes_by_case(frame[written.outcome], long)
    if long.intervals is None:
        return _select(reports, chosen), outcomes, empty
    case = long.intervals.case
    stood = replace(
        reports.take(case),
        given=long.intervals.values,
        share=long.intervals.share,
        summary=replace(summary, intervals=len(case), cases=len(long.ids)),
    )
    return _select(stood, chosen), outcomes[case], empty[case]


def _wide_table(
    frame: nw.DataFrame[Any], written: TableFormat, time: str | None, *, units: bool
) -> ReportTable:
    id = _usual(written.id, "id", frame.columns)
    of_cases = written.case_columns
    ignored = ignored_columns(frame.columns, written.ignore)
    names = choose_agents(
        _report_columns(frame.columns, written),
        written.agents,
        roles=_roles(written, id, time, ignored),
        may_report=lambda name: has_numbers(frame[name].to_list()),
    )
    columns, signed = parse_reports([frame[name] for name in names], written)
    percent = written.percent and [*filter(written.in_percent, columns)]
    numbered = numbered_columns(columns, percent or ())
    agents, classes, values, renormalized = group_by_agent(columns)
    if units and not classes:
        check_percentages(columns, written, signed)
    named = {*(written.agents or ())}  # a pattern may match what is no agent
    binary = () if classes else binary_columns(columns)
    ids = None if id is None else _ids(frame[id])
    repeated = 0 if ids is None else _duplicates(ids)
    own = {name: parse_column(frame[name], written) for name in of_cases}
    summary = TableSummary(
        binary=tuple(name for name in binary if name not in named),
        numbered=tuple(name for name in numbered if name not in named),
        signed=signed,
        amounts=_amounts(frame, own, written),
        duplicate_ids=repeated,
        identical_rows=_identical(frame) if repeated else 0,
        renormalized=renormalized,
    )
    return ReportTable(
        values,
        agents,
        ids,
        None if time is None else parse_times(frame[time], written, zones=Zones()),
        () if classes == tuple(map(str, range(len(classes)))) else classes,
        summary,
        CaseColumns(own, len(frame), copy=False),
    )


def _amounts(
    frame: nw.DataFrame[Any], parsed: Mapping[str, Array], written: TableFormat
) -> dict[str, str]:
    """Say how columns of amounts were read, where --decimal does not say so."""
    found = {
        name: describe_amounts(frame[name], values, written)
        for name, values in parsed.items()
    }
    return {name: said for name, said in found.items() if said is not None}


def _usual(given: str | None, usual: str, columns: Sequence[str]) -> str | None:
    """Return the column that is named or, if there is one, that of the usual name."""
    return given or (usual if usual in columns else None)


def _report_columns(columns: Sequence[str], written: TableFormat) -> list[str]:
    """Columns without another meaning, which hold the reports of agents."""
    id, time = _usual(written.id, "id", columns), _usual(written.time, "time", columns)
    ignored = ignored_columns(columns, written.ignore)
    apart = {written.outcome, id, time, *ignored, *INDEXES, *written.case_columns}
    return [name for name in columns if name not in apart]


def _roles(
    written: TableFormat, id: str | None, time: str | None, ignored: Sequence[str]
) -> dict[str, str]:
    """Say what the columns are that are no agents."""
    return {
        **dict.fromkeys(ignored, "ignored (--ignore)"),
        **dict.fromkeys(written.columns, f"a column of the cases ({CASE_OPTIONS})"),
        **{
            name: f"the {role} column (--{role})"
            for role, name in (
                ("weight", written.weight),
                ("group", written.group),
                ("propensity", written.propensity),
            )
            if name is not None
        },
        **({} if time is None else {time: "the time column (--time)"}),
        **({} if id is None else {id: "the id column (--id)"}),
        written.outcome: "the outcome column (--outcome)",
    }


def _duplicates(ids: Array) -> int:
    known = [label for label in ids.tolist() if label not in (None, "")]
    return len(known) - len(set(known))


def _identical(frame: nw.DataFrame[Any]) -> int:
    """Count the rows that are identical to an earlier one in every column."""
    plain = [name for name in frame.columns if not frame[name].dtype.is_nested()]
    return len(frame) - len(frame.select(plain).unique())


def name_classes(
    reports: ReportTable,
    outcomes: Array,
    known: BoolArray,
    written: TableFormat,
    *,
    by_case: bool = True,
) -> tuple[ReportTable, Labels | None, Array]:
    """Reports, labels and class numbers where the columns name the classes.

    Outcomes that are not ``by_case`` are those of no case in particular.
    """
    if not reports.classes:
        return reports, None, outcomes[known]
    names, positive = reports.classes, written.positive
    if len(names) == 2:
        labels = Labels.of_two(names[0], names[1], positive, both=True)
    elif positive is not None:
        raise OutcomeError(
            f"a positive label requires two classes; got {positive!r} with reports "
            f"of {len(names)} classes. Leave it out."
        )
    else:
        labels = Labels(names)
    texts = [str(label).strip() for label in outcomes[known].tolist()]
    try:
        numbers = labels.encode(texts)
    except OutcomeError:
        t = next(t for t, text in enumerate(texts) if text not in names)
        word, where = texts[t], f" in {case_name(t)}" if by_case else ""
        raise OutcomeError(
            f"an outcome must be one of the classes {', '.join(names)}; column "
            f"{written.outcome!r} has {word!r}{where}. If it means that there is no "
            f"outcome (yet), pass --missing {shlex.quote(word)}; else correct it, or "
            f"give each agent a column for it, such as '{reports.agents[0]}:{word}'."
        ) from None
    return _in_order_of(labels, reports), labels, numbers


def _in_order_of(labels: Labels | None, reports: ReportTable) -> ReportTable:
    """Return reports whose classes stand in the order of the labels."""
    if labels is None or set(labels.names) != set(reports.classes):
        known = None if labels is None else ", ".join(map(str, labels.names))
        raise ReportError(
            "the classes of the new table must be those that were learned from; got "
            f"{', '.join(reports.classes)}; learned from {known}"
        )
    order = [reports.classes.index(name) for name in labels.names]
    values = reports.values[:, :, order]
    if len(order) == 2:
        values = values[:, :, 1]
    return replace(reports, given=values, classes=tuple(labels.names))


def _ids(column: nw.Series[Any]) -> Array:
    """Ids as they are: no number among them is rounded, no zone dropped."""
    if column.dtype.is_nested():
        raise SourceError(
            f"the id column {column.name!r} must hold one plain value per case"
        )
    ids = np.empty(len(column), dtype=object)
    ids[:] = column.to_list()
    return ids
