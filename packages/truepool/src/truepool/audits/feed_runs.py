"""Runs in an agent's feed: who is constant or silent, when, and who always was."""

import numpy as np

from truepool.audits.evidence import Evidence
from truepool.audits.severity import LIKELY
from truepool.audits.timeline import Timeline, timeline
from truepool.core.arrays import BoolArray, FloatArray, IntArray
from truepool.core.formatting import amount, join_names
from truepool.measures.groups import enough_cases
from truepool.online.alarms.runs import (
    Run,
    constant_run,
    missing_run,
    repeated_cases,
    report_codes,
)
from truepool.panel.panel import Panel

MOST_QUOTED = 4
"""Classes whose probabilities are quoted; of more, that of the likeliest one."""


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


def past_runs(evidence: Evidence) -> dict[str, IntArray]:
    """Cases in which an agent's feed was constant, for agents whose feed works again.

    What is wrong without these is wrong today. Of a case that is split into several
    rows by updates, all rows.
    """
    panel, own = evidence.panel, evidence.unsplit
    line = own.compute(coded_feeds)[0]
    found = {}
    for i, (place, stop) in own.compute(past_spans).items():
        rows = line.since(place, stop)
        if panel.questions is not None:
            names = panel.questions[panel.one_row_each()[rows]]
            rows = np.flatnonzero(np.isin(panel.questions, names))
        found[panel.agents[i]] = rows
    return found


def past_spans(evidence: Evidence) -> dict[int, tuple[int, int]]:
    """Places in time between which agents' feeds were constant, by their numbers."""
    _, codes, fresh = evidence.compute(coded_feeds)
    found = {}
    for i, run in enumerate(evidence.compute(constant_runs)):
        known = fresh[codes[fresh, i] >= 0]
        if run.p_value < LIKELY and run.stop < len(known):
            found[i] = int(known[run.start]), int(known[run.stop])
    return found


def single_reports(evidence: Evidence) -> dict[int, str]:
    """Say of agents who report the same in all cases what that is, by their numbers."""
    line, codes, fresh = evidence.compute(coded_feeds)
    said = (
        (i, single_report(evidence.panel, line, own, fresh, i))
        for i, own in enumerate(codes.T)
    )
    return {i: sentence for i, sentence in said if sentence is not None}


def single_report(
    panel: Panel, line: Timeline, codes: IntArray, fresh: IntArray, i: int
) -> str | None:
    """Say what an agent reports in all of its cases; None if it varies.

    A judge that says 0 or 1 may say 0 in all cases of a table with few events: there
    must be enough cases of both outcomes.
    """
    known = fresh[codes[fresh] >= 0]
    settled = line.cases[known][line.cases[known] >= 0]
    positive = (panel.outcomes[settled] > 0).astype(np.int64)
    if (codes[known] != codes[known[:1]]).any() or not enough_cases(positive):
        return None
    value, count = quote_report(panel, line.values[known[0], i]), (codes >= 0).sum()
    return f"{panel.agents[i]} reports {value} in all {count:,} cases"


def quote_report(panel: Panel, report: FloatArray) -> str:
    """Quote a report (C,) as probabilities, whatever the unit of the table it is from.

    Of more than `MOST_QUOTED` classes, the likeliest is named.
    """
    shares = [f"{amount(float(f'{100 * p:.4g}'))} %" for p in report]
    if len(shares) == 1:
        return shares[0]
    named = [
        f"{share} for {name}"
        for share, name in zip(shares, panel.labels.names, strict=True)
    ]
    if len(named) <= MOST_QUOTED:
        return join_names(named)
    return f"at most {named[int(report.argmax())]}"
