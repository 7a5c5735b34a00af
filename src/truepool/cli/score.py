"""``truepool score``: apply a saved pool to new cases."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from truepool.cli import options
from truepool.cli.options import option

if TYPE_CHECKING:
    from truepool.core.arrays import BoolArray, FloatArray, IntArray
    from truepool.data.tables import TableFormat
    from truepool.data.tables.batches import Batch, Ids
    from truepool.measures.capacity import Capacity
    from truepool.pools import Pool, PoolResult

WRITTEN = ("time_format", "sep", "decimal", "percent")
LONG = ("long", "decision_time")
"""What new cases take from the table of the fit: how it is written, and its layout."""


@options.with_table
def score(
    file: Annotated[
        Path, typer.Argument(metavar="POOL", help="File that `truepool fit` wrote.")
    ],
    new: Annotated[
        Path,
        typer.Argument(
            metavar="NEW",
            help="New cases: a CSV, TSV, Excel, Parquet or JSON-lines file; - reads "
            "CSV or JSON lines from standard input.",
        ),
    ],
    output: Annotated[
        Path | None,
        option(
            "--output",
            "CSV, Parquet or JSON-lines file to write; - is standard output (default).",
        ),
    ] = None,
    *,
    new_format: dict[str, Any],
    contributions: Annotated[
        bool,
        typer.Option(
            "--contributions",
            help="Add what each agent changed: pooled with minus without its report.",
        ),
    ] = False,
    capacity: options.Capacity = None,
    spreadsheet_safe: options.SpreadsheetSafe = False,
    explore: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Mark this share of the cases decided negative for review, at random, "
            "as in 1%, and write the propensity of each case.",
        ),
    ] = None,
    seed: options.Seed = 0,
    json_file: Annotated[
        Path | None,
        option(
            "--json",
            "Write JSON lines to standard output, or to a file with --json=FILE.",
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Write the pooled probability and the decision of each new case."""
    import numpy as np

    from truepool.cli.outputs import STDOUT, check_files, print_note
    from truepool.cli.screen import print_line
    from truepool.core.errors import SettingError
    from truepool.core.formatting import pluralize
    from truepool.data.tables import TableFormat
    from truepool.data.tables.batch_writer import open_writer
    from truepool.data.tables.batches import is_json_lines, read_batches
    from truepool.measures.capacity import Capacity
    from truepool.pools import persistence

    if output is not None and json_file is not None:
        raise SettingError("cases are written once; give either --output or --json")
    share = None if explore is None else options.parse_share("--explore", explore)
    if new.suffix == ".pool" and file.suffix != ".pool":
        raise SettingError(
            f"the saved pool comes first; try truepool score {new} {file}"
        )
    place = output or json_file or STDOUT
    check_files([file, None if new == STDOUT else new], [place])
    limit = None if capacity is None else Capacity.parse(capacity)
    if limit is not None and new == STDOUT:
        raise SettingError(
            "with --capacity all cases must be known before the first is decided, so "
            "NEW is read twice; got standard input. Save it to a file first."
        )
    pool = persistence.load(file)
    fitted_on = persistence.table_format(file) or TableFormat()
    source = sys.stdin.buffer if new == STDOUT else new
    target = sys.stdout.buffer if place == STDOUT else place
    written = _format_of_new(source, new_format, fitted_on)
    written = replace(written, columns=_columns(pool, limit))
    usual_id = fitted_on.id or "id"
    name = written.long[0] if written.long else written.id or usual_id
    _check_id(name)
    table = partial(
        read_batches, source, pool.agents_, pool.labels_, written, usual_id=usual_id
    )
    doubtful = written.percent and "percent" not in new_format
    limited = None
    if limit is not None:
        dated = limit.period is not None
        limited = _decide_within(pool, table(dated=dated), limit)
    cases = empty = 0
    silent, lacking, unknown = set(pool.agents_), set[str](), tuple[str, ...]()
    others: Counter[str] = Counter()
    lines = json_file is not None or (output is None and is_json_lines(source))
    with open_writer(
        target, json_lines=lines, spreadsheet_safe=spreadsheet_safe
    ) as write:
        for batch in _check_unit(table()) if doubtful else table():
            columns, decided, skipped = _score_batch(
                pool, batch, name, contributions, limited
            )
            if share is not None:
                columns |= _review(batch, decided, share, seed)
            write(columns)
            reported = ~np.isnan(batch.values).transpose(1, 0, 2).reshape(
                len(pool.agents_), -1
            )
            always, ever = reported.all(axis=1), reported.any(axis=1)
            lacking |= {pool.agents_[i] for i in np.flatnonzero(~always)}
            silent -= {pool.agents_[i] for i in np.flatnonzero(ever)}
            unknown += batch.unknown
            others += batch.others
            cases, empty = cases + len(batch.values), empty + skipped
    options.NOTES += _doubts(sorted(silent), sorted(lacking), others, unknown)
    sentence = f"Scored {pluralize(cases, 'case')} with {pool.name}."
    if place != STDOUT:
        sentence += f" Wrote {place}."
    if empty:
        sentence += f" {pluralize(empty, 'case')} without any report: left empty."
    if limited is not None:
        sentence += f" Decided {int(limited.sum()):,} positive, within {limit}."
    if not quiet:
        (print_note if place == STDOUT else print_line)(sentence)


