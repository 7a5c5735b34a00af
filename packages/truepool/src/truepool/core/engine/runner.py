"""Cells run in parallel; rows go to their file as soon as a cell is done."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from truepool.core.engine.cell import Cell
from truepool.core.engine.engines import Engine, Processes
from truepool.core.engine.row_file import Row, RowFile
from truepool.core.engine.threads import one_thread

Measure: TypeAlias = Callable[[Cell], list[Row]]
Progress: TypeAlias = Callable[[str, float, float], None]
"""Called with the name of the experiment, the work done so far and all of it."""


def no_progress(name: str, done: float, total: float) -> None:
    """Show no progress."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Cells that one function measures, and the file of their rows.

    ``measure`` is a pure function of its cell, so that it can run in another process
    (or on another machine) and in any order. ``effort`` estimates the seconds per cell
    and is used for the progress bar only. Cells that measure time run ``alone``, one
    after another, when all others are done.
    """

    measure: Measure
    cells: Sequence[Cell]
    file: RowFile
    effort: Callable[[Cell], float] = lambda cell: 1.0
    alone: bool = False

    @property
    def missing(self) -> list[Cell]:
        """Cells whose rows are not in the file yet."""
        return [cell for cell in self.cells if cell not in self.file]

    @property
    def rows(self) -> list[Row]:
        """Rows of all cells, in their order."""
        return [row for cell in self.cells for row in self.file[cell]]


def run(
    batches: Sequence[Batch],
    *,
    jobs: int = 1,
    engine: Engine | None = None,
    progress: Progress = no_progress,
) -> None:
    """Measure the missing cells of all batches in ``jobs`` processes, or on an engine.

    Cells that measure time run in this process, whatever the engine is.
    """
    todo = [(batch, cell) for batch in batches for cell in batch.missing]
    for batch in batches:
        if batch.missing:
            batch.file.claim()
    total = sum(batch.effort(cell) for batch in batches for cell in batch.cells)
    done = total - sum(batch.effort(cell) for batch, cell in todo)
    # joblib replaces a process that uses too much memory; nothing is lost.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    for alone in (False, True):
        now = [(batch, cell) for batch, cell in todo if batch.alone is alone]
        where = Processes() if alone else engine or Processes(jobs)
        work = where.map_unordered(
            _measure, ((batch.measure, cell) for batch, cell in now)
        )
        for place, rows in work:
            batch, cell = now[place]
            batch.file.add(cell, rows)
            done += batch.effort(cell)
            progress(cell.experiment, done, total)


def _measure(task: tuple[Measure, Cell]) -> list[Row]:
    measure, cell = task
    with one_thread():
        return measure(cell)
