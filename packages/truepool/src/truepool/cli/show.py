"""``truepool show``: the contents of a saved pool."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truepool.cli import options

if TYPE_CHECKING:
    from truepool.pools.interface.card import Card


def show(
    file: Annotated[
        Path, typer.Argument(metavar="POOL", help="File that `truepool fit` wrote.")
    ],
    json_file: options.Json = None,
) -> None:
    """Print the agents, weights and costs of a saved pool."""
    from truepool.cli.outputs import STDOUT, check_files, write_json
    from truepool.pools import persistence
    from truepool.pools.interface.card import card_of

    check_files([file], [json_file])
    pool = persistence.load(file, probe=False)
    card = card_of(pool, persistence.library(file), pool.table)
    write_json(json_file, card.to_dict())
    if json_file != STDOUT:
        print_card(card)


def print_card(card: "Card") -> None:
    """Print the card of a pool."""
    from truepool.cli.screen import console
    from truepool.pages import pool_card

    for grid in pool_card.grids(card):
        grid.print(console())
