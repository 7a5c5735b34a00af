"""The panels of a data set: read batch by batch, once for each pass over it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truepool.core import kernels
from truepool.core.arrays import FloatArray, IntArray, from_classes
from truepool.core.engine import (
    Engine,
    Processes,
    map_with_progress,
    one_blas_thread,
)
from truepool.core.prefetch import prefetch
from truepool.panel.labels import Labels
from truepool.panel.panel import Panel
from truepool.tables import cells
from truepool.tables.checkpoint import Checkpoint, PassTotals
from truepool.tables.columns import MOST_LABELS
from truepool.tables.dataset import Dataset, Part, read_part
from truepool.tables.decode import UNKNOWN, Block, Decoder
from truepool.tables.faults import Cure, Fault, Note, Place, TableFaults
from truepool.tables.infer import infer, infer_asking
from truepool.tables.outcome import one_spelling
from truepool.tables.read import Answer, check_percentages, decode_known
from truepool.tables.sample import read_rows, spaced_rows
from truepool.tables.schema import PERCENT, Declared, Schema
from truepool.tables.source import Frame, ParquetFiles


class PartRows(NamedTuple):
    """A part, whose first row has the place ``start`` in the data set."""

    part: Part
    start: int

    def place(self, row: int) -> Place:
        """Return where a person finds a row of the data set."""
        return Place("part-row", (row - self.start, self.part.name))


@dataclass(frozen=True, eq=False)
class PartReader:
    """How the cases of every part are read.

    The cases of a schema with a time must be in its order; ``keep_empty`` keeps cases
    without any report.
    """

    schema: Schema
    keep_empty: bool = False

    def read(
        self,
        rows: PartRows,
        totals: PassTotals,
        progress: Callable[[int], None] = lambda rows: None,
        decoder: Decoder | None = None,
        after: Any = None,
    ) -> Iterator[Panel]:
        """Yield the cases that have an outcome and a report, and count them.

        None of them may have a time before ``after``.
        """
        decoder = decoder or Decoder(self.schema)
        batches = prefetch(read_part(rows.part, self.schema.columns, rows.start))
        panels = self._panels(batches, rows, totals, decoder, after)
        for count, panel in prefetch(panels):
            if panel is not None:
                yield panel
            progress(count)

    def _panels(
        self,
        batches: Iterable[Any],
        rows: PartRows,
        totals: PassTotals,
        decoder: Decoder,
        after: Any,
    ) -> Iterator[tuple[int, Panel | None]]:
        for each in batches:
            block = decoder.block(each.rows, each.start)
            if self.schema.time is not None:
                _check_order(block, after, self.schema.time, decoder)
            decoder.faults.raise_all(rows.place, rows.part.name)
            panel = self._panel(block, totals)
            if panel is not None and panel.times is not None:
                after = panel.times[-1]
            yield len(each.rows), panel

    def nothing(self) -> PassTotals:
        """Counts of no cases."""
        K, N = len(self.schema.labels), len(self.schema.agents)
        return PassTotals(np.zeros(K, int), np.zeros(N, int), np.zeros(K))

    def _panel(self, block: Block, totals: PassTotals) -> Panel | None:
        """Panel of the rows with an outcome and a report, None if there is none."""
        outcomes = np.zeros(0, int) if block.outcomes is None else block.outcomes
        empty = outcomes == UNKNOWN
        left_out = block.blank & (not self.keep_empty)
        known = ~(empty | left_out)
        totals.pending += int((empty & ~left_out).sum())
        totals.empty += int(left_out.sum())
        if not known.any():
            return None
        panel = _trusted(
            block, np.flatnonzero(known), self.schema, keep_empty=self.keep_empty
        )
        totals.counts += np.asarray(panel.counts)
        totals.mass += _mass(panel)
        totals.silent += panel.silent
        if panel.silent:
            totals.reported += kernels.report_counts(panel.values)[0]
        else:
            totals.reported += len(panel)
        return panel


def _trusted(
    block: Block, rows: IntArray, schema: Schema, *, keep_empty: bool
) -> Panel:
    """Panel of one case or more: a panel of one is part of a larger one."""
    at = rows if len(rows) > 1 else np.repeat(rows, 2)
    values = block.values[:, :, 0] if block.values.shape[2] == 1 else block.values
    whole = len(at) == len(block)
    outcomes, weights, propensity, times = (
        None if each is None else each[at]
        for each in (block.outcomes, block.weights, block.propensity, block.times)
    )
    panel = Panel(
        values if whole else values[at],
        () if outcomes is None else outcomes,
        schema.agents,
        times=times,
        columns=block.columns.take(at),
        weights=weights,
        propensity=propensity,
        allow_empty_cases=keep_empty,
        copy=False,
    ).with_labels(Labels(schema.labels))
    return panel if len(rows) > 1 else panel.take(np.array([0]))


def _check_order(block: Block, after: Any, name: str, decoder: Decoder) -> None:
    """Note cases that are not in the order of time, or come before an earlier one."""
    times = block.times
    if times is None or decoder.faults:
        return
    before = times[:1] if after is None else np.array([after])
    before = np.append(before, times[:-1])
    decoder.faults.add_rows(
        "time-order",
        times < before,
        lambda t: times[t],
        block.start,
        column=name,
        cures=(Cure("sort"),),
    )


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
                found = _added(found, self.sums(panel))
        return found, totals


def _added(sums: FloatArray, more: FloatArray) -> FloatArray:
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


@dataclass(eq=False)
class PanelStream:
    """Panels of consecutive cases of a data set, summed part by part.

    Every pass counts the cases that have an outcome and a report in ``totals``.
    ``mass`` (K,) is the weight of each class, as far as it is known; ``columns`` says
    what all columns are, those included that are not read. The ``engine`` says where
    parts are read.
    """

    dataset: Dataset
    reader: PartReader
    mass: FloatArray
    columns: Schema = field(default_factory=Schema)
    notes: tuple[Note, ...] = ()
    progress: Callable[[int], None] = lambda rows: None
    engine: Engine = field(default_factory=Processes)
    checkpoint: Checkpoint | None = None
    totals: PassTotals = field(init=False)

    def __post_init__(self) -> None:
        self.totals = self.reader.nothing()

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.reader.schema

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the agents."""
        return self.schema.agents

    @property
    def labels(self) -> Labels:
        """Labels of the outcomes."""
        return Labels(self.schema.labels)

    @property
    def classes(self) -> int:
        """Number of classes, K."""
        return len(self.schema.labels)

    @property
    def prior(self) -> FloatArray:
        """Share of each class, as coordinates (C,)."""
        return from_classes(self.mass / self.mass.sum())

    @property
    def cases(self) -> int:
        """Cases with an outcome, those without a report included; each counts once."""
        return int(self.mass.sum())

    def sum(self, sums: Callable[[Panel], FloatArray], made_by: str = "") -> FloatArray:
        """Read the data set once, and add up what a function makes of its panels.

        The sums of the parts are added in their order, so that the bits do not depend
        on who made them. With a checkpoint, an interrupted pass goes on after the parts
        that it has summed up; ``made_by`` says what the function depends on.
        """
        parts, made_by = self.dataset.parts, f"{made_by} {self.schema.to_dict()}"
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
                total = _added(total, part)
                self.totals.add(counts)
                done += 1
                self._save(done, made_by, total)
        except BaseException:  # also when the user interrupts it
            self._save(done, made_by, total, now=True)
            raise
        return total

    def _save(
        self, done: int, made_by: str, total: FloatArray, *, now: bool = False
    ) -> None:
        if self.checkpoint is not None and done:
            parts = self.dataset.parts[:done]
            self.checkpoint.save(parts, made_by, total, self.totals, now=now)

    def in_order(self) -> Iterator[Panel]:
        """Read all cases that have an outcome, from the first in time to the last.

        Parts are taken in the order of their first time. Inside a part, and from one
        part to the next, no case may come before an earlier one. Without a time the
        order is that of the data set.
        """
        schema = replace(self.schema, time=self.columns.time)
        reader = PartReader(schema, keep_empty=True)
        decoder, last = Decoder(schema), None
        places, self.totals = _places(self.dataset), reader.nothing()
        if schema.time is not None and len(places) > 1:
            places = _by_first_time([rows for rows in places if rows.part.rows], schema)
        for rows in places:
            for panel in reader.read(rows, self.totals, self.progress, decoder, last):
                last = None if panel.times is None else panel.times[-1]
                yield panel


