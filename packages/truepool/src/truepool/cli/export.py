"""``truepool export``: write a saved pool for another runtime."""

from pathlib import Path
from typing import Annotated

import typer

from truepool.cli import options


def _input_units(ends: dict[str, tuple[float, float]]) -> str:
    """Say how numbers of the table are counted before the graph gets them."""
    from truepool.panel.labels import format_names
    from truepool.tables.score_range import by_formula

    agents = by_formula(ends)
    rules = (f"{rule} for {format_names(names)}" for rule, names in agents.items())
    return (
        "It takes probabilities, not the numbers of the table: count a number s as "
        f"{', as '.join(rules)}."
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
        if pool.table is not None and (ends := pool.table.other_ends(pool.agents_)):
            print_line(_input_units(ends))
        print_files(json_file)
