"""Tables read: whole, as a panel or as reports, or some thousand cases at a time."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import poisson

from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray, blocks
from truepool.panel.case_columns import CaseColumns
from truepool.panel.labels import Labels
from truepool.panel.layout import as_table, empty_cases, squeeze, take_cases
from truepool.panel.panel import Panel
from truepool.panel.row_names import named_cases
from truepool.panel.sparse import SparseReports
from truepool.tables import cells
from truepool.tables.columns import Inference, decimal_mark
from truepool.tables.decode import UNKNOWN, Block, Decoder
from truepool.tables.faults import (
    Cure,
    Fault,
    FaultList,
    Note,
    Place,
    Question,
    TableFaults,
)
from truepool.tables.infer import infer, infer_asking
from truepool.tables.long import by_case, place_of
from truepool.tables.new_cases import match, refine
from truepool.tables.schema import LAST_ROW, PERCENT, Declared, Schema
from truepool.tables.source import Dialect, Source, TextFile, open_source

LONG_BLOCKS = 16
"""Blocks of numbers that a batch of a long table holds."""
SURELY = 1e-6
"""Percentages are refused where chance makes as many positives in so few tables."""
FEW_VALUES, MANY_VALUES, FIRST = 3, 20, 1_000
"""An agent with so few different reports, beside others with more, may be none."""


class TableWarning(UserWarning):
    """A table that can be read, and in which something looks like a mistake."""


class CaseCheck(Protocol):
    """Refuses cases by their columns and ids, those without an outcome apart."""

    def __call__(
        self, columns: CaseColumns, ids: Array | None, *, pending: bool
    ) -> object:
        """Raise an error that names the case at fault."""


def _accept(columns: CaseColumns, ids: Array | None, *, pending: bool) -> None:
    """Refuse no case."""


Answer = Callable[[Sequence[Question]], Mapping[str, Any]]
"""Answers questions about a table: what else is declared, {} if nobody answers."""


@dataclass(frozen=True, eq=False)
class Table:
    """A source whose columns are known, and what was done to know them."""

    source: Source
    schema: Schema
    notes: tuple[Note, ...] = ()
    rows: pa.Table | None = None
    """All rows, where they are in memory."""

    @property
    def name(self) -> str:
        """What the table is called."""
        return self.source.name


@dataclass(frozen=True, eq=False)
class ReportTable:
    """Reports of agents on T cases, ``given`` as (T, N), as (T, N, K) or sparse.

    ``outcomes`` (T,) are class numbers, -1 where there is none yet; None where no
    column has them. ``place`` says where a person finds a case.
    """

    given: FloatArray | SparseReports
    agents: tuple[str, ...]
    ids: Array | None = None
    times: Array | None = None
    labels: tuple[Any, ...] = ()
    columns: CaseColumns = field(default_factory=CaseColumns)
    outcomes: IntArray | None = None
    weights: FloatArray | None = None
    groups: Array | None = None
    propensity: FloatArray | None = None
    share: FloatArray | None = None
    """Share (T,) of the life of its case that each row stands for."""
    notes: tuple[Note, ...] = ()
    place: Callable[[int], Place] = lambda t: Place("case", t)

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
        rows = np.flatnonzero(cases) if cases.dtype == bool else cases
        place, every = self.place, dict[str, Any]()
        for name in (
            "ids",
            "times",
            "outcomes",
            "weights",
            "groups",
            "propensity",
            "share",
        ):
            value = vars(self)[name]
            every[name] = None if value is None else value[cases]
        return replace(
            self,
            given=take_cases(self.given, cases),
            columns=self.columns.take(cases),
            place=lambda t: place(int(rows[t])),
            **every,
        )

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """Name the cases by their rows in errors that know only their number."""
        with named_cases(lambda t: self.place(t).sentence()):
            yield


def read_panel(
    source: Any,
    outcome: str | None = None,
    *,
    allow_empty_cases: bool = False,
    **keys: Any,
) -> Panel:
    """Read a panel from a file or a frame.

    Parameters
    ----------
    source : path or frame
        A CSV, TSV, Excel, Parquet or JSON lines file; a pandas, polars or pyarrow
        frame.
    outcome : str, optional
        Column with the outcome: one of two labels, of K class names, or of 0..K-1.
        Rows where it is empty, or one of the words ``missing``, have no outcome yet:
        they become the panel's ``pending`` cases. Where it is not named it is looked
        for, and asked for if several columns could be it.
    allow_empty_cases : bool
        Keep cases without any report, which only `truepool.replay` can skip. By default
        they are left out.
    **keys
        What else is known of the columns: ``positive``, ``agents``, ``ignore``, ``id``,
        ``time``, ``columns``, ``weight``, ``group``, ``propensity``, ``percent``,
        ``scores``, ``missing``, ``sep``, ``decimal``, ``time_format``, ``long``,
        ``decision_time`` and ``updates``; see `Declared`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_panel(pa.table({"ada": [0.9, 0.2], "bob": [0.6, None], "y": [1, 0]}))
    Panel(2 cases, 2 agents (ada, bob), 2 classes, 25.0 % missing)
    >>> table = pa.table({"ada": ["6%", "82%"], "bob": ["11%", "74%"], "y": [0, 1]})
    >>> read_panel(table).reports
    array([[0.06, 0.11],
           [0.82, 0.74]])
    """
    declared = Declared.of({"outcome": outcome, **keys})
    panel, table = load_panel(source, declared, allow_empty_cases=allow_empty_cases)
    _warn(table.notes)
    return panel


def read_reports(
    source: Any, agents: Sequence[str], outcome: str | None = None, **keys: Any
) -> ReportTable:
    """Read reports of known agents, in whatever order their columns are.

    Other columns are left out. The keywords are those of `read_panel`. Cases without
    any report stay, without reports; so does an agent whose column is not there.

    >>> import pyarrow as pa
    >>> read_reports(pa.table({"bob": [0.6], "ada": [0.9]}), ("ada", "bob")).values
    array([[0.9, 0.6]])
    """
    declared = Declared.of({"outcome": outcome, **keys})
    known = Schema(tuple(agents), {name: (name,) for name in agents})
    reports = load_reports(source, known, declared)
    _warn(reports.notes)
    return reports


def _warn(notes: Sequence[Note]) -> None:
    for note in notes:
        if note.warning:
            warnings.warn(note.sentence(), TableWarning, stacklevel=3)


def resolve(
    source: Any,
    declared: Declared,
    *,
    labelled: bool = True,
    answer: Answer = lambda questions: {},
) -> Table:
    """Find out what the columns of a table are; refuse it with all that is wrong.

    What its rows cannot say is asked, of ``answer`` first. ``labelled`` tables must
    have a column of outcomes.
    """
    found = examine(source, declared, labelled=labelled, answer=answer)
    if found.faults or found.questions:
        raise TableFaults(found.faults, found.questions, found.table.name)
    return found.table


@dataclass(frozen=True, eq=False)
class Findings:
    """What a table showed, what is wrong with it, and what it cannot say.

    ``unused`` columns have their least and largest number, if they hold numbers.
    """

    table: Table
    faults: tuple[Fault, ...]
    questions: tuple[Question, ...]
    rows: int
    unused: Mapping[str, tuple[float, float] | None]


def examine(
    source: Any,
    declared: Declared,
    *,
    labelled: bool = True,
    thorough: bool = False,
    answer: Answer = lambda questions: {},
) -> Findings:
    """Find out what the columns of a table are, as far as its rows can say.

    Where anything is wrong, or asked, the cells are looked at too, if ``thorough``
    always: who reads the table next does so anyway.
    """
    names = [declared.id, declared.group]
    if isinstance(declared.long, tuple):
        names += declared.long[:2]
    dialect = Dialect(
        declared.sep,
        declared.missing,
        tuple(n for n in names if n),
        declared.decimal or ".",
    )
    opened = open_source(source, dialect)
    rows = opened.table()
    if not rows.num_rows:
        raise opened.refuse("no-rows", place=Place("file", opened.name))
    if declared.decimal is None and isinstance(opened, TextFile) and opened.path:
        if decimal_mark(rows, declared.missing) == ",":  # of other columns, too
            opened = opened.with_decimal(",")
            rows = opened.table()
            declared = replace(declared, decimal=",")
    schema, found = infer_asking(
        lambda said: infer(opened, said, rows, labelled=labelled), declared, answer
    )
    if thorough or found.faults or found.questions:
        decode_known(rows, schema, found)
    pa.default_memory_pool().release_unused()
    table = Table(opened, schema, (*opened.notes, *found.notes), rows)
    looks = {name: found.looks[name].known for name in schema.unused}
    return Findings(
        table,
        found.faults.placed(opened.place),
        tuple(found.questions),
        len(rows),
        {
            n: (float(v.min()), float(v.max())) if len(v) else None
            for n, v in looks.items()
        },
    )


def decode_known(rows: pa.Table, schema: Schema, found: Inference) -> None:
    """Look for faults in the cells of columns about which nothing is asked."""
    asked = {name for q in found.questions for name in q.fields.get("names", ())}
    broken = {fault.column for fault in found.faults.found.values()}
    broken |= {fault.agent for fault in found.faults.found.values()}
    nested = schema.classes and any(len(own) == 1 for own in schema.reports.values())
    if nested or not schema.agents:
        return
    agents = tuple(a for a in schema.agents if a not in asked | broken)
    dated = not any(question.code == "which-format" for question in found.questions)
    known = replace(
        schema,
        agents=agents,
        outcome=None,
        decision_time=None,
        time=schema.time if dated else None,
        updates=LAST_ROW,
    )
    if not agents or not {*known.columns} <= {*rows.column_names}:
        return
    if schema.long:
        by_case(rows, known, Decoder(known, found.faults))
    else:
        Decoder(known, found.faults).block(rows.select([*known.columns]))


def load_panel(
    source: Any,
    declared: Declared,
    *,
    allow_empty_cases: bool = False,
    check: CaseCheck = _accept,
    answer: Answer = lambda questions: {},
) -> tuple[Panel, Table]:
    """Return the panel of a table, and how it was read.

    Errors of ``check`` name the rows of the table.
    """
    return panel_of(
        resolve(source, declared, answer=answer),
        allow_empty_cases=allow_empty_cases,
        check=check,
    )


def panel_of(
    table: Table, *, allow_empty_cases: bool = False, check: CaseCheck = _accept
) -> tuple[Panel, Table]:
    """Return the panel of a table whose columns are known."""
    rows = [table.source.table() if table.rows is None else table.rows]
    table = replace(table, rows=None)
    cases = _decode(table, rows, labelled=True)
    notes = [*cases.notes]
    known = np.zeros(len(cases), bool)
    if cases.outcomes is not None:
        known = cases.outcomes != UNKNOWN
    if not known.any():
        fault = Fault(
            "no-outcomes",
            column=table.schema.outcome,
            count=len(cases),
            cures=(Cure("name-outcome"),),
        )
        raise TableFaults([fault], table=table.name)
    blank = empty_cases(cases.layout)
    left_out = blank & (not allow_empty_cases)
    if left_out.any():
        notes.append(Note("empty-cases", {"count": int(left_out.sum())}))
    used = known & ~left_out
    settled, later = cases if used.all() else cases.take(used), ~known & ~left_out
    with settled.named_in_errors():
        panel = _panel(settled, allow_empty_cases=allow_empty_cases)
        check(panel.columns, panel.ids, pending=False)
    if later.any():
        waiting = cases.take(later)
        with waiting.named_in_errors():
            panel = panel.with_pending(
                waiting.given,
                ids=waiting.ids,
                times=waiting.times,
                position=np.cumsum(used)[later],
                columns=waiting.columns,
            )
            check(waiting.columns, waiting.ids, pending=True)
    if panel.classes == 2 and panel.sparse is None:
        check_percentages(table.schema, panel.reports, panel.outcomes, table.name)
    notes += _odd_agents(panel)
    return panel, replace(table, notes=tuple(notes))


def _panel(cases: ReportTable, *, allow_empty_cases: bool) -> Panel:
    panel = Panel(
        cases.given,
        () if cases.outcomes is None else cases.outcomes,
        cases.agents,
        ids=cases.ids,
        times=cases.times,
        columns=cases.columns,
        weights=cases.weights if cases.share is None else cases.share,
        groups=cases.groups,
        questions=None if cases.share is None else cases.ids,
        propensity=cases.propensity,
        allow_empty_cases=allow_empty_cases,
        copy=False,
    )
    return panel.with_labels(Labels(cases.labels))


def decode(table: Table, *, labelled: bool = True) -> ReportTable:
    """Return all cases of a table; refuse it with every fault of its cells."""
    rows = table.source.table() if table.rows is None else table.rows
    return _decode(replace(table, rows=None), [rows], labelled=labelled)


def _decode(table: Table, rows: list[pa.Table], *, labelled: bool) -> ReportTable:
    """Return all cases; ``rows`` are let go when their reports are known.

    Ids, which are objects in Python, need that memory.
    """
    schema, source = table.schema, table.source
    if not labelled:
        schema = replace(schema, outcome=None)
    decoder = Decoder(schema, new=not labelled)
    if schema.long is not None:
        return _long_cases(table, schema, rows.pop(), decoder)
    block = decoder.block(rows[0])
    decoder.faults.raise_all(source.place, source.name)
    notes = (*table.notes, *block.notes, *_repeated(rows.pop(), schema.id))
    values, block = squeeze(block.values), replace(block, reports=(), cube=None)
    pa.default_memory_pool().release_unused()
    return ReportTable(
        values,
        schema.agents,
        _ids(source, schema.id, block.ids),
        block.times,
        schema.labels,
        block.columns,
        block.outcomes,
        block.weights,
        block.groups,
        block.propensity,
        None,
        notes,
        source.place,
    )


def _long_cases(
    table: Table, schema: Schema, rows: pa.Table, decoder: Decoder
) -> ReportTable:
    source = table.source
    reports = by_case(rows, schema, decoder)
    decoder.faults.raise_all(source.place, source.name)
    if reports is None:
        raise AssertionError("what cannot be turned has faults")
    ids, first = reports.ids, reports.first
    own = replace(
        schema,
        agents=(),
        reports={},
        classes=(),
        id=None,
        time=None,
        long=None,
        decision_time=None,
    )
    other = Decoder(own)
    block = other.block(reports.columns, 0, len(ids))
    faults = FaultList()
    for fault in other.faults.found.values():
        row = None if fault.row is None else int(first[fault.row])
        faults.add(replace(fault, row=row))
    faults.raise_all(source.place, source.name)
    every = ReportTable(
        reports.given,
        schema.agents,
        ids,
        reports.times,
        schema.labels,
        block.columns,
        block.outcomes,
        block.weights,
        block.groups,
        block.propensity,
        None,
        (*table.notes, *reports.notes, *block.notes),
        lambda t: place_of(ids[t]),
    )
    if reports.intervals is None:
        return every
    split = every.take(reports.intervals.case)
    return replace(split, given=reports.intervals.values, share=reports.intervals.share)


def _ids(source: Source, name: str | None, column: Any) -> Array | None:
    """Ids as they are: no number among them is rounded, no zone dropped."""
    if name is None or column is None:
        return None
    if isinstance(source, TextFile) and not cells.is_text(column):
        written = source.text(name)  # 007 is not 7
        column = column if written is None else written
    if cells.is_text(column):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=object)
    ids = np.empty(len(column), dtype=object)
    ids[:] = column.to_pylist()
    return ids


def check_percentages(
    schema: Schema, reports: FloatArray, outcomes: IntArray, table: str
) -> None:
    """Refuse percentages up to 1 that the outcomes fit only as probabilities.

    As probabilities they must say more than one number for all would: those of an agent
    that is reversed, or outputs noise, do not. ``reports`` are shares (T, N), and
    ``outcomes`` (T,) are 0, 1 or `UNKNOWN`.
    """
    faults = FaultList()
    for i, agent in enumerate(schema.agents):
        if schema.unit(agent) != PERCENT or agent in schema.signed:
            continue
        shares = reports[:, i]
        with np.errstate(invalid="ignore"):
            small = (shares > 0) & (shares <= 0.01) & (outcomes != UNKNOWN)
        positive, given = outcomes[small], shares[small]
        loss = np.square(100 * given - positive).sum()
        fits = (
            loss < np.square(positive - positive.mean()).sum() if len(given) else False
        )
        if fits and poisson.sf(positive.sum() - 1, given.sum()) < SURELY:
            faults.refuse(
                "units-mixed",
                Cure("one-unit-each"),
                agent=agent,
                count=int(small.sum()),
                found=float(f"{100 * shares[small][0]:.6g}"),
            )
    faults.raise_all(lambda row: Place("row", row), table)


def _repeated(rows: pa.Table, id: str | None) -> Iterator[Note]:
    """Warn of ids that occur twice, and of rows that are the same altogether."""
    ids = pa.nulls(0) if id not in rows.column_names else cells.plain(rows.column(id))
    if _count_up(ids):
        return
    known = (cells.trim(ids) if cells.is_text(ids) else ids).drop_null()
    repeated = len(known) - len(pc.unique(known))
    if not repeated:
        return
    plain = [f.name for f in rows.schema if not pa.types.is_nested(f.type)]
    alike = rows.select(plain).group_by(plain, use_threads=False).aggregate([])
    same = len(rows) - len(alike)
    if same:
        yield Note("rows-repeated", {"count": same}, warning=True)
    if repeated > same:
        yield Note("ids-repeated", {"count": repeated - same}, warning=True)


def _count_up(ids: pa.Array) -> bool:
    """Whether ids are whole numbers, each larger than the one before."""
    try:
        numbers = np.asarray(pc.cast(ids, pa.int64()))
    except pa.ArrowException:
        return False
    return bool((np.diff(numbers) > 0).all())


def _odd_agents(panel: Panel) -> Iterator[Note]:
    """Warn of agents with few different reports, unrelated to the outcome."""
    if panel.sparse is not None or panel.classes > 2:
        return
    values = panel.reports
    counts = [_different(column) for column in values.T]
    if np.median(counts) <= MANY_VALUES:
        return
    for name, column, count in zip(panel.agents, values.T, counts, strict=True):
        known = ~np.isnan(column)
        if count <= FEW_VALUES and _unrelated(column[known], panel.outcomes[known]):
            fields = {"column": name, "key": "ignore", "value": [name]}
            yield Note("few-values", fields, warning=True)


def _different(reports: FloatArray) -> int:
    """Return how many different reports there are, or that they are many."""
    for part in (reports[:FIRST], reports):
        count = len(np.unique(part[~np.isnan(part)]))
        if count > MANY_VALUES:
            break
    return count


def _unrelated(reports: FloatArray, outcomes: IntArray) -> bool:
    """Whether reports are no higher, nor lower, where the outcome was positive."""
    positive, negative = reports[outcomes == 1], reports[outcomes != 1]
    if len(positive) < 2 or len(negative) < 2:
        return False
    error = np.sqrt(positive.var() / len(positive) + negative.var() / len(negative))
    return bool(abs(positive.mean() - negative.mean()) <= 1.96 * error)


def load_reports(
    source: Any,
    known: Schema,
    declared: Declared | None = None,
    columns: Sequence[str] = (),
    check: CaseCheck = _accept,
) -> ReportTable:
    """Return new cases, read by the schema of the table that was learned from.

    ``columns`` are those of the cases that must be there beside the reports.
    """
    declared = declared or Declared()
    table = match(source, known, declared, columns)
    rows = table.source.table()
    table = replace(table, schema=refine(table.schema, rows, declared), rows=rows)
    cases = decode(table, labelled=False)
    if not table.schema.classes:
        sparse = isinstance(cases.given, SparseReports)
        reports = _by_agent(cases.given) if sparse else cases.values.T
        _check_units(table.schema, declared, reports)
    with cases.named_in_errors():
        check(cases.columns, cases.ids, pending=True)
    return cases


def _by_agent(given: Any) -> list[FloatArray]:
    """Reports of each agent in a sparse table."""
    order = np.argsort(given.agent, kind="stable")
    ends = np.searchsorted(given.agent[order], np.arange(1, given.agents))
    return np.split(given.values[order], ends)


def _check_units(schema: Schema, declared: Declared, reports: Any) -> None:
    """Refuse new percentages that nobody can tell from probabilities: all up to 1.

    Those that are declared, agent by agent; those that only the fit had, all together.
    ``reports`` has the shares of each agent.
    """
    faults, remembered, one = FaultList(), dict[str, float](), 0.01
    for agent, shares in zip(schema.agents, reports, strict=True):
        known = shares[~np.isnan(shares)]
        if schema.unit(agent) != PERCENT or agent in schema.signed or not len(known):
            continue
        if declared.unit(agent) is None:
            remembered[agent] = float(known.max())
        elif declared.in_percent(agent) and len(known) > 1 and 0 < known.max() <= one:
            faults.refuse(
                "percent-up-to-one",
                Cure("leave-out-percent"),
                agent=agent,
                found=float(100 * known.max()),
            )
    if remembered and max(remembered.values()) <= one:
        every = len(remembered) == list(schema.units.values()).count(PERCENT)
        for agent, most in remembered.items():
            fractions = Cure("probabilities", f"scores.{agent}", "0-1")
            fault = Fault(
                "percent-in-fit",
                agent=agent,
                found=float(100 * most),
                cures=(
                    Cure("probabilities", "percent", False) if every else fractions,
                    Cure("real-percent", f"scores.{agent}", "0-100"),
                    Cure("write-signs"),
                ),
            )
            if most:  # 0 fits both units
                faults.add(fault)
    faults.raise_all(lambda row: Place("row", row))


def read_blocks(table: Table, *, declared: Declared | None = None) -> Iterator[Block]:
    """Yield the cases of a table some thousand at a time; a long one is read whole."""
    schema, source = table.schema, table.source
    declared = declared or Declared()
    if schema.long is not None:
        yield from _long_blocks(table, declared)
        return
    decoder: Decoder | None = None
    count = 0
    names = [name for name in schema.columns if name in source.names]
    for start, rows in source.batches(names):
        if decoder is None:
            decoder = Decoder(refine(schema, rows, declared), new=True)
        block = decoder.block(rows, start)
        decoder.faults.raise_all(source.place, source.name)
        if not start and block.reports:
            _check_units(decoder.schema, declared, block.reports)
        count += len(rows)
        if len(rows):
            yield replace(block, place=source.place)
    if not count:
        raise source.refuse("no-rows")


def _long_blocks(table: Table, declared: Declared) -> Iterator[Block]:
    """Yield the cases of a long table; sparse reports are written out part by part."""
    rows = table.source.table()
    schema = refine(table.schema, rows, declared)
    cases = decode(replace(table, schema=schema, rows=rows), labelled=False)
    given = cases.given
    if not isinstance(given, SparseReports):
        given = SparseReports.from_dense(given)
    _check_units(schema, declared, _by_agent(given))
    ids = [] if cases.ids is None else cases.ids.tolist()
    for part in blocks(len(given), len(schema.agents) // LONG_BLOCKS):
        own = np.arange(part.start, part.stop)
        yield Block(
            part.start,
            tuple(given.dense(part)[:, :, 0].T),
            None,
            None,
            pa.array(ids[part]),
            None if cases.times is None else cases.times[own],
            cases.columns.take(own),
            place=cases.place,
            notes=cases.notes if part.start == 0 else (),
            rows=len(own),
        )
