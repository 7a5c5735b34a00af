"""``truepool score``: apply a saved pool to new cases."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import options
from truepool.cli.keys import option
from truepool.cli.run import Run

if TYPE_CHECKING:
    from truepool.core.engine import Engine
    from truepool.measures.capacity import Capacity
    from truepool.pools import Pool
    from truepool.pools.scorer import Scorer, Tally
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
    from truepool.tables import file_format
    from truepool.tables.source import is_parquet

    if output is not None and json_file is not None:
        raise SettingError("cases are written once; give either --output or --json")
    how = Scoring(
        new_table,
        contributions=contributions,
        capacity=capacity,
        safe=spreadsheet_safe,
        strict=strict,
        seed=seed,
        lines=json_file is not None,
        explore=None if explore is None else options.parse_share("--explore", explore),
    )
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
        tally, done = score_table(pool, new, place, how, run), 0
    if not quiet:
        say = print_note if place == STDOUT else print_line
        say(summary(tally, pool, place, done) + _within(tally, capacity))


@dataclass(frozen=True)
class Scoring:
    """What is written about each new case, and what is said of their table."""

    declared: "Declared | None" = None
    contributions: bool = False
    capacity: str | None = None
    explore: float | None = None
    strict: bool = False
    seed: int = 0
    safe: bool = False
    lines: bool = False

    def scorer(self, pool: "Pool", id: str | None) -> "Scorer":
        """Return what scores each batch."""
        from truepool.pools.scorer import Scorer

        return Scorer(
            pool,
            id or "id",
            self.contributions,
            self.explore,
            self.seed,
            strict=self.strict,
        )

    def open(self, pool: "Pool", source: Any) -> "Table":
        """Find out which columns of new cases are the agents of the pool.

        The time of a case is read where a rate limits how many are flagged.
        """
        from truepool.measures.capacity import Capacity
        from truepool.pools.scorer import schema_of
        from truepool.tables import Declared, match

        declared = self.declared or Declared()
        table = match(source, schema_of(pool), declared, _columns(pool, self.capacity))
        limit = None if self.capacity is None else Capacity.parse(self.capacity)
        if table.schema.long or (limit is not None and limit.period is not None):
            return table  # type: ignore[no-any-return]
        schema = replace(table.schema, time=None)
        return replace(table, schema=schema)  # type: ignore[no-any-return]


def score_table(
    pool: "Pool", new: Path, place: Path, how: Scoring, run: Run
) -> "Tally":
    """Score a table into a file, some thousand cases at a time."""
    from truepool.cli.outputs import STDOUT
    from truepool.cli.screen import row_progress
    from truepool.measures.capacity import Capacity
    from truepool.pools.scorer import Tally, decide_within
    from truepool.tables import Declared
    from truepool.tables.dataset import open_dataset
    from truepool.tables.read import read_blocks
    from truepool.tables.source import JsonLines, is_parquet
    from truepool.tables.write import RepeatedIds, open_writer

    limit = None if how.capacity is None else Capacity.parse(how.capacity)
    source = sys.stdin.buffer if new == STDOUT else new
    _check_capacity(limit, new)
    table = how.open(pool, source)
    declared = how.declared or Declared()
    scorer = how.scorer(pool, (table.schema.long or (table.schema.id,))[0])
    if limit is not None:
        again = how.open(pool, source)
        within = decide_within(pool, read_blocks(again, declared=declared), limit)
        scorer = replace(scorer, within=within)
    tally, seen = Tally(), RepeatedIds()
    lines = how.lines or (place == STDOUT and isinstance(table.source, JsonLines))
    rows = open_dataset(new).rows if is_parquet(new) and not table.schema.long else None
    target = sys.stdout.buffer if place == STDOUT else place
    with (
        open_writer(target, json_lines=lines, spreadsheet_safe=how.safe) as write,
        row_progress("Scoring", rows, f"writing {place}") as progress,
    ):
        for block in read_blocks(table, declared=declared):
            columns, counts = scorer.score(block)
            write(columns)
            tally.add(counts)
            seen.add(block.ids)
            progress(len(block))
    tally.repeated, tally.not_compared = seen.count(), seen.left_out
    run.tell(table.notes)
    _note_unused(table.schema.unused, run)
    _tell(tally, pool, how, run, table)
    return tally


def _score_parts(
    pool: "Pool",
    new: Path,
    folder: Path,
    file: Path,
    how: Scoring,
    engine: "Engine",
    run: Run,
) -> "tuple[Tally, int]":
    """Score a data set into a folder, and count the parts that were done before."""
    from truepool.cli.engines import opened
    from truepool.cli.screen import row_progress
    from truepool.core.errors import SettingError
    from truepool.pools.part_scorer import PartScorer, made_by, score_parts
    from truepool.tables import Declared
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
    parts = PartScorer(scorer, table.schema, how.declared or Declared())
    what = f"writing {len(dataset.parts):,} parts to {folder}"
    with (
        opened(engine),
        row_progress("Scoring", dataset.rows, what) as progress,
    ):
        tally, done = score_parts(
            parts, dataset, folder, made_by(file, parts), progress, engine
        )
    run.tell(table.notes)
    _note_unused(table.schema.unused, run)
    _tell(tally, pool, how, run, table, " of each part")
    return tally, done


def _is_folder(output: Path) -> bool:
    """Whether parts are to be written, and not one table."""
    return output.is_dir() or (not output.suffix and str(output) != "-")


def _check_capacity(limit: "Capacity | None", new: Path) -> None:
    from truepool.cli.outputs import STDOUT
    from truepool.core.errors import SettingError

    if limit is not None and new == STDOUT:
        raise SettingError(
            "within a capacity all cases must be known before the first is decided, so "
            "NEW is read twice; got standard input. Save it to a file first."
        )


def _columns(pool: "Pool", capacity: str | None) -> tuple[str, ...]:
    """Columns of the cases that its decisions need."""
    if pool.costs is None or (pool.threshold is not None and capacity is None):
        return ()
    return pool.costs.columns


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


def _note_unused(names: tuple[str, ...], run: Run) -> None:
    """Name the columns that nobody asked for, once."""
    from truepool.core.sentences import say

    if names:
        run.note(say("note", "not-used", {"names": names}, run.voice))


def _tell(
    tally: "Tally", pool: "Pool", how: Scoring, run: Run, table: "Table", of: str = ""
) -> None:
    """Say what was drawn or left out, and which agents are silent, dead or new."""
    run.tell(tally.notes.values())
    for sentence in _draw(tally, how.explore):
        run.note(sentence)
    for sentence in (*_repeats(tally, of), *_doubts(tally, pool, table)):
        run.warn(sentence)
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


def _doubts(tally: "Tally", pool: "Pool", table: "Table") -> Iterator[str]:
    """Say which agents are silent or dead, or do not report as they did in the fit.

    Those without a column were named when the table was read.
    """
    from truepool.panel.labels import format_labels

    names = {*table.source.names}
    absent = {a for a, own in table.schema.reports.items() if names.isdisjoint(own)}
    silent = [agent for agent in tally.silent if agent not in absent]
    if silent and tally.empty < tally.cases:
        yield f"no case has a report of {format_labels(silent)}."
    for agent, report, count in tally.stuck(pool):
        value = ", ".join(f"{p:.4g}" for p in report)
        yield (
            f"{agent} reported {value} in all {count:,} cases while other agents' "
            "reports vary: its feed may be dead. Leave its column empty until it is "
            "fixed."
        )
    for agent, doubt in sorted(tally.doubtful.items()):
        how = "against" if doubt == "reversed" else "no longer with"
        yield (
            f"the reports of {agent} move {how} those of the other agents; in the fit "
            "they moved with them. Leave its column empty until that is clear; "
            "--strict refuses such tables."
        )
