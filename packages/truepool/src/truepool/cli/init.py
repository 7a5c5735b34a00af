"""``truepool init``: write a file of keys after a look at a table."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import keys, options
from truepool.cli.keys import option
from truepool.cli.run import Run

if TYPE_CHECKING:
    from truepool.tables import Declared
    from truepool.tables.read import Findings

FILE = Path(keys.FILE)


@options.verb(keys=("id", "time"))
def init(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            help="CSV, TSV, Excel, Parquet or JSON lines table with reports and "
            "outcomes: one row per case and one column per agent, or one row per "
            "report.",
        ),
    ],
    output: Annotated[
        Path | None,
        option("output", f"File to write; - is standard output (default: {FILE})."),
    ] = None,
    *,
    declared: "Declared",
    quiet: options.Quiet = False,
    run: Run,
) -> None:
    """Look at TABLE, ask, and write what is known of it.

    What nobody answers, such as which label is positive, is left for you to fill in.
    """
    from truepool.cli.outputs import STDOUT, check_files
    from truepool.core.errors import SourceError
    from truepool.core.files import write_text
    from truepool.pages.config import config_text
    from truepool.tables.read import examine

    if output is None and FILE.exists():
        raise SourceError(
            f"{str(FILE)!r} already exists; to overwrite it, name it (-o {FILE})"
        )
    place = output or FILE
    check_files([table], [place])
    found = examine(_rows(table), declared, thorough=True, answer=run.answer)
    text = config_text(
        found.table.schema, found.questions, table.name, found.rows, found.unused
    )
    if place == STDOUT:
        typer.echo(text, nl=False)
    else:
        write_text(place, text)
    if not quiet:
        _show(found, table, place, run)


def _rows(table: Path) -> Any:
    """Return a table; of a data set larger than memory, rows from all over it."""
    from truepool.tables.dataset import open_dataset
    from truepool.tables.sample import MOST_ROWS, read_rows, spaced_rows
    from truepool.tables.source import Frame, ParquetFiles, is_parquet

    if not is_parquet(table):
        return table
    dataset = open_dataset(table)
    if dataset.rows <= MOST_ROWS:
        return table
    rows = read_rows(dataset, spaced_rows(dataset.rows))
    return Frame(rows, str(table), ParquetFiles(dataset).keys)


def _show(found: "Findings", table: Path, place: Path, run: Run) -> None:
    """Print what was found, what to fill in, and the next command."""
    from truepool.cli.outputs import STDOUT, print_note
    from truepool.cli.screen import print_line

    say = print_note if place == STDOUT else print_line
    run.file = None
    unit = "rows" if found.table.schema.long else "cases"
    say(run.reading(found.table, found.rows, unit))
    run.tell(found.table.notes)
    for line in run.notes:
        say(line)
    run.notes.clear()
    for question in found.questions:
        say(f"To fill in: {question.sentence(run.voice)}")
    for fault in found.faults:
        say(f"To correct: {fault.sentence(run.voice)}")
    if place == STDOUT:
        return
    say(f"Wrote {place}.")
    if not found.faults:  # a table that cannot be read has no next step
        words = ["truepool", "audit", str(table)]
        if place.name != keys.FILE or place.parent not in (table.parent, Path()):
            words += ["--config", str(place)]
        say(f"Next: {shlex.join(words)}")
