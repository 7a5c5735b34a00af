"""``truepool help keys``: everything that a file of keys, or --set, may say."""

from enum import StrEnum
from typing import Annotated

import typer


class Topic(StrEnum):
    """What there is help about."""

    KEYS = "keys"


def help(
    topic: Annotated[Topic, typer.Argument(metavar="TOPIC", help="keys")],
) -> None:
    """List the keys of pool.toml and --set, and what they mean."""
    from truepool.cli import keys
    from truepool.cli.screen import console, print_line
    from truepool.pages.grid import Grid

    print_line(
        "A key stands in pool.toml, beside the table or here, as in threshold = 0.2, "
        "or on the command line, as in --set threshold=0.2. A section such as [score] "
        "is for one command."
    )
    rows = tuple(
        (name, value, text, ", ".join(verbs))
        for name, value, text, verbs in keys.every()
    )
    headers = ("key", "value", "meaning", "commands")
    Grid("Keys", headers, rows, prose=True).print(console())
