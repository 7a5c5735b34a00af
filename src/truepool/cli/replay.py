"""``truepool replay``: online learners over a table in the order of its cases."""

import json
from pathlib import Path
from typing import Annotated

import typer

from truepool.cli import options


def replay(
    panel: options.Table = None,
    learner: Annotated[str, typer.Option(help="Which learner.")] = "gradient",
    every: Annotated[
        bool, typer.Option("--all", help="All learners side by side.")
    ] = False,
    outcome: options.Outcome = "y",
    positive: options.Positive = None,
    id: options.Id = None,
    time: options.Time = None,
    ignore: options.Ignore = None,
    cost_fn: options.CostFn = 1.0,
    cost_fp: options.CostFp = 1.0,
    cost_matrix: options.CostMatrix = None,
    threshold: options.Threshold = None,
    loss: Annotated[str, typer.Option(help="What is to be kept small.")] = "brier",
    delay: Annotated[
        int, typer.Option(help="Cases decided before each outcome comes.")
    ] = 0,
    recalibrate: Annotated[
        bool, typer.Option("--recalibrate", help="Scale the pooled log-odds online.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the weights to this SVG, PNG or PDF file.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Online weights over PANEL, each case decided before its outcome is seen."""
    from truepool import learners
    from truepool.cli.screen import out, say, watched
    from truepool.core.errors import SettingError
    from truepool.measures.losses import as_loss
    from truepool.online import replay as run
    from truepool.render import figures, labels
    from truepool.render.tables import replay as tables

    costs = options.costs_of(cost_fn, cost_fp, cost_matrix)
    cases = options.panel_or_example(
        panel, outcome, id, time, ignore, positive=positive, allow_empty_cases=True
    )
    priced = as_loss(loss, costs, threshold)
    chosen = []
    for name in learners.every() if every else [learner]:
        try:
            chosen.append(learners.make(name, loss=priced, horizon=len(cases)))
        except SettingError:
            if not every:
                raise  # with --all, learners that this loss does not suit sit out
    drawn = next((i for i, mind in enumerate(chosen) if mind.name == learner), None)
    if plot is not None:
        figures.check_path(plot)
        if drawn is None:
            learners.make(learner, loss=priced)  # says why it cannot be drawn
    traces = []
    with watched("Replaying") as progress:
        for done, mind in enumerate(chosen):
            progress(mind.name, done, len(chosen))
            traces.append(run(mind, cases, delay=delay, recalibrate=recalibrate))
    if plot is not None and drawn is not None:
        figures.save(figures.replay(traces[drawn]), plot)
    if as_json:
        rows = [tables.to_dict(trace) for trace in traces]
        print(json.dumps(rows if every else rows[0], indent=2))
        return
    say(labels.sentence(cases.labels, cases.counts))
    tables.grid(traces).print(out())
    if not every:
        tables.weights(traces[0]).print(out())
    if plot is not None:
        out().print(f"Wrote {plot}.", highlight=False, soft_wrap=True)
