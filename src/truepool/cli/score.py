"""``truepool score``: apply a saved pool to new cases."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import options

if TYPE_CHECKING:
    from truepool.data.tables.batches import Batch, Ids
    from truepool.pools import Pool

STREAM = Path("-")


def score(
    file: Annotated[Path, typer.Argument(help="File that `truepool fit` wrote.")],
    new: Annotated[
        Path,
        typer.Argument(
            help="New cases: CSV, Parquet or JSON lines; - reads CSV or JSON lines "
            "from standard input.",
            allow_dash=True,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="CSV, Parquet or JSON-lines file to write; - is standard output.",
            allow_dash=True,
        ),
    ] = STREAM,
    id: options.Id = None,
    contributions: Annotated[
        bool,
        typer.Option(
            "--contributions",
            help="Add what each agent changed: pooled with minus without it.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON lines to standard output.")
    ] = False,
) -> None:
    """Write the pooled probability and the decision of each new case."""
    from truepool.core.errors import SourceError
    from truepool.core.formatting import counted
    from truepool.data.tables.batches import is_json_lines, open_writer, read_batches
    from truepool.pools.persistence import load

    pool = load(file)
    if id is not None and id.startswith(("pooled", "decision", "contribution")):
        raise SourceError(f"the result has a column {id!r} of its own; rename the id")
    if output != STREAM and output.resolve() in (new.resolve(), file.resolve()):
        raise SourceError(f"{output} is read from; write the result to another file")
    source = sys.stdin.buffer if new == STREAM else new
    target = sys.stdout.buffer if output == STREAM else output
    K = len(pool.classes_)
    cases = empty = 0
    lines = as_json or is_json_lines(source)
    with open_writer(target, json_lines=lines) as write:
        for batch in read_batches(source, pool.agents_, K, id=id):
            columns, skipped = _scored(pool, batch, id or "id", contributions)
            write(columns)
            cases, empty = cases + len(batch.values), empty + skipped
    where = "standard output" if output == STREAM else output
    told = f"Scored {counted(cases, 'case')} with {pool.name}; wrote {where}."
    if empty:
        told += f" {counted(empty, 'case')} without any report: left empty."
    typer.echo(told, err=output == STREAM)


def _scored(
    pool: "Pool", batch: "Batch", id: str, contributions: bool
) -> "tuple[dict[str, Ids], int]":
    """Columns of the result, and how many cases have no report."""
    import numpy as np
    import pyarrow as pa

    from truepool.core.arrays import from_classes
    from truepool.core.errors import ReportError
    from truepool.data.reports import checked_reports

    known = ~np.isnan(batch.values).all(axis=(1, 2))
    T, _, C = batch.values.shape
    pooled = np.zeros((T, C))
    decisions = np.zeros(T, dtype=np.int64)
    changes = np.zeros(batch.values.shape)
    if known.any():
        try:
            reports = batch.values[known]
            squeezed = reports[:, :, 0] if C == 1 else reports
            values, _ = checked_reports(squeezed, pool.agents_)
        except ReportError as error:
            first = batch.start + int(np.argmax(known))
            raise ReportError(f"{error} (counted from case {first})") from None
        result = pool.pool(values)
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
