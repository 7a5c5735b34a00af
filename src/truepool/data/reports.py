"""Raw reports, checked: probabilities, or one sentence that says why not."""

import shlex
from collections.abc import Sequence
from typing import Any, cast

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import ArrayLike

from truepool.core import kernels
from truepool.core.arrays import FloatArray, IntArray, from_classes, read_only
from truepool.core.errors import AgentError, PanelError, ReportError
from truepool.core.formatting import join_names
from truepool.data.row_names import case_name
from truepool.data.sparse import SparseReports

SUM_TOLERANCE = 1e-3
"""How far from 1 the K probabilities of one report may sum (CSV files round)."""

SLIP_SHARE, SLIP_HEIGHT = 0.02, 0.1
"""Reports outside [0, 1] are slips up to this share of an agent's; above 1, also only
so far above."""

CLIP_TOLERANCE = 1e-6
"""How far outside [0, 1] single precision may carry a probability; it is clipped."""

UNIT_RATIO = 10.0
"""Percentages go so many times as high as fractions, at least."""

SMALL = 0.01
"""Percentages up to here were written as numbers up to 1, as fractions are."""

MIXED_SHARE = 0.05
"""Share of an agent's reports that must be in another unit for it to mix units."""

LARGEST_LOGIT = 40.0
"""Log-odds further from 0 are beyond what a probability can be told from 0 or 1 by."""

MAX_SCORE = 10
"""Whole numbers up to here look like scores of a judge, and not like percentages."""


def percent_option(agents: Sequence[str]) -> str:
    """Return the option that says of a table that these agents report percentages.

    >>> percent_option(["vendor_a", "vendor b"])
    "--percent='vendor_a,vendor b'"
    """
    return f"--percent={shlex.quote(join_patterns(agents))}"


def join_patterns(names: Sequence[str]) -> str:
    """Return names in one text that is split at commas.

    A question mark stands for any character, also for a comma in a name.
    """
    return ",".join(name.replace(",", "?") for name in names)


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
            + ". Add the column of another agent; in a table --agents and --ignore say "
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
            raise ReportError(_outside(values, names))
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
        agent = reports.agent[cell]
        own = given[reports.agent == agent]
        cure = f"If {names[agent]!r} is not an agent, leave it out."
        if own.max() <= 100 and own.min() >= 0:
            option = _option(largest_reports(reports), int(agent), names)
            cure = f"If these are percentages, divide by 100 ({option})."
        raise ReportError(
            f"a report must lie in [0, 1]; agent {names[agent]!r} has {given[cell]:g} "
            f"in {case_name(int(reports.case[cell]))} (all its reports lie between "
            f"{own.min():g} and {own.max():g}). {cure}"
        )
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


def largest_reports(reports: FloatArray | SparseReports) -> FloatArray:
    """Return the largest number (N,) that each agent reports, 0 where there is none.

    >>> largest_reports(np.array([[[0.2], [np.nan]], [[0.4], [np.nan]]]))
    array([0.4, 0. ])
    """
    if not isinstance(reports, SparseReports):
        return np.asarray(np.nanmax(reports, axis=(0, 2), initial=0.0))
    largest = np.zeros(reports.agents)
    np.maximum.at(largest, reports.agent, reports.values)
    return largest


def report_counts(reports: FloatArray | SparseReports) -> IntArray:
    """Return the number of reports (N,) of each agent.

    >>> report_counts(np.array([[[0.2], [np.nan]], [[0.4], [0.1]]]))
    array([2, 1])
    """
    if isinstance(reports, SparseReports):
        return reports.agent_counts
    return np.asarray((~np.isnan(reports[:, :, 0])).sum(axis=0))


def shares_above(reports: FloatArray | SparseReports) -> tuple[float, ...]:
    """Share of each agent's reports that are above `SMALL`, 0 where it has none.

    >>> shares_above(np.array([[[0.2], [np.nan]], [[0.004], [0.1]]]))
    (0.5, 1.0)
    """
    counts = report_counts(reports)
    if isinstance(reports, SparseReports):
        high = np.bincount(reports.agent[reports.values > SMALL], minlength=len(counts))
    else:
        high = (reports > SMALL).any(axis=2).sum(axis=0)
    return tuple((high / np.maximum(counts, 1)).tolist())


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
                f"{value!r:.60} in {case_name(index[0])}"
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


