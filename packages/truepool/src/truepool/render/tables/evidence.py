"""The tables behind an audit, the same wherever they are shown."""

from collections.abc import Iterator, Sequence

import numpy as np

from truepool.audits.severity import FEEDS, PAST
from truepool.audits.values import AtCapacity, Audit, Calibration, Drift, Finding
from truepool.core.formatting import in_unit, money
from truepool.measures.calibration import CLIP
from truepool.measures.capacity import without_capacity
from truepool.render.advice import pool_name
from truepool.render.numbers import format_estimate, format_p_value, number
from truepool.render.tables.agent_choice import choose_agents
from truepool.render.tables.grid import Grid
from truepool.render.tables.segments import agents_by_segment, segments

PAIRS = 8
"""Pairs of agents whose correlation is listed."""


def grids(audit: Audit, most: int | None = None) -> tuple[Grid, ...]:
    """Lay out the evidence as tables: calibration, agents, other pools, details.

    Of more than ``most`` agents, those that can be judged come first, then those that
    earn the largest weights, then those with the most cases. Each table depends on
    outcomes: none is shown while these are in doubt.
    """
    if audit.recommendation.outcome_in_doubt:
        return ()
    tables = [calibration(audit, most), agents(audit, most)]
    if audit.segments:
        tables += [segments(audit), *agents_by_segment(audit, most)]
    if audit.capacity is not None:
        tables.append(capacity(audit, audit.capacity))
    if audit.significance:
        tables.append(significance(audit))
    tables += [details(finding) for finding in audit.findings if finding.details]
    return tuple(tables)


def calibration(audit: Audit, most: int | None = None) -> Grid:
    """How well agents and pool are calibrated."""
    chosen, more = choose_agents(audit, most)
    left_out = set(audit.agents) - chosen
    listed = [one for one in audit.calibration if one.who not in left_out]
    rows = tuple(
        (
            one.who,
            format_estimate(one.slope),
            format_estimate(one.bias, sign=True),
            number(one.ece, 0.1),
            number(one.smooth_ece, 0.1),
            format_p_value(one.p_value),
            f"{one.cases:,}",
        )
        for one in listed
    )
    headers = ("who", "slope", "bias", "ECE", "smooth ECE", "p", "cases")
    notes = (
        "Calibrated: slope 1, bias 0. A slope below 1 is over-confident, above 1 "
        "under-confident; bias: mean report minus the observed frequency; ECE: mean "
        "distance between report and frequency, minus what chance alone gives. p is "
        "not adjusted.",
        *_certain_reports([one for one in listed if one.who in audit.agents]),
        *_missing_slopes(listed),
        *more,
    )
    return Grid(
        "Calibration of every agent and of the pool", headers, rows, notes, essential=2
    )


def _certain_reports(rows: Sequence[Calibration]) -> Iterator[str]:
    """Say what reports of 0 and 1 count as, where there are groups of them."""
    groups = [
        one.reliability.mean_report for one in rows if one.slope and one.reliability
    ]
    if any(((mean < CLIP) | (mean > 1 - CLIP)).any() for mean in groups):
        yield (
            "Reports are taken at their word: for the slope, 0 and 1 count as "
            f"{CLIP:f} and {1 - CLIP:f}. In `truepool jury` they are verdicts, and "
            "count as less certain: the same reports have a larger slope there."
        )


def _missing_slopes(rows: Sequence[Calibration]) -> Iterator[str]:
    """Say why somebody has no slope, one sentence per reason."""
    reasons: dict[str, list[str]] = {}
    for one in rows:
        if one.no_slope:
            why, _, _ = one.no_slope.partition(", got ")  # `cases` has the number
            reasons.setdefault(why, []).append(one.who)
    for why, who in reasons.items():
        yield f"No slope ({'; '.join(who)}): {why}."


def agents(audit: Audit, most: int | None = None) -> Grid:
    """What each agent is worth; how often it reported, if reports are missing."""
    chosen, more = choose_agents(audit, most)
    feeds = {
        f.who[0]
        for f in audit.findings
        if f.code in (*FEEDS, *PAST) and f.severity != "note"
    }
    sparse, unit = audit.missing > 0, audit.currency
    worths = any(one.worth is not None for one in audit.agent_summaries)
    rows = tuple(
        (
            f"{one.agent}†" if one.agent in feeds else one.agent,
            *([format_estimate(one.worth, sign=True)] if worths else []),
            number(one.cost),
            *([number(one.pool_cost)] if sparse else []),
            format_estimate(one.weight),
            format_estimate(one.leave_one_out, sign=True),
            format_estimate(one.shapley, sign=True),
            number(one.brier),
            *([f"{one.cases:,}"] if sparse else []),
        )
        for one in audit.agent_summaries
        if one.agent in chosen
    )
    headers = [
        "agent",
        *([in_unit("worth per 1,000 cases", unit)] if worths else []),
        in_unit("own cost", unit),
        *([in_unit("pool there", unit)] if sparse else []), "weight earned",
        in_unit("credit", unit), in_unit("Shapley", unit),
        "Brier",
    ]  # fmt: skip
    headers += ["cases"] if sparse else []
    note = f"Worth: {_worth(audit)} " if worths else ""
    note += (
        f"Costs are per case{without_capacity(audit.capacity)}. Own cost: deciding by "
        f"this agent alone{_where(audit)}. "
        "Weight earned: by leave-one-out credit in Brier loss (vcg), not in costs, so "
        "an agent that costs more may earn more; over all tested cases, so "
        "its weight in the pool may differ, also in vcg, which is fitted on other "
        "cases than it is tested on. Credit: increase in the pool's cost if it "
        "stopped reporting and the pool were not fitted again; below 0 the pool would "
        "cost less. "
        "Shapley: its share of what the mean of all agents saves, in costs, whatever "
        "the pool."
    )
    if feeds:
        note += " †: see the finding about its feed."
    essential = 2 + sparse + worths
    title = "What each agent is worth"
    return Grid(title, tuple(headers), rows, (note, *more), essential=essential)


