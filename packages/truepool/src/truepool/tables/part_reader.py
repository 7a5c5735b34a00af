"""The panels of one part of a data set, and sums over them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truepool.core import kernels
from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray
from truepool.core.engine import one_blas_thread
from truepool.core.errors import PanelError
from truepool.core.prefetch import prefetch
from truepool.panel.case_columns import CaseColumns
from truepool.panel.labels import Labels
from truepool.panel.panel import Panel
from truepool.panel.row_names import case_name, cases_of_rows
from truepool.tables.column_selection import (
    Batch,
    ColumnSelection,
    as_series,
)
from truepool.tables.dataset import Part, RowBatch, read_part
from truepool.tables.numbers import parse_numbers
from truepool.tables.outcome_column import label_numbers, trim_labels
from truepool.tables.table_format import TableFormat
from truepool.tables.time_zones import Zones


@dataclass(eq=False)
class PassTotals:
    """What a pass over some cases has counted."""

    counts: IntArray
    reported: IntArray
    mass: FloatArray
    """Weight of the cases of each class."""
    silent: int = 0
    empty: int = 0
    pending: int = 0

    def add(self, other: "PassTotals") -> None:
        """Add the counts of other cases."""
        self.counts += other.counts
        self.reported += other.reported
        self.mass += other.mass
        self.silent += other.silent
        self.empty += other.empty
        self.pending += other.pending

    @property
    def cases(self) -> int:
        """Cases with an outcome and a report."""
        return int(self.counts.sum())


class PartRows(NamedTuple):
    """A part, whose first row has the place ``start`` in the data set."""

    part: Part
    start: int


@dataclass(frozen=True, eq=False)
class PartReader:
    """How the cases of every part are read.

    ``named`` says that columns name the classes, so that labels are text; ``time`` is a
    column that the cases must be in the order of; ``keep_empty`` keeps cases without
    any report.
    """

    written: TableFormat
    agents: tuple[str, ...]
    labels: Labels
    named: bool = False
    time: str | None = None
    keep_empty: bool = False
    zones: Zones = field(default_factory=Zones, repr=False, compare=False)
    """Those of the times so far."""

    def read(
        self,
        rows: PartRows,
        totals: PassTotals,
        progress: Callable[[int], None] = lambda rows: None,
        after: Any = None,
    ) -> Iterator[Panel]:
        """Yield the cases that have an outcome and a report, and count them.

        None of them may have a time before ``after``.
        """
        written = replace(self.written, id=None, time=None)
        wanted = ColumnSelection(
            self.agents, self.labels, written, self.time, "", zones=self.zones
        )
        names = wanted.choose(rows.part.columns)
        names += [name for name in self.weighing if name not in names]
        columns = [*names, written.outcome]
        batches = prefetch(read_part(rows.part, columns, rows.start))
        for count, panel in prefetch(self._panels(batches, wanted, totals, after)):
            if panel is not None:
                yield panel
            progress(count)

    def _panels(
        self,
        batches: Iterable[RowBatch],
        wanted: ColumnSelection,
        totals: PassTotals,
        after: Any,
    ) -> Iterator[tuple[int, Panel | None]]:
        for each in batches:
            try:
                panel = self._panel(each, wanted, totals, after)
                if panel is not None and panel.times is not None:
                    after = panel.times[-1]
                yield len(each.rows), panel
            except PanelError as error:
                raise type(error)(f"{error} (in {each.place})") from None

    @property
    def weighing(self) -> list[str]:
        """Columns that say how much each case counts."""
        return [name for name in (self.written.weight, self.written.propensity) if name]

    def nothing(self) -> PassTotals:
        """Counts of no cases."""
        K, N = len(self.labels.names), len(self.agents)
        return PassTotals(np.zeros(K, int), np.zeros(N, int), np.zeros(K))

    def _panel(
        self,
        each: RowBatch,
        wanted: ColumnSelection,
        totals: PassTotals,
        after: Any,
    ) -> Panel | None:
        """Panel of the rows with an outcome and a report, None if there is none."""
        batch = wanted.parse(each.rows, each.start)
        outcomes = trim_labels(each.rows.column(self.written.outcome), self.written)
        empty = is_blank(outcomes)
        left_out = batch.blank & (not self.keep_empty)
        known = ~(empty | left_out)
        totals.pending += int((empty & ~left_out).sum())
        totals.empty += int(left_out.sum())
        if not known.any():
            return None
        panel = self._checked(batch, each, outcomes, known, after)
        totals.counts += np.asarray(panel.counts)
        totals.mass += _mass(panel)
        totals.silent += panel.silent
        if panel.silent:
            totals.reported += kernels.report_counts(panel.values)[0]
        else:
            totals.reported += len(panel)
        return panel

    def _checked(
        self,
        batch: Batch,
        each: RowBatch,
        outcomes: pa.Array,
        known: BoolArray,
        after: Any,
    ) -> Panel:
        rows = each.rows
        values = batch.values[:, :, 0] if batch.values.shape[2] == 1 else batch.values
        written = self.written
        weights, propensity = (
            None
            if name is None
            else parse_numbers(as_series(rows, name), written, what, each.start)[known]
            for name, what in (
                (written.weight, "the weight of a case"),
                (written.propensity, "the propensity of a case"),
            )
        )
        raw = outcomes.to_numpy(zero_copy_only=False)[known]
        times = None if batch.times is None else batch.times[known]
        with cases_of_rows(each.start + np.flatnonzero(known)):
            if times is not None:
                _check_order(times, after, str(self.time))
            return self._trusted(
                values if known.all() else values[known],
                self._encode(raw),
                batch.columns.take(known),
                weights,
                propensity,
                times,
            )

    def _trusted(
        self,
        values: FloatArray,
        outcomes: IntArray,
        columns: CaseColumns,
        weights: FloatArray | None,
        propensity: FloatArray | None,
        times: Array | None,
    ) -> Panel:
        """Panel of one case or more: a panel of one is part of a larger one."""
        if len(outcomes) == 1:
            both = np.array([0, 0])
            panel = self._trusted(
                values[both],
                outcomes[both],
                columns.take(both),
                None if weights is None else weights[both],
                None if propensity is None else propensity[both],
                None if times is None else times[both],
            )
            return panel.take(both[:1])
        panel = Panel(
            values,
            outcomes,
            self.agents,
            times=times,
            columns=columns,
            weights=weights,
            propensity=propensity,
            allow_empty_cases=self.keep_empty,
            copy=False,
        )
        return panel.with_labels(self.labels)

    def _encode(self, outcomes: Array) -> IntArray:
        """Class numbers of outcomes, (T,)."""
        if outcomes.dtype.kind in "buif" and self.labels.names in (
            (0, 1),
            (False, True),
        ):
            return outcomes.astype(np.int64)  # every label was seen and checked before
        if self.named:
            outcomes = np.array([str(label) for label in outcomes.tolist()])
        elif outcomes.dtype.kind == "O" and not isinstance(self.labels.names[0], str):
            numbers = label_numbers(set(outcomes.tolist()))
            outcomes = np.array([numbers.get(x, x) for x in outcomes.tolist()])
        return self.labels.encode(outcomes)


@dataclass(frozen=True, eq=False)
class PartSum:
    """Sums of a function of panels over the cases of a part."""

    reader: PartReader
    sums: Callable[[Panel], FloatArray]

    def __call__(
        self, rows: PartRows, progress: Callable[[int], None]
    ) -> tuple[FloatArray, PassTotals]:
        """Add up the panels in their order, on one thread: the same bits anywhere."""
        found, totals = np.zeros(0), self.reader.nothing()
        with one_blas_thread():
            for panel in self.reader.read(rows, totals, progress):
                found = add_sums(found, self.sums(panel))
        return found, totals


def add_sums(sums: FloatArray, more: FloatArray) -> FloatArray:
    """Add sums over other cases; there may be none yet, on either side."""
    if not sums.size or not more.size:
        return sums if sums.size else more
    return sums + more


def _mass(panel: Panel) -> FloatArray:
    """Weight of the cases of each class, (K,)."""
    weights = panel.case_weights()
    if weights is None:
        return np.asarray(panel.counts, dtype=np.float64)
    return np.asarray(np.bincount(panel.outcomes, weights, panel.classes), np.float64)


def _check_order(times: Array, after: Any, column: str) -> None:
    """Refuse cases that are not in the order of time, or come before an earlier one."""
    before = times[:1] if after is None else np.array([after])
    before = np.append(before, times[:-1])
    if (times < before).any():
        t = int(np.argmax(times < before))
        raise PanelError(
            "cases that are read batch by batch must be in time order, part "
            f"after part; {case_name(t)} has {times[t]} in column {column!r}, after "
            f"{before[t]}. Sort the data set by {column!r}, or name another column "
            "(--time)."
        )


def is_blank(outcomes: pa.Array) -> BoolArray:
    """Rows without an outcome, which is null or NaN."""
    if not outcomes.null_count and not pa.types.is_floating(outcomes.type):
        return np.zeros(len(outcomes), dtype=bool)
    gone = pc.is_null(outcomes, nan_is_null=True)
    return np.asarray(gone.to_numpy(zero_copy_only=False), dtype=bool)
