"""``truepool fit``: learn a pool and save it."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truepool.cli import keys, options
from truepool.cli.keys import option
from truepool.cli.run import Run, sample_stream

if TYPE_CHECKING:
    from truepool.core.engine import Engine
    from truepool.panel.panel import Panel
    from truepool.pools import Pool
    from truepool.tables import Declared, Schema
    from truepool.tables.checkpoint import Checkpoint


@options.verb()
def fit(
    table: Annotated[
        Path,
        typer.Argument(metavar="PANEL", help="Table with reports and outcomes."),
    ],
    output: Annotated[Path, option("output", "File to write, such as fraud.pool.")],
    *,
    declared: "Declared",
    rule: "Pool",
    engine: options.EngineName = "local",
    address: options.Address = None,
    json_file: options.Json = None,
    quiet: options.Quiet = False,
    run: Run,
) -> None:
    """Fit a pool on PANEL and save it.

    `truepool score` and, in Python, `tp.load_pool` use the saved file.
    """
    from truepool.cli.outputs import STDOUT, check_files, write_json
    from truepool.cli.screen import print_line
    from truepool.cli.show import print_card
    from truepool.core.engine import make_engine
    from truepool.core.errors import SourceError
    from truepool.core.files import together
    from truepool.pools import persistence
    from truepool.pools.interface.card import card_of
    from truepool.tables.checkpoint import Checkpoint

    if output == STDOUT:
        raise SourceError("a pool is saved to a file; name one instead of -")
    check_files([table], [output, json_file])
    where, checkpoint = make_engine(engine, address), Checkpoint(output)
    schema = learn(rule, table, declared, run, where, checkpoint)
    with together():
        persistence.save(rule, output, schema)
        card = card_of(rule, table=schema)
        write_json(json_file, card.to_dict())
    checkpoint.remove()
    run.print_notes()
    if not quiet and json_file != STDOUT:
        print_card(card)
        print_line(_next(output, run))


def _next(output: Path, run: Run) -> str:
    """Say what was written and how to use it, within the capacity of a file of keys."""
    command = shlex.join(["truepool", "score", str(output), "NEW"])
    general, own = ({}, {}) if run.file is None else keys.read_file(run.file, "score")
    if (limit := (general | own).get("capacity")) is None:
        return f"Wrote {output}. To use it: {command}"
    return (
        f"Wrote {output}. The capacity is not saved with it. To use both: {command} "
        f"--set capacity={shlex.quote(limit)}"
    )


def learn(
    rule: "Pool",
    table: Path,
    declared: "Declared",
    run: Run,
    engine: "Engine",
    checkpoint: "Checkpoint | None" = None,
) -> "Schema":
    """Fit a pool on a table, and return what its columns are."""
    from truepool.cli.costs import check_class_costs
    from truepool.cli.screen import clock

    schema = _learn_stream(rule, table, declared, run, engine, checkpoint)
    if schema is not None:
        return schema
    seed = vars(rule).get("seed", 0)
    panel, read = run.read_panel(table, declared, seed=seed, costs=rule.costs)
    check_class_costs(rule.costs, panel.labels)
    with clock("Fitting", rule.name):
        rule.fit_panel(panel)
    _check(rule, panel, run)
    rule.table = read.schema
    return read.schema


def _learn_stream(
    rule: "Pool",
    table: Path,
    declared: "Declared",
    run: Run,
    engine: "Engine",
    checkpoint: "Checkpoint | None",
) -> "Schema | None":
    """Fit a pool on a data set larger than memory, if it can learn batch by batch."""
    from truepool.cli.costs import check_class_costs
    from truepool.cli.engines import opened
    from truepool.cli.screen import row_progress
    from truepool.tables.dataset import open_dataset
    from truepool.tables.faults import TableFaults
    from truepool.tables.sample import MOST_ROWS
    from truepool.tables.source import is_parquet
    from truepool.tables.stream import open_panels

    if isinstance(declared.long, tuple) or not is_parquet(table):
        return _here("another table", engine)
    dataset = open_dataset(table)
    if dataset.rows <= MOST_ROWS:
        return _here(f"{dataset.rows:,}", engine)
    if not rule.streams(2):
        return _here(f"the pool {rule.name!r}", engine)
    with (
        opened(engine),
        row_progress("Fitting", dataset.rows, rule.name) as progress,
    ):
        try:
            panels = open_panels(
                dataset, declared, progress, engine, checkpoint, run.answer
            )
        except TableFaults as faults:
            raise run.named(faults) from None
        check_class_costs(rule.costs, panels.labels)
        agents = len(panels.agents)
        if not rule.streams(agents):
            return _here(f"{rule.name!r} with {agents:,} agents", engine)
        rule.fit_stream(panels)
        checked = sample_stream(panels, run)
    run.note_stream(panels)
    if checked is not None:
        _check(rule, checked, run, whole=False)
    rule.table = panels.columns
    return panels.columns


def _check(rule: "Pool", panel: "Panel", run: Run, *, whole: bool = True) -> None:
    """Warn of faults, and note what the agents usually report, for `truepool score`.

    ``whole`` says whether the panel is all that was learned from, or a part of it.
    """
    from truepool.online.alarms.runs import commonest_shares
    from truepool.pools.training.habits import shares_above

    run.note_faults(panel)
    rule.remember(panel, whole=whole)
    run.note_one_class(rule.training_.counts, rule.labels_)
    above = shares_above(panel.sparse or panel.values)
    rule.training_ = replace(rule.training_, above_percent=above)
    if panel.sparse is None:
        shares = commonest_shares(panel.values)
        rule.training_ = replace(rule.training_, commonest=shares)


def _here(got: str, engine: "Engine") -> "Schema | None":
    """Leave a table to be fitted in memory; refuse an engine that has nothing to do."""
    from truepool.core.errors import SettingError
    from truepool.tables.sample import MOST_ROWS

    if not engine.in_process:
        raise SettingError(
            "engine=ray fits pools that learn from sums over the cases, on Parquet "
            f"data sets of more than {MOST_ROWS:,} rows; got {got}. Leave it out: the "
            "rest is fitted here, in memory."
        )
    return None
