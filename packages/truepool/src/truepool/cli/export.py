"""``truepool export``: write a saved pool for another runtime."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truepool.cli import options

if TYPE_CHECKING:
    from truepool.tables import Unit


def _input_units(units: "dict[str, Unit]") -> str:
    """Say how numbers of the table are counted before the graph gets them."""
    rules = (
        f"{agent} from {unit.zero:g} (0) to {unit.one:g} (1)"
        for agent, unit in units.items()
    )
    return (
        "It takes probabilities, not the numbers of the table: count those of "
        f"{', '.join(rules)} as shares of their range."
    )


def export(
    file: Annotated[
        Path, typer.Argument(metavar="POOL", help="File that `truepool fit` wrote.")
    ],
    onnx: Annotated[
        Path, typer.Option(metavar="FILE", help="The .onnx file to write.")
    ],
    json_file: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Export a saved pool to ONNX and check its probabilities."""
    from truepool import pools
    from truepool.cli.outputs import STDOUT, check_files, print_files, write_json
    from truepool.cli.screen import print_line
    from truepool.core.files import together

    check_files([file], [onnx, json_file])
    pool = pools.load_pool(file)
    with together():
        found = pools.export(pool, onnx)
        summary = {
            "pool": pool.name,
            "output": str(found.path),
            "cases": found.cases,
            "gap": found.gap,
        }
        write_json(json_file, summary)
    if not quiet and json_file != STDOUT:
        print_line(
            f"Wrote {onnx}: its probabilities differ from those of {pool.name} by at "
            f"most {found.gap:.1e} on {found.cases:,} cases, random and rounded, "
            "most of them with missing reports."
        )
        if pool.table is not None and pool.table.units:
            print_line(_input_units(dict(pool.table.units)))
        print_files(json_file)
