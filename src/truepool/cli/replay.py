"""``truepool replay``: online learners over a table in the order of its cases."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truepool.cli import options
from truepool.cli.options import option

if TYPE_CHECKING:
    from truepool.data.costs import Costs
    from truepool.data.tables import TableFormat


@options.with_table
def replay(
    panel: options.Table = None,
    learner: Annotated[
        str,
        option("--learner", "Which online learner; auto mixes in refitted pools."),
    ] = "gradient",
    every: Annotated[
        bool, typer.Option("--all", help="All learners side by side.")
    ] = False,
    *,
    table_format: "TableFormat",
    costs: "Costs",
    threshold: options.Threshold = None,
    loss: Annotated[
        str, option("--loss", "Loss that the learner minimises.")
    ] = "brier",
    delay: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", help="How many cases later each outcome becomes known."
        ),
    ] = 0,
    recalibrate: Annotated[
        bool,
        typer.Option(
            "--recalibrate", help="Rescale the pooled log-odds online as well."
        ),
    ] = False,
    plot: Annotated[
        Path | None, option("--plot", "Draw the weights to this SVG, PNG or PDF file.")
    ] = None,
    json_file: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Replay PANEL case by case with weights that learn online.

    Each case is decided before its outcome is used, as it would be in production.
    """
    from truepool import learners
    from truepool.cli.outputs import STDOUT, check_files, print_files, write_json
    from truepool.cli.screen import console, print_line, progress_bar
    from truepool.core.errors import SettingError
    from truepool.core.files import together
    from truepool.measures.losses import as_loss
    from truepool.online import replay as run
    from truepool.online.replays import as_learner
    from truepool.render import figures, labels
    from truepool.render.tables import replay as tables

    check_files([panel], [json_file, plot])
    cases = options.panel_or_example(panel, table_format, allow_empty_cases=True)
    options.check_unweighted(table_format, "online learners count")
    minimised = as_loss(loss, costs, threshold)
    if minimised.per_case:
        raise SettingError(
            "weights that learn online are the same for all cases, so the loss that "
            f"they minimise needs the same costs for all; got {costs!r:.80}. Learn by "
            "--loss brier, or give numbers."
        )
    if not costs.constant:  # a loss that has no use for costs
        minimised = as_loss(loss, None, threshold)
    chosen = []
    for name in learners.every() if every else [learner]:
        try:
            as_learner(name, minimised, None, None, {}, horizon=len(cases))
            chosen.append(name)
        except SettingError:
            if not every:
                raise  # with --all, learners that this loss does not suit are left out
    plotted = chosen.index(learner) if learner in chosen else None
    if plot is not None:
        figures.check_path(plot)
        if plotted is None:
            as_learner(learner, minimised, None, None, {}, 1)  # raises the reason
        _check_path(len(cases), len(cases.agents))
    traces = []
    with progress_bar("Replaying") as progress:
        for done, name in enumerate(chosen):
            progress(name, done, len(chosen))
            trace = run(
                name,
                cases,
                loss=minimised,
                delay=delay,
                path=plot is not None and done == plotted,
                recalibrate=recalibrate,
            )
            traces.append(trace)
    rows = [tables.to_dict(trace) for trace in traces]
    with together():
        if plot is not None and plotted is not None:
            figures.save(figures.replay(traces[plotted]), plot)
        write_json(json_file, rows if every else rows[0])
    if quiet or json_file == STDOUT:
        return
    print_line(labels.sentence(cases.labels, cases.counts))
    tables.grid(traces).print(console())
    if not every:
        tables.weights(traces[0]).print(console())
    print_files(json_file, plot)


def _check_path(cases: int, agents: int) -> None:
    from truepool.core.errors import SettingError
    from truepool.data.sparse import DENSE_CELLS

    if (cases + 1) * agents > DENSE_CELLS:
        raise SettingError(
            f"--plot draws at most {DENSE_CELLS:,} weights, one per case and agent; "
            f"got {cases:,} cases and {agents:,} agents. Leave it out; --json has the "
            "final weights."
        )
