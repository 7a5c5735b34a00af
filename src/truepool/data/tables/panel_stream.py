"""The panels of a data set: read batch by batch, once for each pass over it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truepool.core import kernels
from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray, from_classes
from truepool.core.errors import OutcomeError, PanelError, suggestion
from truepool.core.prefetch import prefetch
from truepool.data.case_columns import CaseColumns
from truepool.data.labels import Labels, check_labels, encode_outcomes
from truepool.data.panel import Panel
from truepool.data.tables.column_selection import (
    Batch,
    ColumnSelection,
    as_series,
)
from truepool.data.tables.dataset import Dataset, RowBatch
from truepool.data.tables.numbers import is_empty, parse_numbers
from truepool.data.tables.reader import load_table, name_classes
from truepool.data.tables.summary import TableSummary
from truepool.data.tables.table_format import TableFormat

HEAD = 20_000
"""Rows whose columns tell the agents and classes."""
MOST_LABELS = 1_000
"""So many different outcomes are no labels."""


@dataclass(eq=False)
class PassTotals:
    """What one pass over the cases has counted."""

    counts: IntArray
    reported: IntArray
    mass: FloatArray
    """Weight of the cases of each class."""
    silent: int = 0
    empty: int = 0
    pending: int = 0

    @property
    def cases(self) -> int:
        """Cases with an outcome and a report."""
        return int(self.counts.sum())


@dataclass(eq=False)
class PanelStream:
    """Panels of consecutive cases of a data set, in its order.

    Every pass yields the cases that have an outcome and a report, and counts them in
    ``totals``. ``mass`` (K,) is the weight of each class, as far as it is known;
    ``stripped`` says that labels are compared without the spaces around them.
    """

    dataset: Dataset
    written: TableFormat
    agents: tuple[str, ...]
    labels: Labels
    mass: FloatArray
    stripped: bool = False
    summary: TableSummary = field(default_factory=TableSummary)
    progress: Callable[[int], None] = lambda rows: None
    totals: PassTotals = field(init=False)

    def __post_init__(self) -> None:
        self.totals = self._nothing()

    @property
    def classes(self) -> int:
        """Number of classes, K."""
        return len(self.labels.names)

    @property
    def prior(self) -> FloatArray:
        """Share of each class, as coordinates (C,)."""
        return from_classes(self.mass / self.mass.sum())

    def __iter__(self) -> Iterator[Panel]:
        """Read the data set once."""
        written = replace(self.written, id=None, time=None)
        wanted = ColumnSelection(self.agents, self.labels, written, usual_id="")
        names = wanted.choose(self.dataset.columns)
        names += [name for name in self.weighing if name not in names]
        self.totals = self._nothing()
        batches = prefetch(self.dataset.read([*names, written.outcome]))
        for rows, panel in prefetch(self._panels(batches, wanted)):
            if panel is not None:
                yield panel
            self.progress(rows)

    def _panels(
        self, batches: Iterable[RowBatch], wanted: ColumnSelection
    ) -> Iterator[tuple[int, Panel | None]]:
        for each in batches:
            try:
                yield len(each.rows), self._panel(each, wanted)
            except PanelError as error:
                raise type(error)(f"{error} (in {each.place})") from None

    @property
    def weighing(self) -> list[str]:
        """Columns that say how much each case counts."""
        return [name for name in (self.written.weight, self.written.propensity) if name]

    def _nothing(self) -> PassTotals:
        K, N = self.classes, len(self.agents)
        return PassTotals(np.zeros(K, int), np.zeros(N, int), np.zeros(K))

    def _panel(self, each: RowBatch, wanted: ColumnSelection) -> Panel | None:
        """Panel of the rows with an outcome and a report, None if there is none."""
        batch, totals = wanted.parse(each.rows, each.start), self.totals
        empty = _is_empty(each.rows, self.written.outcome)
        blank = batch.blank
        known = ~(empty | blank)
        totals.pending += int((empty & ~blank).sum())
        totals.empty += int(blank.sum())
        if not known.any():
            return None
        panel = self._checked(batch, each.rows, known)
        totals.counts += np.asarray(panel.counts)
        totals.mass += _mass(panel)
        totals.silent += panel.silent
        if panel.silent:
            totals.reported += kernels.report_counts(panel.values)[0]
        else:
            totals.reported += len(panel)
        return panel

    def _checked(self, batch: Batch, rows: pa.RecordBatch, known: BoolArray) -> Panel:
        values = batch.values[:, :, 0] if batch.values.shape[2] == 1 else batch.values
        written = self.written
        weights, propensity = (
            None
            if name is None
            else parse_numbers(as_series(rows, name), written, what)[known]
            for name, what in (
                (written.weight, "the weight of a case"),
                (written.propensity, "the propensity of a case"),
            )
        )
        raw = rows.column(written.outcome).to_numpy(zero_copy_only=False)[known]
        return _trusted(
            values if known.all() else values[known],
            self._encode(raw),
            batch.columns.take(known),
            weights,
            propensity,
            self.agents,
            self.labels,
        )

    def _encode(self, outcomes: Array) -> IntArray:
        """Class numbers of outcomes, (T,)."""
        if outcomes.dtype.kind in "buif" and self.labels.names in (
            (0, 1),
            (False, True),
        ):
            return outcomes.astype(np.int64)  # every label was seen and checked before
        if self.stripped:
            outcomes = np.array([str(label).strip() for label in outcomes.tolist()])
        return self.labels.encode(outcomes)


def _mass(panel: Panel) -> FloatArray:
    """Weight of the cases of each class, (K,)."""
    weights = panel.case_weights()
    if weights is None:
        return np.asarray(panel.counts, dtype=np.float64)
    return np.asarray(np.bincount(panel.outcomes, weights, panel.classes), np.float64)


def _trusted(
    values: FloatArray,
    outcomes: IntArray,
    columns: CaseColumns,
    weights: FloatArray | None,
    propensity: FloatArray | None,
    agents: tuple[str, ...],
    labels: Labels,
) -> Panel:
    """Panel of one case or more: a panel of one is part of a larger one."""
    if len(outcomes) == 1:
        both = np.array([0, 0])
        panel = _trusted(
            values[both],
            outcomes[both],
            columns.take(both),
            None if weights is None else weights[both],
            None if propensity is None else propensity[both],
            agents,
            labels,
        )
        return panel.take(both[:1])
    panel = Panel(
        values,
        outcomes,
        agents,
        columns=columns,
        weights=weights,
        propensity=propensity,
        copy=False,
    )
    return panel.with_labels(labels)


def open_panels(
    dataset: Dataset,
    written: TableFormat,
    progress: Callable[[int], None] = lambda rows: None,
) -> PanelStream:
    """Find the agents and the labels of a data set: a pass over its outcomes.

    The first batch is read as a table of its own, with all checks that a table gets.
    """
    dataset.check_columns()
    written = dataset.describe(written)
    if written.outcome not in dataset.columns:
        raise OutcomeError(
            f"the table needs an outcome column; there is no {written.outcome!r}"
            f"{suggestion(written.outcome, dataset.columns)}; columns: "
            f"{', '.join(dataset.columns)}. Say which one holds the outcome "
            "(--outcome)."
        )
    head = load_table(next(_heads(dataset)), written)
    found, mass = _outcomes(dataset, written)
    every = np.ones(len(found), dtype=bool)
    head, labels, numbers = name_classes(head, found, every, written.positive)
    stripped = labels is not None
    if labels is None:
        K = 2 if head.values.ndim == 2 else head.values.shape[2]
        numbers, labels = encode_outcomes(numbers, K, written.positive)
    weights = np.zeros(len(labels.names))
    np.add.at(weights, numbers, mass)
    return PanelStream(
        dataset,
        written,
        head.agents,
        labels,
        weights,
        stripped,
        replace(head.summary, agents=head.agents, duplicate_ids=0),
        progress,
    )


def _heads(dataset: Dataset) -> Iterator[pa.Table]:
    for batch in dataset.read(dataset.columns):
        yield pa.Table.from_batches([batch.rows.slice(0, HEAD)])


def _outcomes(dataset: Dataset, written: TableFormat) -> tuple[Array, FloatArray]:
    """All labels of the outcome, and how much the cases of each weigh."""
    mass: dict[Any, float] = {}
    weighing = [name for name in (written.weight, written.propensity) if name]
    for batch in prefetch(dataset.read([written.outcome, *weighing])):
        for label, weight in _weigh_labels(batch.rows, written):
            mass[label] = mass.get(label, 0.0) + weight
        if len(mass) > MOST_LABELS:
            raise OutcomeError(
                f"an outcome must be one of few labels; column {written.outcome!r} has "
                f"more than {MOST_LABELS:,} by {batch.place}. Name the column of the "
                "outcomes (--outcome)."
            )
    if not mass:
        raise OutcomeError(
            f"some cases must have an outcome; column {written.outcome!r} is empty in "
            f"all {dataset.rows:,} rows. Say which column holds the outcome "
            "(--outcome)."
        )
    labels = check_labels(np.array(list(mass), dtype=object))
    return labels, np.array(list(mass.values()))


def _weigh_labels(
    rows: pa.RecordBatch, written: TableFormat
) -> Iterator[tuple[Any, float]]:
    """Labels of some outcomes, and how much the cases of each weigh."""
    known = ~_is_empty(rows, written.outcome)
    column = rows.column(written.outcome)
    column = column if known.all() else column.filter(pa.array(known))
    if written.weight is None and written.propensity is None:
        found = pc.value_counts(column)
        counts = found.field("counts").to_pylist()
        return zip(found.field("values").to_pylist(), counts, strict=True)
    weights = np.ones(len(known))
    if written.weight:
        cells = as_series(rows, written.weight)
        weights *= parse_numbers(cells, written, "the weight of a case")
    if written.propensity:
        cells = as_series(rows, written.propensity)
        weights /= parse_numbers(cells, written, "the propensity of a case")
    coded = column.dictionary_encode()
    sums = np.bincount(coded.indices, weights[known], len(coded.dictionary))
    return zip(coded.dictionary.to_pylist(), sums.tolist(), strict=True)


def _is_empty(rows: pa.RecordBatch, name: str) -> BoolArray:
    """Rows without a value in a column; numbers without a null are all there."""
    column = rows.column(name)
    whole = pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)
    if whole and not column.null_count:
        return np.zeros(len(column), dtype=bool)
    return is_empty(as_series(rows, name))
