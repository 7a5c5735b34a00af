"""One report of several classes, as a list or by the names of the classes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def in_class_order(report: Any, classes: Sequence[str]) -> list[Any] | None:
    """Probabilities of a report in the order of the classes; None if it has others.

    A report is a list in that order, or names them.

    >>> in_class_order({"high": 0.2, "low": 0.7, "mid": 0.1}, ["low", "mid", "high"])
    [0.7, 0.1, 0.2]
    """
    if isinstance(report, Mapping):
        named = {str(name): p for name, p in report.items()}
        fits = set(named) == set(classes)
        return [named[name] for name in classes] if fits else None
    if not isinstance(report, list | tuple | np.ndarray):
        return None
    fits = len(report) == len(classes) and all(np.ndim(p) == 0 for p in report)
    return list(report) if fits else None
