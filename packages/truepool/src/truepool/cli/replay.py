"""``truepool replay``: online learners over a table in the order of its cases."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from truepool.cli import options
from truepool.cli.keys import LOSSES, key, option
from truepool.cli.run import UNWEIGHTED, Run, sample_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from truepool.learners import Learner
    from truepool.measures.losses import Loss
    from truepool.online.trace import ReplaySummary
    from truepool.panel.costs import Costs
    from truepool.panel.panel import Panel
    from truepool.tables import Declared
    from truepool.tables.stream import PanelStream


@options.verb(refused=UNWEIGHTED)
def replay(
    panel: options.Table = None,
    learner: Annotated[
        str,
        option("learner", "Which online learner; auto mixes in refitted pools."),
    ] = "gradient",
    every: Annotated[
        bool, typer.Option("--all", help="All learners side by side.")
    ] = False,
    *,
    declared: "Declared",
    constant_costs: "Costs",
    threshold: options.Threshold = None,
    loss: Annotated[
        str, key("loss", f"Loss that the learner minimises: {LOSSES}.")
    ] = "brier",
    delay: Annotated[
        int,
        key("delay", "How many cases later each outcome becomes known.", "NUMBER"),
    ] = 0,
    recalibrate: Annotated[
        bool,
        key("recalibrate", "Rescale the pooled log-odds online as well.", "true"),
    ] = False,
    plot: Annotated[
        Path | None, option("plot", "Draw the weights to this SVG, PNG or PDF file.")
    ] = None,
    json_file: options.Json = None,
    quiet: options.Quiet = False,
    run: Run,
) -> None:
    """Replay PANEL case by case with weights that learn online.

    Each case is decided before its outcome is used, as it would be in production.
    """
    from truepool import learners
    from truepool.cli.costs import check_class_costs
    from truepool.cli.outputs import STDOUT, check_files, print_files, write_json
    from truepool.cli.screen import console, print_line
    from truepool.core.errors import SettingError
    from truepool.core.files import together
    from truepool.online.experts import NAME
    from truepool.online.replays import as_learner
    from truepool.pages import figures, labels
    from truepool.pages import replay as tables
    from truepool.panel.panel import Panel

    check_files([panel], [json_file, plot])
    run.check_unweighted(declared, "online learners count")
    costs = constant_costs
    minimised = _loss(loss, costs, threshold)
    cases: Panel | PanelStream | None = None
    if panel is not None and (every or learner != NAME):  # auto refits pools: a sample
        cases = _open_large(panel, declared, run)
    if cases is None:
        cases = run.panel_or_example(
            panel, declared, allow_empty_cases=True, costs=costs
        )
    check_class_costs(costs, cases.labels)
    horizon = len(cases) if isinstance(cases, Panel) else cases.cases
    chosen = {}
    for name in learners.every() if every else [learner]:
        try:
            chosen[name] = as_learner(name, minimised, None, None, {}, horizon)
        except SettingError:
            if not every:
                raise  # with --all, learners that this loss does not suit are left out
    drawn = [*chosen].index(learner) if plot and learner in chosen else None
    if plot is not None:
        figures.check_path(plot)
        if drawn is None:
            as_learner(learner, minimised, None, None, {}, 1)  # raises the reason
    how = Replaying(delay, recalibrate, drawn)
    if isinstance(cases, Panel):
        run.note_faults(cases)
        replays, figure = _replay_panel([*chosen], cases, minimised, how)
    else:
        replays, figure = _replay_dataset([*chosen.values()], cases, how, run)
    rows = [tables.to_dict(each) for each in replays]
    with together():
        if plot is not None and figure is not None:
            figures.save(figure, plot)
        write_json(json_file, rows if every else rows[0])
    run.print_notes()
    if quiet or json_file == STDOUT:
        return
    print_line(labels.sentence(replays[0].labels, replays[0].counts))
    tables.grid(replays).print(console())
    if not every:
        tables.weights(replays[0]).print(console())
    print_files(json_file, plot)


class Replaying(NamedTuple):
    """How cases are replayed, and the place of the learner whose weights are drawn."""

    delay: int
    recalibrate: bool
    drawn: int | None


def _loss(name: str, costs: "Costs", threshold: float | None) -> "Loss":
    """Return the loss that learners minimise, the same one for all cases."""
    from truepool.cli.costs import check_constant_costs
    from truepool.measures.losses import as_loss

    check_constant_costs(costs, "online weights are the same for all cases")
    return as_loss(name, costs, threshold)


def _open_large(table: Path, declared: "Declared", run: Run) -> "PanelStream | None":
    """Return the cases of a data set larger than memory; None for other tables."""
    from truepool.tables.dataset import open_dataset
    from truepool.tables.sample import MOST_ROWS
    from truepool.tables.source import is_parquet
    from truepool.tables.stream import open_panels

    if isinstance(declared.long, tuple) or not is_parquet(table):
        return None
    dataset = open_dataset(table)
    if dataset.rows <= MOST_ROWS:
        return None
    return open_panels(dataset, declared, answer=run.answer)


def _replay_panel(
    names: "Sequence[str]", cases: "Panel", loss: "Loss", how: Replaying
) -> "tuple[list[ReplaySummary], Figure | None]":
    """Replay a panel in memory, with one learner after another."""
    from truepool.cli.screen import progress_bar
    from truepool.online import replay as run
    from truepool.pages import figures

    if how.drawn is not None:
        _check_path(len(cases), len(cases.agents))
    found, figure = [], None
    with progress_bar("Replaying") as progress:
        for done, name in enumerate(names):
            progress(name, done, len(names))
            trace = run(
                name,
                cases,
                loss=loss,
                delay=how.delay,
                path=done == how.drawn,
                recalibrate=how.recalibrate,
            )
            found.append(trace.summary)
            if done == how.drawn:
                figure = figures.replay(trace)
    return found, figure


def _replay_dataset(
    learners: "Sequence[Learner]",
    panels: "PanelStream",
    how: Replaying,
    run: Run,
) -> "tuple[list[ReplaySummary], Figure | None]":
    """Replay a data set larger than memory, batch by batch, with all learners."""
    from truepool.cli.screen import row_progress
    from truepool.measures.fixed_weights import MAX_GRAM
    from truepool.online.dataset_replay import replay_dataset
    from truepool.pages import figures

    what = ", ".join(learner.name for learner in learners)
    with row_progress("Replaying", panels.dataset.rows, what) as progress:
        panels.progress = progress
        found = replay_dataset(learners, panels, **how._asdict())
    run.note_stream(panels)
    checked = sample_stream(panels, run)
    if checked is not None:
        run.note_faults(checked)
    if found[0].regret is None and learners[0].loss.convex:
        run.note(
            "The best fixed weights are not known: batch by batch they are found for "
            f"squared losses and at most {MAX_GRAM:,} agents only."
        )
    drawn = None if how.drawn is None else found[how.drawn]
    if drawn is None or drawn.path is None:
        return found, None
    run.note(
        f"The figure shows the weights at {len(drawn.path.cases):,} points, and mean "
        "losses in between."
    )
    return found, figures.replay_path(drawn, drawn.path)


def _check_path(cases: int, agents: int) -> None:
    from truepool.core.errors import SettingError
    from truepool.panel.sparse import DENSE_CELLS

    if (cases + 1) * agents > DENSE_CELLS:
        raise SettingError(
            f"--plot draws at most {DENSE_CELLS:,} weights, one per case and agent; "
            f"got {cases:,} cases and {agents:,} agents. Leave it out; --json has the "
            "final weights."
        )
