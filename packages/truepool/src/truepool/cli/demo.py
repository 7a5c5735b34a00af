"""``truepool demo``: the main job, with no input."""

import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from truepool.cli import options
from truepool.cli.keys import option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from truepool.audits.values import Audit
    from truepool.cli.demo_panels import DemoPanels
    from truepool.comparison import Comparison
    from truepool.online import Trace
    from truepool.pages.wording import Speaker
    from truepool.panel.panel import Panel

COST_FN = 10
POOLS = (
    "auto",
    "extremized",
    "log-odds",
    "median",
    "platt",
    "shrunk",
    "simplest",
    "trimmed",
    "vcg",
)
"""Quick to fit: all pools of `compare` would take longer than the rest of the demo."""
LEARNERS = ("gradient", "fixed-share", "static")
SHOWN = 5
"""How many pools of the comparison are printed."""
OUTCOME = "malignant"
FILES = ("panel.csv", "audit.json", "report.html", "weights.svg")


def demo(
    output: Annotated[
        Path,
        option("output", "Folder to write to; created if needed.", metavar="FOLDER"),
    ] = Path("demo"),
    seed: options.Seed = 0,
    force: options.Force = False,
) -> None:
    """Show the main job on bundled data: train, pool, audit, report."""
    from truepool.cli.outputs import check_folder, check_own_files, record_own_files
    from truepool.cli.screen import console as open_console

    _skip_compilation()
    check_folder(output)
    if output.is_dir():
        check_own_files(output, FILES, force=force)
    console = open_console()
    panels = _train(console, seed)
    _compare(console, panels, seed)
    trace = _replay(console, panels)
    audit = _audit(console, panels, seed, output)
    _write(output, panels, audit, trace)
    record_own_files(output, FILES)
    _print_next_steps(console, output)


def _skip_compilation() -> None:
    """Choose plain numpy: for these few cases, compiling takes longer than running."""
    if "truepool.core.kernels" not in sys.modules:
        os.environ.setdefault("TRUEPOOL_KERNELS", "reference")


def _train(console: "Console", seed: int) -> "DemoPanels":
    from truepool.cli.demo_panels import build
    from truepool.cli.screen import progress_bar
    from truepool.pages.panel import grid

    _print_step(console, 1, "Train five models on biopsies, each on 3 of 30 features")
    with progress_bar("Training") as progress:
        panels = build(seed, progress)
    grid(panels.clean).print(console)
    _print_takeaway(console, spread_sentence(panels.clean))
    return panels


def spread_sentence(panel: "Panel") -> str:
    """Say how far the best and the worst agent are apart."""
    from truepool.measures.losses import agent_losses, as_loss

    brier = agent_losses(panel, as_loss("brier"))
    best, worst = int(brier.argmin()), int(brier.argmax())
    return (
        f"the models are not equally good (the Brier loss of {panel.agents[worst]} is "
        f"{brier[worst] / brier[best]:.1f} times that of {panel.agents[best]}), but a "
        "plain mean counts them equally."
    )


def _compare(console: "Console", panels: "DemoPanels", seed: int) -> None:
    from dataclasses import replace

    from truepool.cli.screen import progress_bar
    from truepool.comparison import compare
    from truepool.pages.comparison import grid
    from truepool.panel.costs import Costs

    _print_step(
        console, 2, "Compare ways to pool; a missed cancer costs ten false alarms"
    )
    with progress_bar("Comparing pools") as progress:
        result = compare(
            panels.clean,
            costs=Costs(fn=COST_FN),
            pools=POOLS,
            seed=seed,
            progress=progress,
        )
    table = grid(result)
    first = [row for row in table.rows[:SHOWN] if row[0] != "mean"]
    mean = [row for row in table.rows if row[0] == "mean"]
    rows = (*first, *mean)
    notes = (*_left_out(len(table.rows) - len(rows)), table.notes[1])
    replace(table, rows=rows, notes=notes).print(console)
    _print_takeaway(console, comparison_sentence(result))


def _left_out(pools: int) -> "Iterator[str]":
    """Say how many pools of the comparison are not shown."""
    if pools:
        yield (f"The pools that cost least, and the mean; {pools} more were compared.")


def comparison_sentence(result: "Comparison") -> str:
    """Say what the best significantly better pool saves, and in which errors."""
    from truepool.comparison import Estimate, is_significant
    from truepool.pages.numbers import per_thousand, percent

    mean = result["mean"]
    for row in result.rows:
        gap = row.to_mean
        if gap.value < 0 and is_significant(gap, row.p_mean, result.level):
            saved = Estimate(-gap.value, -gap.high, -gap.low)
            return (
                f"how you combine the same models matters: {row.pool} finds "
                f"{percent(row.recall)} of the cancers at {percent(row.fp_rate)} false "
                f"alarms, the plain mean {percent(mean.recall)} at "
                f"{percent(mean.fp_rate)}; {row.pool} saves "
                f"{per_thousand(saved, result.level, 'false alarms')}."
            )
    return "no pool is significantly better than the plain mean on these cases."


