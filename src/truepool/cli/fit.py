"""``truepool fit``: learn a pool and save it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truepool.cli import options
from truepool.cli.options import option

if TYPE_CHECKING:
    from truepool.data.tables import TableFormat
    from truepool.pools import Pool


@options.with_table
def fit(
    table: Annotated[
        Path,
        typer.Argument(metavar="PANEL", help="Table with reports and outcomes."),
    ],
    output: Annotated[Path, option("--output", "File to write, such as fraud.pool.")],
    *,
    table_format: "TableFormat",
    rule: "Pool",
    json_file: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit a pool on PANEL and save it.

    `truepool score` and, in Python, `tp.load_pool` use the saved file.
    """
    from truepool.cli.outputs import STDOUT, check_files, write_json
    from truepool.cli.screen import clock, print_line
    from truepool.cli.show import print_card
    from truepool.core.errors import SourceError
    from truepool.core.files import together
    from truepool.pools import persistence
    from truepool.pools.card import card_of

    if output == STDOUT:
        raise SourceError("a pool is saved to a file; name one instead of -")
    check_files([table], [output, json_file])
    panel = options.read_panel(table, table_format)
    with clock("Fitting", rule.name):
        rule.fit_panel(panel)
    with together():
        persistence.save(rule, output, table_format)
        card = card_of(rule, table=table_format)
        write_json(json_file, card.to_dict())
    if not quiet and json_file != STDOUT:
        print_card(card)
        print_line(f"Wrote {output}. To use it: truepool score {output} NEW")
