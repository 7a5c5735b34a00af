"""``truepool compare``: every pool side by side."""

import json
from typing import Annotated

import typer

from truepool.cli import options


def compare(
    panel: options.Table = None,
    outcome: options.Outcome = "y",
    positive: options.Positive = None,
    id: options.Id = None,
    time: options.Time = None,
    ignore: options.Ignore = None,
    cost_fn: options.CostFn = 1.0,
    cost_fp: options.CostFp = 1.0,
    cost_matrix: options.CostMatrix = None,
    threshold: options.Threshold = None,
    loss: Annotated[str, typer.Option(help="What the pools are ranked by.")] = "cost",
    mechanism: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this pool; may be repeated. Default: all but the neural ones "
            "(mlp-2, mlp-4, deep-sets, attention), which are tried only by name."
        ),
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation.")] = 5,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a Markdown table.")
    ] = False,
) -> None:
    """Every pool side by side on PANEL, judged on cases it did not learn from."""
    from truepool.cli.screen import out, say, watched
    from truepool.comparison import compare as run
    from truepool.core.errors import SettingError
    from truepool.render import labels
    from truepool.render.tables.comparison import grid
    from truepool.render.tables.grid import plain

    if as_json and markdown:
        raise SettingError("choose one of --json and --markdown")
    costs = options.costs_of(cost_fn, cost_fp, cost_matrix)
    cases = options.panel_or_example(
        panel, outcome, id, time, ignore, positive=positive
    )
    with watched("Comparing pools") as progress:
        result = run(
            cases,
            costs=costs,
            threshold=threshold,
            loss=loss,
            pools=mechanism,
            cv=folds,
            level=level,
            seed=seed,
            progress=progress,
        )
    if as_json:
        told = result.to_dict() | {"outcome_labels": cases.labels.to_dict(cases.counts)}
        print(json.dumps(told, indent=2))
    elif markdown:
        print(plain(labels.sentence(cases.labels, cases.counts)), end="\n\n")
        print(grid(result).to_markdown())
    else:
        say(labels.sentence(cases.labels, cases.counts))
        grid(result).print(out())
