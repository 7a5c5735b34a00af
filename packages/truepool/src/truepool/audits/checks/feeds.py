"""Whether an agent's feed broke: constant, stopped, repeated, or changed reports.

No outcome is needed, so cases without one count too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.evidence import Evidence
from truepool.audits.feed_runs import (
    coded_feeds,
    constant_runs,
    find_runs,
    fresh_cases,
    past_spans,
    plain_report,
    single_report,
    steady_agents,
)
from truepool.audits.kinds import LIKELY, SURE
from truepool.audits.report_change import (
    ChangedReports,
    Effect,
    judge_change,
    undo,
)
from truepool.audits.timeline import Timeline, timeline
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray
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

OUTCOME = "outcome"
"""What the cases may be sorted by, if not by the reports of an agent."""

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
        evidence.sampling.note("sorted", by=ordered)
        return
    if evidence.panel.times is None:
        evidence.sampling.note("row-order")
    line, codes, fresh = evidence.compute(coded_feeds)
    steady = evidence.compute(steady_agents)
    working = _without_past_runs(evidence, line)
    moved = shifts(working.values, steady)
    runs = evidence.compute(constant_runs)
    alive = _alive(line.values, codes, fresh, runs)
    linked = moved if alive is None else shifts(alive, steady)
    for i, agent in enumerate(evidence.panel.agents):
        if not (codes[:, i] >= 0).any():
            yield Candidate("no-reports", (agent,), least="warning")
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
    """An agent whose feed is dead at the end of the table: a code and its facts."""

    agent: str
    code: str
    facts: Mapping[str, Any]


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
        death = _death(panel, line, codes[:, i], fresh, i, runs[i], level)
        if death is not None:
            found.append(DeadFeed(panel.agents[i], *death))
    return found


def _death(
    panel: Panel,
    line: Timeline,
    codes: IntArray,
    fresh: IntArray,
    i: int,
    run: Run,
    level: float,
) -> tuple[str, dict[str, Any]] | None:
    """Say how an agent's feed is dead, and since when; None while it lives."""
    known = fresh[codes[fresh] >= 0]
    if not len(known):
        return "no-reports", {}
    stopped = missing_run(codes[fresh] < 0)
    if stopped.p_value < level and stopped.stop == len(fresh):
        return "stopped-feed", {"from": line.position(int(fresh[stopped.start]))}
    if run.p_value < level and run.stop == len(known):
        report = plain_report(panel, line.values[known[-1], i])
        place = line.position(int(known[run.start]))
        return "constant-feed", {"from": place, "report": report}
    always = single_report(panel, line, codes, fresh, i)
    return None if always is None else ("single-report", {"report": always})


def _ends_in_run(reports: FloatArray) -> bool:
    """Whether an agent's last reports (S, C) are all the same, or missing.

    Few feeds end like that, so that the tests of runs are rarely needed.
    """
    missing = np.isnan(reports[:, 0])
    last = reports[np.flatnonzero(~missing)[-MIN_RUN:]]
    return bool(missing[-MIN_RUN:].all() or (last == last[-1]).all())


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
    return Candidate(
        "constant-feed" if on else "constant-run",
        (agent,),
        {
            "from": line.position(place),
            "to": line.position(stop - 1),
            "report": plain_report(evidence.panel, line.values[place, i]),
            "count": count,
            "usual": run.usual,
        },
        p_value=run.p_value,
        number=Estimate(float(count), UNKNOWN, UNKNOWN),
        unit="identical-reports",
        price=partial(evidence.saving_without, i, line.since(place, stop)),
        since=int(line.resolved[place]),
        between=line.between(place),
        date=line.date(place),
    )


def _check_stopped(
    line: Timeline, missing: np.ndarray, fresh: IntArray, agent: str
) -> Candidate:
    run = missing_run(missing)
    place = int(fresh[run.start])
    on = run.stop == len(fresh)
    stop = len(line) if on else int(fresh[run.stop])
    return Candidate(
        "stopped-feed" if on else "reporting-gap",
        (agent,),
        {
            "from": line.position(place),
            "to": line.position(stop - 1),
            "count": stop - place,
            "usual": run.usual,
        },
        p_value=run.p_value,
        number=Estimate(float(stop - place), UNKNOWN, UNKNOWN),
        unit="cases-without-report",
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
        {"from": line.position(found.since), "lag": found.lag},
        p_value=found.p_value,
        number=Estimate(float(found.lag), UNKNOWN, UNKNOWN),
        unit="age-in-cases",
        price=partial(evidence.saving_without, i, line.since(found.since)),
        since=int(line.resolved[found.since]),
        between=line.between(found.since),
        date=line.date(found.since),
    )


