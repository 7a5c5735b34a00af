"""``truepool demo``: the main job, with no input."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from truepool.cli import options
from truepool.cli.options import option

if TYPE_CHECKING:
    from rich.console import Console

    from truepool.audits.values import Audit
    from truepool.cli.demo_panels import DemoPanels
    from truepool.comparison import Comparison
    from truepool.online import Trace

COST_FN = 10
LEARNERS = ("gradient", "fixed-share", "static")
SHOWN = 5
OUTCOME = "malignant"


def demo(
    output: Annotated[
        Path,
        option("--output", "Folder to write to; created if needed.", metavar="FOLDER"),
    ] = Path("demo"),
    seed: options.Seed = 0,
) -> None:
    """Show the main job on bundled data: train, pool, audit, report."""
    from truepool.cli.outputs import check_folder
    from truepool.cli.screen import console as open_console

    check_folder(output)
    console = open_console()
    panels = _train(console, seed)
    _compare(console, panels, seed)
    _replay(console, panels)
    audit = _audit(console, panels, seed)
    _write(output, panels, audit)
    _close(console, output)


def _train(console: "Console", seed: int) -> "DemoPanels":
    from truepool.cli.demo_panels import build
    from truepool.cli.screen import progress_bar
    from truepool.render.tables.panel import grid

    _head(
        console,
        1,
        "Five models learn to read biopsies, each from 3 of 30 features",
    )
    with progress_bar("Training") as progress:
        panels = build(seed, progress)
    grid(panels.clean).print(console)
    return panels


def _compare(console: "Console", panels: "DemoPanels", seed: int) -> "Comparison":
    from dataclasses import replace

    from truepool.cli.screen import progress_bar
    from truepool.comparison import compare
    from truepool.data.costs import Costs
    from truepool.render.tables.comparison import grid

    _head(console, 2, "Every way to pool them; a missed cancer costs ten false alarms")
    with progress_bar("Comparing pools") as progress:
        result = compare(
            panels.clean, costs=Costs(fn=COST_FN), seed=seed, progress=progress
        )
    table = grid(result)
    first = [row for row in table.rows[:SHOWN] if row[0] != "mean"]
    mean = [row for row in table.rows if row[0] == "mean"]
    replace(table, rows=(*first, *mean), notes=table.notes[-1:]).print(console)
    return result


def _replay(console: "Console", panels: "DemoPanels") -> None:
    from truepool.cli.demo_panels import DEGRADED, HOSTILE
    from truepool.online import replay
    from truepool.render.tables.replay import grid

    _head(
        console,
        3,
        f"Things go wrong: {DEGRADED} outputs noise from case {panels.degraded_from} "
        f"on, and {HOSTILE} says the opposite from case {panels.hostile_from} on",
    )
    traces = [replay(name, panels.faulty) for name in LEARNERS]
    grid(traces).print(console)
    for line in _followed(traces[0], panels):
        console.print(line, highlight=False)


def _followed(trace: "Trace", panels: "DemoPanels") -> list[str]:
    """Where the weight of those two went."""
    from truepool.cli.demo_panels import DEGRADED, HOSTILE
    from truepool.render.numbers import percent

    if trace.weights is None:
        raise AssertionError("a replay keeps the path unless told not to")
    lines = []
    for who, case in ((DEGRADED, panels.degraded_from), (HOSTILE, panels.hostile_from)):
        path = trace.weights[:, trace.panel.agents.index(who)]
        lines.append(
            f"Under {trace.learner.name} the weight of {who} was "
            f"{percent(float(path[case]))} when that began and is "
            f"{percent(float(path[-1]))} in the end."
        )
    return lines


def _audit(console: "Console", panels: "DemoPanels", seed: int) -> "Audit":
    from rich.text import Text

    from truepool.audits import audit
    from truepool.cli.screen import progress_bar
    from truepool.data.costs import Costs
    from truepool.render.tables.audit import MARKS, indented
    from truepool.render.verdict import advice, sentence

    _head(console, 4, "The audit of the plain mean over these cases")
    with progress_bar("Auditing") as progress:
        result = audit(
            panels.faulty, costs=Costs(fn=COST_FN), seed=seed, progress=progress
        )
    console.print(sentence(result), style="bold", highlight=False)
    for finding in result.findings[:SHOWN]:
        word, style = MARKS[finding.severity]
        indented(console, Text(finding.sentence), Text(f"{word:>7} ", style))
    console.print(f"Advice. {advice(result)}", highlight=False, markup=False)
    console.print()
    return result


def _write(out: Path, panels: "DemoPanels", audit: "Audit") -> None:
    from truepool.core.files import write_text
    from truepool.data.tables import write_table

    panel = panels.faulty
    columns = {"id": panel.ids, "time": panel.times, OUTCOME: panel.outcomes}
    columns |= dict(zip(panel.agents, panel.reports.T, strict=True))
    out.mkdir(exist_ok=True)
    write_table(out / "panel.csv", {k: v for k, v in columns.items() if v is not None})
    text = json.dumps(audit.to_dict(), indent=2, allow_nan=False)
    write_text(out / "audit.json", text + "\n")
    audit.to_html(out / "report.html")


def _close(console: "Console", out: Path) -> None:
    table = f"{out / 'panel.csv'} --outcome {OUTCOME} --cost-fn {COST_FN}"
    for line in (
        f"Wrote {out / 'report.html'} (open it in a browser), {out / 'panel.csv'} and "
        f"{out / 'audit.json'}.",
        "",
        "Try next, and then with a table of your own:",
        f"  truepool audit {table} --pool vcg",
        f"  truepool compare {table}",
        f"  truepool replay {table} --all",
    ):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _head(console: "Console", place: int, title: str) -> None:
    if place > 1:
        console.print()
    console.print(f"{place}. {title}.", style="bold cyan", highlight=False)
