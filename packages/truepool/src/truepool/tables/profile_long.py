"""Whether an unknown table has one row per report, several of them on each case."""

from collections.abc import Mapping

from truepool.core.formatting import pluralize
from truepool.tables.column_profile import ColumnProfile
from truepool.tables.doubtful_columns import name_parts
from truepool.tables.profile_findings import Findings
from truepool.tables.profile_outcome import (
    find_outcome,
    may_be_outcome,
    outcome_labels,
)
from truepool.tables.profile_times import find_times_of_reports

SEVERAL = 1.5
"""Agents that a case of a long table has on average, at least."""

JUDGES = ("judge", "agent", "model", "rater", "annotator", "grader")
VERDICTS = (
    "verdict", "report", "score", "probability", "vote", "answer", "stars", "rating",
    "grade",
)  # fmt: skip
"""How the columns with the judge and the verdict of each row are called."""


def find_long(look: Findings) -> bool:
    """Find out whether there is one row per report, several of them on each case."""
    times = look.times
    keys = {n: c for n, c in look.open.items() if n not in times and c.is_key}
    for case, column in keys.items():
        fixed = {n: c for n, c in look.open.items() if c.is_constant_by(column)}
        report = _report(look, fixed)
        agents = [name for name in keys if name not in fixed and name != report]
        outcomes = {n: c for n, c in fixed.items() if may_be_outcome(c) and n != case}
        if report is None or len(agents) != 1 or not outcomes or case == report:
            continue
        cases, several = len(column.distinct), len(keys[agents[0]].distinct)
        if column.count_pairs(keys[agents[0]]) < SEVERAL * cases:
            continue
        reason = f"one row per report: {cases:,} cases, {several:,} agents"
        look.reports, look.owner = [look.open[report]], look.open[agents[0]]
        columns = [case, agents[0], report]
        look.set("long", columns, reason, *columns)
        find_outcome(look, outcomes)
        moving = [name for name in times if name not in fixed]
        ends = [name for name in times if name in fixed]
        find_times_of_reports(look, moving, ends)
        return True
    return _find_long_jury(look)


def _find_long_jury(look: Findings) -> bool:
    """Find one row per verdict, in two words or a small score, with a label or none.

    Each judge has one verdict on an item. Without labels of the items, the name of the
    judges' column must say that it is one.
    """
    if any(column.is_report for column in look.open.values()):
        return False
    keys = {n: c for n, c in look.open.items() if n not in look.times and c.is_key}
    for item, column in keys.items():
        fixed = {n: c for n, c in look.open.items() if c.is_constant_by(column)}
        moving = {n: c for n, c in keys.items() if n not in fixed}
        once = [n for n, c in moving.items() if column.count_pairs(c) == column.rows]
        outcomes = {n: c for n, c in fixed.items() if may_be_outcome(c) and n != item}
        named = [n for n in once if _is_called(n, JUDGES)]
        judges = named or (once if outcomes else [])
        verdicts = [
            n for n, c in look.open.items()
            if n not in fixed and n not in judges and (_two_words(c) or c.is_score)
        ]  # fmt: skip
        verdicts = [n for n in verdicts if _is_called(n, VERDICTS)] or verdicts
        if len(judges) != 1 or len(verdicts) != 1:
            continue
        judge, verdict = look.open[judges[0]], look.open[verdicts[0]]
        if column.rows < SEVERAL * len(column.distinct):
            continue
        look.owner, look.jury = judge, True
        look.reports = [] if verdict.numbers is None else [verdict]
        reason = (
            f"one row per verdict: {pluralize(len(column.distinct), 'item')}, "
            f"{pluralize(len(judge.distinct), 'judge')}"
        )
        names = [item, judge.name, verdict.name]
        look.set("long", names, reason, *names)
        if outcomes:
            find_outcome(look, outcomes)
        if verdict.numbers is None:
            _ask_about_words(look, verdict)
        return True
    return False


def _ask_about_words(look: Findings, verdict: ColumnProfile) -> None:
    """Ask which of two verdicts is positive, and which words mean none.

    The labels of the items, where there are any, are the same two words, or 0 and 1.
    """
    words = outcome_labels(verdict)
    for word in verdict.distinct:
        if word.casefold() not in {known.casefold() for known in words}:
            reason = f"no verdict ({pluralize(verdict.counts[word], 'cell')})"
            look.missing.setdefault(word, []).insert(0, reason)
    labels = look.labels
    if {*labels} <= {"0", "1"}:
        if not any(question.option == "outcome" for question in look.questions):
            choices = ((word, f"{verdict.counts[word]:,} rows") for word in words)
            look.ask("positive", "which verdict is positive?", *choices)
    elif {w.casefold() for w in words} != {label.casefold() for label in labels}:
        said, meant = (" and ".join(map(repr, each)) for each in (words, labels))
        look.problem = (
            "verdicts in words must be the labels of the outcome; column "
            f"{verdict.name!r} has {said}, column {look.options['outcome']!r} has "
            f"{meant}. Write the same two words in both, and run truepool init again."
        )


def _two_words(column: ColumnProfile) -> bool:
    return column.numbers is None and len(outcome_labels(column)) == 2


def _is_called(name: str, words: tuple[str, ...]) -> bool:
    return not {*name_parts(name)}.isdisjoint(words)


def _report(look: Findings, fixed: Mapping[str, ColumnProfile]) -> str | None:
    """The one column that may hold reports: in [0, 1] or, if there is none, up to 100.

    Numbers that belong to a case, such as an age, are no reports.
    """
    shares = [name for name, column in look.open.items() if column.is_report]
    large = [
        name for name, column in look.open.items()
        if column.lies_within(100.0) and not column.is_id and name not in fixed
    ]  # fmt: skip
    found = shares or large
    return found[0] if len(found) == 1 else None
