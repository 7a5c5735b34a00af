"""``truepool score``: apply a saved pool to new cases."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import options
from truepool.cli.options import option

if TYPE_CHECKING:
    from truepool.data.tables import TableFormat
    from truepool.data.tables.batches import Batch, Ids
    from truepool.pools import Pool


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
    new_format: "TableFormat",
    contributions: Annotated[
        bool,
        typer.Option(
            "--contributions",
            help="Add what each agent changed: pooled with minus without its report.",
        ),
    ] = False,
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
    from truepool.cli.outputs import STDOUT, check_files
    from truepool.core.errors import SettingError
    from truepool.core.formatting import pluralize
    from truepool.data.tables.batch_writer import open_writer
    from truepool.data.tables.batches import is_json_lines, read_batches
    from truepool.pools.persistence import load

    if output is not None and json_file is not None:
        raise SettingError("cases are written once; give either --output or --json")
    name = new_format.long[0] if new_format.long else new_format.id or "id"
    _check_id(name)
    place = output or json_file or STDOUT
    check_files([file, None if new == STDOUT else new], [place])
    pool = load(file)
    source = sys.stdin.buffer if new == STDOUT else new
    target = sys.stdout.buffer if place == STDOUT else place
    cases = empty = 0
    lines = json_file is not None or (output is None and is_json_lines(source))
    with open_writer(target, json_lines=lines) as write:
        written = replace(new_format, columns=_columns(pool))
        for batch in read_batches(source, pool.agents_, pool.labels_, written):
            columns, skipped = _score_batch(pool, batch, name, contributions)
            write(columns)
            cases, empty = cases + len(batch.values), empty + skipped
    where = "standard output" if place == STDOUT else place
    sentence = f"Scored {pluralize(cases, 'case')} with {pool.name}. Wrote {where}."
    if empty:
        sentence += f" {pluralize(empty, 'case')} without any report: left empty."
    if not quiet:
        typer.echo(sentence, err=place == STDOUT)


def _check_id(id: str) -> None:
    from truepool.core.errors import SourceError

    if id.startswith(("pooled", "decision", "contribution:")):
        raise SourceError(
            f"the result has a column {id!r} of its own; rename the id column"
        )


def _columns(pool: "Pool") -> tuple[str, ...]:
    """Columns of the cases that its decisions need."""
    if pool.costs is None or pool.threshold is not None:
        return ()
    return pool.costs.columns


def _score_batch(
    pool: "Pool", batch: "Batch", id: str, contributions: bool
) -> "tuple[dict[str, Ids], int]":
    """Columns of the result, and how many cases have no report."""
    import numpy as np
    import pyarrow as pa

    from truepool.core.arrays import from_classes
    from truepool.core.errors import CostError, ReportError
    from truepool.data.reports import check_reports

    known = np.asarray(~np.isnan(batch.values).all(axis=(1, 2)))
    T, _, C = batch.values.shape
    pooled = np.zeros((T, C))
    decisions = np.zeros(T, dtype=np.int64)
    changes = np.zeros(batch.values.shape)
    if known.any():
        try:
            reports = batch.values[known]
            squeezed = reports[:, :, 0] if C == 1 else reports
            values, _ = check_reports(squeezed, pool.agents_)
            result = pool.pool(values, batch.columns.take(known))
        except (CostError, ReportError) as error:
            first = batch.start + int(np.argmax(known))
            raise type(error)(f"{error} (counted from case {first})") from None
        pooled[known] = from_classes(result.probabilities)
        decisions[known] = result.decisions
        if contributions:
            changes[known] = pool.contributions_of(values)
    columns: dict[str, Any] = {} if batch.ids is None else {id: batch.ids}
    suffixes = [""] if C == 1 else [f":{k}" for k in range(C)]
    for k, suffix in enumerate(suffixes):
        columns[f"pooled{suffix}"] = pa.array(pooled[:, k], mask=~known)
    columns["decision"] = pa.array(decisions, mask=~known)
    for i, agent in enumerate(pool.agents_ if contributions else ()):
        for k, suffix in enumerate(suffixes):
            name = f"contribution:{agent}{suffix}"
            columns[name] = pa.array(changes[:, i, k], mask=~known)
    return columns, int(T - known.sum())