def _format_of_new(
    source: Path | BinaryIO, given: dict[str, Any], fitted_on: "TableFormat"
) -> "TableFormat":
    """How the new cases are written: as was said, else like the table of the fit.

    They need not have its id column, nor be a long table because it was one.
    """
    from truepool.core.errors import SettingError
    from truepool.data.tables import TableFormat, read_column_names
    from truepool.data.tables.batches import is_json_lines

    same = {name: vars(fitted_on)[name] for name in ("time", *WRITTEN, *LONG)}
    known = same | given
    sep, mark = given.get("sep"), fitted_on.decimal
    if sep == mark and "decimal" not in given:
        raise SettingError(
            f"--sep {sep} separates the columns, so it cannot be the decimal mark, as "
            f"in the table of the fit. Pass --sep {sep} --decimal ."
        )
    if fitted_on.long and "long" not in given:
        names: list[str] = []
        if isinstance(source, Path) and not is_json_lines(source):
            names = read_column_names(source, sep=known["sep"])
        if not set(fitted_on.long) <= set(names):
            known |= dict.fromkeys(LONG)
    return TableFormat(**known)


def _check_unit(batches: Iterator["Batch"]) -> Iterator["Batch"]:
    """Refuse reports that may be probabilities, where percentages are expected."""
    from truepool.core.errors import ReportError

    for batch in batches:
        if batch.start == 0 and not (batch.values > 0.01).any():
            raise ReportError(
                "the pool was fitted on percentages, and here all reports up to case "
                f"{len(batch.values) - 1} are at most 1, so they may be probabilities. "
                "Pass --percent if they are percentages, or --no-percent."
            )
        yield batch


def _doubts(
    silent: Sequence[str],
    lacking: Sequence[str],
    others: Counter[str],
    unknown: Sequence[str],
) -> Iterator[str]:
    """Say which agents never report or are new, and which keys may be misspelt."""
    from truepool.core.errors import suggestion
    from truepool.core.formatting import pluralize
    from truepool.data.labels import format_labels

    if silent:
        yield f"warning: no case has a report of {format_labels(silent)}."
    if unknown:
        are = "is not an agent" if len(unknown) == 1 else "are not agents"
        yield f"{format_labels(unknown)} {are} of the pool: left out."
    for key, count in others.items():
        meant = suggestion(key, lacking)
        if meant:
            have = "has" if count == 1 else "have"
            yield (
                f"warning: {pluralize(count, 'line')} {have} {key!r}, which is not an "
                f"agent of the pool{meant}."
            )


def _check_id(id: str) -> None:
    from truepool.core.errors import SourceError

    taken = ("pooled", "decision", "contribution:", "review", "propensity")
    if id.startswith(taken):
        raise SourceError(
            f"the result has a column {id!r} of its own; rename the id column"
        )


def _columns(pool: "Pool", limit: "Capacity | None") -> tuple[str, ...]:
    """Columns of the cases that its decisions need."""
    if pool.costs is None or (pool.threshold is not None and limit is None):
        return ()
    return pool.costs.columns


