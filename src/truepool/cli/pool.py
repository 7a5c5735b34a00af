"""``truepool pool``: learn on one table, pool another."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import options

if TYPE_CHECKING:
    from truepool.pools import Explanation, PoolResult


def pool(
    train: Annotated[Path, typer.Argument(help="Table with reports and outcomes.")],
    new: Annotated[Path, typer.Argument(help="Table with reports of the same agents.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="CSV or Parquet file to write.")
    ],
    mechanism: Annotated[str, typer.Option(help="Which pool.")] = "auto",
    outcome: options.Outcome = "y",
    positive: options.Positive = None,
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
    from truepool.cli.screen import say
    from truepool.core.errors import SourceError
    from truepool.data.tables import (
        check_writable,
        read_panel,
        read_reports,
        write_table,
    )
    from truepool.pools import configure
    from truepool.render import labels

    costs = options.costs_of(cost_fn, cost_fp, cost_matrix)
    own = {} if loss is None else {"loss": loss}
    rule = configure(mechanism, costs=costs, threshold=threshold, seed=seed, **own)
    check_writable(output)
    if output.resolve() in (train.resolve(), new.resolve()):
        raise SourceError(f"{output} is read from; write the result to another file")
    if id in ("pooled", "decision"):
        raise SourceError(f"the result has a column {id!r} of its own; rename the id")
    known = _known(ignore, train, new) if ignore else []
    panel = options.tell_pending(
        read_panel(train, outcome, positive=positive, id=id, time=time, ignore=known)
    )
    reports = read_reports(
        new, panel.agents, outcome=outcome, id=id, time=time, ignore=ignore or ()
    )
    result = rule.fit_panel(panel).pool(reports.coordinates)
    pooled = result.probabilities
    columns: dict[str, Any] = {}
    if reports.ids is not None:
        columns[id or "id"] = reports.ids
    if panel.classes == 2:
        columns["pooled"] = pooled[:, 1]
    else:
        columns |= {f"pooled:{k}": pooled[:, k] for k in range(panel.classes)}
    write_table(output, columns | {"decision": result.decisions})
    explanation = rule.explain()
    summary = _summary(explanation, result, output)
    if as_json:
        told = summary | {"outcome_labels": panel.labels.to_dict(panel.counts)}
        print(json.dumps(told, indent=2))
    else:
        say(labels.sentence(panel.labels, panel.counts))
        _show(explanation, summary, panel.labels.names)


def _summary(
    explanation: "Explanation", result: "PoolResult", output: Path
) -> dict[str, Any]:
    import numpy as np

    classes = result.probabilities.shape[1]
    counts = np.bincount(result.decisions, minlength=classes).tolist()
    return {
        "pool": explanation.name,
        "why": explanation.why,
        "weights": explanation.weights,
        "cases": len(result.decisions),
        "decisions": {str(k): count for k, count in enumerate(counts)},
        "output": str(output),
    }


def _show(
    explanation: "Explanation", summary: dict[str, Any], names: tuple[Any, ...]
) -> None:
    from truepool.cli.screen import out, say
    from truepool.render.tables.weights import grid

    console = out()
    name, why, weights = explanation.name, explanation.why, explanation.weights
    if why is not None:
        console.print(f"auto chose {name}: {why}.", highlight=False)
    if weights is not None:
        grid(weights, explanation.credit, explanation.loss).print(console)
    counts = zip(names, summary["decisions"].values(), strict=True)
    told = ", ".join(f"{count:,} x {name}" for name, count in counts)
    say(
        f"Pooled {summary['cases']:,} cases with {summary['pool']}; "
        f"decided {told}; wrote {summary['output']}."
    )


def _known(ignore: list[str], train: Path, new: Path) -> list[str]:
    """Return those that the first table has; each must be in one of the two."""
    from truepool.core.errors import SourceError, suggestion
    from truepool.data.tables import read_column_names

    there = read_column_names(train)
    either = [*there, *read_column_names(new)]
    unknown = [name for name in ignore if name not in either]
    if unknown:
        raise SourceError(
            f"neither table has a column {unknown[0]!r}{suggestion(unknown[0], either)}"
        )
    return [name for name in ignore if name in there]
