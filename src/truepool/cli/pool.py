"""``truepool pool``: learn on one table, pool another."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import options

if TYPE_CHECKING:
    from truepool.pools import Pool


def pool(
    train: Annotated[Path, typer.Argument(help="Table with reports and outcomes.")],
    new: Annotated[Path, typer.Argument(help="Table with reports of the same agents.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="CSV or Parquet file to write.")
    ],
    mechanism: Annotated[str, typer.Option(help="Which pool.")] = "auto",
    outcome: options.Outcome = "y",
    id: options.Id = None,
    time: options.Time = None,
    ignore: options.Ignore = None,
    cost_fn: options.CostFn = 1.0,
    cost_fp: options.CostFp = 1.0,
    cost_matrix: options.CostMatrix = None,
    threshold: options.Threshold = None,
    loss: Annotated[
        str | None, typer.Option(help="Loss the pool learns by, if it takes one.")
    ] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Learn a pool on TRAIN, pool the reports in NEW, and write the decisions."""
    from truepool.errors import SourceError
    from truepool.pools import named
    from truepool.pools.interface import made
    from truepool.tables import (
        check_writable,
        read_panel,
        read_reports,
        write_table,
    )

    costs = options.costs_of(cost_fn, cost_fp, cost_matrix)
    learner = made(mechanism, costs=costs, threshold=threshold, seed=seed)
    if loss is not None:
        named(mechanism, loss=loss)  # says so if the pool takes no loss
        learner.set_params(loss=loss)
    check_writable(output)
    if output.resolve() in (train.resolve(), new.resolve()):
        raise SourceError(f"{output} is read from; write the result to another file")
    if id in ("pooled", "decision"):
        raise SourceError(f"the result has a column {id!r} of its own; rename the id")
    known = _known(ignore, train, new) if ignore else []
    panel = options.tell_pending(
        read_panel(train, outcome, id=id, time=time, ignore=known)
    )
    reports = read_reports(
        new, panel.agents, outcome=outcome, id=id, time=time, ignore=ignore or ()
    )
    learner.fit_panel(panel)
    pooled = learner.predict_proba(reports.values)
    decisions = learner.predict(reports.values)
    columns: dict[str, Any] = {}
    if reports.ids is not None:
        columns[id or "id"] = reports.ids
    if panel.classes == 2:
        columns["pooled"] = pooled[:, 1]
    else:
        columns |= {f"pooled:{k}": pooled[:, k] for k in range(panel.classes)}
    write_table(output, columns | {"decision": decisions})
    summary = _summary(learner, len(decisions), decisions, output)
    if as_json:
        print(json.dumps(summary, indent=2))
    else:
        _show(learner, summary)


def _summary(
    learner: "Pool", cases: int, decisions: Any, output: Path
) -> dict[str, Any]:
    import numpy as np

    counts = np.bincount(decisions, minlength=len(learner.classes_)).tolist()
    weights = getattr(learner, "weights_", None)
    return {
        "pool": getattr(learner, "choice_", learner.name),
        "why": getattr(learner, "why_", None),
        "weights": None
        if weights is None
        else dict(zip(learner.agents_, weights.tolist(), strict=True)),
        "cases": cases,
        "decisions": {str(k): count for k, count in enumerate(counts)},
        "output": str(output),
    }


def _show(learner: "Pool", summary: dict[str, Any]) -> None:
    from truepool.cli.screen import out
    from truepool.render.weighed import grid

    console = out()
    kept = getattr(learner, "pool_", learner)
    if summary["why"]:
        console.print(
            f"auto chose {summary['pool']}: {summary['why']}.", highlight=False
        )
    if summary["weights"] is not None:
        weights = learner.weights_
        credit = getattr(kept, "credit_", None)
        grid(learner.agents_, weights, credit, getattr(kept, "loss", None)).print(
            console
        )
    told = ", ".join(f"{n:,} x {k}" for k, n in summary["decisions"].items())
    console.print(
        f"Pooled {summary['cases']:,} cases with {summary['pool']}; "
        f"decided {told}; wrote {summary['output']}.",
        highlight=False,
        soft_wrap=True,
    )


def _known(ignore: list[str], train: Path, new: Path) -> list[str]:
    """Return those that the first table has; each must be in one of the two."""
    from truepool.errors import SourceError, nearest
    from truepool.tables import columns_of

    there = columns_of(train)
    either = [*there, *columns_of(new)]
    unknown = [name for name in ignore if name not in either]
    if unknown:
        raise SourceError(
            f"neither table has a column {unknown[0]!r}{nearest(unknown[0], either)}"
        )
    return [name for name in ignore if name in there]
