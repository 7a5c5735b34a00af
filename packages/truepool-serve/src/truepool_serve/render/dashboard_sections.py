"""The parts of the page of a pool: sentences, charts and tables."""

from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup

from truepool.core.formatting import number, percent, pluralize, signed
from truepool.online.alarms.discrimination import WINDOW
from truepool.online.alarms.monitor import FIRST_DRIFT, FIRST_SETTLED
from truepool.pages.chart import (
    COLOURS,
    bar_chart,
    line_chart,
    reliability_chart,
)
from truepool.pages.grid import Grid
from truepool.pages.numbers import format_estimate, format_interval
from truepool.pages.page import Beside, Figure, Item, Items, Part, Section, Text
from truepool_serve.render.dashboard_charts import last, legend, over_time
from truepool_serve.render.dashboard_values import (
    UNWATCHED,
    AlarmRow,
    PoolView,
    ago,
    moment,
)

MOST_ALARMS = 12
"""Alarms listed, the last ones."""
BADGES = {"error": "feed", "warning": "drift"}
"""What an alarm is about, by its severity."""


def sections(view: PoolView) -> Iterator[Section]:
    """Yield the parts of the page of a pool."""
    yield _alarms(view)
    yield _agents(view)
    yield _weights(view)
    yield _costs(view)
    yield _calibration(view)
    if view.challengers:
        yield _challengers(view)
    yield _traffic(view)


def _section(
    name: str,
    title: str,
    intro: str,
    *,
    charts: Sequence[Figure] = (),
    tables: Sequence[Grid] = (),
    alarms: Sequence[Item] = (),
) -> Section:
    shown: list[Part] = [Text((intro,))] if intro else []
    shown += [Items(tuple(alarms))] if alarms else []
    if charts:
        shown.append(Beside((*charts, *tables)))
    else:
        shown += tables
    return Section(name, title, tuple(shown), title.partition(":")[0])


def in_unit(view: PoolView, what: str) -> str:
    """Return the name of a cost with its unit."""
    return f"{what}, {view.unit}" if view.unit else what


def _alarms(view: PoolView) -> Section:
    rows = [
        Item(
            one.sentence(view.now),
            ((_dates(one, view.now), ""),),
            tone=one.severity,
            badge=BADGES[one.severity],
        )
        for one in view.alarms[:MOST_ALARMS]
    ]
    count = pluralize(len(view.alarms), "alarm") if view.alarms else "No alarms"
    intro = f"{count} in {view.last_decisions}."
    if len(view.alarms) > len(rows):
        intro += f" The last {len(rows)} are shown."
    if view.drift_watched is None:
        intro = f"No feed is watched: {UNWATCHED}"
    elif view.drift_watched < view.window or not view.outcomes_watched:
        intro += (
            " Watched from the first case: feeds that stop, send one number again and "
            "again, or send earlier reports again. From settled case "
            f"{FIRST_SETTLED} on: costs and the outcome rate. From case {FIRST_DRIFT} "
            "on: the level and spread of an agent's reports, and whether they move "
            "with those of the others. Last, how well an agent ranks cases: after its "
            f"first {WINDOW} reports, from settled case {FIRST_SETTLED} of the rarer "
            "label on. The cases before show what is usual."
        )
    if not view.window:
        intro = "Nothing was decided yet."
    return _section("alarms", "Alarms: drift and dead feeds", intro, alarms=rows)


def _dates(alarm: AlarmRow, now: float) -> str:
    raised = f"raised {moment(alarm.at, now)}"
    if alarm.since is None or alarm.until is not None:
        return raised
    return f"since {moment(alarm.since, now)}, {raised}"


