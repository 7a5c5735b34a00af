"""``truepool reproduce``: the paper's tables and figures, re-run."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from truepool.cli import options
from truepool.cli.keys import option


def reproduce(
    labels: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LABEL...",
            help="Tables and figures by the paper's labels (default: all).",
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full/--quick", help="Run at the paper's size, or at a reduced one."
        ),
    ] = False,
    jobs: options.Jobs = 1,
    engine: options.EngineName = "local",
    address: options.Address = None,
    output: Annotated[
        Path,
        option(
            "output",
            "Folder for rows, verdicts, figures and pages.",
            metavar="FOLDER",
        ),
    ] = Path("paper-run"),
    force: options.Force = False,
    json_file: options.Json = None,
) -> None:
    """Re-run the paper's tables and compare the numbers."""
    from truepool.cli.engines import choose, opened
    from truepool.cli.outputs import (
        STDOUT,
        check_files,
        check_own_files,
        print_files,
        record_own_files,
        write_json,
    )
    from truepool.cli.screen import console, progress_bar
    from truepool.core.errors import SourceError
    from truepool_lab.paper import reproduce as run
    from truepool_lab.paper.render import report

    if output.exists() and not output.is_dir():
        raise SourceError(
            f"--output must be a folder; {str(output)!r} is a file: name another"
        )
    check_files([], [json_file])
    where = choose(engine, address, None if jobs == 1 else jobs)
    if output.is_dir():
        check_own_files(output, report.PAGES, force=force)
    try:
        with (
            opened(where),
            progress_bar("Reproducing", remaining=True) as progress,
        ):
            result = run(
                labels or (),
                size="full" if full else "quick",
                out=output,
                jobs=jobs,
                engine=where,
                progress=progress,
            )
    except KeyboardInterrupt:
        print(
            f"stopped; finished work is in {output / 'rows'}, and the same command "
            "resumes from there",
            file=sys.stderr,
        )
        raise typer.Exit(130) from None
    summary = result.to_dict()
    written = report.write(summary, result.figures(), output)
    record_own_files(output, report.PAGES)
    write_json(json_file, summary)
    if json_file != STDOUT:
        report.grid(summary).print(console())
        print_files(*written, json_file)
