"""The panels of a data set: read batch by batch, once for each pass over it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truepool.core.arrays import Array, FloatArray, from_classes
from truepool.core.engine import Engine, Processes, map_with_progress
from truepool.core.errors import OutcomeError, PanelError, suggestion
from truepool.core.prefetch import prefetch
from truepool.panel.labels import Labels, check_labels, encode_outcomes
from truepool.panel.panel import Panel, check_times
from truepool.panel.row_names import cases_of_rows
from truepool.tables.checkpoint import Checkpoint
from truepool.tables.column_selection import as_series
from truepool.tables.dataset import Dataset, Part, read_part
from truepool.tables.numbers import parse_numbers
from truepool.tables.outcome_column import (
    check_spelling,
    label_numbers,
    trim_labels,
)
from truepool.tables.part_reader import (
    PartReader,
    PartRows,
    PartSum,
    PassTotals,
    add_sums,
    is_blank,
)
from truepool.tables.reader import (
    check_unit_names,
    load_table,
    name_classes,
    read_source,
)
from truepool.tables.summary import TableSummary
from truepool.tables.table_format import TableFormat
from truepool.tables.times import parse_times

HEAD = 20_000
"""Rows whose columns tell the agents and classes."""
MOST_LABELS = 1_000
"""So many different outcomes are no labels."""


@dataclass(eq=False)
class PanelStream:
    """Panels of consecutive cases of a data set, summed part by part.

    Every pass counts the cases that have an outcome and a report in ``totals``.
    ``mass`` (K,) is the weight of each class, as far as it is known. The ``engine``
    says where parts are read.
    """

    dataset: Dataset
    reader: PartReader
    mass: FloatArray
    summary: TableSummary = field(default_factory=TableSummary)
    progress: Callable[[int], None] = lambda rows: None
    engine: Engine = field(default_factory=Processes)
    checkpoint: Checkpoint | None = None
    totals: PassTotals = field(init=False)

    def __post_init__(self) -> None:
        self.totals = self.reader.nothing()

    @property
    def written(self) -> TableFormat:
        """How the rows are written."""
        return self.reader.written

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the agents."""
        return self.reader.agents

    @property
    def labels(self) -> Labels:
        """Labels of the outcomes."""
        return self.reader.labels

    @property
    def classes(self) -> int:
        """Number of classes, K."""
        return len(self.labels.names)

    @property
    def prior(self) -> FloatArray:
        """Share of each class, as coordinates (C,)."""
        return from_classes(self.mass / self.mass.sum())

    def sum(self, sums: Callable[[Panel], FloatArray], made_by: str = "") -> FloatArray:
        """Read the data set once, and add up what a function makes of its panels.

        The sums of the parts are added in their order, so that the bits do not depend
        on who made them. With a checkpoint, an interrupted pass goes on after the parts
        that it has summed up; ``made_by`` says what the function depends on.
        """
        parts, made_by = self.dataset.parts, f"{made_by} {self._identity}"
        done, total, self.totals = 0, np.zeros(0), self.reader.nothing()
        if self.checkpoint is not None:
            done, total, self.totals = self.checkpoint.load(parts, made_by, self.totals)
            self.progress(sum(part.rows for part in parts[:done]))
        found = map_with_progress(
            self.engine,
            PartSum(self.reader, sums),
            _places(self.dataset)[done:],
            lambda rows: rows.part.rows,
            self.progress,
        )
        try:
            for part, counts in found:
                total = add_sums(total, part)
                self.totals.add(counts)
                done += 1
                self._save(done, made_by, total)
        except BaseException:  # also when the user interrupts it
            self._save(done, made_by, total, now=True)
            raise
        return total

    @property
    def cases(self) -> int:
        """Cases with an outcome, those without a report included; each counts once."""
        return int(self.mass.sum())

    def in_order(self) -> Iterator[Panel]:
        """Read all cases that have an outcome, from the first in time to the last.

        Parts are taken in the order of their first time. Inside a part, and from one
        part to the next, no case may come before an earlier one. Without a time the
        order is that of the data set.
        """
        named = "time" if "time" in self.dataset.columns else None
        time, last = self.written.time or named, None
        reader = replace(self.reader, time=time, keep_empty=True)
        places, self.totals = _places(self.dataset), reader.nothing()
        if time is not None and len(places) > 1:
            places = _by_first_time([rows for rows in places if rows.part.rows], reader)
        for rows in places:
            for panel in reader.read(rows, self.totals, self.progress, last):
                last = None if panel.times is None else panel.times[-1]
                yield panel

    def _save(
        self, done: int, made_by: str, total: FloatArray, *, now: bool = False
    ) -> None:
        if self.checkpoint is not None and done:
            parts = self.dataset.parts[:done]
            self.checkpoint.save(parts, made_by, total, self.totals, now=now)

    @property
    def _identity(self) -> str:
        """What the sums depend on, beside the function and the parts."""
        reader = self.reader
        names = (self.written.columns, reader.agents, reader.labels, reader.named)
        return repr((self.written.options(), names))


