"""Columns of an unknown table that may be votes, beside agents that are known."""

import shlex
from collections.abc import Iterator

import numpy as np

from truepool.core.formatting import join_names
from truepool.panel.report_units import join_patterns
from truepool.tables.column_profile import ColumnProfile
from truepool.tables.doubtful_columns import score_columns
from truepool.tables.profile_agents import sharing_words
from truepool.tables.profile_findings import Findings
from truepool.tables.profile_outcome import outcome_labels
from truepool.tables.profile_scores import reference
from truepool.tables.question import vote_question

FEWEST = 3
"""Where the outcome is not known, fewer columns of its kind may all be the outcome."""


def ask_for_votes(look: Findings) -> None:
    """Ask about columns of 0 and 1 that rise with the reports, or with such columns."""
    votes = {n: c.by_row for n, c in look.open.items() if _is_vote(c)}
    if not _has_columns(look) or len(votes) < _fewest(look):
        return
    agents, others, _ = reference(look, None, {})
    found: dict[str, str] = {}
    while others and len(found) < len(votes):
        rest = {name: v for name, v in votes.items() if name not in found}
        moving = score_columns(rest, others, "the reports")
        rising = {name: why for name, (why, falls) in moving.items() if not falls}
        if not rising:
            break
        found |= rising
        others += [votes[name] for name in rising]
    if found:
        look.suggested += [look.open[name] for name in found]
        note = "" if "outcome" in look.options else "Leave the outcome out."
        look.questions.append(vote_question(found, agents, note))


def describe_verdicts(look: Findings) -> Iterator[str]:
    """Say what reads columns that share two words, those of the outcome if known."""
    known = _has_columns(look) and "agents" in look.options
    columns = sharing_words(look.open) if known else []
    if len(columns) < _fewest(look) + ("outcome" in look.options):
        return
    words = outcome_labels(columns[0])
    if look.labels and _casefold(words) != _casefold(look.labels):
        return
    names = [column.name for column in columns]
    listed = join_patterns([*names, *look.options["agents"]])
    rest = "" if "outcome" in look.options else ", without the outcome"
    yield (
        f"{join_names([*map(repr, names)])} share the words "
        f"{' and '.join(map(repr, words))}. If these are verdicts of agents, they are "
        "read by truepool jury beside the reports, with --agents "
        f"{shlex.quote(listed)}{rest}."
    )


def _has_columns(look: Findings) -> bool:
    """Whether agents have one column each, with numbers."""
    return not (look.classes or look.jury or "long" in look.options)


def _fewest(look: Findings) -> int:
    return 1 if "outcome" in look.options else FEWEST


def _is_vote(column: ColumnProfile) -> bool:
    numbers = column.numbers
    return numbers is not None and np.array_equal(np.unique(numbers), (0.0, 1.0))


def _casefold(words: tuple[str, ...] | list[str]) -> set[str]:
    return {word.casefold() for word in words}
