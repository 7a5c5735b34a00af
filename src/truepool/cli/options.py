"""One spelling per option: what means the same is written the same in every verb."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

if TYPE_CHECKING:
    from truepool.data.costs import Costs
    from truepool.data.panel import Panel


@dataclass(frozen=True)
class Spelling:
    """How an option is written, what its value is, and what it means."""

    value: str
    help: str
    short: str | None = None
    type: type = str


SPELLINGS = {
    "--outcome": Spelling(
        "COLUMN", "Column with the outcome: one of two labels, or of 0 to K-1."
    ),
    "--positive": Spelling(
        "LABEL",
        "The outcome label that reports are probabilities of. Required unless the "
        "labels are 0 and 1, or false and true.",
    ),
    "--id": Spelling("COLUMN", "Column that names the cases (default: 'id' if any)."),
    "--time": Spelling(
        "COLUMN",
        "Column that dates the cases (default: 'time' if any). With dates, pools are "
        "always tested on later cases than they were fitted on.",
    ),
    "--ignore": Spelling("COLUMN", "Column to leave out. Repeatable."),
    "--cost-fn": Spelling("NUMBER", "Cost of a missed case.", type=float),
    "--cost-fp": Spelling("NUMBER", "Cost of a false alarm.", type=float),
    "--cost-matrix": Spelling(
        "ROWS",
        "Costs for K classes, one row per true class and one column per decision: "
        "'0,1,1; 10,0,1; 10,1,0'.",
    ),
    "--threshold": Spelling(
        "NUMBER",
        "Decide positive above this probability (default: the threshold that "
        "minimises the expected cost).",
        type=float,
    ),
    "--pool": Spelling("NAME", "Which pool."),
    "--learner": Spelling("NAME", "Which online learner."),
    "--payment": Spelling("NAME", "What agents are paid by. Repeatable."),
    "--loss": Spelling("NAME", "Loss: brier, log, spherical, cost or cost-brier."),
    "--level": Spelling("NUMBER", "Confidence level of the intervals.", type=float),
    "--seed": Spelling("NUMBER", "The same seed gives the same numbers.", type=int),
    "--jobs": Spelling("NUMBER", "Processes to use at once; -1: all cores.", type=int),
    "--output": Spelling("FILE", "File to write; - is standard output.", "-o", Path),
    "--json": Spelling(
        "[=FILE]",
        "Print JSON instead of tables. --json=FILE writes JSON to that file and still "
        "prints the tables; the equals sign is required.",
        type=Path,
    ),
    "--html": Spelling("FILE", "Write an HTML page to this file.", type=Path),
    "--markdown": Spelling("FILE", "Write Markdown to this file.", type=Path),
    "--plot": Spelling("FILE", "Draw to this SVG, PNG or PDF file.", type=Path),
    "--quiet": Spelling("", "Print nothing but errors.", type=bool),
}
"""Every option that more than one verb has, or may have. A verb's other options are
its own: no second verb may use their names."""


def option(name: str, help: str | None = None, **settings: Any) -> Any:
    """Return a shared option, with words of its own where a verb needs them."""
    known = SPELLINGS[name]
    flags = [name] if known.short is None else [name, known.short]
    if known.value:
        settings.setdefault("metavar", known.value)
    return typer.Option(*flags, help=help or known.help, **settings)


def _count(jobs: int | None) -> int | None:
    from truepool.core.errors import SettingError

    if jobs is not None and (jobs == 0 or jobs < -1):
        raise SettingError(f"--jobs must be 1 or more, or -1 for all cores; got {jobs}")
    return jobs


Table: TypeAlias = Annotated[
    Path | None,
    typer.Argument(
        metavar="PANEL",
        help="CSV or Parquet table with one row per case and one column per agent "
        "(default: the bundled example).",
    ),
]
Outcome: TypeAlias = Annotated[str, option("--outcome")]
Positive: TypeAlias = Annotated[str | None, option("--positive")]
Id: TypeAlias = Annotated[str | None, option("--id")]
Time: TypeAlias = Annotated[str | None, option("--time")]
Ignore: TypeAlias = Annotated[list[str] | None, option("--ignore")]
CostFn: TypeAlias = Annotated[float, option("--cost-fn")]
CostFp: TypeAlias = Annotated[float, option("--cost-fp")]
CostMatrix: TypeAlias = Annotated[str | None, option("--cost-matrix")]
Threshold: TypeAlias = Annotated[float | None, option("--threshold")]
Level: TypeAlias = Annotated[float, option("--level")]
Seed: TypeAlias = Annotated[int, option("--seed", min=0)]
Jobs: TypeAlias = Annotated[int, option("--jobs", callback=_count)]
JobsOrAuto: TypeAlias = Annotated[
    int | None,
    option(
        "--jobs",
        "Processes to use at once; -1: all cores (default: all cores once the work "
        "takes longer than starting them).",
        callback=_count,
    ),
]
Json: TypeAlias = Annotated[Path | None, option("--json")]
Html: TypeAlias = Annotated[Path | None, option("--html")]
Markdown: TypeAlias = Annotated[Path | None, option("--markdown")]
Plot: TypeAlias = Annotated[Path | None, option("--plot")]
Quiet: TypeAlias = Annotated[bool, option("--quiet")]


def panel_or_example(
    table: Path | None,
    outcome: str,
    id: str | None,
    time: str | None,
    ignore: list[str] | None,
    *,
    positive: str | None = None,
    allow_empty_cases: bool = False,
) -> "Panel":
    """Read the table that is named, or take the bundled example."""
    from truepool.data.tables import read_panel
    from truepool.datasets import example

    if table is None:
        columns = [id, time, positive, *(ignore or ())]
        check_no_columns(outcome, columns, "see the bundled example")
        return example()
    return announce_pending(
        read_panel(
            table,
            outcome,
            positive=positive,
            id=id,
            time=time,
            ignore=ignore or (),
            allow_empty_cases=allow_empty_cases,
        )
    )


def announce_pending(panel: "Panel") -> "Panel":
    """Print to standard error how many cases have no outcome yet; return the panel."""
    from truepool.core.formatting import pluralize

    if panel.pending is not None:
        has = "has" if len(panel.pending) == 1 else "have"
        typer.echo(
            f"{pluralize(len(panel.pending), 'case')} {has} no outcome yet: used for "
            "feed checks only (truepool audit).",
            err=True,
        )
    return panel


def check_no_columns(
    outcome: str, others: "Sequence[str | None]", purpose: str
) -> None:
    """Refuse columns and labels that are named without a table to find them in."""
    from truepool.core.errors import SourceError

    if outcome != "y" or any(others):
        raise SourceError(
            f"columns belong to a table; name the table too, or leave them out to "
            f"{purpose}"
        )


def parse_costs(fn: float, fp: float, matrix: str | None) -> "Costs":
    """Return the costs that the options state."""
    from truepool.core.errors import CostError
    from truepool.data.costs import Costs

    if matrix is None:
        return Costs(fn=fn, fp=fp)
    try:
        rows = [[float(cell) for cell in row.split(",")] for row in matrix.split(";")]
    except ValueError:
        raise CostError(
            f"a cost matrix is written as rows of numbers, '0,1; 10,0'; got {matrix!r}"
        ) from None
    if len({len(row) for row in rows}) > 1:
        raise CostError(
            f"the rows of a cost matrix must be equally long; got {matrix!r}"
        )
    return Costs(fn, fp, matrix=rows)
