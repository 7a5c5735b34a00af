"""``truepool score``: apply a saved pool to new cases."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import options
from truepool.cli.options import option
from truepool.cli.score_format import format_of_new, usual_id_of
from truepool.cli.score_notes import doubts, draw, repeats, summary, warn_if_empty

if TYPE_CHECKING:
    from truepool.core.engine import Engine
    from truepool.measures.capacity import Capacity
    from truepool.pools import Pool
    from truepool.pools.scorer import Scorer, Tally
    from truepool.pools.unit_doubt import UnitDoubt
    from truepool.tables import TableFormat


@options.with_table
def score(
    file: Annotated[
        Path, typer.Argument(metavar="POOL", help="File that `truepool fit` wrote.")
    ],
    new: Annotated[
        Path,
        typer.Argument(
            metavar="NEW",
            help="New cases: a CSV, TSV, Excel, Parquet or JSON-lines file, or a data "
            "set of Parquet files (a folder or a pattern); - reads CSV or JSON lines "
            "from standard input.",
        ),
    ],
    output: Annotated[
        Path | None,
        option(
            "--output",
            "CSV, Excel (.xlsx), Parquet or JSON-lines file to write, or a folder that "
            "gets one part per Parquet file; - is standard output (default).",
        ),
    ] = None,
    *,
    new_format: dict[str, Any],
    contributions: Annotated[
        bool,
        typer.Option(
            "--contributions",
            help="Add a column per agent: pooled with minus without its report.",
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
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Refuse agents that are reversed or report noise, instead of warning.",
        ),
    ] = False,
    seed: options.Seed = 0,
    engine: options.EngineName = "local",
    address: options.Address = None,
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
    from truepool.cli.outputs import STDOUT, check_files, print_note
    from truepool.cli.screen import print_line, row_progress
    from truepool.core.engine import make_engine
    from truepool.core.errors import SettingError
    from truepool.measures.capacity import Capacity
    from truepool.pools import persistence
    from truepool.pools.scorer import Scorer, Tally, decide_within
    from truepool.tables import TableFormat, file_format
    from truepool.tables.batch_writer import open_writer
    from truepool.tables.batches import is_json_lines, read_batches
    from truepool.tables.dataset import open_dataset
    from truepool.tables.files import is_parquet
    from truepool.tables.repeated_ids import RepeatedIds

    if output is not None and json_file is not None:
        raise SettingError("cases are written once; give either --output or --json")
    share = None if explore is None else options.parse_share("--explore", explore)
    if new.suffix == ".pool" and file.suffix != ".pool":
        raise SettingError(
            f"the saved pool comes first; try truepool score {new} {file}"
        )
    place = output or json_file or STDOUT
    into_folder = output is not None and is_parquet(new) and _is_folder(output)
    inputs = [file, None if new == STDOUT else new]
    check_files(inputs, [None if into_folder else place])
    if output not in (None, STDOUT) and not into_folder:
        file_format(output, "written", batches=True)
    limit = None if capacity is None else Capacity.parse(capacity)
    _check_capacity(limit, new, into_folder=into_folder)
    where = make_engine(engine, address)
    if not (into_folder or where.in_process):
        raise SettingError(
            f"with --engine {engine} each part of a data set is scored into a part of "
            "its own; got other input or output. Name a data set of Parquet files, and "
            "a folder for --output."
        )
    pool = persistence.load(file)
    fitted_on = persistence.table_format(file) or TableFormat()
    source = sys.stdin.buffer if new == STDOUT else new
    target = sys.stdout.buffer if place == STDOUT else place
    written = format_of_new(source, new_format, fitted_on, pool.agents_)
    written = replace(written, columns=_columns(pool, limit))
    _check_unit_names(pool.agents_, written, fitted_on)
    usual_id = usual_id_of(fitted_on)
    name = written.long[0] if written.long else written.id or usual_id
    scorer = Scorer(pool, name, contributions, share, seed, strict=strict)
    doubt = _unit_doubt(pool, new_format, written, fitted_on)
    if into_folder:
        tally, done = _score_parts(
            scorer,
            new,
            place,
            file,
            written,
            fitted_on,
            where,
            doubt,
        )
        options.NOTES += [*draw(tally, share), *repeats(tally, " of each part")]
        options.NOTES += doubts(tally, pool)
        warn_if_empty(tally, pool)
        if not quiet:
            print_line(summary(tally, pool, place, done))
        return
    table = partial(
        read_batches,
        source,
        pool.agents_,
        pool.labels_,
        written,
        usual_id=usual_id,
        apart=fitted_on.apart,
    )
    if limit is not None:
        dated = limit.period is not None
        within = decide_within(pool, table(dated=dated), limit)
        scorer = replace(scorer, within=within)
    tally, seen = Tally(), RepeatedIds()
    lines = json_file is not None or (output is None and is_json_lines(source))
    rows = open_dataset(new).rows if is_parquet(new) and not written.long else None
    with (
        open_writer(
            target, json_lines=lines, spreadsheet_safe=spreadsheet_safe
        ) as write,
        row_progress("Scoring", rows, f"writing {place}") as progress,
    ):
        for batch in table() if doubt is None else doubt.check(table()):
            columns, counts = scorer.score(batch)
            write(columns)
            tally.add(counts)
            seen.add(batch.ids)
            progress(len(batch))
    tally.repeated, tally.not_compared = seen.count(), seen.left_out
    options.NOTES += [*draw(tally, share), *repeats(tally), *doubts(tally, pool)]
    warn_if_empty(tally, pool)
    sentence = summary(tally, pool, place)
    if limit is not None:
        sentence += f" Decided {tally.positive:,} positive, within {limit}."
    if not quiet:
        (print_note if place == STDOUT else print_line)(sentence)


def _is_folder(output: Path) -> bool:
    """Whether parts are to be written, and not one table."""
    return output.is_dir() or (not output.suffix and str(output) != "-")


def _check_capacity(limit: "Capacity | None", new: Path, *, into_folder: bool) -> None:
    from truepool.cli.outputs import STDOUT
    from truepool.core.errors import SettingError

    if limit is not None and new == STDOUT:
        raise SettingError(
            "with --capacity all cases must be known before the first is decided, so "
            "NEW is read twice; got standard input. Save it to a file first."
        )
    if limit is not None and into_folder:
        raise SettingError(
            "with --capacity all cases are decided together, so they are written to "
            "one file; got a folder. Name a file such as scored.parquet (--output)."
        )


def _score_parts(
    scorer: "Scorer",
    new: Path,
    folder: Path,
    file: Path,
    written: "TableFormat",
    fitted_on: "TableFormat",
    engine: "Engine",
    doubt: "UnitDoubt | None",
) -> "tuple[Tally, int]":
    """Score a data set into a folder, and count the parts that were done before."""
    from truepool.cli.engines import opened
    from truepool.cli.screen import row_progress
    from truepool.core.errors import SettingError
    from truepool.pools.part_scorer import PartScorer, made_by, score_parts
    from truepool.tables.column_selection import ColumnSelection
    from truepool.tables.dataset import open_dataset

    if written.long:
        raise SettingError(
            "a long table is read whole and written to one file; got a folder. Name a "
            "file such as scored.parquet (--output)."
        )
    pool, dataset = scorer.pool, open_dataset(new)
    wanted = ColumnSelection(
        pool.agents_,
        pool.labels_,
        written,
        usual_id=usual_id_of(fitted_on),
        apart=fitted_on.apart,
    )
    how = PartScorer(scorer, wanted, doubt)
    what = f"writing {len(dataset.parts):,} parts to {folder}"
    with (
        opened(engine),
        row_progress("Scoring", dataset.rows, what) as progress,
    ):
        return score_parts(how, dataset, folder, made_by(file, how), progress, engine)


def _unit_doubt(
    pool: "Pool",
    given: dict[str, Any],
    written: "TableFormat",
    fitted_on: "TableFormat",
) -> "UnitDoubt | None":
    """Why percentages may be fractions; None where both pool and user know them."""
    from truepool.pools.unit_doubt import doubt_memory, doubt_statement

    above = pool.training_.above_percent
    if "percent" not in given:
        return doubt_memory(pool.agents_, written, above)
    return doubt_statement(pool.agents_, written, fitted_on, above)


def _check_unit_names(
    agents: tuple[str, ...], written: "TableFormat", fitted_on: "TableFormat"
) -> None:
    """Refuse agents in percent, or with scores, that no agent of the pool is."""
    from truepool.tables.agent_columns import choose_agents

    known = {name for _, names in fitted_on.named_units() for name in names}
    for flag, patterns in written.named_units():
        new = [name for name in patterns if name not in known]
        choose_agents([*agents, *fitted_on.ignore], new, flag)


def _columns(pool: "Pool", limit: "Capacity | None") -> tuple[str, ...]:
    """Columns of the cases that its decisions need."""
    if pool.costs is None or (pool.threshold is not None and limit is None):
        return ()
    return pool.costs.columns
