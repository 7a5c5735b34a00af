"""Options that mean the same are spelled the same, for every verb."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from truepool.data.costs import Costs
    from truepool.data.panel import Panel

Table: TypeAlias = Annotated[
    Path | None,
    typer.Argument(help="CSV or Parquet table; the bundled example if left out."),
]
Outcome: TypeAlias = Annotated[
    str, typer.Option(help="Column with what happened: two labels, or 0..K-1.")
]
Positive: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The outcome label that reports are probabilities of; needed unless the "
        "labels are 0 and 1, or false and true."
    ),
]
Id: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Column that labels the cases ('id' if there is one)."),
]
Time: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Column that dates the cases ('time' if there is one); folds then go "
        "forward in time."
    ),
]
Ignore: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Column that is no agent; may be repeated.")
]
CostFn: TypeAlias = Annotated[float, typer.Option(help="Cost of a missed case.")]
CostFp: TypeAlias = Annotated[float, typer.Option(help="Cost of a false alarm.")]
CostMatrix: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Costs for K classes: rows are what happened, columns what was decided, "
        "as '0,1,1; 10,0,1; 10,1,0'."
    ),
]
Threshold: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Decide 1 above this probability (default: what costs ask for)."),
]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]


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
    return tell_pending(
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


def tell_pending(panel: "Panel") -> "Panel":
    """Say on standard error how many rows have no outcome yet; return the panel."""
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
    outcome: str, others: "Sequence[str | None]", instead: str
) -> None:
    """Refuse columns and labels that are named without a table to find them in."""
    from truepool.core.errors import SourceError

    if outcome != "y" or any(others):
        raise SourceError(
            f"columns belong to a table; name the table too, or leave them out to "
            f"{instead}"
        )


def costs_of(fn: float, fp: float, matrix: str | None) -> "Costs":
    """Costs from the options that give them."""
    from truepool.core.errors import CostError
    from truepool.data.costs import Costs

    if matrix is None:
        return Costs(fn=fn, fp=fp)
    try:
        rows = [[float(cell) for cell in row.split(",")] for row in matrix.split(";")]
    except ValueError:
        raise CostError(
            "a cost matrix is written as rows of numbers, '0,1; 10,0'; "
            f"{matrix!r} is not"
        ) from None
    if len({len(row) for row in rows}) > 1:
        raise CostError(f"the rows of a cost matrix must be equally long; {matrix!r}")
    return Costs(fn, fp, matrix=rows)
