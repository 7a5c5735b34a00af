"""An audit, for a terminal and as Markdown."""

from collections.abc import Iterator
from functools import partial

from rich.console import Console
from rich.text import Text

from truepool.audits.values import Audit, Finding, Severity
from truepool.render import labels
from truepool.render.numbers import amount, chance, estimated, number, percent
from truepool.render.tables.evidence import grids
from truepool.render.tables.grid import plain
from truepool.render.verdict import FIXED, advice, changes, sentence, withheld

MARKS: dict[Severity, tuple[str, str]] = {
    "error": ("ERROR", "bold red"),
    "warning": ("WARNING", "bold yellow"),
    "note": ("note", "bold cyan"),
}


def show(audit: Audit, console: Console) -> None:
    """Print what to do, then the findings and the tables behind them."""
    # Names come from users: nothing they are called is markup.
    said = partial(console.print, highlight=False, markup=False)
    said(sentence(audit), style="bold")
    said(f"What to do: {advice(audit)}\n")
    for line in changes(audit):
        said(line)
    said(setting(audit))
    said(f"{labels.sentence(audit.labels, audit.label_cases)}\n")
    for place, (finding, explained) in enumerate(audit.groups, start=1):
        _show(console, finding, f"{place:>2}. ")
        for other in explained:
            _show(console, other, " " * 4 + "- ")
    console.print()
    for grid in grids(audit):
        grid.print(console)
        console.print()
    for left in unsaid(audit):
        said(left)


def markdown(audit: Audit) -> str:
    """Return the same as a Markdown page."""
    called = labels.sentence(audit.labels, audit.label_cases)
    lines = [f"# {sentence(audit)}", "", f"**What to do:** {plain(advice(audit))}", ""]
    lines += [f"{plain(line)}  " for line in changes(audit)]
    lines += [plain(f"{setting(audit)} {called}"), "", "## Findings", ""]
    for place, (finding, explained) in enumerate(audit.groups, start=1):
        lines.append(_item(finding, f"{place}. "))
        lines += [_item(other, "   - ") for other in explained]
    if not audit.findings:
        lines.append("Nothing was found.")
    lines.append("")
    for grid in grids(audit):
        lines += [grid.to_markdown(), ""]
    lines += [f"{plain(left)}\n" for left in unsaid(audit)]
    return "\n".join(lines).rstrip() + "\n"


def _show(console: Console, finding: Finding, mark: str) -> None:
    word, style = MARKS[finding.severity]
    line = Text(f"{word} ", style).append(finding.sentence, "not bold default")
    indented(console, line, Text(mark))
    for below in details(finding):
        indented(console, Text(below), Text(" " * len(mark)))


def _item(finding: Finding, mark: str) -> str:
    word, space = MARKS[finding.severity][0], " " * len(mark)
    below = f"  \n{space}".join(map(plain, details(finding)))
    return f"{mark}**{word}** {plain(finding.sentence)}  \n{space}{below}"


def setting(audit: Audit) -> str:
    """Say what was looked at."""
    of = f" of {audit.source}" if audit.source else ""
    told = f"The pool is {audit.pool}, on {audit.cases:,} cases{of}"
    if audit.classes == 2:
        told += f", {percent(audit.positives / audit.cases)} of them positive"
    if audit.missing:
        told += f", {percent(audit.missing)} of reports missing"
    if audit.threshold is None:
        return f"{told}; {audit.classes} classes, decided at least expected cost."
    return (
        f"{told}; a missed case costs {amount(audit.costs['fn'])}, a false alarm "
        f"{amount(audit.costs['fp'])}; 1 is decided above {number(audit.threshold)}."
    )


def details(finding: Finding) -> Iterator[str]:
    """Yield the number, the cost and the chance of a finding, then what to do."""
    parts = []
    if finding.number is not None:
        parts.append(f"{finding.unit}: {estimated(finding.number)}")
    if finding.cost is not None:
        parts.append(f"{FIXED}: {estimated(finding.cost, sign=True)}")
    if finding.p_value is not None:
        parts.append(f"adjusted p: {chance(finding.p_value)}")
    if parts:
        yield "; ".join(parts)
    yield f"Do: {finding.advice}"


def unsaid(audit: Audit) -> Iterator[str]:
    """Yield what was withheld, by reason, and what was estimated from fewer cases."""
    for why, what in withheld(audit).items():
        yield f"Withheld: {what}; {why}."
    yield from audit.sampled


def indented(console: Console, text: Text, mark: Text) -> None:
    """Print text as a block, to the right of its mark."""
    for line in text.wrap(console, max(console.width - len(mark), 1)):
        line.rstrip()
        console.print(mark + line, highlight=False)
        mark = Text(" " * len(mark))