def _worth(audit: Audit) -> str:
    """Say what an agent is worth, and in which pool."""
    return (
        f"what {pool_name(audit.recommendation)} loses without it, fitted again, on "
        "cases that it was not fitted on."
    )


def _where(audit: Audit) -> str:
    """Say which cases the costs of agents are of, and what the pool costs on them."""
    if audit.missing > 0:
        return (
            ", on the tested cases that it reported on (cases). Pool there: the pool "
            "on the same cases, none of which it was fitted on"
        )
    one = audit.agent_summaries[0]
    cost = money(one.pool_cost, audit.currency)
    return (
        f", on {one.cases:,} tested cases; on the same ones, none of which it was "
        f"fitted on, the pool costs {cost}"
    )


def significance(audit: Audit) -> Grid:
    """Whether other pools cost significantly less: the rest of the tests is in JSON."""
    rows = tuple(
        (
            other.pool,
            format_estimate(other.saved, sign=True),
            format_p_value(other.holm),
            format_p_value(other.paired_t),
        )
        for other in audit.significance
    )
    headers = ("pool", in_unit("saves per case", audit.currency), "adjusted p", "p")
    notes = (
        f"Against {audit.pool}, on cases that neither had seen; below 0 it costs more. "
        "p: paired t-test; adjusted p: for the number of pools tried (Holm).",
        f"{len(audit.significance) + 1} pools are compared here, {audit.pool} "
        "included; `truepool compare` with the same options tries more, and another "
        "one may cost least there.",
    )
    title = "Does another pool cost significantly less?"
    return Grid(title, headers, rows, notes, essential=2)


def details(finding: Finding) -> Grid:
    """Lay out the numbers that a finding rests on."""
    title = f"{finding.unit[:1].upper()}{finding.unit[1:]}"
    rows = tuple((name, format_estimate(value)) for name, value in finding.details)
    return Grid(title, ("", finding.unit), rows, essential=2)


def capacity(audit: Audit, found: AtCapacity) -> Grid:
    """What the pool costs and finds within a capacity, and without one."""
    cost, rise, unit = found.cost, found.rise, audit.currency
    free = None if cost is None or rise is None else cost.value - rise.value
    rows = (
        ("decided positive", f"{found.decided:,}", f"{found.wanted:,}"),
        (
            "recall",
            format_estimate(found.recall),
            number(found.recall_without_limit),
        ),
        ("precision", number(found.precision), number(found.precision_without_limit)),
        (
            in_unit("cost per case", unit),
            format_estimate(cost),
            "-" if free is None else number(free),
        ),
        (in_unit("cost of the limit", unit), format_estimate(rise, sign=True), ""),
    )
    notes = [
        "The most valuable cases are decided positive, by the expected cost saved. "
        "Brackets: intervals by resampling cases (recall: Wilson), decisions as they "
        "are.",
    ]
    if found.competing:
        notes.append(
            "Decided positive counts cases without an outcome too; the other figures "
            "are those of cases with one."
        )
    title = f"Within a capacity of {found.capacity}"
    return Grid(title, ("", "within it", "without a limit"), rows, tuple(notes))


def alarms(drift: Drift) -> Grid:
    """Whose loss raised an alarm, and when: the case, counted from 1, its id, date."""
    known = {"id": drift.alarm_ids, "date": drift.alarm_dates}
    more = {name: values for name, values in known.items() if values}
    rows = tuple(
        (
            who,
            f"{case + 1:,}",
            *(values[i] for values in more.values()),
            number(before),
            number(after, before),
        )
        for i, (who, case, before, after) in enumerate(drift.alarms)
    )
    headers = ("who", "case", *more, "Brier before", "Brier after")
    notes = (
        "Alarms of detectors that see one case at a time, as they would have been "
        "raised live: some cases after the change. The findings look back on all cases "
        "and date the change itself.",
    )
    return Grid("Alarms as raised live", headers, rows, notes)


def correlations(audit: Audit) -> Grid:
    """Pairs of agents whose reports are most alike."""
    first, second = np.triu_indices(len(audit.agents), 1)
    values = audit.correlation[first, second]
    known = np.flatnonzero(~np.isnan(values))
    closest = known[np.argsort(-values[known], kind="stable")][:PAIRS]
    rows = tuple(
        (f"{audit.agents[first[k]]}, {audit.agents[second[k]]}", number(values[k]))
        for k in closest
    )
    return Grid("Most correlated pairs", ("agents", "correlation"), rows)
