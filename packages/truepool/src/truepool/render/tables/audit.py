"""An audit, for a terminal and as Markdown."""

from collections.abc import Iterator
from functools import partial

from rich.console import Console
from rich.text import Text

from truepool.audits.values import Audit, Finding, Severity
from truepool.core.formatting import printable
from truepool.render import labels
from truepool.render.advice import steps
from truepool.render.numbers import (
    format_estimate,
    format_p_value,
    number,
    percent,
)
from truepool.render.tables.agent_choice import MOST_AGENTS
from truepool.render.tables.evidence import grids
from truepool.render.tables.grid import plain, print_block, print_steps
from truepool.render.verdict import (
    changes,
    describe_errors,
    number_label,
    rates,
    saving_label,
    sentence,
    withheld,
)

MARKS: dict[Severity, tuple[str, str]] = {
    "error": ("ERROR", "bold red"),
    "warning": ("WARNING", "bold yellow"),
    "note": ("note", "bold cyan"),
}


def show(audit: Audit, console: Console) -> None:
    """Print what to do, then the findings and the tables behind them."""
    # Names come from users: nothing in them is markup.
    write = partial(console.print, highlight=False, markup=False)
    write(sentence(audit), style="bold")
    print_steps(console, steps(audit))
    console.print()
    if audit.changes is not None:
        write("\n".join(changes(audit)) + "\n")
    named = labels.sentence(audit.labels, audit.label_cases)
    write("\n".join(filter(None, [scope(audit), named, rates(audit)])) + "\n")
    for place, (finding, explained) in enumerate(audit.groups, start=1):
        _print_finding(console, finding, f"{place:>2}. ", audit)
        for other in explained:
            _print_finding(console, other, " " * 4 + "- ", audit)
    console.print()
    for grid in grids(audit, MOST_AGENTS):
        grid.print(console)
        console.print()
    for omission in omissions(audit):
        write(omission)


def markdown(audit: Audit) -> str:
    """Return the same as a Markdown page."""
    named = labels.sentence(audit.labels, audit.label_cases)
    lines = [f"# {sentence(audit)}", "", "**What to do:**", ""]
    lines += [f"{place}. {plain(s)}" for place, s in enumerate(steps(audit), start=1)]
    lines.append("")
    if audit.changes is not None:
        lines += [*(f"{plain(line)}  " for line in changes(audit)), ""]
    about = " ".join(filter(None, [scope(audit), named, rates(audit)]))
    lines += [plain(about), "", "## Findings", ""]
    for place, (finding, explained) in enumerate(audit.groups, start=1):
        lines.append(_item(finding, f"{place}. ", audit))
        lines += [_item(other, "   - ", audit) for other in explained]
    if not audit.findings:
        lines.append("Nothing was found.")
    lines.append("")
    for grid in grids(audit):
        lines += [grid.to_markdown(), ""]
    lines += [f"{plain(omission)}\n" for omission in omissions(audit)]
    return printable("\n".join(lines).rstrip() + "\n")


def _print_finding(console: Console, finding: Finding, mark: str, audit: Audit) -> None:
    word, style = MARKS[finding.severity]
    line = Text(f"{word} ", style).append(finding.sentence, "not bold default")
    print_block(console, line, Text(mark))
    for below in details(finding, audit):
        print_block(console, Text(below), Text(" " * len(mark)))


def _item(finding: Finding, mark: str, audit: Audit) -> str:
    word, space = MARKS[finding.severity][0], " " * len(mark)
    lines = [f"{mark}**{word}** {plain(finding.sentence)}"]
    lines += [f"{space}{plain(below)}" for below in details(finding, audit)]
    return "  \n".join(lines)


def scope(audit: Audit) -> str:
    """Say which pool, cases and costs the audit is about."""
    of = f" of {audit.source}" if audit.source else ""
    text = f"The pool is {audit.pool}, on {audit.cases:,} cases{of}"
    if audit.classes == 2:
        text += f", {positives(audit)}"
    if audit.missing:
        text += f", {percent(audit.missing)} of reports missing"
    if audit.classes > 2:
        return (
            f"{text}; {audit.classes} classes; {describe_errors(audit)}; the class "
            "with the lowest expected cost is decided."
        )
    line = "where that costs less in the case at hand"
    if audit.threshold is not None:
        line = f"above {number(audit.threshold)}"
    return f"{text}; {describe_errors(audit)}; positive is decided {line}."


def positives(audit: Audit) -> str:
    """Say which share of the cases is positive, by their weights if they have any."""
    text = f"{percent(audit.share)} of them positive"
    if audit.weighted_share is None:
        return text
    return f"{text} by weight ({percent(audit.positives / audit.cases)} of the rows)"


def details(finding: Finding, audit: Audit) -> Iterator[str]:
    """Yield the number, cost and p-value of a finding, then what to do.

    What another finding explains goes away with that one.
    """
    parts = []
    if finding.number is not None:
        label = number_label(audit, finding)
        parts.append(f"{label}: {format_estimate(finding.number)}")
    if finding.cost is not None:
        label = saving_label(audit, finding.code)
        parts.append(f"{label}: {format_estimate(finding.cost, sign=True)}")
    if finding.p_value is not None:
        parts.append(f"adjusted p: {format_p_value(finding.p_value)}")
    if parts:
        yield "; ".join(parts)
    if not finding.cause:
        yield f"Do: {finding.advice}"


def omissions(audit: Audit) -> Iterator[str]:
    """Yield what was skipped, by reason, and what was estimated from fewer cases."""
    for why, what in withheld(audit).items():
        yield f"Skipped: {what}. {why[:1].upper()}{why[1:]}."
    yield from audit.sampled
