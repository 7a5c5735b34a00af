"""Whether an agent's feed broke: constant, stopped, repeated, or changed reports.

No outcome is needed, so cases without one count too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.severity import LIKELY, SURE
from truepool.audits.timeline import Timeline, timeline
from truepool.audits.topic import Topic
from truepool.comparison import Estimate
from truepool.core.arrays import BoolArray, FloatArray, IntArray
from truepool.core.formatting import amount, join_names, percent
from truepool.data.panel import Panel
from truepool.measures.groups import FEWEST_CASES, enough_cases
from truepool.online.alarms.distribution import Shift, scalar, shifts
from truepool.online.alarms.repeats import repeat
from truepool.online.alarms.runs import (
    MIN_RUN,
    constant_run,
    missing_run,
    repeated_cases,
    report_codes,
)

UNKNOWN = float("nan")

MOST_QUOTED = 4
"""Classes whose probabilities are quoted; of more, that of the likeliest one."""

DATED = 0.05
"""Precision, as a share of the cases, with which a change is dated."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    """Five tests per agent: constant, stopped, repeated, unlinked, rescaled."""
    ordered = _sorted_by(evidence.panel)
    if ordered is not None:
        evidence.sampling.withhold(
            "feed checks", f"the rows have no times and are sorted by {ordered}"
        )
        return
    if evidence.panel.times is None:
        evidence.sampling.note("Feeds were checked in the order of the rows.")
    line, codes, fresh = evidence.compute(_coded)
    steady = evidence.compute(steady_agents)
    moved = shifts(line.values, steady)
    alive = _alive(line.values, codes, fresh)
    linked = moved if alive is None else shifts(alive, steady)
    for i, agent in enumerate(evidence.panel.agents):
        if not (codes[:, i] >= 0).any():
            evidence.sampling.note(f"{agent} never reported and was not checked.")
            continue
        yield _constant(evidence, line, codes[:, i], fresh, i, agent)
        yield _check_stopped(line, codes[fresh, i] < 0, fresh, agent)
        yield _check_repeated(evidence, line, codes, i, agent)
        link, shift = linked[i][0], moved[i][1]
        yield _check_unlinked(evidence, line, link, i, agent)
        yield _check_rescaled(line, shift, i, agent)


def _coded(evidence: Evidence) -> tuple[Timeline, IntArray, IntArray]:
    """All cases in time order, codes of their reports, and which cases are fresh."""
    line = timeline(evidence.panel)
    codes = report_codes(line.values)
    return line, codes, _fresh(codes)


def steady_agents(evidence: Evidence) -> BoolArray:
    """Agents whose feed never became constant nor stopped, (N,).

    Only with them can another agent be compared over time: what changes when a feed
    dies is the average of the others, and nobody else is to blame for that.
    """
    _, codes, fresh = evidence.compute(_coded)
    return np.array([_steady(own[fresh]) for own in codes.T], dtype=np.bool_)


def _steady(codes: IntArray) -> bool:
    faults = constant_run(codes[codes >= 0]), missing_run(codes < 0)
    return all(run.p_value >= LIKELY for run in faults)


@dataclass(frozen=True)
class DeadFeed:
    """An agent whose feed is dead at the end of the table, and how that shows."""

    agent: str
    sentence: str


def dead_feeds(panel: Panel) -> list[DeadFeed]:
    """Agents that only repeat themselves, or no longer report, up to the last case.

    By the tests of the audit, at its level for errors. An agent that has always said
    the same, or nothing, never had a feed to lose; it is named all the same.
    """
    if panel.sparse is not None:  # thousands of agents who report now and then
        return []
    panel = panel.unsplit()
    line = timeline(panel)
    suspects = [i for i in range(len(panel.agents)) if _ends_in_run(line.values[:, i])]
    if not suspects or _sorted_by(panel) is not None:
        return []
    codes = report_codes(line.values)
    fresh = _fresh(codes)
    level = SURE / (2 * len(panel.agents))
    found = []
    for i in suspects:
        sentence = _death(panel, line, codes[:, i], fresh, i, level)
        if sentence is not None:
            found.append(DeadFeed(panel.agents[i], sentence))
    return found


def _death(
    panel: Panel,
    line: Timeline,
    codes: IntArray,
    fresh: IntArray,
    i: int,
    level: float,
) -> str | None:
    """Say since when an agent's feed is dead; None while it lives."""
    agent, known = panel.agents[i], fresh[codes[fresh] >= 0]
    if not len(known):
        return f"{agent} never reported."
    stopped, run = missing_run(codes[fresh] < 0), constant_run(codes[known])
    if stopped.p_value < level and stopped.stop == len(fresh):
        where = line.describe(int(fresh[stopped.start]))
        return f"{agent} stopped reporting at {where}."
    value = quote_report(panel, line.values[known[-1], i])
    if run.p_value < level and run.stop == len(known):
        where = line.describe(int(known[run.start]))
        return f"The feed of {agent} is dead: from {where} on it only reports {value}."
    settled = line.cases[known][line.cases[known] >= 0]
    positive = (panel.outcomes[settled] > 0).astype(np.int64)
    # A judge that says 0 or 1 may say 0 in all cases of a table with few events.
    if (codes[known] == codes[known[0]]).all() and enough_cases(positive):
        count = int((codes >= 0).sum())
        return f"{agent} reports {value} in all {count:,} cases."
    return None


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


