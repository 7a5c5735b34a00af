"""The numbers of a view of a pool, from its last decisions."""

import time
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from truepool.audits.reliability import reliability
from truepool.audits.values import Reliability
from truepool.comparison import Estimate, estimate_cost, estimate_difference
from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.inference import (
    Resamples,
    unseen_differences,
    unseen_errors,
)
from truepool.online.alarms.monitor import FIRST_SETTLED
from truepool.pages.chart import Line
from truepool.panel.costs import Costs
from truepool.panel.weights import SUM_TOLERANCE
from truepool_serve.messages import PoolStatus, to_builtins
from truepool_serve.render.dashboard_values import (
    AgentRow,
    AlarmRow,
    CostRow,
    DecisionRow,
    PoolView,
)
from truepool_serve.server.configuration import PoolConfig
from truepool_serve.server.settled import LEVEL, Decided, Settled
from truepool_serve.server.watch import Noticed, Watch
from truepool_serve.server.yardsticks import Yardsticks

BINS = 30
"""Parts of time in which decisions are counted."""
FEWEST = 30
"""Settled cases from which costs are compared and calibration is shown."""
MOST_ROWS = 100
"""Agents in the table, those with most weight."""
LISTED = 10
"""Decisions listed, the last ones and those that wait longest for an outcome."""
FEED_KINDS = ("stopped", "constant", "repeated")
"""Alarms on a feed that is broken, not on one that changed."""


def make_view(
    described: PoolStatus,
    settled: Settled,
    decided: Sequence[Decided],
    counts: Mapping[str, int],
    watch: Watch,
    joined: Mapping[str, int],
    unverified: str,
    *,
    brief: bool = False,
) -> PoolView:
    """Return all that a page shows of a pool; in ``brief`` without what costs say.

    ``joined`` has the entry by which an agent joined that was not there from the start.
    """
    first = decided[0].n if decided else 0
    noticed = [one for one in watch.noticed if one.n >= first]
    rule = described.rule
    ran = settled.where(one for one in settled.cases if rule in one.record.decisions)
    enough = len(settled.cases) >= FEWEST and not brief
    yardsticks = Yardsticks.of(settled, rule) if enough else None
    compared = yardsticks if len(ran.cases) >= FEWEST else None
    saved = settled.savings
    if brief:
        saved = np.full_like(saved, np.nan)
    weights = _weights(settled, decided, rule, described.weights or {})
    credit = np.where(np.isnan(saved), np.nan, np.nancumsum(saved, axis=0))
    # The same order in both, so that an agent has one colour.
    order = _order(credit if np.isnan(weights).all() else weights)
    dropped = counts.get("settle", 0) + counts.get("drop", 0)
    waiting = [(one.case, one.at) for one in decided if one.settled is None]
    return PoolView(
        name=described.name,
        costs={"currency": "", **to_builtins(described.costs)},
        labels=tuple(map(str, settled.pool.labels.names)),
        rule=rule,
        learner=described.learner or "a saved pool",
        level=LEVEL,
        decided=counts.get("decide", 0),
        settled=counts.get("settle", 0),
        pending=counts.get("decide", 0) - dropped,
        oldest=tuple(waiting[:LISTED]),
        recent=tuple(_recent(settled.pool, decided[: -LISTED - 1 : -1])),
        window=len(decided),
        window_settled=len(settled.cases),
        rule_settled=len(ran.cases),
        deciders=tuple(one.record.champion for one in decided),
        times=tuple(one.at for one in decided),
        settled_times=tuple(settled.times.tolist()),
        throughput=_throughput(decided),
        agents=tuple(
            _agents(described, settled, decided, joined, noticed, yardsticks, saved)
        ),
        all_agents=len(settled.agents),
        drift_watched=watch.drift_watched,
        outcomes_watched=watch.settled >= FIRST_SETTLED,
        alarms=tuple(_alarm(one, decided) for one in reversed(noticed)),
        weights=_lines(settled.agents, weights, order),
        credit=_lines(settled.agents, credit, order),
        credit_known=any(one.record.contributions for one in decided),
        cost_lines=_cost_lines(compared),
        comparison=tuple(_comparison(settled, compared)),
        reliability=None if brief else _reliability(ran, rule),
        challengers=tuple(
            to_builtins(settled.evidence(rule, name))
            for name in (() if brief else described.challengers)
        ),
        fewest=FEWEST,
        unverified=unverified,
        now=time.time(),
    )


