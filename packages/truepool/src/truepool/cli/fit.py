"""``truepool fit``: learn a pool and save it."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truepool.cli import config as config_file
from truepool.cli import options
from truepool.cli.options import option

if TYPE_CHECKING:
    from truepool.core.engine import Engine
    from truepool.panel.panel import Panel
    from truepool.pools import Pool
    from truepool.tables import TableFormat
    from truepool.tables.checkpoint import Checkpoint


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
    context: typer.Context,
    engine: options.EngineName = "local",
    address: options.Address = None,
    json_file: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit a pool on PANEL and save it.

    `truepool score` and, in Python, `tp.load_pool` use the saved file.
    """
    from truepool.cli.outputs import STDOUT, check_files, write_json
    from truepool.cli.screen import clock, print_line
    from truepool.cli.show import print_card
    from truepool.core.engine import make_engine
    from truepool.core.errors import SourceError
    from truepool.core.files import together
    from truepool.pools import persistence
    from truepool.pools.card import card_of
    from truepool.tables.checkpoint import Checkpoint

    if output == STDOUT:
        raise SourceError("a pool is saved to a file; name one instead of -")
    check_files([table], [output, json_file])
    where = make_engine(engine, address)
    checkpoint = Checkpoint(output)
    if not _fit_stream(rule, table, table_format, where, checkpoint):
        seed = vars(rule).get("seed", 0)
        panel = options.read_panel(table, table_format, seed=seed, costs=rule.costs)
        options.check_class_costs(rule.costs, panel.labels)
        with clock("Fitting", rule.name):
            rule.fit_panel(panel)
        _check(rule, panel)
    with together():
        persistence.save(rule, output, table_format)
        card = card_of(rule, table=table_format)
        write_json(json_file, card.to_dict())
    checkpoint.remove()
    if not quiet and json_file != STDOUT:
        print_card(card)
        print_line(_next(output, context.params["config"]))


def _next(output: Path, config: Path | None) -> str:
    """Say what was written and how to use it, within the capacity of a config file."""
    command = shlex.join(["truepool", "score", str(output), "NEW"])
    limits = {} if config is None else config_file.read(config, "score")
    if (limit := limits.get("capacity")) is None:
        return f"Wrote {output}. To use it: {command}"
    return (
        f"Wrote {output}. The capacity is not saved with it. To use both: {command} "
        f"--capacity {shlex.quote(limit)}"
    )


def _fit_stream(
    rule: "Pool",
    table: Path,
    table_format: "TableFormat",
    engine: "Engine",
    checkpoint: "Checkpoint",
) -> bool:
    """Fit a pool on a data set larger than memory, if it can learn batch by batch."""
    from truepool.cli.engines import opened
    from truepool.cli.screen import row_progress
    from truepool.tables.dataset import open_dataset
    from truepool.tables.files import is_parquet
    from truepool.tables.panel_stream import open_panels
    from truepool.tables.row_sample import MOST_ROWS

    if table_format.long is not None or not is_parquet(table):
        return _refuse(engine, "another table")
    dataset = open_dataset(table)
    if dataset.rows <= MOST_ROWS:
        return _refuse(engine, f"{dataset.rows:,}")
    if not rule.streams(2):
        return _refuse(engine, f"the pool {rule.name!r}")
    with (
        opened(engine),
        row_progress("Fitting", dataset.rows, rule.name) as progress,
    ):
        panels = open_panels(dataset, table_format, progress, engine, checkpoint)
        options.check_class_costs(rule.costs, panels.labels)
        agents = len(panels.agents)
        if not rule.streams(agents):
            return _refuse(engine, f"{rule.name!r} with {agents:,} agents")
        rule.fit_stream(panels)
        checked = options.sample_stream(panels)
    options.note_stream(panels, None if checked is None else checked[1].doubtful)
    if checked is not None:
        _check(rule, checked[0], whole=False)
    return True


def _check(rule: "Pool", panel: "Panel", *, whole: bool = True) -> None:
    """Warn of faults, and note what the agents usually report, for `truepool score`.

    ``whole`` says whether the panel is all that was learned from, or a part of it.
    """
    from truepool.online.alarms.runs import commonest_shares
    from truepool.panel.report_units import shares_above

    options.note_faults(panel)
    rule.remember(panel, whole=whole)
    options.note_one_class(rule.training_.counts, rule.labels_)
    above = shares_above(panel.sparse or panel.values)
    rule.training_ = replace(rule.training_, above_percent=above)
    if panel.sparse is None:
        shares = commonest_shares(panel.values)
        rule.training_ = replace(rule.training_, commonest=shares)


def _refuse(engine: "Engine", got: str) -> bool:
    """Refuse an engine with nothing to do for it; in this process, fit in memory."""
    from truepool.core.errors import SettingError
    from truepool.tables.row_sample import MOST_ROWS

    if engine.in_process:
        return False
    raise SettingError(
        "--engine ray fits pools that learn from sums over the cases, on Parquet data "
        f"sets of more than {MOST_ROWS:,} rows; got {got}. Leave it out: the rest is "
        "fitted here, in memory."
    )