def _ends_in_run(reports: FloatArray) -> bool:
    """Whether an agent's last reports (S, C) are all the same, or missing.

    Few feeds end like that, so that the tests of runs are rarely needed.
    """
    missing = np.isnan(reports[:, 0])
    last = reports[np.flatnonzero(~missing)[-MIN_RUN:]]
    return bool(missing[-MIN_RUN:].all() or (last == last[-1]).all())


def _fresh(codes: IntArray) -> IntArray:
    """Places of the cases that somebody reported on, and that repeat no other."""
    return np.flatnonzero(~repeated_cases(codes) & (codes >= 0).any(axis=1))


def fix_feed(agent: str) -> str:
    """Advice where the pool would cost more without an agent's reports."""
    return (
        f"Have whoever runs the feed of {agent} fix it. Do not just take {agent} out: "
        "on these cases that alone would cost more."
    )


def _alive(values: FloatArray, codes: IntArray, fresh: IntArray) -> FloatArray | None:
    """Reports without constant runs; None where no feed became constant.

    A constant report moves with nobody, which says nothing about the reports before.
    """
    alive = values.copy()
    for i, own in enumerate(codes.T):
        known = fresh[own[fresh] >= 0]
        run = constant_run(own[known])
        if run.p_value < LIKELY:
            alive[known[run.start : run.stop], i] = np.nan
    return alive if np.isnan(alive).sum() > np.isnan(values).sum() else None


def _constant(
    evidence: Evidence,
    line: Timeline,
    codes: IntArray,
    fresh: IntArray,
    i: int,
    agent: str,
) -> Candidate:
    known = fresh[codes[fresh] >= 0]
    run = constant_run(codes[known])
    place = int(known[run.start])
    on = run.stop == len(known)
    stop = len(line) if on else int(known[run.stop])
    count = int((codes[place:stop] >= 0).sum())
    value = quote_report(evidence.panel, line.values[place, i])
    until = "on" if on else f"to case {stop:,}"
    return Candidate(
        "constant-feed",
        (agent,),
        f"The feed of {agent} is dead: from {line.describe(place)} {until} it reports "
        f"nothing but {value}, {count:,} times; {_usual(run.usual)}.",
        f"Take {agent} out of the pool until the feed is fixed, and have whoever runs "
        "it look at what happened then. A constant report says nothing about a case.",
        p_value=run.p_value,
        number=Estimate(float(count), UNKNOWN, UNKNOWN),
        unit="identical reports in a row",
        price=partial(evidence.saving_without, i, line.since(place, stop)),
        backfires=fix_feed(agent),
        figure="drift",
        since=int(line.resolved[place]),
        between=line.between(place),
        date=line.date(place),
    )


def _usual(longest: int) -> str:
    """Say how long an agent's other runs of identical reports are."""
    if longest <= 1:
        return "its other reports hardly ever repeat"
    return f"99 % of its other runs of identical reports are at most {longest} long"


def _check_stopped(
    line: Timeline, missing: np.ndarray, fresh: IntArray, agent: str
) -> Candidate:
    run = missing_run(missing)
    place = int(fresh[run.start])
    on = run.stop == len(fresh)
    stop = len(line) if on else int(fresh[run.stop])
    count = stop - place
    if on:
        start = f"{agent} stopped reporting at {line.describe(place)}"
    else:
        start = f"{agent} did not report from {line.describe(place)} to case {stop:,}"
    return Candidate(
        "stopped-feed",
        (agent,),
        f"{start}: {count:,} cases in a row without a report; 99 % of its other "
        f"gaps are no longer than {run.usual}.",
        f"Ask whoever runs the feed of {agent} what happened; the pool does without it "
        "meanwhile.",
        p_value=run.p_value,
        most="error" if on else "warning",
        number=Estimate(float(count), UNKNOWN, UNKNOWN),
        unit="cases in a row without a report",
        figure="drift",
        since=int(line.resolved[place]),
        between=line.between(place),
        date=line.date(place),
    )