def _recent(pool: PoolConfig, decided: Sequence[Decided]) -> Iterator[DecisionRow]:
    names = tuple(map(str, pool.labels.names))
    for one in decided:
        pooled = one.record.pooled[one.record.champion]
        decision = one.record.decision
        # Of two labels the positive one is what reports are about.
        shown = pooled[1] if len(names) == 2 else pooled[decision]
        yield DecisionRow(
            one.case,
            one.at,
            len(one.record.reports),
            shown,
            names[decision],
            None if one.outcome is None else names[one.outcome],
        )


def _throughput(decided: Sequence[Decided]) -> FloatArray:
    """Decisions in each part of the time that they cover."""
    times = np.array([one.at for one in decided])
    if len(times) < 2 or times.max() <= times.min():
        return np.full(1, float(len(times)))
    counted = np.histogram(times, BINS, (times.min(), times.max()))[0]
    return np.asarray(counted, dtype=np.float64)


def _agents(
    described: PoolStatus,
    settled: Settled,
    decided: Sequence[Decided],
    joined: Mapping[str, int],
    noticed: Sequence[Noticed],
    yardsticks: Yardsticks | None,
    saved: FloatArray,
) -> Iterator[AgentRow]:
    weights = described.weights or {}
    heavy = sorted(settled.agents, key=lambda agent: -weights.get(agent, 0.0))
    shown = set(heavy[:MOST_ROWS])
    for i, agent in enumerate(settled.agents):
        if agent not in shown:
            continue
        asked = [one for one in decided if one.n > joined.get(agent, 0)]
        given = [one for one in asked if agent in one.record.reports]
        state, severity = _state(agent, asked, given, noticed)
        yield AgentRow(
            agent,
            state,
            severity,
            given[-1].at if given else None,
            len(given) / len(asked) if asked else None,
            weights.get(agent),
            _saving(settled, saved[:, i]),
            _cost(settled, yardsticks.agents[agent]) if yardsticks else None,
        )


def _state(
    agent: str,
    asked: Sequence[Decided],
    given: Sequence[Decided],
    noticed: Sequence[Noticed],
) -> tuple[str, str]:
    """What the feed of an agent does now, by its last alarms.

    ``asked`` are the decisions since it is in the pool.
    """
    if not asked:
        return "no decision yet", "none"
    if not given:
        return "no reports", "error"
    own = [one for one in noticed if one.alarm.who == agent]
    lasting = {one.alarm.kind for one in own if recovery(one, given) is None}
    for kind in ("stopped", "constant"):
        if kind in lasting:
            return kind, "error"
    if lasting:
        return ("repeated" if "repeated" in lasting else "changed"), "warning"
    return ("recovered", "warning") if own else ("reporting", "ok")


def recovery(one: Noticed, decided: Sequence[Decided]) -> float | None:
    """When a feed that stopped, or was constant, first reported again; None: not yet.

    Of other alarms it is not known. A feed that no longer sends earlier reports may
    send late ones, for other cases.
    """
    after = (
        (case.at, case.record.reports[one.alarm.who])
        for case in decided
        if case.n >= one.n and one.alarm.who in case.record.reports
    )
    at, report = next(after, (None, None))
    if one.alarm.kind == "constant":
        return next((at for at, new in after if new != report), None)
    return at if one.alarm.kind == "stopped" else None


def _alarm(one: Noticed, decided: Sequence[Decided]) -> AlarmRow:
    alarm = one.alarm
    until = recovery(one, decided)
    severity = "error" if alarm.kind in FEED_KINDS and until is None else "warning"
    return AlarmRow(
        alarm.who,
        alarm.kind,
        severity,
        alarm.before,
        alarm.after,
        one.at,
        one.since,
        until,
    )


def _cost(settled: Settled, by_case: FloatArray) -> Estimate | None:
    """Mean cost with its interval over the cases that have one; None of few cases."""
    known, costs, y = _known(settled, by_case)
    if len(known) < FEWEST:
        return None
    K = len(settled.pool.labels.names)
    excess = known - costs.cost_per_case(y, y, K)
    unseen = unseen_errors(excess, costs.stakes(y, K), y)
    return estimate_cost(known, unseen, Resamples(len(known)), LEVEL)


