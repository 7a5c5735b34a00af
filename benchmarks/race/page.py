"""``docs/race.md`` and its figures, from rows and nothing else."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from race.comparison import BRIER, LEVEL, LOG, MEAN, Results, Verdict
from race.figures import dots, svg
from race.measurement import OLD, OURS, RATIOS
from race.panels import DEVELOPMENT, JUDGING, PANELS
from race.wording import CRITERIA, METHOD, OPENING, VARIANTS
from truepool.core.engine import Cell, Row
from truepool.render.numbers import format_p_value
from truepool.render.tables.grid import Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows: TypeAlias = Mapping[Cell, Sequence[Row]]

FIGURES = "race"
"""Folder of the figures, beside the page."""
TARGET_PEER, TARGET_OLD, TARGET_WORSE = 0.02, 0.06, 0.05
"""What `auto` must reach: cheaper than the best peer, than the old rule; worse cells."""
KINDS = {
    "few cases": lambda name: name.endswith(("-40", "-60", "-150", "-K3")),
    "adversarial": lambda name: PANELS[name].hard == "adversarial",
    "miscalibrated": lambda name: PANELS[name].hard == "miscalibrated",
    "sparse": lambda name: PANELS[name].hard == "sparse",
    "drift": lambda name: PANELS[name].hard == "drift",
    "rare": lambda name: name.endswith("-rare"),
    "K classes": lambda name: "-K" in name,
}


def write(rows: Rows, folder: Path) -> None:
    """Write the page and its figures."""
    text, figures = render(rows)
    (folder / FIGURES).mkdir(exist_ok=True)
    for name, figure in figures.items():
        (folder / FIGURES / name).write_text(figure)
    (folder / "race.md").write_text(text)


def render(rows: Rows) -> tuple[str, dict[str, str]]:
    """Return the page and its figures by file name."""
    judging = _select(rows, "race", {panel.name for panel in JUDGING})
    development = _select(rows, "race", {panel.name for panel in DEVELOPMENT})
    speed = {c["panel"]: r for c, r in rows.items() if c.experiment == "speed"}
    found = Results(judging)
    best = found.against_best()
    parts = [
        OPENING.format(
            panels=len(found.panels),
            draws=found.draws,
            cells=len(best),
            peers=len(found.peers),
        ),
        _where_others_win(found, best, speed),
        _criteria(found, best, judging),
        _averages(found).to_markdown(),
        f"![Cost relative to the plain mean]({FIGURES}/cost.svg)",
        _cells(found, best).to_markdown(),
        f"![Cost relative to the best peer, by panel]({FIGURES}/panels.svg)",
        _panels(found, best).to_markdown(),
        _kinds(judging).to_markdown(),
        "## Speed\n",
        _speed(speed).to_markdown(),
        f"![Seconds to learn]({FIGURES}/speed.svg)",
        "## Development panels\n",
        _development(development),
        "## Method\n",
        METHOD,
        _failures(found),
        VARIANTS,
    ]
    figures = {
        "cost.svg": _cost_figure(found),
        "panels.svg": _panel_figure(found, best),
        "speed.svg": _speed_figure(speed),
    }
    text = "\n\n".join(part.strip("\n") for part in parts if part) + "\n"
    return text, {name: svg(figure) for name, figure in figures.items()}


def _select(rows: Rows, experiment: str, panels: set[str]) -> Rows:
    return {
        cell: found
        for cell, found in rows.items()
        if cell.experiment == experiment and cell["panel"] in panels
    }


def _where_others_win(
    found: Results, best: list[Verdict], speed: Mapping[str, Sequence[Row]]
) -> str:
    lines = ["## Where others win", ""]
    worse = [verdict for verdict in best if verdict.significant(1)]
    for verdict in sorted(worse, key=lambda v: v.p):
        lines.append(
            f"- `{verdict.panel}` at {verdict.ratio}:1: the best peer costs "
            f"{verdict.other:.3g} per case, `auto` {verdict.cost:.3g} "
            f"({_signed(verdict.change)}, {_doubt(verdict)})."
        )
    if not worse:
        lines.append("- In no cell is the best peer significantly cheaper.")
    measures: dict[str, Callable[[str], float]] = {
        "cost": found.cost,
        "log loss": lambda name: found.relative(name)[:, LOG].mean(),
        "Brier loss": lambda name: found.relative(name)[:, BRIER].mean(),
        "smooth calibration error": lambda name: found.calibration[name].mean(),
    }
    for what, loss in measures.items():
        ahead = _ahead(found, loss)
        lines.append(f"- On average, {ahead} a lower {what} than `auto`.")
    seconds = _seconds(speed)
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
    return f"{listed} {verb}" if ahead else "no competitor has"


def _doubt(verdict: Verdict) -> str:
    return (
        f"p = {format_p_value(verdict.p)}, adjusted {format_p_value(verdict.adjusted)}"
        if verdict.p >= 0.001
        else f"p < 0.001, adjusted {format_p_value(verdict.adjusted)}"
    )


def _criteria(found: Results, best: list[Verdict], judging: Rows) -> str:
    ours = found.cost(OURS)
    peer = 1 - ours / found.best_peer_cost()
    cell = 1 - sum(v.cost for v in best) / sum(v.other for v in best)
    old = 1 - ours / found.cost(OLD)
    worse = np.mean([v.significant(1) for v in best])
    names = ", ".join(dict.fromkeys(found.best_peer))
    rows = (
        (
            f"cheaper than the best peer ({names})",
            f"{TARGET_PEER:.0%}", _signed(peer), _met(peer >= TARGET_PEER),
        ),
        (
            f"cheaper than the old rule (`{OLD}`)",
            f"{TARGET_OLD:.0%}", _signed(old), _met(old >= TARGET_OLD),
        ),
        (
            "cells significantly worse than the best peer of the cell",
            f"at most {TARGET_WORSE:.0%}", f"{worse:.1%}", _met(worse <= TARGET_WORSE),
        ),
        *_sparse(judging),
    )  # fmt: skip
    table = Grid("What `auto` had to reach", ("", "target", "measured", "met"), rows)
    total = CRITERIA.format(cell=_signed(cell))
    return f"## Verdict\n\n{table.to_markdown()}\n\n{total}"


def _sparse(judging: Rows) -> list[tuple[str, ...]]:
    """`auto` against the mean where most reports are missing."""
    panels = {c["panel"] for c in judging if PANELS[c["panel"]].hard == "sparse"}
    if not panels:
        return []
    part = Results(_select(judging, "race", panels))
    cheaper, verdicts = 1 - part.cost(OURS), part.against(MEAN)
    worse = sum(verdict.significant(1) for verdict in verdicts)
    what = (
        "sparse forecasters: cheaper than the mean "
        f"(significantly worse in {worse} of {len(verdicts)} cells)"
    )
    return [(what, "0%", _signed(cheaper), _met(cheaper >= 0 and not worse))]


def _averages(found: Results) -> Grid:
    names = sorted(found.names, key=found.cost)
    answered = set(found.peers) | {OURS, OLD}
    rows = tuple(_average_row(found, n) for n in names if n in answered)
    headers = (
        "", "cost", *(f"{ratio}:1" for ratio in RATIOS), "log loss", "Brier", "smooth ECE",
    )  # fmt: skip
    note = (
        "Relative to the plain mean of the reports, averaged over the judging panels; "
        "*cost* is the average of the three ratios. Smooth ECE is the calibration error "
        "itself. Less is better."
    )
    return Grid("Averages over the judging panels", headers, rows, (note,))


def _average_row(found: Results, name: str) -> tuple[str, ...]:
    relative = found.relative(name).mean(axis=0)
    return (
        name,
        f"{found.cost(name):.3f}",
        *(f"{value:.3f}" for value in relative),
        f"{found.calibration[name].mean():.4f}",
    )


def _cells(found: Results, best: list[Verdict]) -> Grid:
    named = {"the best peer of the cell, chosen on other draws": best}
    named |= {name: found.against(name) for name in (OLD, *found.peers)}
    rows = tuple(
        (name, *(_count(verdicts, *kind) for kind in _COUNTS))
        for name, verdicts in named.items()
    )
    headers = (
        "`auto` against", "worse", "better", "worse, adjusted", "better, adjusted",
    )  # fmt: skip
    note = (
        f"Cells in which `auto` costs significantly more or less (p < {LEVEL}), before "
        "and after Holm's adjustment for the number of cells."
    )
    return Grid(f"Of {len(best)} panel-cost cells", headers, rows, (note,))


_COUNTS = ((1, False), (-1, False), (1, True), (-1, True))


def _count(verdicts: list[Verdict], sign: int, adjusted: bool) -> str:
    return str(sum(verdict.significant(sign, adjusted) for verdict in verdicts))


def _panels(found: Results, best: list[Verdict]) -> Grid:
    rows = []
    for p, name in enumerate(found.panels):
        own = [verdict for verdict in best if verdict.panel == name]
        marks = [_signed(v.change) + ("*" if v.p < LEVEL else "") for v in own]
        rows.append(
            (
                name,
                f"{found.relative(OURS)[p, :LOG].mean():.3f}",
                f"{found.relative(OLD)[p, :LOG].mean():.3f}",
                *marks,
            )
        )
    headers = (
        "", "`auto`", f"`{OLD}`", *(f"against best peer, {r}:1" for r in RATIOS),
    )  # fmt: skip
    notes = (
        "The first two columns are costs relative to the plain mean. The others say how "
        "much more (+) or less (-) `auto` costs than the best peer of the cell; "
        f"* p < {LEVEL}, unadjusted.",
    )
    return Grid("Judging panels, one by one", headers, tuple(rows), notes)


def _kinds(judging: Rows) -> Grid:
    names = list(dict.fromkeys(cell["panel"] for cell in judging))
    rows = []
    for kind, belongs in KINDS.items():
        own = {name for name in names if belongs(name)}
        if not own:
            continue
        part = Results(_select(judging, "race", own))
        costs = {n: part.cost(n) for n in part.peers}
        best = min(costs, key=lambda n: costs[n])
        rows.append(
            (
                kind,
                str(len(own)),
                f"{part.cost(OURS):.3f}",
                f"{part.cost(OLD):.3f}",
                f"{costs[best]:.3f} ({best})",
            )
        )
    headers = ("", "panels", "`auto`", f"`{OLD}`", "best peer in hindsight")
    note = "Cost relative to the plain mean, averaged over panels and cost ratios."
    return Grid("By what is hard", headers, tuple(rows), (note,))


def _seconds(speed: Mapping[str, Sequence[Row]]) -> dict[str, np.ndarray]:
    """Seconds by competitor: the geometric mean over the panels that it answered."""
    logs: dict[str, list[np.ndarray]] = {}
    for rows in speed.values():
        for row in rows:
            logs.setdefault(row["name"], []).append(np.log(row["seconds"]))
    return {
        name: np.exp(np.mean(values, axis=0))
        for name, values in logs.items()
        if len(values) == len(speed)
    }


def _speed(speed: Mapping[str, Sequence[Row]]) -> Grid:
    seconds = _seconds(speed)
    names = sorted(seconds, key=lambda n: seconds[n][0])
    rows = tuple(
        (
            name,
            *(f"{seconds[name][k]:.3g}" for k in range(3)),
            *(f"{seconds[name][k] / seconds[OURS][k]:.3g}" for k in range(3)),
        )
        for name in names
    )
    headers = (
        "", "fit (s)", "all new cases (s)", "one case (s)",
        "fit, relative to `auto`", "all", "one",
    )  # fmt: skip
    note = (
        f"Geometric means over {', '.join(speed)}; one thread, the fastest of three runs, "
        "all competitors in the same run. DawidSkene learns when it answers."
    )
    return Grid("Seconds", headers, rows, (note,))


def _development(rows: Rows) -> str:
    if not rows:
        return ""
    found = Results(rows)
    best = found.against_best()
    table = _averages(found)
    title = "Averages over the development panels, which decide nothing"
    worse, better = (_count(best, sign, False) for sign in (1, -1))
    note = (
        f"`auto` is significantly worse than the best peer of the cell in {worse} of "
        f"{len(best)} cells, better in {better} (unadjusted)."
    )
    return Grid(title, table.headers, table.rows, (note,)).to_markdown()


def _failures(found: Results) -> str:
    lines = []
    for name, reasons in found.failures.items():
        panels = ", ".join(dict.fromkeys(panel for panel, _ in reasons))
        lines.append(
            f"- {name} failed in {len(reasons)} draws ({panels}): {reasons[0][1]}"
        )
    if not lines:
        return "Every method of every peer answered in every judging draw."
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
    across = "cost of auto relative to the best peer, % (left: auto is cheaper)"
    return dots(found.panels, series, across, line=0.0)


def _speed_figure(speed: Mapping[str, Sequence[Row]]) -> "Figure":
    seconds = _seconds(speed)
    names = sorted(seconds, key=lambda n: seconds[n][0])
    labels = ("fit", "all new cases", "one case")
    series = {label: [seconds[n][k] for n in names] for k, label in enumerate(labels)}
    return dots(names, series, "seconds", log=True)


def _signed(share: float) -> str:
    return f"{100 * share:+.1f} %"


def _met(reached: bool) -> str:
    return "yes" if reached else "**no**"
