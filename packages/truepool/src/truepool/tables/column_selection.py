"""Batches of cases, and which columns of a table they are read from."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa

from truepool.core import kernels
from truepool.core.arrays import Array, BoolArray, FloatArray
from truepool.core.errors import (
    AgentError,
    SourceError,
    closest,
    suggestion,
)
from truepool.panel.case_columns import CaseColumns
from truepool.panel.labels import Labels, format_names
from truepool.panel.panel import check_times
from truepool.panel.row_names import Naming, cases_of_rows
from truepool.tables.agent_columns import renormalize
from truepool.tables.class_columns import JOINTS, without_spaces
from truepool.tables.numbers import describe_amounts, parse_numbers
from truepool.tables.report_columns import parse_reports
from truepool.tables.table_format import TableFormat
from truepool.tables.time_zones import Zones
from truepool.tables.times import parse_times

Ids: TypeAlias = pa.Array | list[Any]
"""Labels of cases, as a table has them; of JSON lines, any values."""

COST = "the cost of a case"
"""What a column holds by which a pool decides."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Some consecutive cases: the first one's place in the table, reports and ids.

    ``reports`` has a column (T,) per agent, of single or double precision, or ``cube``
    (T, N, K) a probability per class; not checked yet, NaN: no report. ``times`` and
    ``columns`` (T,) are there if they were asked for. ``others`` counts the lines of
    JSON that have a key without a meaning, and lack an agent.
    """

    start: int
    ids: Ids | None
    reports: tuple[Array, ...] = ()
    cube: FloatArray | None = None
    times: Array | None = None
    columns: CaseColumns = field(default_factory=CaseColumns)
    others: Counter[str] = field(default_factory=Counter)
    unknown: tuple[str, ...] = ()
    """Agents of a long table that the pool does not know."""
    place: str = ""
    """Row group and file, where the table has row groups."""
    naming: Naming | None = None
    """What the rows of the table are called, if they have numbers of their own."""
    encoding: str | None = None
    """Encoding of the text, where it was guessed."""
    signed: tuple[str, ...] = ()
    """Columns, or agents of a long table, whose reports carry percent signs."""
    rescaled: int = 0
    """Reports over classes that summed to nearly 1."""
    amounts: Mapping[str, str] = field(default_factory=dict)
    """How columns of amounts were read, where the decimal mark does not say so."""
    notes: tuple[str, ...] = ()
    """What was done with a long table, such as reports that were left out."""

    def __len__(self) -> int:
        """Return the number of cases, T."""
        return len(self.reports[0] if self.cube is None else self.cube)

    @property
    def blank(self) -> BoolArray:
        """Cases without any report, (T,)."""
        if self.reports and not any(kernels.scan(c)[1] for c in self.reports):
            return np.zeros(len(self), dtype=bool)
        return np.asarray(np.isnan(self.values[:, :, 0]).all(axis=1))

    @cached_property
    def values(self) -> FloatArray:
        """Coordinates (T, N, C), not checked yet; NaN: no report."""
        if self.cube is not None:
            return self.cube
        return np.stack(self.reports, axis=1, dtype=np.float64)[:, :, None]


@dataclass(frozen=True)
class ColumnSelection:
    """What is read of a table: reports of agents on classes, id, time and columns."""

    agents: tuple[str, ...]
    labels: Labels
    written: TableFormat
    time: str | None = None
    usual_id: str = "id"
    apart: tuple[str, ...] = ()
    """Columns that the table of the fit had, and that were no agents there."""
    zones: Zones = field(default_factory=Zones, repr=False, compare=False)
    """Those of the times so far."""

    @property
    def id(self) -> str:
        """Column with the ids, if there is one."""
        return self.written.id or self.usual_id

    def reports(self, names: Collection[str]) -> list[str]:
        """Columns with the reports: one of each agent, or one per class."""
        given = {without_spaces(name): name for name in names}
        given |= {name: name for name in names}
        named = self._by_class(":")
        if not given.keys().isdisjoint(named):
            return [given.get(name, name) for name in named]
        if len(self.labels.names) == 2:
            return [given.get(name, name) for name in self.agents]
        ways = map(self._by_class, JOINTS)
        return next((own for own in ways if not set(own).isdisjoint(names)), named)

    def _by_class(self, joint: str) -> list[str]:
        return [
            f"{agent}{joint}{k}" for agent in self.agents for k in self.labels.names
        ]

    def series(self, columns: Iterable[nw.Series[Any]]) -> Iterator[nw.Series[Any]]:
        """Yield the columns with the reports, those of classes as ``agent:class``."""
        columns = [*columns]
        one_each = len(columns) == len(self.agents)
        own = self.agents if one_each else self._by_class(":")
        for column, name in zip(columns, own, strict=True):
            yield column.alias(name)

    def batch(
        self,
        reports: Sequence[Array],
        ids: Ids | None,
        times: Array | None,
        columns: Mapping[str, Array],
        start: int = 0,
    ) -> Batch:
        """Return a batch of the reports of each column."""
        T = len(reports[0])
        moments, own = check_times(times), CaseColumns(columns, T, copy=False)
        if len(reports) == len(self.agents):
            return Batch(start, ids, tuple(reports), None, moments, own)
        cube = np.stack(reports, axis=1, dtype=np.float64)
        cube, rescaled = renormalize(cube.reshape(T, len(self.agents), -1), self.agents)
        cube = cube[:, :, 1:] if cube.shape[2] == 2 else cube
        return Batch(start, ids, (), cube, moments, own, rescaled=rescaled)

    def parse(self, batch: pa.RecordBatch, start: int) -> Batch:
        """Return the batch of some rows of a table, the first of which is ``start``."""
        with cases_of_rows(np.arange(start, start + len(batch))):
            return self._parse(batch, start)

    def _parse(self, batch: pa.RecordBatch, start: int) -> Batch:
        names, written = self.reports(batch.schema.names), self.written
        cells = [batch.column(name) for name in names]
        signed: tuple[str, ...] = ()
        floating = all(pa.types.is_floating(cell.type) for cell in cells)
        if floating and not (written.percent or written.scores or written.missing):
            reports = [_floats(cell) for cell in cells]
        else:
            columns = self.series(as_series(batch, name) for name in names)
            parsed, signed = parse_reports(columns, written, start)
            reports = [*parsed.values()]
        ids = batch.column(self.id) if self.id in batch.schema.names else None
        times = None
        if self.time is not None:
            column = as_series(batch, self.time)
            times = parse_times(column, written, start, self.zones)
        others, amounts = {}, {}
        for name in written.columns:
            own = as_series(batch, name)
            others[name] = parse_numbers(own, written, COST, start)
            amounts[name] = describe_amounts(own, others[name], written)
        found = {name: said for name, said in amounts.items() if said}
        read = self.batch(reports, ids, times, others, start)
        return replace(read, signed=signed, amounts=found)

    def choose(self, names: Sequence[str]) -> list[str]:
        """Columns to read; a table that lacks one of them is refused."""
        reports = self.reports(names)
        missing = [name for name in reports if name not in names]
        if missing:
            raise self._missing_agents(missing, names)
        for role, name in (("id", self.written.id), ("time", self.time)):
            if name is not None and name not in names:
                raise SourceError(
                    f"there is no {role} column {name!r}{suggestion(name, names)}; "
                    f"columns: {format_names(names)}. Name it (--{role})."
                )
        self.check_costs(names)
        others = {self.id, self.time, *self.written.columns}
        twice = {name for name in names if names.count(name) > 1} & {*reports, *others}
        if twice:
            raise AgentError(
                "column names must be unique; got "
                f"{', '.join(map(repr, sorted(twice)))} more than once. Rename one."
            )
        return [*reports, *(name for name in names if name in others)]

    def _missing_agents(
        self, missing: Sequence[str], names: Sequence[str]
    ) -> AgentError:
        """Return the refusal of a table without columns of some agents."""
        rest = self._unused(names)
        count = len(self.reports(names))
        shown = format_names([repr(name) for name in missing])
        cures = [
            "add an empty column of that name if there are no reports",
            "send JSON lines (.jsonl), which may leave agents out",
        ]
        if rest:
            cures.insert(0, "rename the column that has these reports")
        return AgentError(
            "the table must have a column for each agent of the pool, by name; "
            f"{len(missing):,} of {count:,} missing: {shown}"
            f"{suggestion(missing[0], rest)}{_listed(rest)}. "
            f"{', '.join(cures[:-1]).capitalize()}, or {cures[-1]}."
        )

    def check_costs(self, names: Collection[str]) -> None:
        """Refuse a table without a column by which the pool decides each case."""
        for name in self.written.columns:
            if name in names:
                continue
            rest = self._unused(names)
            close = closest(name, rest)
            cure = f"Rename {close!r} to {name!r}, add" if close else "Add"
            raise SourceError(
                "the pool decides by the cost of each case, so the table must have the "
                f"column {name!r}{_listed(rest)}. {cure} the "
                "column, or fit the pool with other costs."
            )

    def _unused(self, names: Collection[str]) -> list[str]:
        """Columns of a table that have no meaning to the pool."""
        known = {*self.apart, self.id, self.time, *self.written.columns}
        known |= {*self.reports(names), *(self.written.long or ())}
        return [name for name in names if name not in known]


def _listed(names: Sequence[str]) -> str:
    """Name the columns that have no meaning to the pool, if there are any."""
    return f"; columns without a use: {format_names(names)}" if names else ""


def as_series(batch: pa.RecordBatch, name: str) -> nw.Series[Any]:
    """Return a column as the readers of whole tables know it; takes 0.3 ms."""
    table = pa.Table.from_batches([batch.select([name])])
    frame: nw.DataFrame[Any] = nw.from_native(table, eager_only=True)
    return frame[name]


def _floats(column: pa.Array) -> Array:
    """Numbers of a column in its own precision, without a copy if none is missing."""
    if column.type == pa.float16():
        column = column.cast(pa.float32())
    return np.asarray(column.to_numpy(zero_copy_only=False))
