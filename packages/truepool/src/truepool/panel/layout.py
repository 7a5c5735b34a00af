"""Reports as a table or sparse: one function for both where callers need not know."""

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import BoolArray, FloatArray, IntArray, read_only
from truepool.panel.reports import check_reports, check_sparse
from truepool.panel.sparse import SparseReports, prefers_sparse

AnyArray = TypeVar("AnyArray", FloatArray, IntArray)

CURE = (
    "Use what reads only the reports that were given (docs/forecasters.md), or leave "
    "out agents or cases."
)


def check_layout(
    reports: ArrayLike | SparseReports,
    agents: tuple[str, ...] = (),
    *,
    allow_empty_cases: bool = False,
    copy: bool = False,
) -> tuple[FloatArray | SparseReports, int]:
    """Coordinates (T, N, C) or sparse reports, checked, and how many are missing.

    >>> check_layout([[0.2, 0.4]])[0].shape
    (1, 2, 1)
    """
    if isinstance(reports, SparseReports):
        return check_sparse(reports, agents, allow_empty_cases=allow_empty_cases)
    values, silent = check_reports(reports, agents, allow_empty_cases=allow_empty_cases)
    if values.shape[2] == 1 and prefers_sparse(values.size, values.size - silent):
        return SparseReports.from_dense(values[:, :, 0]), silent
    return own_memory(values, reports) if copy else values, silent


def own_memory(array: AnyArray, given: ArrayLike) -> AnyArray:
    """Return an array that shares no memory with what was given."""
    shared = np.may_share_memory(array, np.asarray(given))
    return array.copy() if shared else array


def squeeze(values: FloatArray | SparseReports) -> FloatArray | SparseReports:
    """Reports (T, N) of coordinates (T, N, 1); others stay as they are."""
    if isinstance(values, SparseReports):
        return values
    return read_only(values[:, :, 0] if values.shape[2:] == (1,) else values)


def as_table(given: FloatArray | SparseReports) -> FloatArray:
    """Reports (T, N) or (T, N, K); sparse ones of too many cells are refused."""
    if isinstance(given, SparseReports):
        given.check_cells("this", CURE)
        return read_only(given.dense()[:, :, 0])
    return given


def take_cases(
    given: FloatArray | SparseReports, cases: IntArray | BoolArray
) -> FloatArray | SparseReports:
    """Return the reports on some of the cases."""
    return given.take(cases) if isinstance(given, SparseReports) else given[cases]


def join_cases(
    first: FloatArray | SparseReports, second: FloatArray | SparseReports
) -> FloatArray | SparseReports:
    """Return the reports on the cases of both, the first ones first."""
    if not (isinstance(first, SparseReports) or isinstance(second, SparseReports)):
        return np.concatenate([first, second])
    one, other = (
        part if isinstance(part, SparseReports) else SparseReports.from_dense(part)
        for part in (first, second)
    )
    return SparseReports(
        np.append(one.starts, one.starts[-1] + other.starts[1:]),
        np.append(one.agent, other.agent),
        np.append(one.values, other.values),
        one.agents,
    )


def count_missing(given: FloatArray | SparseReports) -> int:
    """Number of reports that are missing."""
    if isinstance(given, SparseReports):
        return given.cells - len(given.values)
    return int(np.isnan(given).sum())


def empty_cases(layout: FloatArray | SparseReports) -> BoolArray:
    """Which cases have no report at all, (T,)."""
    if isinstance(layout, SparseReports):
        return np.asarray(layout.counts == 0)
    return np.asarray(np.isnan(layout).all(axis=(1, 2)))
