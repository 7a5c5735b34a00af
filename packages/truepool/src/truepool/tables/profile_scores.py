"""Columns of an unknown table that may be scores of vendors or bureaus."""

import shlex
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.formatting import join_names
from truepool.panel.report_units import join_patterns
from truepool.tables.column_profile import ColumnProfile
from truepool.tables.doubtful_columns import (
    name_parts,
    percent_columns,
    score_columns,
)
from truepool.tables.profile_agents import score_range
from truepool.tables.profile_findings import Findings
from truepool.tables.question import SCORE_NOTE, score_question, unit_question

RANGES = ((0, 20), (0, 100), (300, 850), (0, 999), (0, 1000))
"""Ranges in which scores are reported; the first that holds all is proposed."""


def ask_for_score_columns(look: Findings, outcome: ColumnProfile | None) -> None:
    """Ask about whole numbers that move with the reports, or the outcome.

    Amounts are told apart by their size, and by their decimals. Numbers beyond 100 may
    rise or fall. Beside agents that are known, smaller ones that rise are asked about
    too: up to 10 as scores, up to 100 as scores or percentages. Beside percentages,
    numbers up to 10 are that may be agents.
    """
    if look.classes or look.jury or "long" in look.options:
        return
    large = {n: c.by_row for n, c in look.open.items() if _may_be_score(c)}
    small = {c.name: c for c in look.suggested if c.is_score}
    agents, others, what = reference(look, outcome, small)
    if not others:
        return
    whole = {
        n: c for n, c in look.open.items()
        if look.reports and c.lies_within(100.0) and c.may_be_score
    }  # fmt: skip
    bands = {n: c for n, c in whole.items() if c.is_score}
    percent = look.options.get("percent", [])
    unclear = {n: c.by_row for n, c in whole.items() if not c.is_score}
    if reasons := percent_columns(unclear, others):
        look.suggested += [whole[name] for name in reasons]
        spans = [_format_range(name, _range(unclear[name])) for name in reasons]
        look.questions.append(unit_question(reasons, agents, percent, spans))
    stars = {name: column.by_row for name, column in small.items()}
    found = score_columns(large | stars, others, what)
    rising = score_columns({n: c.by_row for n, c in bands.items()}, others, what)
    found |= {name: (why, falls) for name, (why, falls) in rising.items() if not falls}
    for name, values in stars.items():
        why = f"its numbers are whole or halves, from {np.nanmin(values):g} to "
        found.setdefault(name, (f"{why}{np.nanmax(values):g}", False))
    if not found:
        return
    look.suggested += [look.open[name] for name in found if name not in small]
    ranges = {}
    for name, (_, falls) in found.items():
        column = small.get(name) or bands.get(name)
        ends = _range(large[name]) if column is None else score_range([column])
        ranges[name] = _format_range(name, ends[::-1] if falls else ends)
    reasons = {name: why for name, (why, _) in found.items()}
    if small:
        _ask_for_ranges(look, ranges, reasons)
        return
    question = score_question(reasons, agents, percent, [*ranges.values()])
    if few := [f"--by {shlex.quote(name)}" for name in found if name in bands]:
        segments = f"One that is no agent may divide the cases ({' or '.join(few)})."
        question = replace(question, note=f"{SCORE_NOTE} {segments}")
    look.questions.append(question)


def _ask_for_ranges(
    look: Findings, ranges: Mapping[str, str], reasons: Mapping[str, str]
) -> None:
    """Ask for the ranges of scores, where it is asked too which columns are agents."""
    for i, question in enumerate(look.questions):
        if question.option == "agents":
            known = {name for name, _ in question.choices}
            more = [(n, look.open[n].describe()) for n in ranges if n not in known]
            choices = (*question.choices, *more)
            look.questions[i] = replace(question, choices=choices)
    names = join_names([repr(name) for name in ranges])
    why = "; ".join(f"{name!r}: {reason}" for name, reason in reasons.items())
    cure = shlex.join([part for each in ranges.values() for part in ("--scores", each)])
    sentence = (
        f"are the reports of {names} scores? {why}. {SCORE_NOTE} If so, pass {cure}."
    )
    look.ask("scores", sentence, *((ranges[n], reasons[n]) for n in ranges))


def _may_be_score(column: ColumnProfile) -> bool:
    """Whether whole numbers go beyond 100, and no further than scores do."""
    n, named = column.numbers, "score" in name_parts(column.name)
    if n is None or column.percent or column.is_id or len(n) <= 2:
        return False
    most = RANGES[-1][1] * (10 if named else 1)
    return bool((n == np.floor(n)).all() and n.min() >= 0 and 100 < n.max() <= most)


def reference(
    look: Findings,
    outcome: ColumnProfile | None,
    scores: Mapping[str, ColumnProfile],
) -> tuple[list[str], list[FloatArray], str]:
    """Agents that are known or likely, their reports or the outcomes, and a name.

    Those of ``scores`` are compared with the others.
    """
    if look.reports:
        reports = [column.by_row for column in look.reports]
        return look.options["agents"], reports, "the reports"
    asked = [name for q in look.questions if q.likely for name, _ in q.choices]
    names = asked or [name for name, column in look.open.items() if column.is_report]
    others = [look.open[name].by_row for name in names if name not in scores]
    if others:
        return names, others, "the reports"
    if outcome is None or len(outcome.distinct) != 2:
        return [], [], ""
    labels = np.where(outcome.codes < 0, np.nan, outcome.codes)
    return [], [labels], f"the outcome {outcome.distinct[1]!r}"


def _format_range(name: str, ends: tuple[int, int]) -> str:
    """Return a range of scores as --scores takes it, for one agent."""
    return f"{join_patterns([name])}={ends[0]}-{ends[1]}"


def _range(values: FloatArray) -> tuple[int, int]:
    low, high = np.nanmin(values), np.nanmax(values)
    usual = (r for r in RANGES if r[0] <= low and high <= r[1])
    return next(usual, (int(low), int(high)))
