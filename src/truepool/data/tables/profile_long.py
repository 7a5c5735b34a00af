"""Whether an unknown table has one row per report, several of them on each case."""

from collections.abc import Mapping

from truepool.data.tables.column_profile import ColumnProfile
from truepool.data.tables.profile_findings import Findings
from truepool.data.tables.profile_outcome import find_outcome, may_be_outcome
from truepool.data.tables.profile_times import find_times_of_reports

SEVERAL = 1.5
"""Agents that a case of a long table has on average, at least."""


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
    return False


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
