"""What ``truepool agent llm`` says when it is done, or had to stop."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from truepool_jury.llm import ModelReports

STOPPED = 1
"""Exit code of a run that ended within its budget before all answers were there."""


def check_complete(found: "ModelReports", output: Path) -> None:
    """Say what was done, and how to go on, where the run ended early; and exit."""
    from truepool.cli.outputs import print_note

    if found.stopped is None:
        return
    print_note(
        f"Stopped: {found.stopped}. {found.done:,} of {found.answers:,} answers are "
        f"stored; this run made {found.spending.describe()}. {output} was not written. "
        "The same command continues from there; stored answers cost nothing."
    )
    raise typer.Exit(STOPPED)


def show(found: "ModelReports", output: Path, json_file: Path | None) -> None:
    """Print the reports and gaps of each agent, and what the run has cost."""
    from truepool.cli.outputs import STDOUT, print_summary, write_summary

    spent = found.spending
    summary = {
        "cases": len(found.reports),
        "agents": found.counts(),
        "answered_by": list(found.answered_by),
        "answers": found.answers,
        "stored": found.stored,
        "calls": spent.calls,
        "tokens_in": spent.tokens_in,
        "tokens_out": spent.tokens_out,
        "money": spent.money,
        "currency": spent.budget.currency,
        "output": str(output),
    }
    if output == STDOUT and json_file is None:
        return
    lines = [_agent_line(name, **counts) for name, counts in found.counts().items()]
    if any("failed" in missing for missing in found.missing.values()):
        lines.append("The same command asks again where a call failed.")
    if found.unreadable is not None:
        lines.append(f"An answer that cannot be read: {found.unreadable!r}.")
    lines += [
        f"{found.stored:,} of {found.answers:,} answers were stored before; this run "
        f"made {spent.describe()}.",
        f"Wrote {output}.",
    ]
    known = None
    if found.labels is not None and found.outcome in found.columns:
        given = [label for label in found.columns[found.outcome] if label is not None]
        known = found.labels.encode(given)
    write_summary(summary, json_file, found.labels, known)
    print_summary("\n".join(lines), json_file, found.labels, known)


def _agent_line(name: str, reports: int, missing: dict[str, int]) -> str:
    from truepool.core.formatting import pluralize

    text = f"{name}: {pluralize(reports, 'report')}"
    if not missing:
        return f"{text}."
    why = ", ".join(f"{count:,} {reason}" for reason, count in missing.items())
    return f"{text}, {sum(missing.values()):,} missing ({why})."