def _places(dataset: Dataset) -> list[PartRows]:
    ends = accumulate(part.rows for part in dataset.parts)
    return [
        PartRows(part, end - part.rows)
        for part, end in zip(dataset.parts, ends, strict=True)
    ]


def _by_first_time(places: list[PartRows], schema: Schema) -> list[PartRows]:
    """Parts in the order of the times of their first rows."""
    decoder, firsts = Decoder(schema), []
    for rows in places:
        batch = next(read_part(rows.part, [str(schema.time)], rows.start))
        column = cells.plain(batch.rows.column(0).slice(0, 1))
        firsts.append(decoder.times(str(schema.time), column, rows.start))
        decoder.faults.raise_all(rows.place)
    order = np.argsort(np.concatenate(firsts), kind="stable")
    return [places[i] for i in order]


def open_panels(
    dataset: Dataset,
    declared: Declared,
    progress: Callable[[int], None] = lambda rows: None,
    engine: Engine | None = None,
    checkpoint: Checkpoint | None = None,
    answer: Answer = lambda questions: {},
) -> PanelStream:
    """Find out what the columns are, and the labels by a pass over the outcomes.

    Rows from all over the data set say what the columns are.
    """
    source = ParquetFiles(dataset)
    engine = engine or Processes()
    places = spaced_rows(dataset.rows)
    rows = Frame(read_rows(dataset, places), source.name, source.keys)
    mass: dict[str, dict[Any, float]] = {}

    def labels_of(outcome: str) -> Mapping[Any, float]:
        if outcome not in mass:
            mass[outcome] = _outcomes(dataset, declared, outcome, engine)
        return mass[outcome]

    schema, found = infer_asking(
        lambda said: infer(rows, said, rows.table(), labels_of=labels_of),
        declared,
        answer,
    )
    if schema.long is not None:
        found.faults.add(long_fault(schema))
    elif found.faults or found.questions:
        decode_known(rows.table(), schema, found)
    found.faults.raise_all(
        lambda row: source.place(int(places[row])), source.name, found.questions
    )
    if PERCENT in schema.units.values() and len(schema.labels) == 2:
        whole = Decoder(replace(schema, time=None)).block(rows.table())
        outcomes = np.zeros(0, int) if whole.outcomes is None else whole.outcomes
        check_percentages(schema, whole.values[:, :, 0], outcomes, source.name)
    weights = one_spelling(mass[str(schema.outcome)])
    return PanelStream(
        dataset,
        PartReader(replace(schema, id=None, group=None, time=None)),
        np.array([weights.get(label, 0.0) for label in schema.labels]),
        schema,
        tuple(found.notes),
        progress,
        engine,
        checkpoint,
    )