def _check_repeated(
    evidence: Evidence, line: Timeline, codes: IntArray, i: int, agent: str
) -> Candidate:
    found = repeat(codes, i)
    return Candidate(
        "repeated-feed",
        (agent,),
        f"{agent} sends old reports: from {line.describe(found.since)} on it repeats "
        f"what it reported {found.lag:,} cases before, for other cases.",
        f"Take {agent} out of the pool until its feed is current, and check how its "
        "reports are joined to cases.",
        p_value=found.p_value,
        number=Estimate(float(found.lag), UNKNOWN, UNKNOWN),
        unit="age of the reports in cases",
        price=partial(evidence.saving_without, i, line.since(found.since)),
        backfires=fix_feed(agent),
        figure="drift",
        since=int(line.resolved[found.since]),
        between=line.between(found.since),
        date=line.date(found.since),
    )


def _check_unlinked(
    evidence: Evidence, line: Timeline, found: Shift, i: int, agent: str
) -> Candidate:
    how = "no longer move with" if found.lost else "move less with"
    like = "noise, old reports, or reports for the wrong cases look like"
    if found.opposite:
        how = "move against"
        like = "the opposite looks like: ask which class it has meant by 1 since then"
    return Candidate(
        "changed-feed",
        (agent,),
        f"The feed of {agent} changed: from {line.describe(found.place)} on its "
        f"reports {how} those of the other agents (correlation "
        f"{found.before:.2f} before, {found.after:.2f} since).",
        f"Take {agent} out of the pool until whoever runs the feed has explained it: "
        f"this is what {like}.",
        p_value=found.p_value,
        most="error" if found.lost else "warning",
        number=Estimate(found.after - found.before, UNKNOWN, UNKNOWN),
        unit="change in the correlation with the others",
        price=partial(evidence.saving_without, i, line.since(found.place)),
        backfires=fix_feed(agent),
        figure="drift",
        since=int(line.resolved[found.place]),
        between=line.between(found.place, DATED),
        date=line.date(found.place),
    )


def _check_rescaled(line: Timeline, found: Shift, i: int, agent: str) -> Candidate:
    reports = scalar(line.values)[:, i]
    (low, middle, high), (lower, median, higher) = (
        _quartiles(part) for part in (reports[: found.place], reports[found.place :])
    )
    when = f" at {line.describe(found.place)}"
    return Candidate(
        "rescaled-feed",
        (agent,),
        f"The reports of {agent} changed {found.kind}{when}: "
        f"half of them lay between {percent(low)} and {percent(high)} (median "
        f"{percent(middle)}), now between {percent(lower)} and {percent(higher)} "
        f"(median {percent(median)}). The other agents' reports did not change.",
        f"Ask whether {agent} was retrained or rescaled then, and fit the pool again "
        "on cases since.",
        p_value=found.p_value,
        most="warning",
        number=Estimate(found.after - found.before, UNKNOWN, UNKNOWN),
        unit=f"change in {found.kind}, in standard deviations",
        figure="drift",
        since=int(line.resolved[found.place]),
        between=line.between(found.place, DATED),
        date=line.date(found.place),
        when=when,
    )


def _quartiles(part: FloatArray) -> list[float]:
    known = part[~np.isnan(part)]
    if not len(known):
        return [UNKNOWN] * 3
    return [float(q) for q in np.quantile(known, [0.25, 0.5, 0.75])]


def _sorted_by(panel: Panel) -> str | None:
    """Name of what the cases are sorted by, if they have no times; None if unsorted."""
    if panel.times is not None or len(panel) < FEWEST_CASES:
        return None
    columns = zip(panel.agents, scalar(panel.values).T, strict=True)
    for name, column in (("the outcome", panel.outcomes * 1.0), *columns):
        known = column[~np.isnan(column)]
        steps = np.diff(known)
        varied = np.unique(known).size > 1
        if varied and ((steps >= 0).all() or (steps <= 0).all()):
            return name
    return None


topic = Topic("feeds", check, few_cases=True, unsplit=True)
