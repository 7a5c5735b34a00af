"""An audit, for a terminal and as Markdown."""

from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from truepool.audit.values import Audit, Calibration, Finding, Severity, Standing
from truepool.render.grid import Grid
from truepool.render.numbers import chance, estimated, number, percent
from truepool.render.verdict import sentence

MARKS: dict[Severity, tuple[str, str]] = {
    "error": ("ERROR", "bold red"),
    "warning": ("WARNING", "bold yellow"),
    "note": ("note", "bold cyan"),
}


def show(audit: Audit, console: Console) -> None:
    """Print the findings, then the tables behind them."""
    console.print(sentence(audit), style="bold", highlight=False)
    console.print(f"{setting(audit)}\n", highlight=False)
    for place, finding in enumerate(audit.findings, start=1):
        word, style = MARKS[finding.severity]
        line = Text(f"{place:>2}. ").append(f"{word} ", style)
        console.print(line.append(finding.sentence), highlight=False)
        for below in details(finding):
            console.print(Padding(Text(below), (0, 0, 0, 4)), highlight=False)
    console.print(f"\nAdvice. {audit.advice}\n", highlight=False)
    for grid in grids(audit):
        grid.print(console)
        console.print()
    for left in unsaid(audit):
        console.print(left, highlight=False)


def markdown(audit: Audit) -> str:
    """Return the same as a Markdown page."""
    lines = [f"# {sentence(audit)}", "", setting(audit), "", "## Findings", ""]
    for place, finding in enumerate(audit.findings, start=1):
        word = MARKS[finding.severity][0]
        below = "  \n   ".join(details(finding))
        lines.append(f"{place}. **{word}** {finding.sentence}  \n   {below}")
    lines += ["", "## Advice", "", audit.advice, ""]
    for grid in grids(audit):
        lines += [grid.to_markdown(), ""]
    lines += [f"{left}\n" for left in unsaid(audit)]
    return "\n".join(lines).rstrip() + "\n"


def setting(audit: Audit) -> str:
    """Say what was looked at."""
    rate = percent(audit.positives / audit.cases)
    events = f"The pool is {audit.mechanism}, on {audit.cases:,} cases, {rate} events"
    if audit.silent:
        events += f", {percent(audit.silent)} of reports silent"
    if audit.threshold is None:
        return f"{events}; {audit.classes} classes, decided at least expected cost."
    return (
        f"{events}; a missed case costs {audit.costs['fn']:g}, a false alarm "
        f"{audit.costs['fp']:g}; 1 is decided above {audit.threshold:.3f}."
    )


def details(finding: Finding) -> Iterator[str]:
    """Yield the number, the cost and the chance of a finding, then what to do."""
    parts = []
    if finding.number is not None:
        parts.append(f"{finding.unit}: {estimated(finding.number)}")
    if finding.cost is not None:
        parts.append(f"cost a case: {estimated(finding.cost, sign=True)}")
    if finding.p_value is not None:
        parts.append(f"adjusted p: {chance(finding.p_value)}")
    if parts:
        yield "; ".join(parts)
    yield f"Do: {finding.advice}"


def grids(audit: Audit) -> tuple[Grid, ...]:
    """Lay out calibration, standings and robustness as tables."""
    tables = [_calibration(audit.calibration), _standings(audit.standings)]
    if audit.robustness:
        rows = tuple(
            (f"{study.who} {study.what}", estimated(study.cost), estimated(study.rise))
            for study in audit.robustness
        )
        tables.append(Grid("Robustness", ("if", "cost a case", "rise"), rows))
    return tuple(tables)


def unsaid(audit: Audit) -> Iterator[str]:
    """Yield what was withheld and what was estimated from fewer cases."""
    for what, why in audit.withheld:
        yield f"Withheld: {what}: {why}."
    yield from audit.sampled


def _calibration(judged: tuple[Calibration, ...]) -> Grid:
    rows = tuple(
        (
            one.who,
            number(one.ece, 0.1),
            number(one.smooth_ece, 0.1),
            estimated(one.bias, sign=True),
            estimated(one.slope),
            chance(one.p_value),
        )
        for one in judged
    )
    headers = ("calibration", "ECE", "smooth ECE", "bias", "slope", "p")
    note = "Calibrated: bias 0, slope 1; below 1 is over-confident. p before adjusting."
    return Grid("Do they mean what they say?", headers, rows, (note,), essential=3)


def _standings(stood: tuple[Standing, ...]) -> Grid:
    rows = tuple(
        (
            one.agent,
            number(one.cost),
            number(one.brier),
            estimated(one.weight),
            estimated(one.leave_one_out, sign=True),
            estimated(one.shapley, sign=True),
            "-" if one.gain is None else number(one.gain),
        )
        for one in stood
    )
    headers = (
        "agent", "own cost", "Brier", "weight earned", "without it", "Shapley",
        "gain by lying",
    )  # fmt: skip
    note = (
        "Without it: rise of the pool's cost a case; Shapley: its share of what the "
        "pool saves. Weight: what its credit earns it (vcg)."
    )
    return Grid("Who earns the weight?", headers, rows, (note,), essential=4)
