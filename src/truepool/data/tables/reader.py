"""Tables in: from CSV, Parquet or a frame to reports by agent."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from truepool.core.arrays import Array, BoolArray, FloatArray
from truepool.core.errors import (
    AgentError,
    OutcomeError,
    ReportError,
    SourceError,
    suggestion,
)
from truepool.data.panel import Panel
from truepool.data.reports import check_reports
from truepool.data.tables.formats import file_format

INDEXES = ("", "__index_level_0__", "Unnamed: 0")
"""Columns that pandas writes for its row index; they are no agents."""


@dataclass(frozen=True, eq=False)
class ReportTable:
    """Reports without outcomes, as they come in day by day."""

    values: FloatArray
    agents: tuple[str, ...]
    ids: Array | None
    times: Array | None

    @property
    def coordinates(self) -> FloatArray:
        """Reports as coordinates, (T, N, C): C = 1 for binary, else C = K."""
        return self.values if self.values.ndim == 3 else self.values[:, :, None]

    def take(self, rows: BoolArray) -> "ReportTable":
        """Return the reports of some rows."""
        return ReportTable(
            self.values[rows],
            self.agents,
            None if self.ids is None else self.ids[rows],
            None if self.times is None else self.times[rows],
        )


def read_panel(
    source: Any,
    outcome: str = "y",
    *,
    positive: Any = None,
    id: str | None = None,
    time: str | None = None,
    ignore: Sequence[str] = (),
    allow_empty_cases: bool = False,
) -> Panel:
    """Read a settled panel from a CSV or Parquet file, or from a frame.

    Parameters
    ----------
    source : path or frame
        A ``.csv``, ``.csv.gz`` or ``.parquet`` file; a pandas, polars or pyarrow frame.
    outcome : str
        Column with what happened: one of two labels, or of 0..K-1. Rows where it is
        empty have no outcome yet: they are kept apart, as the panel's ``pending``
        cases.
    positive : label, optional
        Which of two labels the reports are probabilities of; see `Panel`.
    id, time : str, optional
        Columns that label and date the cases; ``id`` and ``time`` if they exist.
    ignore : sequence of str
        Columns that are not agents.
    allow_empty_cases : bool
        Let in cases in which nobody spoke; only `truepool.replay` can skip them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_panel(pa.table({"ada": [0.9, 0.2], "bob": [0.6, None], "y": [1, 0]}))
    Panel(2 cases, 2 agents (ada, bob), 2 classes, 25.0 % silent)
    """
    frame = read_frame(source, id)
    if outcome not in frame.columns:
        raise OutcomeError(
            f"the table needs an outcome column; there is no {outcome!r}"
            f"{suggestion(outcome, frame.columns)}; "
            f"columns: {', '.join(frame.columns)}. Say which one holds what happened "
            "(--outcome)."
        )
    reports = _reports(frame, id, time, {outcome, *ignore}, ignore)
    empty = _empty(frame[outcome])
    if not empty.any():
        settled, known = reports, frame
    elif empty.all():
        raise OutcomeError(
            f"some cases must have an outcome; column {outcome!r} is empty in all "
            f"{len(frame):,} rows. Say which column holds what happened (--outcome)."
        )
    else:
        settled, known = reports.take(~empty), frame.filter((~empty).tolist())
    panel = Panel(
        settled.values,
        _plain(known[outcome]),
        settled.agents,
        positive=positive,
        ids=settled.ids,
        times=settled.times,
        allow_empty_cases=allow_empty_cases,
    )
    if not empty.any():
        return panel
    later = reports.take(empty)
    position = np.cumsum(~empty)[empty]
    return panel.with_pending(
        later.values, ids=later.ids, times=later.times, position=position
    )


def read_reports(
    source: Any,
    agents: Sequence[str],
    *,
    outcome: str = "y",
    id: str | None = None,
    time: str | None = None,
    ignore: Sequence[str] = (),
) -> ReportTable:
    """Read reports of known agents, in whatever order their columns stand.

    An outcome column, should there be one already, is left aside.

    >>> import pyarrow as pa
    >>> read_reports(pa.table({"bob": [0.6], "ada": [0.9]}), ("ada", "bob")).values
    array([[0.9, 0.6]])
    """
    frame = read_frame(source, id)
    reports = _reports(frame, id, time, {outcome, *ignore}, ())
    missing = [name for name in agents if name not in reports.agents]
    unknown = [name for name in reports.agents if name not in agents]
    if missing or unknown:
        said = []
        if missing:
            said.append(f"missing: {', '.join(map(repr, missing))}")
        if unknown:
            said.append(f"not known: {', '.join(map(repr, unknown))}")
        raise AgentError(
            "the new table must have the agents that were learned from, by name; "
            f"{'; '.join(said)}. Columns that are not agents can be ignored by name."
        )
    order = [reports.agents.index(name) for name in agents]
    values, _ = check_reports(reports.values[:, order], tuple(agents))
    squeezed = values[:, :, 0] if values.shape[2] == 1 else values
    return ReportTable(squeezed, tuple(agents), reports.ids, reports.times)


def read_column_names(source: str | os.PathLike[str]) -> list[str]:
    """Names of the columns of a file.

    >>> from importlib.resources import files
    >>> read_column_names(str(files("truepool.datasets") / "example.csv"))[:3]
    ['id', 'malignant', 'logistic']
    """
    return list(_read_file(Path(source), None).column_names)


def read_frame(source: Any, id: str | None = None) -> nw.DataFrame[Any]:
    """Return the table of a file or a frame, its names checked; ``id`` stays text."""
    if isinstance(source, str | os.PathLike):
        source = _read_file(Path(source), id)
    names = [str(name) for name in _column_names(source)]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise AgentError(
            "every column needs a name of its own; got "
            f"{', '.join(map(repr, sorted(twice)))} more than once. Rename one."
        )
    try:
        frame: nw.DataFrame[Any] = nw.from_native(source, eager_only=True)
    except TypeError:
        raise SourceError(
            "a panel is read from a path or a pandas, polars or pyarrow frame; "
            f"got {type(source).__name__}. Use Panel(...) for arrays."
        ) from None
    if not len(frame):
        raise SourceError("the table must have at least one row; it has none")
    return frame


def _column_names(source: Any) -> Sequence[Any]:
    if isinstance(source, pa.Table):
        return list(source.column_names)
    return list(getattr(source, "columns", ()))


def _read_file(path: Path, id: str | None) -> pa.Table:
    if not path.is_file():
        raise SourceError(f"there is no file {str(path)!r}")
    kind = file_format(path, "read")
    if path.stat().st_size == 0:
        raise SourceError(f"the table must have at least one row; {path} is empty")
    try:
        if kind == "csv":
            # An id is a label: 007 is not 7, and a long number is not a float.
            text = {name: pa.string() for name in ("id", id) if name}
            options = csv.ConvertOptions(column_types=text, strings_can_be_null=False)
            table = csv.read_csv(path, convert_options=options)
        else:
            table = parquet.read_table(path)
        names = [name.strip() for name in table.column_names]
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise SourceError(f"{path} cannot be read as {kind}: {reason}") from None
    if kind == "csv" and len(names) == 1 and {";", "\t"} & set(names[0]):
        raise SourceError(
            f"a CSV table separates its columns by commas; {path} seems to use "
            f"{';' if ';' in names[0] else 'tabs'!s}. Convert it, or use Parquet."
        )
    return table.rename_columns(names)


def _reports(
    frame: nw.DataFrame[Any],
    id: str | None,
    time: str | None,
    apart: set[str],
    ignore: Sequence[str],
) -> ReportTable:
    for role, name in (("id", id), ("time", time), *(("ignored", n) for n in ignore)):
        if name is not None and name not in frame.columns:
            raise SourceError(
                f"there is no {role} column {name!r}{suggestion(name, frame.columns)}; "
                f"columns: {', '.join(frame.columns)}"
            )
    label = id or ("id" if "id" in frame.columns else None)
    moment = time or ("time" if "time" in frame.columns else None)
    apart = apart | {label or "", moment or "", *INDEXES}
    names = [n for n in frame.columns if n not in apart]
    columns = {name: _numbers(frame[name]) for name in names}
    agents, values = _by_agent(columns)
    return ReportTable(
        values,
        agents,
        None if label is None else _labels(frame[label]),
        None if moment is None else _plain(frame[moment]),
    )


def _numbers(column: nw.Series[Any]) -> FloatArray:
    """Reports of one column; text is refused, an empty cell is silence."""
    dtype = column.dtype
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        values = column.to_list()
        told = [(t, v) for t, v in enumerate(values) if v is not None]
        if told:
            t, value = next((tv for tv in told if not _is_number(tv[1])), told[0])
            raise ReportError(
                f"a report must be a number in [0, 1]; column {column.name!r} has "
                f"{value!r} in case {t}. Mend it, or ignore the column if it is not "
                "an agent."
            )
        return np.full(len(column), np.nan)
    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _by_agent(
    columns: Mapping[str, FloatArray],
) -> tuple[tuple[str, ...], FloatArray]:
    """Agents and their reports, (T, N) or, from columns ``name:k``, (T, N, K)."""
    if not columns:
        raise AgentError("pooling needs at least 2 agents; no column is left for any")
    parts = {name: re.fullmatch(r"(.+):(\d+)", name) for name in columns}
    if any(parts.values()) and not all(parts.values()):
        plain = next(name for name, part in parts.items() if part is None)
        spelled = next(name for name, part in parts.items() if part is not None)
        raise ReportError(
            "agents give either one probability or one a class; column "
            f"{spelled!r} is of a class, {plain!r} is not. Ignore one kind."
        )
    if not all(parts.values()):
        return tuple(columns), np.stack(list(columns.values()), axis=1)
    classes: dict[str, dict[int, FloatArray]] = {}
    for name, part in parts.items():
        if part is not None:
            classes.setdefault(part[1], {})[int(part[2])] = columns[name]
    K = max(len(found) for found in classes.values())
    for agent, found in classes.items():
        if sorted(found) != list(range(K)):
            raise ReportError(
                f"every agent needs the columns name:0 to name:{K - 1}; {agent!r} has "
                f"{', '.join(f'{agent}:{k}' for k in sorted(found))}"
            )
    cube = [
        np.stack([found[k] for k in range(K)], axis=1) for found in classes.values()
    ]
    return tuple(classes), np.stack(cube, axis=1)


def _empty(column: nw.Series[Any]) -> BoolArray:
    """Rows in which a column says nothing: null, NaN, or no text."""
    empty = column.is_null()
    if column.dtype.is_float():
        empty = empty | column.is_nan().fill_null(True)
    elif column.dtype == nw.String:
        empty = empty | (column.str.strip_chars() == "").fill_null(True)
    return np.asarray(empty.to_numpy(), dtype=np.bool_)


def _labels(column: nw.Series[Any]) -> Array:
    """Ids as they are: no number among them is rounded, no zone dropped."""
    if column.dtype.is_nested():
        raise SourceError(
            f"the id column {column.name!r} must hold one plain value a case"
        )
    labels = np.empty(len(column), dtype=object)
    labels[:] = column.to_list()
    return labels


def _plain(column: nw.Series[Any]) -> Array:
    return np.asarray(column.to_numpy())
