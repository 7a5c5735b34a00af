"""Engines that map work over items, and experiments as cells that run on them.

A cell is one thing to measure; its seeds depend on the axis and the repeat only. The
rows of a finished cell go to a file of JSON lines at once, and a later run measures
only what the file lacks.
"""

from truepool.core.engine.cell import Cell, cells
from truepool.core.engine.engines import (
    Engine,
    Processes,
    make_engine,
    map_with_progress,
)
from truepool.core.engine.row_file import Row, RowFile
from truepool.core.engine.runner import Batch, Progress, no_progress, run
from truepool.core.engine.threads import one_blas_thread, one_thread

__all__ = [
    "Batch",
    "Cell",
    "Engine",
    "Processes",
    "Progress",
    "Row",
    "RowFile",
    "cells",
    "make_engine",
    "map_with_progress",
    "no_progress",
    "one_blas_thread",
    "one_thread",
    "run",
]
