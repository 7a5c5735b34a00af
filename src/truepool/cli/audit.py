"""``truepool audit``: can this pool be trusted."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from truepool.cli import options


class FailOn(StrEnum):
    """Severities that can make the command fail."""

    WARNING = "warning"
    ERROR = "error"


def audit(
    panel: options.Table = None,
    outcome: options.Outcome = "y",
    positive: options.Positive = None,
    id: options.Id = None,
    time: options.Time = None,
    ignore: options.Ignore = None,
    cost_fn: options.CostFn = 1.0,
    cost_fp: options.CostFp = 1.0,
    cost_matrix: options.CostMatrix = None,
    threshold: options.Threshold = None,
    mechanism: Annotated[str, typer.Option(help="The pool in use.")] = "mean",
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    seed: options.Seed = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write JSON here; - prints it.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write Markdown here.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page for the browser here.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print nothing but errors.")
    ] = False,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(help="Exit 1 if there is a finding this grave or graver."),
    ] = None,
) -> None:
    """Whether the pool of PANEL can be trusted: findings in your costs, with advice."""
    from truepool.audits import audit as run
    from truepool.cli.screen import out, watched
    from truepool.core.files import write_text
    from truepool.render.tables.audit import show

    costs = options.costs_of(cost_fn, cost_fp, cost_matrix)
    to_screen = json_file is not None and str(json_file) == "-"
    files = [path for path in (json_file, markdown, html) if path is not None]
    _check(panel, [path for path in files if not (to_screen and path is json_file)])
    cases = options.panel_or_example(
        panel, outcome, id, time, ignore, positive=positive
    )
    with watched("Auditing") as progress:
        told = run(
            cases,
            costs=costs,
            threshold=threshold,
            pool=mechanism,
            level=level,
            seed=seed,
            progress=progress,
        )
    text = json.dumps(told.to_dict(), indent=2, allow_nan=False)
    if to_screen:
        print(text)
    elif json_file is not None:
        write_text(json_file, text + "\n")
    if markdown is not None:
        write_text(markdown, told.to_markdown())
    if html is not None:
        told.to_html(html)
    if not (quiet or to_screen):
        show(told, out())
        for path in files:
            out().print(f"Wrote {path}.", highlight=False, soft_wrap=True)
    if fail_on is not None and _grave(told.worst(), fail_on):
        sys.exit(1)


def _grave(worst: str | None, fail_on: FailOn) -> bool:
    return worst == "error" or worst == fail_on


def _check(panel: Path | None, files: list[Path]) -> None:
    """Refuse what could not be written before anything is computed."""
    from truepool.core.errors import SourceError
    from truepool.core.files import check_path

    taken = [] if panel is None else [panel.resolve()]
    for path in files:
        check_path(path)
        if path.resolve() in taken:
            raise SourceError(
                f"{str(path)!r} is named twice; every file needs a name of its own"
            )
        taken.append(path.resolve())