def _decide_within(
    pool: "Pool", batches: "Iterable[Batch]", limit: "Capacity"
) -> "IntArray":
    """Decisions on all cases within a capacity, (T,); 0 where there is no report."""
    import numpy as np

    from truepool.data.costs import Costs
    from truepool.pools.result import PoolResult

    limit.check_classes(len(pool.classes_))
    costs = pool.costs or Costs()
    parts: dict[str, list[Any]] = {"p": [], "decisions": [], "times": []}
    parts |= {name: [] for name in costs.columns}
    reported = []
    for batch in batches:
        known, _, result = _pool_batch(pool, batch)
        reported.append(known)
        if result is None:
            continue
        parts["p"].append(result.probabilities)
        parts["decisions"].append(result.decisions)
        if batch.times is not None:
            parts["times"].append(batch.times[known])
        for name in costs.columns:
            parts[name].append(batch.columns[name][known])
    every = np.concatenate(reported)
    decisions = np.zeros(len(every), dtype=np.int64)
    if every.any():
        whole = {name: np.concatenate(part) for name, part in parts.items() if part}
        costs = costs.resolve({name: whole[name] for name in costs.columns})
        result = PoolResult(whole["p"], whole["decisions"])
        decisions[every] = result.within(limit, costs, whole.get("times")).decisions
    return decisions


def _pool_batch(
    pool: "Pool", batch: "Batch"
) -> "tuple[BoolArray, FloatArray | None, PoolResult | None]":
    """Which cases have reports, those reports, and what the pool makes of them."""
    import numpy as np

    from truepool.core.errors import CostError, ReportError
    from truepool.data.reports import check_reports

    known = np.asarray(~np.isnan(batch.values).all(axis=(1, 2)))
    if not known.any():
        return known, None, None
    try:
        reports = batch.values[known]
        squeezed = reports[:, :, 0] if reports.shape[2] == 1 else reports
        values, _ = check_reports(squeezed, pool.agents_)
        return known, values, pool.pool(values, batch.columns.take(known))
    except (CostError, ReportError) as error:
        first = batch.start + int(np.argmax(known))
        raise type(error)(f"{error} (counted from case {first})") from None


def _score_batch(
    pool: "Pool",
    batch: "Batch",
    id: str,
    contributions: bool,
    limited: "IntArray | None",
) -> "tuple[dict[str, Ids], Ids, int]":
    """Columns of the result, decisions by number, and how many cases have no report."""
    import numpy as np
    import pyarrow as pa

    from truepool.core.arrays import from_classes

    T, _, C = batch.values.shape
    pooled = np.zeros((T, C))
    decisions = np.zeros(T, dtype=np.int64)
    changes = np.zeros(batch.values.shape)
    known, values, result = _pool_batch(pool, batch)
    if values is not None and result is not None:
        pooled[known] = from_classes(result.probabilities)
        decisions[known] = result.decisions
        if contributions:
            changes[known] = pool.contributions_of(values)
    if limited is not None:
        decisions = limited[batch.start : batch.start + T]
    columns: dict[str, Any] = {} if batch.ids is None else {id: batch.ids}
    names = pool.labels_.names
    suffixes = [""] if C == 1 else [f":{name}" for name in names]
    for k, suffix in enumerate(suffixes):
        columns[f"pooled{suffix}"] = pa.array(pooled[:, k], mask=~known)
    labels = decisions if C == 1 else np.array(names)[decisions]
    columns["decision"] = pa.array(labels, mask=~known)
    for i, agent in enumerate(pool.agents_ if contributions else ()):
        for k, suffix in enumerate(suffixes):
            name = f"contribution:{agent}{suffix}"
            columns[name] = pa.array(changes[:, i, k], mask=~known)
    return columns, pa.array(decisions, mask=~known), int(T - known.sum())


def _review(
    batch: "Batch", decisions: "Ids", share: float, seed: int
) -> "dict[str, Ids]":
    """Whether each case is to be reviewed, and the chance that it was to be.

    Cases decided positive are reviewed anyway. The others are drawn by their id (by
    their place in the table where they have none), so that the draw can be repeated
    and checked, in any order.
    """
    from hashlib import sha256

    import pyarrow as pa

    ids: Any = range(batch.start, batch.start + len(batch.values))
    if batch.ids is not None:
        ids = batch.ids if isinstance(batch.ids, list) else batch.ids.to_pylist()
    review, chances = [], []
    for id, decision in zip(ids, decisions.to_pylist(), strict=True):  # type: ignore[union-attr]
        drawn = sha256(f"{seed}:{id}".encode()).digest()[:8]
        place = int.from_bytes(drawn, "big") / 2**64
        known = decision is not None
        review.append((decision > 0 or place < share) if known else None)
        chances.append((1.0 if decision > 0 else share) if known else None)
    return {"review": pa.array(review), "propensity": pa.array(chances)}
