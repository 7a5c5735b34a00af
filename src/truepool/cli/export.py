"""``truepool export``: write a saved pool for another runtime."""

from pathlib import Path
from typing import Annotated

import typer

from truepool.cli import options


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
        print_files(json_file)
