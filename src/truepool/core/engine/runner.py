"""Cells run side by side; rows go to the file as soon as their cell is done."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from truepool.lab.cells import Cell
from truepool.lab.keeping import Kept, Row
from truepool.lab.threads import one_thread

Measure: TypeAlias = Callable[[Cell], list[Row]]
Progress: TypeAlias = Callable[[str, float, float], None]
"""Told what was just done, how much of the work that makes, and how much there is."""


def unwatched(name: str, done: float, total: float) -> None:
    """Show no progress."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Cells that one function measures, and where their rows are kept.

    ``measure`` is a pure function of its cell, so that it can run in another process
    (or on another machine) and in any order. ``effort`` guesses the seconds that a
    cell takes: only the time left is told from it. Cells that measure time run
    ``alone``, one after another, when all others are done.
    """

    measure: Measure
    cells: Sequence[Cell]
    kept: Kept
    effort: Callable[[Cell], float] = lambda cell: 1.0
    alone: bool = False

    @property
    def missing(self) -> list[Cell]:
        """Cells that are not kept yet."""
        return [cell for cell in self.cells if cell not in self.kept]

    @property
    def rows(self) -> list[Row]:
        """Rows of all cells, in their order."""
        return [row for cell in self.cells for row in self.kept[cell]]


def run(
    batches: Sequence[Batch], *, jobs: int = 1, progress: Progress = unwatched
) -> None:
    """Measure the cells that are not kept yet; a core that is free takes the next."""
    from joblib import Parallel, delayed

    todo = [(batch, cell) for batch in batches for cell in batch.missing]
    for batch in batches:
        if batch.missing:
            batch.kept.claim()
    total = sum(batch.effort(cell) for batch in batches for cell in batch.cells)
    done = total - sum(batch.effort(cell) for batch, cell in todo)
    # A process that has grown is replaced, and its work goes on: no news to a user.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    for alone in (False, True):
        now = [(batch, cell) for batch, cell in todo if batch.alone is alone]
        # One cell at a time: of a batch of cells no row comes back before its last.
        work = Parallel(
            n_jobs=1 if alone else jobs,
            batch_size=1,
            return_as="generator_unordered",
        )(
            delayed(_measured)(place, batch.measure, cell)
            for place, (batch, cell) in enumerate(now)
        )
        for place, rows in work:
            batch, cell = now[place]
            batch.kept.add(cell, rows)
            done += batch.effort(cell)
            progress(cell.experiment, done, total)


def _measured(place: int, measure: Measure, cell: Cell) -> tuple[int, list[Row]]:
    with one_thread():
        return place, measure(cell)
