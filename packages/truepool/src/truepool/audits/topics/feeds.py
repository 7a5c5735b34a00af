"""Whether an agent's feed broke: constant, stopped, repeated, or changed reports.

No outcome is needed, so cases without one count too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.feed_runs import (
    coded_feeds,
    constant_runs,
    find_runs,
    fresh_cases,
    past_spans,
    quote_report,
    single_report,
    steady_agents,
)
from truepool.audits.report_change import (
    ChangedReports,
    Effect,
    judge_change,
    undo,
)
from truepool.audits.severity import FACTOR, LIKELY, RUN, SURE
from truepool.audits.timeline import Timeline, timeline
from truepool.audits.topic import Topic
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray
from truepool.core.formatting import amount, percent
from truepool.measures.groups import FEWEST_CASES
from truepool.online.alarms.distribution import Shift, scalar, shifts
from truepool.online.alarms.repeats import repeat
from truepool.online.alarms.runs import (
    MIN_RUN,
    Run,
    missing_run,
    report_codes,
)
from truepool.panel.panel import Panel

UNKNOWN = float("nan")

LEVELS = np.linspace(0.02, 0.98, 49)
"""Quantiles of an agent's reports before and since a change that are compared."""
STRAIGHT = 0.1
"""A change of scale is a factor where the logarithms of these quantiles have a slope
within this of 1."""
ROUND = 0.05
"""A factor this close to a power of ten, as a share of it, is that power."""
NEAREST, NEAR = 50, 50
"""The jump is looked for within so many reports, or a fiftieth of them."""

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
    line, codes, fresh = evidence.compute(coded_feeds)
    steady = evidence.compute(steady_agents)
    working = _without_past_runs(evidence, line)
    moved = shifts(working.values, steady)
    runs = evidence.compute(constant_runs)
    alive = _alive(line.values, codes, fresh, runs)
    linked = moved if alive is None else shifts(alive, steady)
    for i, agent in enumerate(evidence.panel.agents):
        if not (codes[:, i] >= 0).any():
            evidence.sampling.note(f"{agent} never reported and was not checked.")
            continue
        yield _constant(evidence, line, codes[:, i], fresh, i, runs[i])
        yield _check_stopped(line, codes[fresh, i] < 0, fresh, agent)
        yield _check_repeated(evidence, line, codes, i, agent)
        link, shift = linked[i][0], moved[i][1]
        yield _check_unlinked(evidence, line, link, i, agent)
        yield _check_rescaled(evidence, working, shift, i, agent)


def _without_past_runs(evidence: Evidence, line: Timeline) -> Timeline:
    """Cases in time order, without the reports of feeds that were constant then."""
    values = line.values.copy()
    for i, (place, stop) in evidence.compute(past_spans).items():
        values[place:stop, i] = np.nan
    return replace(line, values=values)


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
    fresh = fresh_cases(codes)
    level = SURE / (2 * len(panel.agents))
    found, runs = [], find_runs(codes, fresh)
    for i in suspects:
        sentence = _death(panel, line, codes[:, i], fresh, i, runs[i], level)
        if sentence is not None:
            found.append(DeadFeed(panel.agents[i], sentence))
    return found


def _death(
    panel: Panel,
    line: Timeline,
    codes: IntArray,
    fresh: IntArray,
    i: int,
    run: Run,
    level: float,
) -> str | None:
    """Say since when an agent's feed is dead; None while it lives."""
    agent, known = panel.agents[i], fresh[codes[fresh] >= 0]
    if not len(known):
        return f"{agent} never reported."
    stopped = missing_run(codes[fresh] < 0)
    if stopped.p_value < level and stopped.stop == len(fresh):
        where = line.describe(int(fresh[stopped.start]))
        return f"{agent} stopped reporting at {where}."
    if run.p_value < level and run.stop == len(known):
        value = quote_report(panel, line.values[known[-1], i])
        where = line.describe(int(known[run.start]))
        return f"The feed of {agent} is dead: from {where} on it only reports {value}."
    always = single_report(panel, line, codes, fresh, i)
    return None if always is None else f"{always}."


def _ends_in_run(reports: FloatArray) -> bool:
    """Whether an agent's last reports (S, C) are all the same, or missing.

    Few feeds end like that, so that the tests of runs are rarely needed.
    """
    missing = np.isnan(reports[:, 0])
    last = reports[np.flatnonzero(~missing)[-MIN_RUN:]]
    return bool(missing[-MIN_RUN:].all() or (last == last[-1]).all())


