"""Columns of an unknown table that may be scores of vendors or bureaus."""

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.data.tables.column_profile import ColumnProfile
from truepool.data.tables.doubtful_columns import name_parts, score_columns
from truepool.data.tables.profile_findings import Findings
from truepool.data.tables.question import score_question

RANGES = ((300, 850), (0, 999), (0, 1000))
"""Ranges in which vendors and bureaus report; the first that holds all is proposed."""


def ask_for_score_columns(look: Findings, outcome: ColumnProfile | None) -> None:
    """Ask about whole numbers beyond 100 that move with the reports, or the outcome.

    Amounts are told apart by their size, and by their decimals.
    """
    if look.classes or look.jury or "long" in look.options:
        return
    large = {n: c.by_row for n, c in look.open.items() if _may_be_score(c)}
    agents, others, what = _reference(look, outcome)
    if not large or not others:
        return
    found = score_columns(large, others, what)
    if not found:
        return
    ranges = [f"{n}={_range(large[n], falls=falls)}" for n, (_, falls) in found.items()]
    note = (
        "the range in --scores is a guess: write the lowest and the highest score that "
        "it can give, the highest first if a high score means a low probability"
    )
    reasons = {name: f"{why}; {note}" for name, (why, _) in found.items()}
    look.questions.append(score_question(reasons, agents, ranges))


def _may_be_score(column: ColumnProfile) -> bool:
    """Whether whole numbers go beyond 100, and no further than scores do."""
    n, named = column.numbers, "score" in name_parts(column.name)
    if n is None or column.percent or column.is_id or len(n) <= 2:
        return False
    most = RANGES[-1][1] * (10 if named else 1)
    return bool((n == np.floor(n)).all() and n.min() >= 0 and 100 < n.max() <= most)


def _reference(
    look: Findings, outcome: ColumnProfile | None
) -> tuple[list[str], list[FloatArray], str]:
    """Agents that are known or likely, their reports or the outcomes, and a name."""
    if look.reports:
        reports = [column.by_row for column in look.reports]
        return look.options["agents"], reports, "the reports"
    asked = [name for q in look.questions if q.likely for name, _ in q.choices]
    names = asked or [name for name, column in look.open.items() if column.is_report]
    if names:
        return names, [look.open[name].by_row for name in names], "the reports"
    if outcome is None or len(outcome.distinct) != 2:
        return [], [], ""
    labels = np.where(outcome.codes < 0, np.nan, outcome.codes)
    return [], [labels], f"the outcome {outcome.distinct[1]!r}"


def _range(values: FloatArray, *, falls: bool) -> str:
    low, high = np.nanmin(values), np.nanmax(values)
    usual = (r for r in RANGES if r[0] <= low and high <= r[1])
    ends = next(usual, (int(low), int(high)))
    return f"{ends[1]}-{ends[0]}" if falls else f"{ends[0]}-{ends[1]}"
