"""Cells run side by side; rows go to the file as soon as their cell is done."""

from collections.abc import Callable, Sequence

from truepool.lab.cells import Cell
from truepool.lab.keeping import Kept, Row

__all__ = ["Row", "run"]


def run(
    measure: Callable[[Cell], list[Row]],
    todo: Sequence[Cell],
    kept: Kept,
    *,
    jobs: int = 1,
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> list[Row]:
    """Measure the cells that are not kept yet; return the rows of all, in their order.

    ``measure`` is a pure function of its cell, so that it can run in another process
    (or on another machine) and in any order.
    """
    from joblib import Parallel, delayed

    missing = [cell for cell in todo if cell not in kept]
    done = len(todo) - len(missing)
    work = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(_measured)(measure, cell) for cell in missing
    )
    for cell, rows in work:
        kept.add(cell, rows)
        done += 1
        progress(cell.experiment, done, len(todo))
    return [row for cell in todo for row in kept[cell]]


def _measured(
    measure: Callable[[Cell], list[Row]], cell: Cell
) -> tuple[Cell, list[Row]]:
    return cell, measure(cell)
