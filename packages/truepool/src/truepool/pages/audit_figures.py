"""The figures of an audit's page, and the slider."""

from collections.abc import Iterator
from math import exp, log
from typing import Any

import numpy as np

from truepool.audits import kinds
from truepool.audits.values import (
    PER_THOUSAND,
    Audit,
    Calibration,
    Diagnosis,
    Drift,
    Finding,
    Tradeoff,
)
from truepool.comparison import Comparison, Estimate
from truepool.core.arrays import FloatArray
from truepool.core.formatting import measured, quantity
from truepool.core.sentences import few
from truepool.pages.chart import (
    COLOURS,
    LEFT,
    RIGHT,
    WIDTH,
    Axis,
    Band,
    Bands,
    Interval,
    Line,
    Mark,
    axis_for,
    band_rows,
    heat_map,
    interval_rows,
    line_chart,
    reliability_chart,
    running_mean,
)
from truepool.pages.page import Figure, Part, Template
from truepool.pages.wording import Speaker

MOST_ROWS = 30
"""Rows a figure has room for; tables have all."""
POOLS = ("the pool", "pool")
"""Names of the pool among the agents; the first one present is used."""
SMOOTH = 5
"""Points over which a loss is averaged."""
ROLES = ("now", "best", "")
"""Colours of the pool in use, the recommended one and the alternative."""


def costs(say: Speaker) -> Iterator[Figure]:
    """What decisions cost with each pool, and without any."""
    audit = say.audit
    from truepool.pages.audit import roles

    plan = audit.plan
    tones = ROLES if plan.change or plan.without else ("", "", "")
    rows = [
        _interval(name, one.cost, tones[min(place, 2)])
        for place, (name, one) in enumerate(roles(say))
        if one.cost is not None
    ]
    if not rows:
        return
    if plan.constant is not None and plan.constant_saving is not None:
        cost = rows[0].value + plan.constant_saving.value
        name = say.text("constant", decision=plan.constant)
        rows.append(Interval(name, cost, np.nan, np.nan, quantity(cost), "none"))
    title, forward = say.text("figure-costs"), say.text("forward") * plan.forward
    caption = [say.text("figure-costs-caption", forward=forward)]
    if plan.constant is not None:
        caption.append(say.text("figure-constant", constant=plan.constant))
    yield Figure(
        title,
        interval_rows(rows, title, bars=True, form=quantity),
        caption=" ".join(caption),
        name="costs",
    )


def _interval(name: str, estimate: Estimate, tone: str = "") -> Interval:
    return Interval(
        name, estimate.value, estimate.low, estimate.high, measured(estimate), tone
    )