def fix_feed(agent: str) -> str:
    """Advice where the pool would cost more without an agent's reports."""
    return (
        f"Have whoever runs the feed of {agent} fix it. Do not just take {agent} out: "
        "on these cases that alone would cost more."
    )


def _alive(
    values: FloatArray, codes: IntArray, fresh: IntArray, runs: list[Run]
) -> FloatArray | None:
    """Reports without constant runs; None where no feed became constant.

    A constant report moves with nobody, which says nothing about the reports before.
    """
    alive = values.copy()
    for i, run in enumerate(runs):
        known = fresh[codes[fresh, i] >= 0]
        if run.p_value < LIKELY:
            alive[known[run.start : run.stop], i] = np.nan
    return alive if np.isnan(alive).sum() > np.isnan(values).sum() else None


def _constant(
    evidence: Evidence,
    line: Timeline,
    codes: IntArray,
    fresh: IntArray,
    i: int,
    run: Run,
) -> Candidate:
    known, agent = fresh[codes[fresh] >= 0], evidence.panel.agents[i]
    place = int(known[run.start])
    on = run.stop == len(known)
    stop = len(line) if on else int(known[run.stop])
    count = int((codes[place:stop] >= 0).sum())
    value = quote_report(evidence.panel, line.values[place, i])
    found = Candidate(
        "constant-feed",
        (agent,),
        f"The feed of {agent} is dead: from {line.describe(place)} on it reports "
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
    if on:
        return found
    return replace(
        found,
        code=RUN,
        sentence=f"The feed of {agent} was stuck from {line.describe(place)} to "
        f"{line.describe(stop - 1)}: it reported nothing but {value}, {count:,} times; "
        f"{_usual(run.usual)}.",
        advice=f"Leave out those rows, or empty those cells of {agent}, and ask "
        "whoever runs its feed what happened.",
        most="warning",
        broken=True,
        backfires=f"Leave out those rows, and ask whoever runs the feed of {agent} "
        "what happened. Do not just empty those cells: on these cases that alone "
        "would cost more.",
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
        pool = "does without it meanwhile"
    else:
        last = line.describe(stop - 1)
        start = f"{agent} did not report from {line.describe(place)} to {last}"
        pool = "did without it then"
    others = "it has no other gap"
    if run.usual:
        others = f"99 % of its other gaps are no longer than {run.usual}"
    return Candidate(
        "stopped-feed" if on else "reporting-gap",
        (agent,),
        f"{start}: {count:,} cases in a row without a report; {others}.",
        f"Ask whoever runs the feed of {agent} what happened; the pool {pool}.",
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
    """Test whether an agent still moves with the others.

    Where outcomes show that it ranks cases as well as before, it has another opinion
    than it had, and nothing is broken.
    """
    how = "no longer move with" if found.lost else "move less with"
    like = "noise, old reports, or reports for the wrong cases look like"
    if found.opposite:
        how = "move against"
        like = "the opposite looks like: ask which class it has meant by 1 since then"
    candidate = Candidate(
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
    judged = _judge(evidence, line, found, i)
    if judged.effect not in (Effect.SOUND, Effect.OFF):
        return candidate
    return replace(
        candidate,
        sentence=f"{candidate.sentence}{_areas(judged)}",
        advice=f"Ask whether {agent} has another model since then. Nothing is broken.",
        most="note",
        price=None,
        backfires="",
    )


def _judge(
    evidence: Evidence, line: Timeline, found: Shift, agent: int
) -> ChangedReports:
    """Say what outcomes show of a change, if there is one."""
    if found.p_value >= LIKELY:
        return ChangedReports(Effect.UNKNOWN)
    return judge_change(evidence.panel, line, found.place, agent, evidence.level)


def _areas(judged: ChangedReports) -> str:
    if judged.before is None or judged.after is None:
        return ""
    return (
        f" Its AUC was {judged.before.value:.2f} before and is "
        f"{judged.after.value:.2f} since."
    )


def _check_rescaled(
    evidence: Evidence, line: Timeline, found: Shift, i: int, agent: str
) -> Candidate:
    """Test whether level or scale changed.

    Where outcomes show that the reports are no longer calibrated, though they rank
    cases as before, another unit is a fault; where they are, it is none.
    """
    reports = scalar(line.values)[:, i]
    factor = factor_of(reports, found.place) if found.p_value < LIKELY else None
    if factor is not None:
        found = replace(found, place=jump_of(reports, found.place))
    (low, middle, high), (lower, median, higher) = (
        _quartiles(part) for part in (reports[: found.place], reports[found.place :])
    )
    when = f" at {line.describe(found.place)}"
    judged = _judge(evidence, line, found, i)
    changed: str = found.kind
    number, unit = found.after - found.before, f"change in {found.kind}"
    if factor is not None:
        changed, number, unit = f"by a factor of {amount(factor)}", factor, FACTOR
    candidate = Candidate(
        "rescaled-feed",
        (agent,),
        f"The reports of {agent} changed {changed}{when}: "
        f"half of them lay between {percent(low)} and {percent(high)} (median "
        f"{percent(middle)}), now between {percent(lower)} and {percent(higher)} "
        f"(median {percent(median)}), relative to the other agents."
        f"{_areas(judged)}",
        f"Ask whether {agent} was retrained or rescaled then, and fit the pool again "
        "on cases since.",
        p_value=found.p_value,
        most="warning",
        number=Estimate(number, UNKNOWN, UNKNOWN),
        unit=unit,
        figure="drift",
        since=int(line.resolved[found.place]),
        between=line.between(found.place, DATED),
        date=line.date(found.place),
        when=when,
    )
    if judged.effect is Effect.SOUND:
        sound = f"Ask whether {agent} has another model since then. Nothing is broken."
        return replace(candidate, most="note", advice=sound)
    if judged.effect is not Effect.OFF:
        return candidate
    cure = "Multiply its reports since then by " if factor is not None else ""
    return replace(
        candidate,
        advice=f"{cure}{amount(1 / factor)}." if factor else candidate.advice,
        most="error",
        broken=True,
        price=partial(_saving_undone, evidence, line, found.place, i),
    )


def _saving_undone(
    evidence: Evidence, line: Timeline, place: int, agent: int
) -> Estimate | None:
    """What the pool saves if an agent's reports are moved back to where they were."""
    panel = evidence.panel
    if panel.classes > 2:
        return None
    places = np.full(len(panel), -1)
    resolved = np.flatnonzero(line.cases >= 0)
    places[line.cases[resolved]] = resolved
    fixed = undo(panel.values[:, agent, 0], places, place)
    changed = evidence.with_reports(agent, fixed[:, None])
    return evidence.saving(evidence.cost - evidence.cost_of(changed))


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


def factor_of(reports: FloatArray, place: int) -> float | None:
    """Factor by which reports (T,) changed at a place; None if it was no factor.

    >>> reports = np.random.default_rng(0).beta(1, 99, 2000)
    >>> factor_of(np.r_[reports[:1000], reports[1000:] / 1000], 1000)
    0.001
    """
    parts = [own[own > 0] for own in (reports[:place], reports[place:])]
    if min(map(len, parts)) < len(LEVELS):
        return None
    x, y = (np.log(np.quantile(own, LEVELS)) for own in parts)
    if np.ptp(x) == 0 or abs(np.polyfit(x, y, 1)[0] - 1) > STRAIGHT:
        return None
    shift = float(np.median(y - x)) / np.log(10)
    if abs(10 ** (shift - round(shift)) - 1) < ROUND:
        shift = float(round(shift))
    return float(10**shift)


def jump_of(reports: FloatArray, place: int) -> int:
    """Place of the first report (T,) in the new unit, near where a change was found.

    Where the logarithms of the reports around it are likeliest if those before have one
    normal distribution and those since have the other.

    >>> reports = np.random.default_rng(0).beta(1, 99, 2000)
    >>> jump_of(np.r_[reports[:1000], reports[1000:] / 1000], 1008)
    1000
    """
    reach = max(NEAREST, len(reports) // NEAR)
    x = np.log(np.where(reports > 0, reports, np.nan))
    before, since = x[: max(place - reach, 1)], x[place + reach :]
    if min(np.isfinite(before).sum(), np.isfinite(since).sum()) < NEAREST:
        return place
    first = max(place - reach, 0)
    near = x[first : place + reach]
    fits = [
        -np.square((near - np.nanmean(part)) / np.nanstd(part)) / 2
        - np.log(np.nanstd(part))
        for part in (before, since)
    ]
    gain = np.nan_to_num(fits[0] - fits[1])
    return first + int(np.argmax(np.concatenate([[0.0], np.cumsum(gain)])))
