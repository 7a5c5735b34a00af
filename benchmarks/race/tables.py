"""Tables of the race."""

from collections.abc import Mapping, Sequence

import numpy as np

from race.comparison import LEVEL, LOG, Results, Rows, Verdict, select
from race.measurement import OLD, OURS, RATIOS
from race.panels import PANELS
from truepool.core.arrays import FloatArray
from truepool.core.engine import Row
from truepool.pages.grid import Grid

KINDS = {
    "few-case": lambda name: name.endswith(("-40", "-60", "-150", "-K3")),
    "adversarial": lambda name: PANELS[name].hard == "adversarial",
    "miscalibrated": lambda name: PANELS[name].hard == "miscalibrated",
    "sparse": lambda name: PANELS[name].hard == "sparse",
    "drifting": lambda name: PANELS[name].hard == "drift",
    "rare-class": lambda name: name.endswith("-rare"),
    "K-class": lambda name: "-K" in name,
}


def averages(found: Results) -> Grid:
    """Losses of every competitor relative to the plain mean, least cost first."""
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


def cells(found: Results, best: list[Verdict]) -> Grid:
    """How often `auto` is significantly worse or better than each competitor."""
    named = {"the best peer of the cell, chosen on other draws": best}
    named |= {name: found.against(name) for name in (OLD, *found.peers)}
    rows = tuple(
        (name, *(count(verdicts, *kind) for kind in _COUNTS))
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


def count(verdicts: list[Verdict], sign: int, adjusted: bool) -> str:
    return str(sum(verdict.significant(sign, adjusted) for verdict in verdicts))


def panels(found: Results, best: list[Verdict]) -> Grid:
    """Every judging panel: costs, and `auto` against the best peer."""
    rows = []
    for p, name in enumerate(found.panels):
        own = [verdict for verdict in best if verdict.panel == name]
        marks = [signed(v.change) + ("*" if v.p < LEVEL else "") for v in own]
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


def by_kind(judging: Rows) -> dict[str, Results]:
    """Return the results on the panels of each kind that there are."""
    names = dict.fromkeys(cell["panel"] for cell in judging)
    chosen = {kind: {n for n in names if own(n)} for kind, own in KINDS.items()}
    return {
        kind: Results(select(judging, "race", panels))
        for kind, panels in chosen.items()
        if panels
    }


def kinds(judging: Rows) -> Grid:
    """Costs by what makes a panel hard."""
    rows = []
    for kind, part in by_kind(judging).items():
        best = min(part.peers, key=part.cost)
        costs = (part.cost(name) for name in (OURS, OLD, best))
        ours, old, peer = (f"{cost:.3f}" for cost in costs)
        rows.append((kind, str(len(part.panels)), ours, old, f"{peer} ({best})"))
    headers = ("", "panels", "`auto`", f"`{OLD}`", "best peer in hindsight")
    note = "Cost relative to the plain mean, averaged over panels and cost ratios."
    return Grid("By what is hard", headers, tuple(rows), (note,))


def seconds_by_name(speed: Mapping[str, Sequence[Row]]) -> dict[str, FloatArray]:
    """Seconds by competitor: the geometric mean over the panels that it answered."""
    logs: dict[str, list[FloatArray]] = {}
    for rows in speed.values():
        for row in rows:
            logs.setdefault(row["name"], []).append(np.log(row["seconds"]))
    return {
        name: np.exp(np.mean(values, axis=0))
        for name, values in logs.items()
        if len(values) == len(speed)
    }


def seconds(speed: Mapping[str, Sequence[Row]]) -> Grid:
    """Seconds of every competitor, fastest to learn first."""
    seconds = seconds_by_name(speed)
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


def signed(share: float) -> str:
    """Return a share as percent, with its sign."""
    return f"{100 * share:+.1f} %"
