"""``docs/race.md`` and its figures, from rows and nothing else."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from race import tables
from race.comparison import BRIER, LOG, Results, Rows, Verdict, select
from race.criteria import Criterion, find_criteria
from race.figures import dots, svg
from race.measurement import OLD, OURS, RATIOS
from race.panels import DEVELOPMENT, JUDGING
from race.tables import count, seconds_by_name, signed
from race.wording import CRITERIA, METHOD, OPENING, VARIANTS
from truepool.core.engine import Row
from truepool.pages.grid import Grid
from truepool.pages.numbers import format_p_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOBODY = "no competitor has"
FIGURES = "race"
"""Folder of the figures, beside the page."""


def write(rows: Rows, earlier: Mapping[str, Rows], folder: Path) -> None:
    """Write the page and its figures."""
    text, figures = render(rows, earlier)
    (folder / FIGURES).mkdir(exist_ok=True)
    for name, figure in figures.items():
        (folder / FIGURES / name).write_text(figure)
    (folder / "race.md").write_text(text)


def render(rows: Rows, earlier: Mapping[str, Rows]) -> tuple[str, dict[str, str]]:
    """Return the page and its figures by file name; ``earlier`` versions by name."""
    judging = select(rows, "race", {panel.name for panel in JUDGING})
    development = select(rows, "race", {panel.name for panel in DEVELOPMENT})
    speed = {c["panel"]: r for c, r in rows.items() if c.experiment == "speed"}
    found = Results(judging)
    best = found.against_best()
    criteria = list(find_criteria(found, best, judging))
    parts = [
        OPENING.format(
            panels=len(found.panels),
            draws=found.draws,
            cells=len(best),
            peers=len(found.peers),
        ),
        _where_others_win(found, best, criteria, judging, speed),
        _verdict(criteria, best),
        tables.averages(found).to_markdown(),
        f"![Cost relative to the plain mean]({FIGURES}/cost.svg)",
        tables.cells(found, best).to_markdown(),
        f"![Cost relative to the best peer, by panel]({FIGURES}/panels.svg)",
        tables.panels(found, best).to_markdown(),
        tables.kinds(judging).to_markdown(),
        "## Speed\n",
        tables.seconds(speed).to_markdown(),
        f"![Seconds to learn and to answer]({FIGURES}/speed.svg)",
        "## Development panels\n",
        _development(development),
        "## Method\n",
        METHOD,
        _failures(found, development),
        VARIANTS,
        _versions(criteria, earlier),
    ]
    figures = {
        "cost.svg": _cost_figure(found),
        "panels.svg": _panel_figure(found, best),
        "speed.svg": _speed_figure(speed),
    }
    text = "\n\n".join(part.strip("\n") for part in parts if part) + "\n"
    return text, {name: svg(figure) for name, figure in figures.items()}


def _where_others_win(
    found: Results,
    best: list[Verdict],
    criteria: Sequence[Criterion],
    judging: Rows,
    speed: Mapping[str, Sequence[Row]],
) -> str:
    lines = ["## Where others win", ""]
    lines += [
        f"- **Not reached**: {c.what}: {c.measured}, not {c.target}."
        for c in criteria
        if not c.met
    ]
    worse = [verdict for verdict in best if verdict.significant(1)]
    for verdict in sorted(worse, key=lambda v: v.p):
        lines.append(
            f"- `{verdict.panel}` at {verdict.ratio}:1: the best peer costs "
            f"{verdict.other:.3g} per case, `auto` {verdict.cost:.3g} "
            f"({signed(verdict.change)}, {_doubt(verdict)})."
        )
    if not worse:
        lines.append("- In no cell does the best peer cost significantly less.")
    measures: dict[str, Callable[[str], float]] = {
        "cost": found.cost,
        "log loss": lambda name: found.relative(name)[:, LOG].mean(),
        "Brier loss": lambda name: found.relative(name)[:, BRIER].mean(),
        "smooth calibration error": lambda name: found.calibration[name].mean(),
    }
    for what, loss in measures.items():
        ahead = _ahead(found, loss)
        lines.append(f"- On average, {ahead} a lower {what} than `auto`.")
    for kind, part in tables.by_kind(judging).items():
        ahead = _ahead(part, part.cost)
        if ahead != NOBODY:
            lines.append(f"- On {kind} panels, {ahead} a lower cost than `auto`.")
    seconds = seconds_by_name(speed)
    faster = [n for n in seconds if n != OURS and seconds[n][0] < seconds[OURS][0]]
    lines.append(
        f"- {len(faster)} of {len(seconds) - 1} competitors learn faster than `auto`: see "
        "[Speed](#speed)."
    )
    return "\n".join(lines)


def _ahead(found: Results, loss: Callable[[str], float]) -> str:
    ahead = sorted((n for n in (*found.peers, OLD) if loss(n) < loss(OURS)), key=loss)
    listed = ", ".join(ahead)
    verb = "have" if len(ahead) > 1 else "has"
    return f"{listed} {verb}" if ahead else NOBODY


def _doubt(verdict: Verdict) -> str:
    return (
        f"p = {format_p_value(verdict.p)}, adjusted {format_p_value(verdict.adjusted)}"
        if verdict.p >= 0.001
        else f"p < 0.001, adjusted {format_p_value(verdict.adjusted)}"
    )


def _verdict(criteria: Sequence[Criterion], best: list[Verdict]) -> str:
    rows = tuple(
        (c.what, c.target, c.measured, "yes" if c.met else "no") for c in criteria
    )
    table = Grid("What `auto` had to reach", ("", "target", "measured", "met"), rows)
    cell = 1 - sum(v.cost for v in best) / sum(v.other for v in best)
    note = CRITERIA.format(cell=signed(cell))
    return f"## Verdict\n\n{table.to_markdown()}\n\n{note}"


def _development(rows: Rows) -> str:
    if not rows:
        return ""
    found = Results(rows)
    best = found.against_best()
    table = tables.averages(found)
    title = "Averages over the development panels, which decide nothing"
    worse, better = (count(best, sign, False) for sign in (1, -1))
    note = (
        f"`auto` is significantly worse than the best peer of the cell in {worse} of "
        f"{len(best)} cells, better in {better} (unadjusted)."
    )
    return Grid(title, table.headers, table.rows, (note,)).to_markdown()


def _versions(criteria: Sequence[Criterion], earlier: Mapping[str, Rows]) -> str:
    """Every version of `auto` that was judged, with what it reached."""
    if not earlier:
        return ""
    rows = []
    for name, found in earlier.items():
        judging = select(found, "race", {panel.name for panel in JUDGING})
        results = Results(judging)
        past = find_criteria(results, results.against_best(), judging)
        rows.append((name, *(criterion.measured for criterion in past)))
    rows.append(("this page", *(criterion.measured for criterion in criteria)))
    headers = ("", "best peer", "old rule", "cells worse", "sparse, mean")
    title = "Versions of `auto` that were judged on these panels"
    return Grid(title, headers[: len(rows[-1])], tuple(rows)).to_markdown()


def _failures(found: Results, development: Rows) -> str:
    failures = dict(found.failures)
    if development:
        for name, reasons in Results(development).failures.items():
            failures[name] = [*failures.get(name, []), *reasons]
    lines = []
    for name, reasons in failures.items():
        panels = ", ".join(dict.fromkeys(panel for panel, _ in reasons))
        lines.append(
            f"- {name} failed in {len(reasons)} draws ({panels}): {reasons[0][1]}"
        )
    if not lines:
        return "Every method of every peer answered in every draw."
    return "Where a method failed, the plain mean stands in:\n\n" + "\n".join(lines)


def _cost_figure(found: Results) -> "Figure":
    names = sorted({*found.peers, OURS, OLD}, key=found.cost)
    series = {
        f"{ratio}:1": [found.relative(name)[:, k].mean() for name in names]
        for k, ratio in enumerate(RATIOS)
    }
    return dots(names, series, "cost relative to the plain mean", line=1.0)


def _panel_figure(found: Results, best: list[Verdict]) -> "Figure":
    series = {
        f"{ratio}:1": [100 * v.change for v in best if v.ratio == ratio]
        for ratio in RATIOS
    }
    across = "cost of auto relative to the best peer, % (left: auto costs less)"
    return dots(found.panels, series, across, line=0.0)


def _speed_figure(speed: Mapping[str, Sequence[Row]]) -> "Figure":
    seconds = seconds_by_name(speed)
    names = sorted(seconds, key=lambda n: seconds[n][0])
    labels = ("fit", "all new cases", "one case")
    series = {label: [seconds[n][k] for n in names] for k, label in enumerate(labels)}
    return dots(names, series, "seconds", log=True)
