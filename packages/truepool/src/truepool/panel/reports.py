"""Raw reports, checked: probabilities, or one sentence that says why not."""

from typing import Any, cast

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import ArrayLike

from truepool.core import kernels
from truepool.core.arrays import FloatArray, from_classes, read_only
from truepool.core.errors import AgentError, PanelError, ReportError
from truepool.panel.row_names import case_name
from truepool.panel.sparse import SparseReports

SUM_TOLERANCE = 1e-3
"""How far from 1 the K probabilities of one report may sum (CSV files round)."""


CLIP_TOLERANCE = 1e-6
"""How far outside [0, 1] single precision may carry a probability; it is clipped."""


def column_names(reports: object) -> tuple[str, ...]:
    """Return the column names of a frame; () for anything without names."""
    frame = _frame(reports)
    return () if frame is None else tuple(map(str, frame.columns))


def check_reports(
    reports: ArrayLike, agents: tuple[str, ...] = (), *, allow_empty_cases: bool = False
) -> tuple[FloatArray, int]:
    """Coordinates (T, N, C) of raw reports, and how many entries are missing.

    A case without any report is refused unless ``allow_empty_cases`` is True.

    >>> values, silent = check_reports([[0.2, 0.4]])
    >>> values.shape, silent
    ((1, 2, 1), 0)
    """
    array = _as_numbers(reports, agents)
    if array.ndim not in (2, 3):
        raise ReportError(
            "reports must be (T, N), one row per case and one column per agent, or "
            f"(T, N, K) for K classes; got an array of shape {array.shape}"
        )
    T, N = array.shape[:2]
    names = _agent_names(agents, N)
    if N < 2:
        raise AgentError(
            f"pooling needs at least 2 agents; got {N}"
            + (f", {names[0]!r}" if N else "")
            + ". Add the column of another agent; in a table, agents and ignore say "
            "which columns are agents."
        )
    if T == 0:
        raise PanelError("there must be at least one case; got none")
    values = cast(
        FloatArray, read_only(array if array.ndim == 3 else array[:, :, None])
    )
    if values.shape[2] < 2 and array.ndim == 3:
        raise ReportError("reports of shape (T, N, K) need K of at least 2 classes")
    outside, silent = kernels.scan(values)
    if outside:
        near = np.clip(values, 0.0, 1.0)
        if not np.nanmax(np.abs(near - values)) <= CLIP_TOLERANCE:
            raise _outside(values, near, names)
        values = cast(FloatArray, read_only(near))
    if values.shape[2] > 1:
        values = _checked_classes(values, names)
        silent = int(np.isnan(values).sum()) if silent else 0
    if silent and not allow_empty_cases:
        _, first, empty = kernels.report_counts(values)
        if empty:
            raise ReportError(
                "every case needs at least one report; there is none in "
                f"{case_name(first)} ({empty} in all). Leave those cases out."
            )
    return values, silent


def _outside(
    values: FloatArray, near: FloatArray, names: tuple[str, ...]
) -> ReportError:
    """Return the refusal of reports (T, N, C) outside [0, 1], by the first of them."""
    with np.errstate(invalid="ignore"):
        far = ~(np.abs(near - values) <= CLIP_TOLERANCE) & ~np.isnan(values)
    t, i, c = (int(index) for index in np.argwhere(far)[0])
    return _refuse_outside(names[i], values[t, i, c], int(far.sum()), case_name(t))


def _refuse_outside(agent: str, value: float, count: int, where: str) -> ReportError:
    more = f" ({count:,} such reports in all)" if count > 1 else ""
    return ReportError(
        f"a report must lie in [0, 1]; agent {agent!r} has {value:g} in {where}{more}. "
        "Correct it, turn percentages and scores into shares of their range, or leave "
        "the agent out."
    )


def check_sparse(
    reports: SparseReports,
    agents: tuple[str, ...] = (),
    *,
    allow_empty_cases: bool = False,
) -> tuple[SparseReports, int]:
    """Sparse reports that are probabilities, and how many cells are empty."""
    N = reports.agents
    names = _agent_names(agents, N)
    if N < 2:
        raise AgentError(f"pooling needs at least 2 agents; got {N}, {names[0]!r}")
    given = reports.values
    near = np.clip(given, 0.0, 1.0)
    far = ~(np.abs(near - given) <= CLIP_TOLERANCE)  # NaN is no report
    if far.any():
        cell = int(np.argmax(far))
        raise _refuse_outside(
            names[reports.agent[cell]], given[cell], int(far.sum()),
            case_name(int(reports.case[cell])),
        )  # fmt: skip
    empty = reports.counts == 0
    if empty.any() and not allow_empty_cases:
        raise ReportError(
            "every case needs at least one report; there is none in "
            f"{case_name(int(np.argmax(empty)))} ({int(empty.sum())} in all). Leave "
            "those cases "
            "out."
        )
    checked = reports if np.array_equal(near, given) else reports.with_values(near)
    return checked, reports.cells - len(given)


