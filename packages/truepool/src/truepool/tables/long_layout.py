"""Long layout: which columns hold the case, the agent and the report."""

from collections.abc import Sequence

import numpy as np

from truepool.core.arrays import IntArray
from truepool.tables import cells
from truepool.tables.columns import Inference, Look
from truepool.tables.source import column_fault

LONG = ("case", "agent", "report")
"""What the columns of a long table are called where several could be meant."""


def long_columns(found: Inference) -> tuple[str, str, str] | None:
    """Columns of the case, the agent and the report; None of a wide table."""
    declared = found.declared
    if isinstance(declared.long, tuple):
        for name in declared.long:
            if name not in found.looks:
                found.faults.add(column_fault("long", name, [*found.looks]))
        return declared.long
    reports = [
        n
        for n, look in found.open.items()
        if look.is_report and not (look.binary or look.is_class)
    ]
    if len(reports) > 1 or declared.agents:
        return None
    pairs = _pairs(found, reports)
    # Of a column of two words, such as the outcome, a pair is the second choice.
    pairs = [p for p in pairs if found.looks[p[1]].count > 2] or pairs
    named = [own for own in pairs if own == LONG]
    if len(pairs) > 1 and not named:
        found.ask("which-long", "long", pairs)
        return None
    return next(iter((*named, *pairs)), None)


def _pairs(found: Inference, reports: Sequence[str]) -> list[tuple[str, str, str]]:
    """Columns that could be the case, the agent and the report.

    Each case has two reports on average, or more. Where nothing looks like
    probabilities, numbers in another unit may be the reports, of agents in text.
    """
    keys = {
        n: look
        for n, look in found.open.items()
        if n not in reports
        and look.complete
        and not look.is_time
        and (look.numbers is None or look.whole)
        and not look.is_class
        and 2 <= look.count < look.rows
    }
    possible = reports or [n for n, look in found.open.items() if look.has_unit]
    named = (found.declared.time, "time")
    times = [k for n, k in found.looks.items() if n in named or k.is_time]
    return [
        (case, agent, report)
        for report in possible
        for case, each in keys.items()
        for agent, other in keys.items()
        if case != report != agent
        and 2 * each.count <= each.rows
        and each.count > other.count
        and (other.text is not None if not reports else not other.binary)
        and _are_keys([each, other], times)
    ]


def _are_keys(keys: Sequence[Look], times: Sequence[Look]) -> bool:
    """Whether two columns, or they and a time, tell the rows apart."""
    first, second = (look.codes for look in keys)
    pair = first * (second.max() + 1) + second
    rows = len(pair)
    if len(np.unique(pair)) == rows:
        return True
    if len(np.unique(pair)) <= len(np.unique(first)):
        return False
    return any(
        len(np.unique(pair * (time.codes.max() + 1) + time.codes)) == rows
        for time in times
    )


def is_constant(look: Look, case: IntArray) -> bool:
    """Whether a column has one value per case; gaps aside."""
    known = look.codes >= 0
    pairs = np.unique(case[known] * (look.codes.max() + 1) + look.codes[known])
    return len(pairs) == len(np.unique(case[known]))


def ask_late(found: Inference, time: str | None) -> None:
    """Ask whether reports count that were made when a case may have been decided."""
    made = found.looks.get(time or "")
    if not found.long or made is None or found.declared.decision_time is not None:
        return
    case, usual = found.looks[found.long[0]].codes, found.formats.get(made.name, "")
    for name, look in found.open.items():
        ignored = name in found.declared.ignore
        if ignored or not (look.is_time and is_constant(look, case)):
            continue
        form = usual if usual in look.formats else look.formats[0]
        first, ends = cells.times(made.column, usual), cells.times(look.column, form)
        if first.zoned != ends.zoned or first.values.dtype.kind != "M":
            continue
        late = int(np.count_nonzero(first.values >= ends.values))
        if 0 < late < look.rows:
            choices, key = (name, {"ignore": [name]}), "decision-time"
            fields = {"count": late, "total": look.rows}
            found.ask("late-reports", key, choices, column=name, fields=fields)
