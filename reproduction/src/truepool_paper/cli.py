"""``truepool reproduce``: the paper's tables and figures, re-run."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from truepool.cli import options


def reproduce(
    labels: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LABEL]...",
            help="Tables and figures by the paper's labels; all if left out.",
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full/--quick", help="At the paper's size, or at a reduced one."
        ),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Number of parallel processes.")] = 1,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Folder for rows, verdicts, figures and pages."
        ),
    ] = Path("paper-run"),
    as_json: options.Json = False,
) -> None:
    """Tables and figures of the paper re-run, each number beside the printed one."""
    from truepool.cli.screen import out, timed
    from truepool.core.errors import SourceError
    from truepool_paper import reproduce as run
    from truepool_paper.render import report

    if output.exists() and not output.is_dir():
        raise SourceError(
            f"--output must be a folder; {str(output)!r} is a file: name another"
        )
    try:
        with timed("Reproducing") as progress:
            result = run(
                labels or (),
                size="full" if full else "quick",
                out=output,
                jobs=jobs,
                progress=progress,
            )
    except KeyboardInterrupt:
        print(
            f"stopped; finished work is in {output / 'rows'}, and the same command "
            "resumes from there",
            file=sys.stderr,
        )
        raise typer.Exit(130) from None
    data = result.to_dict()
    written = report.write(data, result.figures(), output)
    if as_json:
        print(json.dumps(data, indent=2))
        return
    report.grid(data).print(out())
    for path in written:
        out().print(f"Wrote {path}.", highlight=False, soft_wrap=True)