def _frame(reports: object) -> nw.DataFrame[Any] | None:
    if isinstance(reports, np.ndarray):
        return None
    try:
        found = nw.from_native(reports, eager_only=True, pass_through=True)
    except DuplicateError as error:
        raise AgentError(
            "every agent needs a name of its own; got "
            f"{' '.join(str(error).split()[-3:])}"
        ) from None
    return found if isinstance(found, nw.DataFrame) else None


def _as_numbers(reports: ArrayLike, agents: tuple[str, ...]) -> FloatArray:
    frame = _frame(reports)
    if frame is not None:
        columns = list(frame.iter_columns())
        if columns and all(column.dtype.is_numeric() for column in columns):
            given = [column.cast(nw.Float64).to_numpy() for column in columns]
            return np.stack(given, axis=1)
    if isinstance(reports, np.ma.MaskedArray):
        reports = np.ma.filled(np.ma.asarray(reports, dtype=np.float64), np.nan)
    try:
        array = np.asarray(reports)
    except ValueError:
        raise ReportError(
            "reports must be a table with as many numbers in each row; got rows of "
            "different lengths"
        ) from None
    if array.dtype.kind in "buif":
        return array.astype(np.float64, copy=False)
    if array.ndim < 2:
        raise ReportError(f"reports must be a table of numbers; got {reports!r:.60}")
    names = _agent_names(agents, array.shape[1])
    numbers = np.empty(array.shape)
    for index, value in np.ndenumerate(array):
        try:
            if isinstance(value, str) or np.iscomplexobj(value):
                value = complex(value) if np.iscomplexobj(value) else str(value)
                raise TypeError
            numbers[index] = np.nan if value is None else value
        except (TypeError, ValueError, OverflowError):
            raise ReportError(
                f"a report must be a number in [0, 1]; agent {names[index[1]]!r} has "
                f"{value!r:.60} in {case_name(index[0])}. Leave out a column that is "
                "not an agent."
            ) from None
    return numbers


def _agent_names(agents: tuple[str, ...], count: int) -> tuple[str, ...]:
    names = agents or tuple(f"agent{i}" for i in range(count))
    check_names(names, count, "agent", AgentError)
    return names


def check_names(
    names: tuple[str, ...], count: int, what: str, error: type[ValueError]
) -> None:
    """Refuse names that are not one for each column, or not all different."""
    if len(names) != count:
        raise error(
            f"there must be one name for each {what}; got {len(names)} names for "
            f"{count} columns"
        )
    if len(set(names)) < count:
        twice = next(name for name in names if names.count(name) > 1)
        raise error(
            f"{what} names must be unique; got {twice!r} {names.count(twice)} times. "
            "Rename one."
        )


def _checked_classes(values: FloatArray, names: tuple[str, ...]) -> FloatArray:
    """Coordinates of reports over K classes whose probabilities sum to 1."""
    totals = values.sum(axis=2)  # (T, N)
    part = np.isnan(totals) & ~np.isnan(values).all(axis=2)
    if part.any():
        t, i = (int(index) for index in np.argwhere(part)[0])
        raise ReportError(
            "a report must give every class a probability; agent "
            f"{names[i]!r} left some out in {case_name(t)}. Fill them in, or leave "
            "all empty."
        )
    gap = np.nan_to_num(np.abs(totals - 1))
    if gap.max() > SUM_TOLERANCE:
        t, i = (int(index) for index in np.argwhere(gap > SUM_TOLERANCE)[0])
        raise ReportError(
            f"the {values.shape[2]} probabilities of a report must sum to 1; agent "
            f"{names[i]!r} sums to {totals[t, i]:g} in {case_name(t)}. Divide by the "
            "sum."
        )
    if gap.max() > 0:
        values = values / totals[:, :, None]
    return cast(FloatArray, read_only(from_classes(values)))
