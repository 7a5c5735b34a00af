"""``truepool score``: apply a saved pool to new cases."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truepool.cli import options
from truepool.cli.keys import option
from truepool.cli.run import Run

if TYPE_CHECKING:
    from truepool.core.engine import Engine
    from truepool.pools import Pool
    from truepool.scoring import Scoring
    from truepool.scoring.scorer import Tally
    from truepool.tables import Declared, Table


@options.verb()
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
            "output",
            "CSV, Excel (.xlsx), Parquet or JSON-lines file to write, or a folder that "
            "gets one part per Parquet file; - is standard output (default).",
        ),
    ] = None,
    *,
    new_table: "Declared",
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
        option("json", "Write JSON lines to this file; - prints them."),
    ] = None,
    quiet: options.Quiet = False,
    run: Run,
) -> None:
    """Write the pooled probability and the decision of each new case."""
    from truepool.cli.outputs import STDOUT, check_files, print_note
    from truepool.cli.screen import print_line
    from truepool.core.engine import make_engine
    from truepool.core.errors import SettingError
    from truepool.pools import persistence
    from truepool.scoring import Scoring
    from truepool.tables import file_format
    from truepool.tables.source import is_parquet

    if output is not None and json_file is not None:
        raise SettingError("cases are written once; give either --output or --json")
    share = None if explore is None else options.parse_share("--explore", explore)
    how = Scoring(new_table, contributions, capacity, share, strict, seed)
    if new.suffix == ".pool" and file.suffix != ".pool":
        raise SettingError(
            f"the saved pool comes first; try truepool score {new} {file}"
        )
    place = output or json_file or STDOUT
    into_folder = output is not None and is_parquet(new) and _is_folder(output)
    inputs = [file, None if new == STDOUT else new]
    check_files(inputs, [None if into_folder else place])
    if output not in (None, STDOUT) and not into_folder:
        file_format(output, batches=True)
    where = make_engine(engine, address)
    if not (into_folder or where.in_process):
        raise SettingError(
            f"with engine={engine} each part of a data set is scored into a part of "
            "its own; got other input or output. Name a data set of Parquet files, and "
            "a folder for --output."
        )
    pool = persistence.load(file)
    if into_folder:
        tally, done = _score_parts(pool, new, place, file, how, where, run)
    else:
        lines, safe = json_file is not None, spreadsheet_safe
        tally = score_table(pool, new, place, how, run, safe=safe, lines=lines)
        done = 0
    if not quiet:
        say = print_note if place == STDOUT else print_line
        say(summary(tally, pool, place, done) + _within(tally, capacity))


def score_table(
    pool: "Pool",
    new: Path,
    place: Path,
    how: "Scoring",
    run: Run,
    *,
    safe: bool = False,
    lines: bool = False,
) -> "Tally":
    """Score a table into a file, some thousand cases at a time."""
    from truepool.cli.outputs import STDOUT
    from truepool.cli.screen import row_progress
    from truepool.tables.dataset import open_dataset
    from truepool.tables.source import JsonLines, is_parquet
    from truepool.tables.write import open_writer

    _check_capacity(how, new)
    scored = how.score(pool, sys.stdin.buffer if new == STDOUT else new)
    table = scored.table
    lines = lines or (place == STDOUT and isinstance(table.source, JsonLines))
    rows = open_dataset(new).rows if is_parquet(new) and not table.schema.long else None
    target = sys.stdout.buffer if place == STDOUT else place
    with (
        open_writer(target, json_lines=lines, spreadsheet_safe=safe) as write,
        row_progress("Scoring", rows, f"writing {place}") as progress,
    ):
        for columns, cases in scored:
            write(columns)
            progress(cases)
    _tell(scored.tally, pool, how, run, table)
    return scored.tally


def _score_parts(
    pool: "Pool",
    new: Path,
    folder: Path,
    file: Path,
    how: "Scoring",
    engine: "Engine",
    run: Run,
) -> "tuple[Tally, int]":
    """Score a data set into a folder, and count the parts that were done before."""
    from truepool.cli.engines import opened
    from truepool.cli.screen import row_progress
    from truepool.core.errors import SettingError
    from truepool.scoring.parts import PartScorer, made_by, score_parts
    from truepool.tables.dataset import open_dataset

    if how.capacity is not None:
        raise SettingError(
            "within a capacity all cases are decided together, so they are written to "
            "one file; got a folder. Name a file such as scored.parquet (--output)."
        )
    table = how.open(pool, new)
    if table.schema.long:
        raise SettingError(
            "a long table is read whole and written to one file; got a folder. Name a "
            "file such as scored.parquet (--output)."
        )
    dataset = open_dataset(new)
    scorer = how.scorer(pool, table.schema.id)
    parts = PartScorer(scorer, table.schema, how.declared)
    what = f"writing {len(dataset.parts):,} parts to {folder}"
    with (
        opened(engine),
        row_progress("Scoring", dataset.rows, what) as progress,
    ):
        tally, done = score_parts(
            parts, dataset, folder, made_by(file, parts), progress, engine
        )
    _tell(tally, pool, how, run, table, " of each part")
    return tally, done


def _is_folder(output: Path) -> bool:
    """Whether parts are to be written, and not one table."""
    return output.is_dir() or (not output.suffix and str(output) != "-")


def _check_capacity(how: "Scoring", new: Path) -> None:
    from truepool.cli.outputs import STDOUT
    from truepool.core.errors import SettingError

    if how.limit is not None and new == STDOUT:
        raise SettingError(
            "within a capacity all cases must be known before the first is decided, so "
            "NEW is read twice; got standard input. Save it to a file first."
        )


def summary(tally: "Tally", pool: "Pool", place: Path, done: int = 0) -> str:
    """Say how many cases were scored, and what was written."""
    from truepool.cli.outputs import STDOUT
    from truepool.core.formatting import pluralize

    sentence = f"Scored {pluralize(tally.cases, 'case')} with {pool.name}."
    if place != STDOUT:
        sentence += f" Wrote {place}."
    if done:
        were = "was" if done == 1 else "were"
        sentence += f" {pluralize(done, 'part')} {were} done before: skipped."
    if tally.empty:
        sentence += f" {pluralize(tally.empty, 'case')} without any report: left empty."
    return sentence


def _within(tally: "Tally", capacity: str | None) -> str:
    if capacity is None:
        return ""
    from truepool.measures.capacity import Capacity

    limit = Capacity.parse(capacity)
    return f" Decided {tally.positive:,} positive, within {limit}."


def _tell(
    tally: "Tally", pool: "Pool", how: "Scoring", run: Run, table: "Table", of: str = ""
) -> None:
    """Say what was drawn or left out, and which agents are silent, dead or new."""
    from truepool.scoring import doubts

    run.tell(table.notes, unused=True)
    run.tell(tally.notes.values())
    for sentence in _draw(tally, how.explore):
        run.note(sentence)
    for sentence in _repeats(tally, of):
        run.warn(sentence)
    run.tell(doubts(tally, pool, table))
    if tally.cases and tally.empty == tally.cases:
        from truepool.cli.outputs import print_note
        from truepool.panel.labels import format_names

        print_note(  # also where only errors are wanted
            f"warning: none of the {tally.cases:,} cases has a report of an agent of "
            f"the pool ({format_names(pool.agents_)}): nothing was pooled. Check the "
            "names of the columns, or say which they are (--set "
            "long=CASE,AGENT,REPORT)."
        )


def _draw(tally: "Tally", share: float | None) -> Iterator[str]:
    """Say how many cases were drawn for review, of how many that were scored."""
    from truepool.core.formatting import amount, pluralize

    if share is not None:
        scored = tally.cases - tally.empty
        negative = scored - tally.positive
        yield (
            f"Drew {tally.drawn:,} of {pluralize(negative, 'case')} decided negative "
            f"for review (--explore {amount(100 * share)}%); scored "
            f"{pluralize(scored, 'case')} in all, of which "
            f"{tally.drawn + tally.positive:,} are to be reviewed."
        )


def _repeats(tally: "Tally", of: str) -> Iterator[str]:
    """Say that ids occur more than once, and among which cases that was looked at."""
    from truepool.core.sentences import say
    from truepool.tables.write import MOST_IDS

    if tally.repeated:
        which = f" first {MOST_IDS:,}" if tally.not_compared else ""
        among = f" Ids were compared among the{which} cases{of}." if of or which else ""
        yield f"{say('note', 'ids-repeated', {'count': tally.repeated})}{among}"