def _agents(view: PoolView) -> Section:
    rows = [
        (
            agent.name,
            Markup('<span class="badge {}">{}</span>').format(
                agent.severity, agent.state
            ),
            "-" if agent.last is None else ago(agent.last, view.now),
            "-" if agent.share is None else percent(agent.share),
            "-" if agent.weight is None else percent(agent.weight),
            format_estimate(agent.credit, sign=True),
            format_estimate(agent.cost),
        )
        for agent in view.agents
    ]
    headers = (
        "agent",
        "state",
        "last report",
        "reports on",
        "weight now",
        in_unit(view, "saved per settled case"),
        in_unit(view, "cost per case alone"),
    )
    intro = (
        "Saved per settled case: how much more the decision would have cost without "
        "the agent's report (0 where it did not report), with "
        f"{percent(view.level)} interval. The interval allows for cases of each class "
        "not seen yet that would be decided differently; that of a statement (truepool "
        "ledger statement) does not. Reports on: the share of these decisions since "
        "the agent joined. Cost per case alone: what deciding by this agent only would "
        "cost, over the cases that it reported on; these may be other cases than those "
        "of another agent."
    ).replace(".0 %", " %")
    if view.window_settled < view.fewest:
        intro += f" Costs are shown {_from_on(view, view.window_settled)}"
    if view.promotion:
        intro += (
            " Savings are those of the decisions as they were made, by any rule; "
            f"weights are those of {view.rule}."
        )
    if len(rows) < view.all_agents:
        intro += f" The {len(rows)} agents with most weight of {view.all_agents:,}."
    table = Grid(_window(view), headers, tuple(rows))
    return _section("agents", "Agents", intro, tables=(table,))


def _window(view: PoolView) -> str:
    if not view.window:
        return "No decisions yet"
    known = f"{view.window_settled:,} of them with a known outcome"
    if view.window == 1:
        known = f"{'with a known' if view.window_settled else 'without an'} outcome"
    return f"{view.last_decisions.capitalize()}, {known}"


def _weights(view: PoolView) -> Section:
    none = bool(view.made and not view.weights)
    charts = [] if none else [_weights_chart(view)]
    intro = (
        "An agent without a report keeps its weight, but in that decision the others "
        "share it."
    )
    if none:
        intro = "The deciding rule has no weight for each agent."
    if view.credit_known or not none:
        shown = view.credit[:COLOURS]
        credit = over_time(
            in_unit(view, "Saved so far by each agent"), shown,
            f"Savings so far by agent: {last(shown, number)}.",
            view.settled_ends, "settled case",
        )  # fmt: skip
        charts.append(credit)
    else:
        intro += (
            " There is no credit either: the rule pools again what other pools made of "
            "the reports, or recalibrates it, and the record does not say what each "
            "report changed."
        )
    if charts and view.all_agents > COLOURS:
        intro += f" The {COLOURS} largest are drawn."
    return _section("weights", "Weights and credit", intro, charts=charts)


def _weights_chart(view: PoolView) -> Figure:
    shown = view.weights[:COLOURS]
    tops = (float(np.nanmax(line.values, initial=0.0)) for line in shown)
    top = max(tops, default=0.0)
    rule = f" by {view.rule}" if view.promotion else ""
    return over_time(
        f"Weight of each agent in decisions{rule}" if rule else "Weight of each agent",
        shown,
        f"Weights over time: {last(shown, percent)}.", view.ends, f"decision{rule}",
        bounds=(0.0, max(top, 0.1)), form="{:.0%}".format,
    )  # fmt: skip


def _from_on(view: PoolView, known: int) -> str:
    """Say how many settled cases a comparison needs, and how many there are."""
    found = f"{known:,} {'is' if known == 1 else 'are'}" if known else "none is"
    return f"once {view.fewest} cases are settled; so far {found}."


def _of_rule(view: PoolView) -> str:
    """The same for the cases that the rule in use decided, or would have decided."""
    if not view.promotion:
        return _from_on(view, view.rule_settled)
    return (
        f"once {view.fewest} cases are settled that {view.rule} decided, or would have "
        f"decided in shadow mode; so far {view.rule_settled:,}."
    )