def _check_unlinked(
    evidence: Evidence, line: Timeline, found: Shift, i: int, agent: str
) -> Candidate:
    """Test whether an agent still moves with the others.

    Where outcomes show that it ranks cases as well as before, it has another opinion
    than it had, and nothing is broken. One that moves against the others is reversed.
    """
    judged = _judge(evidence, line, found, i)
    sound = judged.effect in (Effect.SOUND, Effect.OFF)
    return Candidate(
        _link_code(found, sound=sound),
        (agent,),
        {
            "from": line.position(found.place),
            "form": "sound" if sound else "less",
            "before": found.before,
            "after": found.after,
            **_areas(judged),
        },
        p_value=found.p_value,
        most="note" if sound else "error",
        number=Estimate(found.after - found.before, UNKNOWN, UNKNOWN),
        unit="correlation-change",
        price=None
        if sound
        else partial(evidence.saving_without, i, line.since(found.place)),
        since=int(line.resolved[found.place]),
        between=line.between(found.place, DATED),
        date=line.date(found.place),
    )


def _link_code(found: Shift, *, sound: bool) -> str:
    """Code of an agent that moves with the others as before no longer."""
    if sound or not found.lost:
        return "weaker-link"
    return "opposed-feed" if found.opposite else "changed-feed"


def _judge(
    evidence: Evidence, line: Timeline, found: Shift, agent: int
) -> ChangedReports:
    """Say what outcomes show of a change, if there is one."""
    if found.p_value >= LIKELY:
        return ChangedReports(Effect.UNKNOWN)
    return judge_change(evidence.panel, line, found.place, agent, evidence.level)


def _areas(judged: ChangedReports) -> dict[str, float]:
    if judged.before is None or judged.after is None:
        return {}
    return {
        "area_before": judged.before.value,
        "area_after": judged.after.value,
    }


def _check_rescaled(
    evidence: Evidence, line: Timeline, found: Shift, i: int, agent: str
) -> Candidate:
    """Test whether level or scale changed.

    Where outcomes show that the reports are no longer calibrated, though they rank
    cases as before, another unit is a fault; where they are, it is none. Where neither
    that nor a factor shows that it is a unit, another fault may have moved them.
    """
    reports = scalar(line.values)[:, i]
    factor = factor_of(reports, found.place) if found.p_value < LIKELY else None
    if factor is not None:
        found = replace(found, place=jump_of(reports, found.place))
    then, now = (
        _quartiles(part) for part in (reports[: found.place], reports[found.place :])
    )
    judged = _judge(evidence, line, found, i)
    off, sound = judged.effect is Effect.OFF, judged.effect is Effect.SOUND
    number, unit = found.after - found.before, f"{found.kind}-change"
    if factor is not None:
        number, unit = factor, "factor"
    unit_is_known = sound or off or factor is not None
    return Candidate(
        "rescaled-feed" if unit_is_known else "shifted-feed",
        (agent,),
        {
            "from": line.position(found.place),
            "form": "sound" if sound else "factor" if factor else found.kind,
            "then": then,
            "now": now,
            "factor": factor,
            **_areas(judged),
        },
        p_value=found.p_value,
        most="note" if sound else "error" if off else "warning",
        broken=off,
        number=Estimate(number, UNKNOWN, UNKNOWN),
        unit=unit,
        price=partial(_saving_undone, evidence, line, found.place, i) if off else None,
        since=int(line.resolved[found.place]),
        between=line.between(found.place, DATED),
        date=line.date(found.place),
    )


def _saving_undone(
    evidence: Evidence, line: Timeline, place: int, agent: int
) -> Estimate | None:
    """What the pool saves if an agent's reports are moved back to where they were."""
    if evidence.panel.classes > 2:
        return None
    fixed = restore(evidence.panel, line, place, agent)
    changed = evidence.with_reports(agent, fixed)
    return evidence.saving(evidence.cost - evidence.cost_of(changed))


def restore(panel: Panel, line: Timeline, place: int, agent: int) -> FloatArray:
    """Reports (T, 1) of an agent, those since a place moved to where they were."""
    places = np.full(len(panel), -1)
    resolved = np.flatnonzero(line.cases >= 0)
    places[line.cases[resolved]] = resolved
    return undo(panel.values[:, agent, 0], places, place)[:, None]


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
    for name, column in ((OUTCOME, panel.outcomes * 1.0), *columns):
        known = column[~np.isnan(column)]
        steps = np.diff(known)
        varied = np.unique(known).size > 1
        if varied and ((steps >= 0).all() or (steps <= 0).all()):
            return name
    return None


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


checks = (Check("feeds", check, few_cases=True, unsplit=True, as_sent=True),)