def _outside(values: FloatArray, names: tuple[str, ...]) -> str:
    """Say which agent left [0, 1] first, and guess its unit."""
    t, i, k = (int(index) for index in np.argwhere((values < 0) | (values > 1))[0])
    given = values[:, i]
    low, high = float(np.nanmin(given)), float(np.nanmax(given))
    if not np.isfinite([low, high]).all():
        cure = "Infinity is no report: leave the cell empty if there is none."
    elif is_slip(given):
        count = int(((given < 0) | (given > 1)).sum())
        cure = (
            f"Correct or empty {'this cell' if count == 1 else f'these {count} cells'}."
        )
    elif low < 0 and max(-low, high) <= LARGEST_LOGIT:
        cure = "These look like logits (log-odds): apply a sigmoid, 1 / (1 + exp(-x))."
    elif (
        low >= 0
        and high in range(3, MAX_SCORE + 1)
        and not (given[given == given] % 1).any()
    ):
        cure = _score_cure(values, i, names, f"{min(1, int(low))}-{max(5, int(high))}")
    elif 0 <= low and high <= 100:
        cure = _mix(values, i, names) or _percent_cure(
            largest_reports(values), i, names
        )
    else:
        cure = _score_cure(values, i, names, "LOW-HIGH")
    value = values[t, i, k].item()
    return (
        f"a report must lie in [0, 1]; agent {names[i]!r} has {value:g} in "
        f"{case_name(t)} "
        f"(all its reports lie between {low:g} and {high:g}). {cure}"
    )


def _score_cure(values: FloatArray, i: int, names: tuple[str, ...], span: str) -> str:
    """Say how numbers of agent i that are no percentages are read, or left out."""
    high = np.flatnonzero(largest_reports(values) > 1)
    own = names[i].replace(",", "?")
    option = shlex.quote(span if len(high) == len(names) else f"{own}={span}")
    return (
        f"If these are scores, pass their lowest and highest (--scores {option}); if "
        f"{names[i]!r} is not an agent, leave that column out (--ignore "
        f"{shlex.quote(names[i])}; of a saved pool, in its fit)."
    )


def is_slip(given: FloatArray) -> bool:
    """Whether so few reports of an agent leave [0, 1] that no unit explains them.

    Percentages that are small in most cases reach far above 1 in the others.
    """
    known = given[np.isfinite(given)]
    outside = (known < 0) | (known > 1)
    near = known.min() < 0 or known.max() <= 1 + SLIP_HEIGHT
    return bool(near and outside.sum() <= SLIP_SHARE * known.size)


def _others(tops: FloatArray, i: int) -> list[int]:
    """Agents that report fractions, if agent i goes much higher than they do."""
    others = np.flatnonzero((0 < tops) & (tops <= 1)).tolist()
    if not others or tops[i] < UNIT_RATIO * tops[others].max():
        return []
    return others


def _option(tops: FloatArray, i: int, names: tuple[str, ...]) -> str:
    """Return the option for percentages of agent i: of all agents, or of some."""
    if not _others(tops, i):
        return "--percent"
    return percent_option([n for n, top in zip(names, tops, strict=True) if top > 1])


def _percent_cure(tops: FloatArray, i: int, names: tuple[str, ...]) -> str:
    """Say how percentages of agent i are read, alone or beside probabilities."""
    option = _option(tops, i, names)
    if not _others(tops, i):
        return f"These look like percentages: divide by 100 ({option})."
    percent = [name for name, top in zip(names, tops, strict=True) if top > 1]
    one = len(percent) == 1
    those = join_names([repr(name) for name in percent])
    return (
        f"Only {those} {'is' if one else 'are'} in percent: divide "
        f"{'it' if one else 'them'} by 100 ({option})."
    )


def _mix(values: FloatArray, i: int, names: tuple[str, ...]) -> str | None:
    """Say that agent i mixes percentages and probabilities, if it does."""
    tops = largest_reports(values)
    others = _others(tops, i)
    if not others or values.shape[2] > 1:
        return None
    column, cure = values[:, i, 0], f"pass {_option(tops, i, names)}."
    mixed = mixed_units(column, values[:, others, 0])
    said = mixed and describe_mix(names[i], column, mixed)
    return said and f"{said} If all of it is in percent, {cure}"


def mixed_units(column: FloatArray, others: FloatArray) -> tuple[int, int] | None:
    """Return a case with a percentage and one with a probability of one agent (T,).

    None where it has one unit. ``others`` (T, M) are probabilities of other agents: its
    numbers up to 1 are probabilities if, as such, most of them lie closer to the
    reports of most of the others. One of these may report the opposite, which small
    percentages are far from. Cases are counted, since few large numbers would decide a
    mean where events are rare.
    """
    below = (column > 0) & (column <= 1) & np.isfinite(others).any(axis=1)
    above = column > 1
    if not above.any() or below.sum() < MIXED_SHARE * np.isfinite(column).sum():
        return None
    x, reports = column[below, None], others[below]
    reports = reports[:, np.isfinite(reports).any(axis=0)]
    closer = abs(x - reports) < abs(x / 100 - reports)
    mostly = 2 * closer.sum(axis=0) > np.isfinite(reports).sum(axis=0)
    if 2 * mostly.sum() <= reports.shape[1]:
        return None
    return int(np.argmax(above)), int(np.argmax(below))


def describe_mix(name: str, column: FloatArray, cases: tuple[int, int]) -> str:
    """Say that an agent mixes percentages and probabilities, with a case of each."""
    percent, share = (f"{column[t]:g} in {case_name(t)}" for t in cases)
    return (
        f"{name!r} mixes percentages and probabilities ({percent}, {share}); write it "
        "in one unit."
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
