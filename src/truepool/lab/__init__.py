"""Experiments: cells of work whose rows go to a file first, and are not run twice."""

from truepool.lab.cells import Cell, cells
from truepool.lab.keeping import Kept
from truepool.lab.running import Row, run

__all__ = ["Cell", "Kept", "Row", "cells", "run"]