def long_fault(schema: Schema) -> Fault:
    """Return the fault that a table with one row per report cannot be read in parts."""
    cure = Cure("fits-memory", "long", [*(schema.long or ())])
    return Fault("long-stream", cures=(cure, Cure("one-row")))


def _outcomes(
    dataset: Dataset, declared: Declared, outcome: str, engine: Engine
) -> dict[Any, float]:
    """All labels of the outcome, and how much the cases of each weigh."""
    mass: dict[Any, float] = {}
    for weights in engine.map(PartLabels(declared, outcome), dataset.parts):
        for label, weight in weights.items():
            mass[label] = mass.get(label, 0.0) + weight
        _check_few(mass, outcome)
    numbers = cells.label_numbers(mass)
    return {numbers.get(label, label): weight for label, weight in mass.items()}


def _check_few(mass: dict[Any, float], outcome: str) -> None:
    if len(mass) > MOST_LABELS:
        raise TableFaults(
            [Fault("many-labels", column=outcome, cures=(Cure("name-outcome"),))]
        )


@dataclass(frozen=True)
class PartLabels:
    """The labels of the outcome in a part, and how much the cases of each weigh."""

    declared: Declared
    outcome: str

    def __call__(self, part: Part) -> dict[Any, float]:
        """Read the outcomes of a part."""
        mass: dict[Any, float] = {}
        names = (self.outcome, self.declared.weight, self.declared.propensity)
        columns = [name for name in names if name is not None]
        if not {*columns} <= {*part.columns}:
            return mass  # said by whoever reads the columns
        for batch in prefetch(read_part(part, columns)):
            for label, weight in self._weigh(batch.rows):
                mass[label] = mass.get(label, 0.0) + weight
            _check_few(mass, self.outcome)
        return mass

    def _weigh(self, rows: pa.RecordBatch) -> Iterator[tuple[Any, float]]:
        """Labels of some outcomes, and how much the cases of each weigh."""
        declared = self.declared
        column = cells.plain(rows.column(self.outcome))
        if cells.is_text(column):
            column = cells.trim(column, declared.missing)
        else:
            column = cells.labels(column, declared.missing)
        weights = np.ones(len(column))
        for name, power in ((declared.weight, 1), (declared.propensity, -1)):
            if name is not None:
                own = cells.plain(rows.column(name))
                found = cells.amounts(own, declared.decimal, declared.missing)
                weights *= found.values**power
        coded = pc.dictionary_encode(column)
        codes = np.asarray(pc.fill_null(coded.indices, -1))
        known = codes >= 0
        sums = np.bincount(codes[known], weights[known], len(coded.dictionary))
        labels = zip(coded.dictionary.to_pylist(), sums.tolist(), strict=True)
        return ((label, mass) for label, mass in labels if label is not None)
