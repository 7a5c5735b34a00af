"""``truepool fit``: learn a pool and save it."""

import json
from pathlib import Path
from typing import Annotated

import typer

from truepool.cli import options


def fit(
    table: Annotated[Path, typer.Argument(help="Table with reports and outcomes.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write, such as fraud.pool.")
    ],
    pool: Annotated[str, typer.Option(help="Which pool.")] = "auto",
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
    """Learn a pool on a table and save it, for `truepool score` and `tp.load_pool`."""
    from truepool.cli.screen import out, say
    from truepool.core.errors import SourceError
    from truepool.core.files import check_path
    from truepool.pools import configure
    from truepool.pools.card import card_of
    from truepool.render.tables import pool_card

    costs = options.costs_of(cost_fn, cost_fp, cost_matrix)
    own = {} if loss is None else {"loss": loss}
    rule = configure(pool, costs=costs, threshold=threshold, seed=seed, **own)
    check_path(output)
    if output.resolve() == table.resolve():
        raise SourceError(f"{output} is read from; write the pool to another file")
    panel = options.panel_or_example(
        table, outcome, id, time, ignore, positive=positive
    )
    rule.fit_panel(panel).save(output)
    card = card_of(rule)
    if as_json:
        print(json.dumps(card.to_dict(), indent=2))
    else:
        for grid in pool_card.grids(card):
            grid.print(out())
        say(f"Wrote {output}. Use it: truepool score {output} NEW")
