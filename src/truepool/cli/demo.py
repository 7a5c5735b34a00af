"""``truepool demo``: the main job, with no input."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truepool.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from truepool.audits.values import Audit
    from truepool.cli.demo_panels import Story
    from truepool.comparison import Comparison
    from truepool.online import Trace

COST_FN = 10
LEARNERS = ("gradient", "fixed-share", "static")
SHOWN = 5
OUTCOME = "malignant"


def demo(
    out: Annotated[
        Path, typer.Option(help="Folder to write into; made if it is not there.")
    ] = Path("demo"),
    seed: options.Seed = 0,
) -> None:
    """Train five models, pool them, let things go wrong, audit, and write a report."""
    from truepool.cli.screen import out as screen

    _check(out)
    console = screen()
    story = _train(console, seed)
    _compare(console, story, seed)
    _replay(console, story)
    audit = _audit(console, story, seed)
    _write(out, story, audit)
    _close(console, out)


def _check(out: Path) -> None:
    """Refuse a folder that could not be made, before anything is computed."""
    from truepool.core.errors import SourceError
    from truepool.core.files import check_path

    if out.is_dir():
        check_path(out / "report.html")
    elif out.exists():
        raise SourceError(f"{str(out)!r} is a file; name a folder")
    else:
        check_path(out)


def _train(console: "Console", seed: int) -> "Story":
    from truepool.cli.demo_panels import told
    from truepool.cli.screen import watched
    from truepool.render.tables.panel import grid

    _head(
        console,
        1,
        "Five models learn to read biopsies, each from 3 of 30 features",
    )
    with watched("Training") as progress:
        story = told(seed, progress)
    grid(story.calm).print(console)
    return story


def _compare(console: "Console", story: "Story", seed: int) -> "Comparison":
    from dataclasses import replace

    from truepool.cli.screen import watched
    from truepool.comparison import compare
    from truepool.data.costs import Costs
    from truepool.render.tables.comparison import grid

    _head(console, 2, "Every way to pool them; a missed cancer costs ten false alarms")
    with watched("Comparing pools") as progress:
        result = compare(
            story.calm, costs=Costs(fn=COST_FN), seed=seed, progress=progress
        )
    table = grid(result)
    first = [row for row in table.rows[:SHOWN] if row[0] != "mean"]
    mean = [row for row in table.rows if row[0] == "mean"]
    replace(table, rows=(*first, *mean), notes=table.notes[-1:]).print(console)
    return result


def _replay(console: "Console", story: "Story") -> None:
    from truepool.cli.demo_panels import TIRED, TURNED
    from truepool.online import replay
    from truepool.render.tables.replay import grid

    _head(
        console,
        3,
        f"Things go wrong: {TIRED} outputs noise from case {story.spoiled} on, and "
        f"{TURNED} says the opposite from case {story.turned} on",
    )
    traces = [replay(name, story.stormy) for name in LEARNERS]
    grid(traces).print(console)
    for line in _followed(traces[0], story):
        console.print(line, highlight=False)


def _followed(trace: "Trace", story: "Story") -> list[str]:
    """Where the weight of those two went."""
    from truepool.cli.demo_panels import TIRED, TURNED
    from truepool.render.numbers import percent

    if trace.weights is None:
        raise AssertionError("a replay keeps the path unless told not to")
    lines = []
    for who, case in ((TIRED, story.spoiled), (TURNED, story.turned)):
        path = trace.weights[:, trace.panel.agents.index(who)]
        lines.append(
            f"Under {trace.learner.name} the weight of {who} was "
            f"{percent(float(path[case]))} when that began and is "
            f"{percent(float(path[-1]))} in the end."
        )
    return lines


def _audit(console: "Console", story: "Story", seed: int) -> "Audit":
    from rich.text import Text

    from truepool.audits import audit
    from truepool.cli.screen import watched
    from truepool.data.costs import Costs
    from truepool.render.tables.audit import MARKS, indented
    from truepool.render.verdict import advice, sentence

    _head(console, 4, "The audit of the plain mean over these cases")
    with watched("Auditing") as progress:
        told = audit(
            story.stormy, costs=Costs(fn=COST_FN), seed=seed, progress=progress
        )
    console.print(sentence(told), style="bold", highlight=False)
    for finding in told.findings[:SHOWN]:
        word, style = MARKS[finding.severity]
        indented(console, Text(finding.sentence), Text(f"{word:>7} ", style))
    console.print(f"Advice. {advice(told)}", highlight=False, markup=False)
    console.print()
    return told


def _write(out: Path, story: "Story", audit: "Audit") -> None:
    from truepool.core.files import write_text
    from truepool.data.tables import write_table

    panel = story.stormy
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
        f"  truepool audit {table} --mechanism vcg",
        f"  truepool compare {table}",
        f"  truepool replay {table} --all",
    ):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _head(console: "Console", place: int, title: str) -> None:
    if place > 1:
        console.print()
    console.print(f"{place}. {title}.", style="bold cyan", highlight=False)
