"""What ``truepool score`` says about the cases that it has scored."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truepool.pools import Pool
    from truepool.pools.scorer import Tally


def summary(tally: "Tally", pool: "Pool", place: Path, done: int = 0) -> str:
    """Say how many cases were scored, and what was written."""
    from truepool.cli.outputs import STDOUT
    from truepool.core.formatting import pluralize

    sentence = f"Scored {pluralize(tally.cases, 'case')} with {pool.name}."
    if place != STDOUT:
        sentence += f" Wrote {place}."
    if done:
        were = "was" if done == 1 else "were"
        sentence += f" {pluralize(done, 'part')} {were} done before: skipped."
    if tally.empty:
        sentence += f" {pluralize(tally.empty, 'case')} without any report: left empty."
    return sentence


def draw(tally: "Tally", share: float | None) -> Iterator[str]:
    """Say how many cases were drawn for review, of how many that were scored."""
    from truepool.core.formatting import amount, pluralize

    if share is not None:
        scored = tally.cases - tally.empty
        negative = scored - tally.positive
        yield (
            f"Drew {tally.drawn:,} of {pluralize(negative, 'case')} decided negative "
            f"for review (--explore {amount(100 * share)}%); scored "
            f"{pluralize(scored, 'case')} in all, of which "
            f"{tally.drawn + tally.positive:,} are to be reviewed."
        )


def repeats(tally: "Tally", of: str = "") -> Iterator[str]:
    """Say that ids occur more than once, and among which cases that was looked at."""
    from truepool.tables.repeated_ids import MOST_IDS
    from truepool.tables.summary import describe_repeats

    if tally.repeated:
        which = f" first {MOST_IDS:,}" if tally.not_compared else ""
        among = f" Ids were compared among the{which} cases{of}." if of or which else ""
        yield f"warning: {describe_repeats(tally.repeated)}{among}"


def doubts(tally: "Tally", pool: "Pool") -> Iterator[str]:
    """Say what was guessed or left out, which agents are dead or new."""
    from truepool.core.errors import suggestion
    from truepool.core.formatting import pluralize
    from truepool.panel.labels import format_labels
    from truepool.tables.summary import (
        GUESSED_ENCODING,
        describe_amount,
        describe_rescaled,
        describe_unknown,
    )

    if tally.encoding is not None:
        yield GUESSED_ENCODING
    yield from tally.notes
    for name, example in tally.amounts.items():
        yield describe_amount(name, example)
    if tally.rescaled:
        yield describe_rescaled(tally.rescaled)
    if tally.silent and tally.empty < tally.cases:
        yield f"warning: no case has a report of {format_labels(tally.silent)}."
    for agent, report, count in tally.stuck(pool):
        value = ", ".join(f"{p:.4g}" for p in report)
        yield (
            f"warning: {agent} reported {value} in all {count:,} cases while other "
            "agents' reports vary: its feed may be dead. Leave its column empty until "
            "it is fixed."
        )
    for agent, doubt in sorted(tally.doubtful.items()):
        how = "against" if doubt == "reversed" else "no longer with"
        yield (
            f"warning: the reports of {agent} move {how} those of the other agents; in "
            "the fit they moved with them. Leave its column empty until that is clear; "
            "--strict refuses such tables."
        )
    if tally.unknown:
        yield describe_unknown(tally.unknown)
    lacking = sorted(agent for agent, count in tally.missing.items() if count)
    for key, count in tally.others.items():
        meant = suggestion(key, lacking)
        if meant:
            have = "has" if count == 1 else "have"
            yield (
                f"warning: {pluralize(count, 'line')} {have} {key!r}, which is not an "
                f"agent of the pool{meant}."
            )


def warn_if_empty(tally: "Tally", pool: "Pool") -> None:
    """Say that nothing was pooled, also where only errors are wanted."""
    from truepool.cli.outputs import print_note
    from truepool.panel.labels import format_names

    if tally.cases and tally.empty == tally.cases:
        print_note(
            f"warning: none of the {tally.cases:,} cases has a report of an agent of "
            f"the pool ({format_names(pool.agents_)}): nothing was pooled. Check the "
            "names of the columns, or the layout (--long CASE AGENT REPORT)."
        )