def worth(say: Speaker) -> Iterator[Figure]:
    """What each agent is worth, less its price where it has one."""
    audit, plan = say.audit, say.audit.plan
    priced = any(one.net is not None for one in audit.summaries)
    known = [
        (one.agent, value)
        for one in audit.summaries
        if (value := one.net if priced else one.worth) is not None
    ]
    if not known:
        return
    known.sort(key=lambda pair: -pair[1].value)
    if len(known) > MOST_ROWS:
        known = known[: MOST_ROWS // 2] + known[-MOST_ROWS // 2 :]
    rows = [
        _interval(
            who, value, "best" if value.low > 0 else "now" if value.high < 0 else ""
        )
        for who, value in known
    ]
    title = say.text("figure-worth-net" if priced else "figure-worth")
    name = say.pool(plan.pool or plan.in_use, plan.without)
    yield Figure(
        title,
        interval_rows(rows, title, form=quantity),
        caption=say.text("figure-worth-caption", pool=name),
        name="worth",
    )


# Health over time


def health(say: Speaker) -> Iterator[Figure]:
    """When each feed was sound, where one was not."""
    audit = say.audit
    dated = [one for one in audit.agents if _began(say, one)]
    if not dated:
        return
    others = [one for one in audit.agents if one not in dated]
    shown = [*dated, *others][:MOST_ROWS]
    rows = [
        Bands(one.who, tuple(_bands(say, one)), _state(say, one), _tone(say, one))
        for one in shown
    ]
    title = say.text("figure-health")
    yield Figure(
        title,
        band_rows(rows, title, _ends(say)),
        caption=say.text("figure-health-caption"),
        name="health",
    )


def _began(say: Speaker, one: Diagnosis) -> bool:
    """Whether there is a day on which something began, or a gap that is over."""
    if say.hidden(one):
        return False
    return one.since is not None or any(_gaps(one))


def _state(say: Speaker, one: Diagnosis) -> str:
    since = say.began(one)
    state = say.state(one)
    return say.text("state-since", state=state, since=since) if since else state


def _tone(say: Speaker, one: Diagnosis) -> str:
    return "" if say.hidden(one) else one.severity or ""


def _gaps(one: Diagnosis) -> Iterator[Finding]:
    """Yield what is over, with a beginning and an end."""
    found = ([one.finding] if one.finding else []) + [*one.evidence]
    for each in found:
        kind = kinds.every().get(each.code)
        if kind is not None and kind.over and each.since is not None and each.until:
            yield each


def _bands(say: Speaker, one: Diagnosis) -> Iterator[Band]:
    cases, tone = say.audit.cases, _tone(say, one)
    kind = kinds.every().get(one.code)
    if kind is not None and kind.over:
        tone = ""
    start = (one.since or 0) / cases if tone else 1.0
    if say.hidden(one) or one.code == kinds.UNTESTED:
        yield Band(0.0, 1.0, "unknown")
        return
    if start > 0:
        yield Band(0.0, start, "sound")
    for gap in _gaps(one):
        yield Band((gap.since or 0) / cases, (gap.until or 0) / cases, "gap")
    if tone:
        yield Band(start, 1.0, tone)


def _ends(say: Speaker) -> list[tuple[float, str]]:
    """Name the ends and the middle of the time."""
    audit, drift = say.audit, say.audit.drift
    if drift is not None and drift.dates:
        days = [day[:10] for day in drift.dates]
        middle = len(days) // 2
        place = float(drift.cases[middle]) / audit.cases
        return [(0.0, days[0]), (place, days[middle]), (1.0, days[-1])]
    places = (0, audit.cases // 2, audit.cases - 1)
    return [(p / max(audit.cases - 1, 1), say.text("case", case=p + 1)) for p in places]


# Other costs


def slider(say: Speaker) -> Iterator[Part]:
    """A slider for the costs of errors, and what each ratio costs."""
    found = say.audit.tradeoff
    if found is None:
        return
    names = _pool_names(say, found)
    shown = {**_control(say, found, names), "figure": _ratio(say, found, names)}
    yield Template("audit/slider.html.j2", shown)


def _ratio(say: Speaker, found: Tradeoff, names: list[str]) -> Figure:
    """What each pool costs at each ratio of costs."""
    lines = [
        Line(name, 100 * _relative(found, p)) for p, name in enumerate(names[:COLOURS])
    ]
    title = say.text("figure-ratio")
    ends = float(found.edges[0]), float(found.edges[-1])
    code = "amount-end" if found.by_amount else "ratio-end"
    marked = (log(found.now) - ends[0]) / (ends[1] - ends[0])
    chart = line_chart(
        lines,
        title,
        (say.text(code, value=exp(ends[0])), say.text(code, value=exp(ends[1]))),
        bounds=(0.0, 100.0),
        form="{:g} %".format,
        marks=[Mark(min(max(marked, 0.0), 1.0), tone="chosen")],
    )
    return Figure(title, chart, tuple(line.name for line in lines),
                  caption=say.text("figure-ratio-caption"), name="ratio")  # fmt: skip


def _pool_names(say: Speaker, found: Tradeoff) -> list[str]:
    """Name the pools as the table does: in use first, then the recommended one."""
    from truepool.pages.audit import roles

    names = [name for name, _ in roles(say)]
    return (
        names[: len(found.pools)] if len(names) >= len(found.pools) else [*found.pools]
    )


def _relative(found: Tradeoff, pool: int) -> FloatArray:
    """Cost (B + 1,) at each ratio, as a share of the better constant decision's."""
    ratio = np.exp(found.edges)
    positives, negatives = found.positives[pool], found.negatives[pool]
    stakes = found.stakes[pool]
    if found.by_amount:  # a case is decided positive below its ratio
        missed, alarms = _before(stakes), negatives.sum() - _before(negatives)
        cost = missed + ratio * alarms
        constant = np.minimum(stakes.sum(), ratio * negatives.sum())
    else:
        missed, alarms = positives.sum() - _before(positives), _before(negatives)
        cost = ratio * missed + alarms
        constant = np.minimum(ratio * positives.sum(), negatives.sum())
    return np.asarray(cost / np.maximum(constant, 1e-300))


def _before(counts: FloatArray) -> FloatArray:
    """Sum (B + 1,) of all counts before each edge."""
    return np.concatenate([[0.0], np.cumsum(counts)])


def _control(say: Speaker, found: Tradeoff, names: list[str]) -> dict[str, Any]:
    """What the slider works with, and what is written on it."""
    audit = say.audit
    daily = audit.operations[0] if audit.operations else None
    per_day = None
    if daily and daily.alerts_per_day and daily.alerts and daily.alerts.value:
        per_day = daily.alerts_per_day.value / daily.alerts.value
    fp = audit.costs.get("fp", 1.0)
    data = {
        "edges": _rounded(found.edges),
        "positives": [_rounded(row) for row in found.positives],
        "negatives": [_rounded(row) for row in found.negatives],
        "stakes": [_rounded(row) for row in found.stakes] if found.by_amount else [],
        "byAmount": found.by_amount,
        "now": found.now,
        "unit": fp if isinstance(fp, float | int) else 1.0,
        "perDay": per_day,
        "left": LEFT,
        "wide": WIDTH - LEFT - RIGHT,
        "each": say.text("slider-each"),
    }
    rows = ["alerts", *(["day"] if per_day else []), "precision", "recall",
            *(["money"] if found.by_amount else []), "alarms", "cost"]  # fmt: skip
    return {
        "data": data,
        "label": say.text("slider-amount" if found.by_amount else "slider"),
        "text": say.text("slider-text"),
        "reset": say.text("slider-reset"),
        "threshold": say.text("slider-threshold"),
        "names": names,
        "rows": [(code, say.text(f"slider-{code}")) for code in rows],
        "last": len(found.edges) - 1,
    }


def _rounded(values: FloatArray) -> list[float]:
    """Return numbers with as many digits as anybody sees."""
    return [float(f"{value:.6g}") for value in values]


def threshold(say: Speaker) -> Iterator[Figure]:
    """The cost at each threshold; those in use and implied by the costs are marked."""
    audit, curve = say.audit, say.audit.curve
    if curve is None:
        return
    axis = axis_for(min(curve.implied, 1 - curve.implied), [curve.thresholds])
    ticks = curve.thresholds[
        (curve.thresholds >= axis.low) & (curve.thresholds <= axis.high)
    ]
    if len(ticks) < 2:
        return
    shown = np.isin(curve.thresholds, ticks)
    places = axis.share(curve.thresholds[shown])
    line = Line(audit.pool.who, PER_THOUSAND * curve.cost[shown], places)
    marks = [Mark(float(axis.share(curve.implied)), say.text("threshold-implied"))]
    if audit.threshold is not None and abs(audit.threshold - curve.implied) > 1e-9:
        used = Mark(
            float(axis.share(audit.threshold)), say.text("threshold-used"), "chosen"
        )
        marks.append(used)
    title = say.text("figure-threshold")
    ends = (f"{100 * axis.low:g} %", f"{100 * axis.high:g} %")
    top = float(np.nanmax(line.values))
    best = float(curve.thresholds[int(np.nanargmin(curve.cost))])
    label = say.text("figure-threshold-label", best=best, implied=curve.implied)
    chart = line_chart(
        [line], label, ends, bounds=(0.0, top), form=quantity, marks=marks
    )
    yield Figure(title, chart, caption=say.text("figure-threshold-caption"),
                 name="threshold")  # fmt: skip


# Calibration


def reliability_axis(audit: Audit) -> Axis:
    """Return the axis on which all diagrams can be read."""
    points = [one.reliability for one in audit.calibration if one.reliability]
    if not points:
        return Axis()
    cases = sum(one.cases.sum() for one in points)
    rate = float(sum(one.frequency @ one.cases for one in points) / cases)
    marked = [] if audit.threshold is None else [np.array([audit.threshold])]
    parts = [p for one in points for p in (one.mean_report, one.frequency)]
    return axis_for(rate, [*parts, *marked])


def reliability(say: Speaker, one: Calibration, axis: Axis) -> Figure:
    """Draw how often what is reported happens."""
    points = one.reliability
    if points is None:
        raise AssertionError("only those with points are drawn")
    outside, groups = int(points.outside.sum()), len(points.outside)
    label = say.text(
        "figure-reliability-label", who=one.who, outside=outside, groups=groups
    )
    drawing = reliability_chart(points, label, axis=axis, threshold=say.audit.threshold)
    title = say.text("figure-reliability", who=one.who)
    return Figure(title, drawing, name=f"reliability-{one.who}")


# Pools, time, redundancy


def pools(say: Speaker, comparison: Comparison) -> Figure:
    """The cost of every pool tried."""
    scale = PER_THOUSAND if comparison.loss == "cost" else 1.0
    rows = []
    for row in comparison.rows[:MOST_ROWS]:
        loss = row.loss
        scaled = Estimate(scale * loss.value, scale * loss.low, scale * loss.high)
        used = row.pool == say.audit.plan.in_use
        name = say.text("in-use", pool=row.pool) if used else row.pool
        best = row.pool == say.audit.plan.pool
        rows.append(_interval(name, scaled, "now" if used else "best" if best else ""))
    title = say.text("figure-pools")
    drawing = interval_rows(rows, title, form=quantity)
    return Figure(
        title, drawing, caption=say.text("figure-pools-caption"), name="pools"
    )


def losses(say: Speaker, drift: Drift) -> Figure:
    """The loss of the pool and of the agents with an alarm or the highest loss."""
    alarmed = {alarm[0] for alarm in drift.alarms}
    known = [who for who, lost in drift.losses.items() if not np.isnan(lost).all()]
    first = [who for who in POOLS if who in known][:1]
    rest = [who for who in known if who not in first]
    rest.sort(key=lambda who: (who not in alarmed, -np.nanmean(drift.losses[who])))
    last = max(float(drift.cases[-1]), 1.0)
    lines = [
        Line(who, running_mean(drift.losses[who], SMOOTH), drift.cases / last)
        for who in (first + rest)[:COLOURS]
    ]
    marks = [Mark(min(case / last, 1.0), who) for who, case, _, _ in drift.alarms[:3]]
    title = say.text("figure-losses")
    top = max(float(np.nanmax(line.values)) for line in lines)
    ends = _both_ends(say)
    names = tuple(line.name for line in lines)
    dates = drift.alarm_dates or [say.text("case", case=a[1] + 1) for a in drift.alarms]
    alarms = [
        say.text("alarm-at", who=alarm[0], when=when)
        for alarm, when in zip(drift.alarms, dates, strict=True)
    ]
    label = say.text("figure-losses-label", who=names, alarms=few(alarms))
    chart = line_chart(lines, label, ends, bounds=(0.0, top), marks=marks)
    return Figure(title, chart, names, caption=say.text("figure-losses-caption"),
                  name="losses")  # fmt: skip


def weights(say: Speaker, drift: Drift) -> Figure:
    """The weights that an online learner would have given."""
    order = np.argsort(-drift.weights[-1], kind="stable")[:COLOURS]
    last = max(float(drift.cases[-1]), 1.0)
    lines = [
        Line(say.audit.judged[i], 100 * drift.weights[:, i], drift.cases / last)
        for i in order
    ]
    title = say.text("figure-weights")
    top = max(float(np.nanmax(line.values)) for line in lines)
    last_ones = [
        say.text("weight-of", who=line.name, weight=line.values[-1] / 100)
        for line in lines
    ]
    label = say.text("figure-weights-label", who=last_ones)
    form = "{:g} %".format
    chart = line_chart(lines, label, _both_ends(say), bounds=(0.0, top), form=form)
    caption = say.text("figure-weights-caption", learner=drift.learner)
    names = tuple(line.name for line in lines)
    return Figure(title, chart, names, caption=caption, name="weights")


def _both_ends(say: Speaker) -> tuple[str, str]:
    ends = _ends(say)
    return ends[0][1], ends[-1][1]


def correlation(say: Speaker) -> Figure:
    """The correlation of those agents that are most like another."""
    matrix, names = say.audit.correlation, say.audit.judged
    others = others_of(matrix)
    nearest = others_of(np.abs(matrix)).max(axis=1)
    rows = np.sort(np.argsort(-nearest, kind="stable")[:MOST_ROWS])
    i, j = np.unravel_index(int(others.argmax()), others.shape)
    label = say.text(
        "figure-correlation-label", first=names[i], second=names[j],
        closest=float(others[i, j]),
    )  # fmt: skip
    drawing = heat_map([names[k] for k in rows], matrix[np.ix_(rows, rows)], label)
    return Figure(say.text("figure-correlation"), drawing, name="correlation")


def others_of(matrix: FloatArray) -> FloatArray:
    """Correlations with others, -1 where there is none to tell."""
    others = np.nan_to_num(matrix, nan=-1.0)
    np.fill_diagonal(others, -1.0)
    return np.asarray(others)
