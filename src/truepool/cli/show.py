"""``truepool show``: what a saved pool is."""

import json
from pathlib import Path
from typing import Annotated

import typer

from truepool.cli import options


def show(
    file: Annotated[Path, typer.Argument(help="File that `truepool fit` wrote.")],
    as_json: options.Json = False,
) -> None:
    """Print what a saved pool is: its agents, weights, costs and training cases."""
    from truepool.cli.screen import out
    from truepool.pools import persistence
    from truepool.pools.card import card_of
    from truepool.render.tables import pool_card

    written = persistence.library(file)
    card = card_of(persistence.load(file, probe=False), library=written)
    if as_json:
        print(json.dumps(card.to_dict(), indent=2))
        return
    for grid in pool_card.grids(card):
        grid.print(out())