def _replay(console: "Console", panels: "DemoPanels") -> "Trace":
    from truepool.cli.demo_panels import DEGRADED, HOSTILE
    from truepool.online import replay
    from truepool.pages.replay import grid

    _print_step(
        console,
        3,
        f"Break two models: {DEGRADED} outputs noise from case {panels.degraded_from} "
        f"on, {HOSTILE} reports the opposite from case {panels.hostile_from} on",
    )
    traces = [replay(name, panels.faulty) for name in LEARNERS]
    grid([trace.summary for trace in traces]).print(console)
    failures = (DEGRADED, panels.degraded_from), (HOSTILE, panels.hostile_from)
    _print_takeaway(console, weights_sentence(traces[0], failures))
    return traces[0]


def weights_sentence(trace: "Trace", failures: "Sequence[tuple[str, int]]") -> str:
    """Say how the weight of agents changed after the case in which they failed."""
    from truepool.pages.numbers import percent

    if trace.weights is None:
        raise AssertionError("a replay records the weights unless path=False")
    parts = []
    for agent, case in failures:
        path = trace.weights[:, trace.panel.agents.index(agent)]
        parts.append(f"{agent} from {percent(path[case])} to {percent(path[-1])}")
    return (
        "online weights move away from broken models automatically: "
        f"{trace.name} cut {' and '.join(parts)}."
    )


def _audit(
    console: "Console", panels: "DemoPanels", seed: int, output: Path
) -> "Audit":
    from truepool.audits import audit
    from truepool.cli.screen import progress_bar
    from truepool.pages.audit import show
    from truepool.panel.costs import Costs

    _print_step(console, 4, "Audit the plain mean on these cases, two models broken")
    with progress_bar("Auditing") as progress:
        result = audit(
            panels.faulty, costs=Costs(fn=COST_FN), seed=seed, progress=progress
        )
    show(_speaker(result, output), console)
    _print_takeaway(console, saving_sentence(result))
    return result


def _speaker(audit: "Audit", output: Path) -> "Speaker":
    """Return who says what was found, with commands for the table of the demo."""
    from truepool.core.sentences import TERMINAL
    from truepool.pages.wording import Speaker

    given = f"--outcome {OUTCOME} --cost-fn {COST_FN}"
    return Speaker.of(audit, TERMINAL, str(output / "panel.csv"), given)


def saving_sentence(audit: "Audit") -> str:
    """Say what following the plan saves per 1,000 cases."""
    from truepool.core.sentences import TERMINAL, say
    from truepool.pages.wording import Speaker

    saving, voice = audit.plan.saving, Speaker.of(audit, TERMINAL).voice
    certain = saving is not None and saving.low > 0
    return say("demo", "saves" if certain else "nothing", {"saving": saving}, voice)


def _write(output: Path, panels: "DemoPanels", audit: "Audit", trace: "Trace") -> None:
    from truepool.core.files import write_text
    from truepool.pages import figures
    from truepool.pages.audit import html
    from truepool.tables import write_table

    panel = panels.faulty
    columns = {"id": panel.ids, "time": panel.times, OUTCOME: panel.outcomes}
    columns |= dict(zip(panel.agents, panel.reports.T, strict=True))
    output.mkdir(exist_ok=True)
    known = {name: column for name, column in columns.items() if column is not None}
    write_table(output / "panel.csv", known)
    text = json.dumps(audit.to_dict(), indent=2, allow_nan=False)
    write_text(output / "audit.json", text + "\n")
    page = html(audit, _speaker(audit, output))
    write_text(output / "report.html", page)
    figures.save(figures.replay(trace), output / "weights.svg")


def _print_next_steps(console: "Console", output: Path) -> None:
    table = shlex.quote(str(output / "panel.csv"))
    words = f"{table} --outcome {OUTCOME} --cost-fn {COST_FN}"
    plot = shlex.quote(str(output / "replay.svg"))
    program = _program()
    for line in (
        "",
        f"Wrote {output / 'report.html'} (open it in a browser), "
        f"{output / 'weights.svg'}, {output / 'panel.csv'} and "
        f"{output / 'audit.json'}.",
        "",
        "Try these next, then the same with a table of your own:",
        f"  {program} audit {words} --pool vcg",
        f"  {program} compare {words}",
        f"  {program} replay {words} --plot {plot}",
    ):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _program() -> str:
    """Return what a shell runs as this command, wherever it is installed."""
    return "truepool" if shutil.which("truepool") else shlex.quote(sys.argv[0])


def _print_step(console: "Console", number: int, title: str) -> None:
    if number > 1:
        console.print()
    console.print(f"{number}. {title}.", style="bold cyan", highlight=False)


def _print_takeaway(console: "Console", sentence: str) -> None:
    console.print(f"Take-away: {sentence}", style="bold", highlight=False, markup=False)