def _saving(settled: Settled, by_case: FloatArray) -> Estimate | None:
    """Mean difference of cost, as `_cost`."""
    known, costs, y = _known(settled, by_case)
    if len(known) < FEWEST:
        return None
    unseen = unseen_differences(costs.stakes(y, len(settled.pool.labels.names)), y)
    drawn = Resamples(len(known) + len(unseen))
    return estimate_difference(known, unseen, drawn, LEVEL)


def _known(settled: Settled, by_case: FloatArray) -> tuple[FloatArray, Costs, IntArray]:
    """Return the values of the cases that have one, with their costs and outcomes."""
    cases = np.flatnonzero(~np.isnan(by_case))
    return by_case[cases], settled.costs.take(cases), settled.outcomes[cases]


def _weights(
    settled: Settled, decided: Sequence[Decided], rule: str, now: Mapping[str, float]
) -> FloatArray:
    """Weight of each agent in the rule at each decision (T, N); NaN where it has none.

    NaN also where another rule decided: the ledger has no weights of a rule in shadow
    mode. It holds the shares of those who reported. The others keep their weight, which
    they have at their next report, or now; the rest is what was shared.
    """
    agents = settled.agents
    used = [
        (one.record.champion == rule and one.record.weights) or {} for one in decided
    ]
    table = np.array(
        [[weights.get(agent, np.nan) for agent in agents] for weights in used],
        dtype=np.float64,
    ).reshape(len(used), len(agents))
    given = ~np.isnan(table)
    # One who joined later had no weight before; that is seen by the first report.
    joined = np.array([agent not in settled.pool.agents for agent in agents])
    absent = ~given & ~(joined & ~np.logical_or.accumulate(given, axis=0))
    # Of one that never reported here nothing is recorded, and now says nothing of it.
    kept = np.where(
        given.any(axis=0), [now.get(agent, 0.0) for agent in agents], np.nan
    )
    for t in reversed(range(len(table))):
        if not given[t].any():
            continue  # a rule without weights decided, or another rule
        if abs(sum(used[t].values()) - 1) <= SUM_TOLERANCE:  # else a saved pool
            table[t] *= 1 - np.nansum(kept[absent[t]])
        table[t, absent[t]] = kept[absent[t]]
        kept = np.where(given[t], table[t], kept)
    return table


def _order(table: FloatArray) -> IntArray:
    """Columns by their size, the largest first."""
    return np.argsort(-np.nansum(np.abs(table), axis=0), kind="stable")


def _lines(agents: Sequence[str], table: FloatArray, order: IntArray) -> list[Line]:
    """One line per agent."""
    if not table.size or np.isnan(table).all():
        return []
    return [Line(agents[i], table[:, i]) for i in order]


def _cost_lines(yardsticks: Yardsticks | None) -> list[Line]:
    """Mean cost per case up to each case."""
    lines = []
    for name, costs in (yardsticks.rows if yardsticks else {}).items():
        count = np.cumsum(~np.isnan(costs))
        total = np.nancumsum(costs)
        lines.append(Line(name, np.where(count, total / np.maximum(count, 1), np.nan)))
    return lines


def _comparison(settled: Settled, yardsticks: Yardsticks | None) -> Iterator[CostRow]:
    """Cost per case, and what the pool saves against each, on the same cases."""
    for name, costs in (yardsticks.rows if yardsticks else {}).items():
        saved = costs - yardsticks.pool if yardsticks else costs
        known = int((~np.isnan(costs)).sum())
        gap = None if name == "the pool" else _saving(settled, saved)
        yield CostRow(name, known, _cost(settled, costs), gap)


def _reliability(settled: Settled, rule: str) -> Reliability | None:
    """Calibration of what a rule pooled, with two labels and enough cases."""
    if len(settled.pool.labels.names) != 2 or len(settled.cases) < FEWEST:
        return None
    pooled = np.array([one.record.pooled[rule][1] for one in settled.cases])
    return reliability(pooled, settled.outcomes, LEVEL)
