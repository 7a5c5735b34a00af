"""Runs in an agent's feed: who is constant or silent, when, and who always was."""

from typing import Any

import numpy as np

from truepool.audits.evidence import Evidence
from truepool.audits.kinds import LIKELY, SURE
from truepool.audits.timeline import Timeline, timeline
from truepool.core.arrays import BoolArray, FloatArray, IntArray
from truepool.measures.groups import enough_cases
from truepool.online.alarms.runs import (
    Run,
    constant_run,
    missing_run,
    repeated_cases,
    report_codes,
)
from truepool.panel.panel import Panel


def coded_feeds(evidence: Evidence) -> tuple[Timeline, IntArray, IntArray]:
    """All cases in time order, codes of their reports, and which cases are fresh."""
    line = timeline(evidence.panel)
    codes = report_codes(line.values)
    return line, codes, fresh_cases(codes)


def fresh_cases(codes: IntArray) -> IntArray:
    """Places of the cases that somebody reported on, and that repeat no other."""
    return np.flatnonzero(~repeated_cases(codes) & (codes >= 0).any(axis=1))


def constant_runs(evidence: Evidence) -> list[Run]:
    """The longest run of one report of each agent, counted in its own fresh cases."""
    _, codes, fresh = evidence.compute(coded_feeds)
    return find_runs(codes, fresh)


def find_runs(codes: IntArray, fresh: IntArray) -> list[Run]:
    """The longest run of one report of each feed, from its codes (T, N)."""
    return [constant_run(own[fresh[own[fresh] >= 0]]) for own in codes.T]


def steady_agents(evidence: Evidence) -> BoolArray:
    """Agents whose feed never became constant nor stopped, (N,).

    Only with them can another agent be compared over time: what changes when a feed
    dies is the average of the others, and nobody else is to blame for that.
    """
    _, codes, fresh = evidence.compute(coded_feeds)
    stopped = [missing_run(own[fresh] < 0) for own in codes.T]
    faults = zip(evidence.compute(constant_runs), stopped, strict=True)
    steady = [min(run.p_value for run in pair) >= LIKELY for pair in faults]
    return np.array(steady, dtype=np.bool_)


def past_spans(evidence: Evidence) -> dict[int, tuple[int, int]]:
    """Places in time between which agents' feeds were constant, by their numbers.

    Of feeds that work again: what is wrong without these reports is wrong today.
    """
    _, codes, fresh = evidence.compute(coded_feeds)
    level, found = SURE / codes.shape[1], {}
    for i, run in enumerate(evidence.compute(constant_runs)):
        known = fresh[codes[fresh, i] >= 0]
        if run.p_value < level and run.stop < len(known):
            found[i] = int(known[run.start]), int(known[run.stop])
    return found


def without_past_runs(evidence: Evidence) -> Panel:
    """Return the panel without the reports of feeds that were constant for a while.

    Of a case that is split into several rows by updates, without those of all rows.
    """
    panel, own = evidence.panel, evidence.unsplit
    spans = own.compute(past_spans)
    if not spans:
        return panel
    line, values = own.compute(coded_feeds)[0], panel.values.copy()
    for i, (place, stop) in spans.items():
        rows = line.since(place, stop)
        if panel.questions is not None:
            names = panel.questions[panel.one_row_each()[rows]]
            rows = np.flatnonzero(np.isin(panel.questions, names))
        values[rows, i] = np.nan
    return with_fewer_reports(panel, values)


def with_fewer_reports(panel: Panel, values: FloatArray) -> Panel:
    """Return the panel with reports (T, N, C) of which some were left out.

    Where nobody is left, the base rate stands for the first of them: it is what is
    decided by then.
    """
    was, left = (~np.isnan(reports[:, :, 0]) for reports in (panel.values, values))
    empty = np.flatnonzero(was.any(axis=1) & ~left.any(axis=1))
    values[empty, was[empty].argmax(axis=1)] = panel.base_rate()
    return panel.with_reports(values)


def single_reports(evidence: Evidence) -> dict[int, Any]:
    """What agents report who report the same in all cases, by their numbers."""
    line, codes, fresh = evidence.compute(coded_feeds)
    found = (
        (i, single_report(evidence.panel, line, own, fresh, i))
        for i, own in enumerate(codes.T)
    )
    return {i: report for i, report in found if report is not None}


def single_report(
    panel: Panel, line: Timeline, codes: IntArray, fresh: IntArray, i: int
) -> Any:
    """What an agent reports in all of its cases; None if it varies.

    A judge that says 0 or 1 may say 0 in all cases of a table with few events: there
    must be enough cases of both outcomes.
    """
    known = fresh[codes[fresh] >= 0]
    settled = line.cases[known][line.cases[known] >= 0]
    positive = (panel.outcomes[settled] > 0).astype(np.int64)
    if (codes[known] != codes[known[:1]]).any() or not enough_cases(positive):
        return None
    return plain_report(panel, line.values[known[0], i])


def plain_report(panel: Panel, report: FloatArray) -> Any:
    """Return a report (C,) as a number, or by the names of more than two classes."""
    if len(report) == 1:
        return float(report[0])
    names = map(str, panel.labels.names)
    return dict(zip(names, report.tolist(), strict=True))