def _places(dataset: Dataset) -> list[PartRows]:
    ends = accumulate(part.rows for part in dataset.parts)
    return [
        PartRows(part, end - part.rows)
        for part, end in zip(dataset.parts, ends, strict=True)
    ]


def _by_first_time(places: list[PartRows], reader: PartReader) -> list[PartRows]:
    """Parts in the order of the times of their first rows."""
    firsts = []
    for rows in places:
        batch = next(read_part(rows.part, [str(reader.time)], rows.start))
        cells = as_series(batch.rows.slice(0, 1), str(reader.time))
        try:
            with cases_of_rows(np.array([rows.start])):
                first = parse_times(cells, reader.written, rows.start, reader.zones)
                time = check_times(first)
        except PanelError as error:
            raise type(error)(f"{error} (in {batch.place})") from None
        firsts.append(np.asarray(time))
    order = np.argsort(np.concatenate(firsts), kind="stable")
    return [places[i] for i in order]


def open_panels(
    dataset: Dataset,
    written: TableFormat,
    progress: Callable[[int], None] = lambda rows: None,
    engine: Engine | None = None,
    checkpoint: Checkpoint | None = None,
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
            "(--outcome), or answer the question about it in the config file."
        )
    frame, origin = read_source(next(_heads(dataset)), written)
    check_unit_names(frame, written)
    head = load_table(frame, written)
    engine = engine or Processes()
    found, mass = _outcomes(dataset, written, engine)
    every = np.ones(len(found), dtype=bool)
    head, labels, numbers = name_classes(head, found, every, written, by_case=False)
    named = labels is not None
    if labels is None:
        K = 2 if head.values.ndim == 2 else head.values.shape[2]
        numbers, labels = encode_outcomes(numbers, K, written.positive)
    weights = np.zeros(len(labels.names))
    np.add.at(weights, numbers, mass)
    return PanelStream(
        dataset,
        PartReader(written, head.agents, labels, named),
        weights,
        replace(head.summary, origin=origin, agents=head.agents, duplicate_ids=0),
        progress,
        engine,
        checkpoint,
    )


def _heads(dataset: Dataset) -> Iterator[pa.Table]:
    for batch in dataset.read(dataset.columns):
        yield pa.Table.from_batches([batch.rows.slice(0, HEAD)])


def _outcomes(
    dataset: Dataset, written: TableFormat, engine: Engine
) -> tuple[Array, FloatArray]:
    """All labels of the outcome, and how much the cases of each weigh."""
    mass: dict[Any, float] = {}
    found = engine.map(PartLabels(written), dataset.parts)
    for part, weights in zip(dataset.parts, found, strict=True):
        for label, weight in weights.items():
            mass[label] = mass.get(label, 0.0) + weight
        _check_few(mass, written, str(part.path))
    if not mass:
        raise OutcomeError(
            f"some cases must have an outcome; column {written.outcome!r} is empty in "
            f"all {dataset.rows:,} rows. Say which column holds the outcome "
            "(--outcome)."
        )
    numbers = label_numbers(mass)
    labels = [numbers.get(label, label) for label in mass]
    check_spelling(labels, written.outcome)
    given = check_labels(np.array(labels, dtype=object))
    return given, np.array(list(mass.values()))


@dataclass(frozen=True)
class PartLabels:
    """The labels of the outcome in a part, and how much the cases of each weigh."""

    written: TableFormat

    def __call__(self, part: Part) -> dict[Any, float]:
        """Read the outcomes of a part."""
        mass: dict[Any, float] = {}
        names = (self.written.outcome, self.written.weight, self.written.propensity)
        columns = [name for name in names if name is not None]
        for batch in prefetch(read_part(part, columns)):
            for label, weight in _weigh_labels(batch.rows, self.written):
                mass[label] = mass.get(label, 0.0) + weight
            _check_few(mass, self.written, batch.place)
        return mass


def _check_few(mass: dict[Any, float], written: TableFormat, place: str) -> None:
    if len(mass) > MOST_LABELS:
        raise OutcomeError(
            f"an outcome must be one of few labels; column {written.outcome!r} has "
            f"more than {MOST_LABELS:,} by {place}. Name the column of the outcomes "
            "(--outcome)."
        )


def _weigh_labels(
    rows: pa.RecordBatch, written: TableFormat
) -> Iterator[tuple[Any, float]]:
    """Labels of some outcomes, and how much the cases of each weigh."""
    column = trim_labels(rows.column(written.outcome), written)
    known = ~is_blank(column)
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