def _costs(view: PoolView) -> Section:
    if not view.comparison:
        intro = f"Costs are compared {_of_rule(view)}"
        return _section("costs", "Cost so far", intro)
    rows = tuple(
        (
            row.name,
            f"{row.cases:,}",
            format_estimate(row.cost),
            "" if row.name == "the pool" else format_estimate(row.saved, sign=True),
        )
        for row in view.comparison
    )
    headers = (
        "decided by",
        "cases",
        in_unit(view, "cost per case"),
        in_unit(view, "saved by the pool per case"),
    )
    title = f"The last {pluralize(view.rule_settled, 'settled case')}"
    label = f"Mean cost per case so far: {last(view.cost_lines, number)}."
    chart = Figure(
        in_unit(view, "Mean cost per case so far"),
        line_chart(view.cost_lines, label, view.settled_ends),
        legend(view.cost_lines),
    )
    intro = (
        "The best agent is chosen in hindsight, which favours it. Intervals resample "
        "the cases."
    )
    table = Grid(title, headers, rows)
    return _section("costs", "Cost so far", intro, charts=(chart,), tables=(table,))


def _calibration(view: PoolView) -> Section:
    found = view.reliability
    if found is None:
        intro = f"It is shown {_of_rule(view)}"
        if len(view.labels) != 2:
            intro = "It is shown for pools with two labels."
        return _section("calibration", "Calibration", intro)
    outside = found.outside
    label = (
        f"Reliability diagram of the pool: {int(outside.sum())} of {len(outside)} "
        "groups lie outside the band of calibrated reports."
    )
    parts = (found.mean_report, found.frequency, found.low, found.high)
    drawing = reliability_chart(found, label)
    chart = Figure("Observed share over pooled probability", drawing)
    rows = tuple(
        (percent(p), percent(f), f"{percent(a)} to {percent(b)}", f"{n:,.0f}")
        for p, f, a, b, n in zip(*parts, found.cases, strict=True)
    )
    headers = ("pooled, mean", "observed", "if calibrated", "cases")
    table = Grid("Groups of similar pooled probabilities", headers, rows)
    intro = "The groups of a calibrated pool lie in the grey band."
    return _section(
        "calibration", "Calibration", intro, charts=(chart,), tables=(table,)
    )


def _challengers(view: PoolView) -> Section:
    rows = []
    for one in view.challengers:
        saved, like = one["saved_per_case"], None
        shown = ["-"] * 3
        if saved is not None:
            low, high = one["interval"]
            like = max(map(abs, (saved, low, high)))
            shown = [
                number(one["cost"][one["champion"]]),
                number(one["cost"][one["challenger"]]),
                f"{signed(saved, like)} "
                + format_interval(signed(low, like), signed(high, like)),
            ]
        rows.append((one["challenger"], f"{one['cases']:,}", *shown))
    headers = (
        "challenger",
        "cases",
        f"cost of {view.rule}",
        "cost of the challenger",
        in_unit(view, "it would have saved per case"),
    )
    table = Grid("Rules in shadow mode", headers, tuple(rows))
    intro = "Rules in shadow mode (challengers), on the cases that both decided."
    return _section("challengers", "Challengers", intro, tables=(table,))


def _traffic(view: PoolView) -> Section:
    title = "Decisions over time"
    chart = Figure(title, waiting="Appears after the second decision.")
    if view.window > 1:
        label = f"{title}: {view.window:,} from {view.ends[0]} to {view.ends[1]}."
        chart = Figure(title, bar_chart(view.throughput, label, view.ends))
    tables = [_recent(view)] if view.recent else []
    if view.oldest:
        rows = tuple(
            (case, moment(at, view.now), ago(at, view.now)) for case, at in view.oldest
        )
        title = f"Longest without an outcome, of {view.last_decisions}"
        tables.append(Grid(title, ("case", "decided at", "how long ago"), rows))
    intro = f"{pluralize(view.pending, 'case')} waiting for an outcome."
    title = "Traffic: pending outcomes and throughput"
    return _section("traffic", title, intro, charts=(chart,), tables=tables)


def _recent(view: PoolView) -> Grid:
    rows = tuple(
        (
            one.case,
            moment(one.at, view.now),
            f"{one.reported} of {view.all_agents:,}",
            percent(one.probability),
            one.decision,
            one.outcome or "-",
        )
        for one in view.recent
    )
    headers = ("case", "at", "reports", "pooled", "decision", "outcome")
    return Grid("The last decisions", headers, rows)
