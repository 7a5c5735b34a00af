"""Experiments: cells of work whose rows go to a file first, and are not run twice."""

from truepool.lab.cells import Cell, cells
from truepool.lab.keeping import Kept, Row
from truepool.lab.running import Batch, Progress, run, unwatched

__all__ = ["Batch", "Cell", "Kept", "Progress", "Row", "cells", "run", "unwatched"]
