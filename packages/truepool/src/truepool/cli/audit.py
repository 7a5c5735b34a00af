"""``truepool audit``: can this pool be trusted."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import options
from truepool.cli.keys import key, option
from truepool.cli.run import Run

if TYPE_CHECKING:
    from truepool.panel.costs import Costs
    from truepool.pools import Pool
    from truepool.tables import Declared


class FailOn(StrEnum):
    """Severities that can make the command fail."""

    WARNING = "warning"
    ERROR = "error"


@options.verb(keys=("id",))
def audit(
    panel: options.Table = None,
    *,
    declared: "Declared",
    costs: "Costs",
    threshold: options.Threshold = None,
    pool: Annotated[
        str,
        option(
            "pool",
            "The pool in use today: a name, or a saved pool, which is judged as it is.",
        ),
    ] = "mean",
    trusted: Annotated[
        list[str] | None,
        key(
            "trusted",
            "Agents that are known to report before the outcome.",
            "NAMES",
        ),
    ] = None,
    price: Annotated[Any, key("price")] = None,
    capacity: options.Capacity = None,
    by: options.By = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    engine: options.EngineName = "local",
    address: options.Address = None,
    json_file: options.Json = None,
    markdown: options.Markdown = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print all the evidence too.")
    ] = False,
    since: Annotated[
        Path | None,
        typer.Option(help="JSON file of an earlier audit, to say what changed since."),
    ] = None,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(help="Exit with code 1 on a finding this severe or worse."),
    ] = None,
    run: Run,
) -> None:
    """Find out whether the pool in use can be trusted.

    Prints what to do first, what that saves, and what is true of every agent.
    """
    from truepool.audits import audit as judge
    from truepool.cli.costs import check_class_costs
    from truepool.cli.engines import opened
    from truepool.cli.outputs import STDOUT, check_files, print_files, write_json
    from truepool.cli.screen import console, progress_bar
    from truepool.core.engine import make_engine
    from truepool.core.files import together, write_text
    from truepool.pages import audit as pages
    from truepool.pages.wording import Speaker

    rule: str | Pool = pool
    if pool.endswith(".pool") or Path(pool).is_file():
        rule, declared, costs = _saved(Path(pool), declared, costs)
    check_files([panel], [json_file, markdown, html])
    where = make_engine(engine, address)
    cases = run.panel_or_example(panel, declared, pending=None, seed=seed, costs=costs)
    check_class_costs(costs, cases.labels)
    with opened(where), progress_bar("Auditing") as progress:
        result = judge(
            cases,
            costs=costs,
            threshold=threshold,
            pool=rule,
            capacity=capacity,
            trusted=trusted or (),
            prices=price or {},
            by=by,
            level=level,
            seed=seed,
            source="" if panel is None else panel.name,
            since=None if since is None else _read_audit(since),
            progress=progress,
            engine=where,
        )
    values = result.to_dict()
    table = "" if panel is None else str(panel)
    say = Speaker.of(result, run.voice, table, run.spelled())
    # Every page is rendered before any file is written.
    texts = [
        (path, render(result, say))
        for path, render in ((markdown, pages.markdown), (html, pages.html))
        if path is not None
    ]
    with together():
        write_json(json_file, values)
        for path, text in texts:
            write_text(path, text)
    run.print_notes()
    if not (quiet or json_file == STDOUT):
        pages.show(say, console(), verbose=verbose)
        print_files(json_file, markdown, html)
    if fail_on is not None and result.worst() in ("error", fail_on):
        sys.exit(1)


def _saved(
    file: Path, given: "Declared", costs: "Costs"
) -> "tuple[Pool, Declared, Costs]":
    """Return a saved pool, and what it knows of the table and of costs if not given."""
    from dataclasses import fields, replace

    from truepool.panel.costs import Costs
    from truepool.pools import persistence
    from truepool.tables import Declared

    pool: Pool = persistence.load(file)
    known = Declared() if pool.table is None else pool.table.declared()
    usual = Declared()
    unsaid = {
        f.name: vars(known)[f.name]
        for f in fields(Declared)
        if vars(given)[f.name] == vars(usual)[f.name]
    }
    table = replace(given, **unsaid)
    if pool.costs is not None:  # those that are not said are the pool's own
        said = {
            f.name: vars(costs)[f.name]
            for f in fields(Costs)
            if vars(costs)[f.name] != vars(Costs())[f.name]
        }
        costs = replace(pool.costs, **said)
        columns = dict.fromkeys((*table.columns, *costs.columns))
        table = replace(table, columns=tuple(columns))
    if not (given.agents or table.long):
        table = replace(table, agents=pool.agents_)
    return pool, table, costs


def _read_audit(path: Path) -> dict[str, Any]:
    """Read an earlier audit."""
    from truepool.core.errors import SourceError
    from truepool.core.files import missing_file

    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SourceError(
            f"--since must name the JSON file of an earlier audit; "
            f"{missing_file(path)}. Write one with truepool audit --json FILE."
        ) from None
    except (OSError, ValueError) as error:
        why = "is not JSON"
        if isinstance(error, OSError):
            why = f"cannot be read ({error.strerror})"
        raise SourceError(
            f"--since must name the JSON file of an earlier audit; {str(path)!r} "
            f"{why}. Write one with truepool audit --json FILE."
        ) from error
    if not isinstance(read, dict):
        raise SourceError(
            f"--since must name the JSON file of an earlier audit; got a "
            f"{type(read).__name__} in {str(path)!r}. Write one with truepool audit "
            "--json FILE."
        )
    return read
