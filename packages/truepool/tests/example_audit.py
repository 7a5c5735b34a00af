"""Audits made by hand: sound, with dead feeds, with a question, with prices, and large."""

from dataclasses import replace

import numpy as np

from truepool.audits import kinds
from truepool.audits.timeline import Position
from truepool.audits.values import (
    AgentSet,
    AgentSkill,
    AgentSummary,
    AtCapacity,
    Audit,
    Calibration,
    Change,
    Changes,
    CostCurve,
    Detail,
    Diagnosis,
    Drift,
    Finding,
    Note,
    Operation,
    PairedComparison,
    Plan,
    Reliability,
    Segment,
    Step,
    Tradeoff,
)
from truepool.comparison import Comparison, Estimate, Row
from truepool.panel.costs import Costs
from truepool.panel.labels import Labels

AGENTS = ("logistic", "forest", "tree", "bayes", "neighbours")
NAN = float("nan")
CASES = 569


def estimate(value, half=0.01):
    return Estimate(value, value - half, value + half)


def reliability(slope=1.0, groups=8, low=0.04, high=0.96):
    mean_report = (
        np.geomspace(low, high, groups)
        if low < 0.01
        else np.linspace(low, high, groups)
    )
    odds = np.log(mean_report / (1 - mean_report))
    happened = 1 / (1 + np.exp(-slope * odds))
    half = np.minimum(0.1, mean_report * 0.5)
    return Reliability(
        mean_report, happened, np.full(groups, 70.0), np.clip(mean_report - half, 0, 1), np.clip(mean_report + half, 0, 1)
    )  # fmt: skip


def calibration(who, slope=1.0, cases=CASES, **settings):
    return Calibration(
        who, cases, 0.031, 0.027, estimate(0.004), estimate(slope, 0.1),
        0.0004 if slope != 1 else 0.41, reliability(slope, **settings),
    )  # fmt: skip


def row(pool, loss, brier=0.04):
    gap = estimate(loss - 0.22, 0.03)
    same = Estimate(0.0, 0.0, 0.0)
    return Row(
        pool, estimate(loss, 0.05), same if pool == "mean" else gap,
        same if pool == "best-agent" else gap, 0.001 if loss < 0.2 else 1.0, 1.0, loss, brier,
        0.15, 0.02, 0.98, 0.8, 0.02, 0.15, (0.85, 0.98),
    )  # fmt: skip


POOLS = (
    "auto",
    "extremized",
    "platt",
    "vcg",
    "log-odds",
    "best-agent",
    "median",
    "brier",
    "mean",
    "vote",
)


def comparison(agents=AGENTS):
    rows = tuple(row(name, 0.14 + 0.01 * i) for i, name in enumerate(POOLS))
    return Comparison(
        rows, "cost", Costs(fn=10), None, 0.95, CASES, CASES, agents, 2, ("crowd",)
    )


def significance():
    return tuple(
        PairedComparison(pool, estimate(0.08 - 0.01 * i, 0.03), 0.0004, 0.004, 0.0041, 0.0007, 0.02)
        for i, pool in enumerate(POOLS[:3])
    )  # fmt: skip


def curve():
    thresholds = np.linspace(0.01, 0.99, 50)
    ratios = np.geomspace(0.05, 50, 40)
    share = 0.37
    return CostCurve(
        thresholds, 0.2 + 0.9 * (thresholds - 0.1) ** 2, ratios,
        0.05 / (1 + np.abs(np.log(ratios))), 0.08 / (1 + np.abs(np.log(ratios))),
        (1 - share) / np.maximum(1, ratios), share * ratios / np.maximum(1, ratios),
        1 / 11,
    )  # fmt: skip


def dates(cases, points):
    start = np.datetime64("2026-01-01")
    return tuple(
        str(start + int(case * 180 / CASES))
        for case in np.linspace(0, cases - 1, points)
    )


def drift(agents=AGENTS, alarms=True):
    cases = np.linspace(0, CASES - 1, 120)
    losses = {
        agent: 0.05 + 0.01 * i + 0.01 * np.sin(cases / 40 + i)
        for i, agent in enumerate(agents)
    }
    losses[agents[3]] = losses[agents[3]] + 0.1 * (cases > 400)
    losses["pool"] = 0.045 + 0.005 * np.cos(cases / 50)
    raw = np.exp(-np.outer(cases / CASES, np.arange(len(agents)) * 0.8))
    weights = raw / raw.sum(axis=1, keepdims=True)
    return Drift(
        cases, losses, weights, "gradient", ((agents[3], 412, 0.06, 0.17),) if alarms else (),
        dates(CASES, 120), ("2026-05-11",) if alarms else (), (),
    )  # fmt: skip


def correlation(agents=AGENTS):
    gaps = np.abs(np.subtract.outer(np.arange(len(agents)), np.arange(len(agents))))
    matrix = 0.9**gaps
    matrix[0, -1] = matrix[-1, 0] = -0.15
    return matrix


def tradeoff(
    cases=CASES, pools=("mean", "auto"), share=0.37, bins=240, by_amount=False, now=10.0
):
    """Cases by the ratio from which on they are decided positive."""
    edges = np.sort(
        np.append(np.linspace(np.log(now) - 5, np.log(now) + 5, bins), np.log(now))
    )
    middle = (edges[1:] + edges[:-1]) / 2 - np.log(now)
    sharp = np.array([1.0, 1.6])[: len(pools), None]
    side = (
        1 if by_amount else -1
    )  # by amount, positive cases are decided below a high ratio
    positives = np.exp(-0.5 * (middle - side * 1.4 * sharp) ** 2)
    negatives = np.exp(-0.5 * (middle + side * 1.4 * sharp) ** 2)
    positives *= cases * share / positives.sum(axis=1, keepdims=True)
    negatives *= cases * (1 - share) / negatives.sum(axis=1, keepdims=True)
    return Tradeoff(pools, edges, positives, negatives, positives * now, by_amount, now)


def operation(pool, cost=200.0, better=0.0, dated=True, money=False):
    return Operation(
        pool, CASES, estimate(cost, 30.0), estimate(cost * 3.1, 93.0) if dated else None,
        Estimate(12.4, 11.2, 13.6) if dated else None, Estimate(0.46, 0.42, 0.5),
        Estimate(0.8 + better, 0.74 + better, 0.84 + better), Estimate(0.93 + better / 2, 0.91, 0.99),
        Estimate(0.9 + better / 2, 0.86, 0.97) if money else None, Estimate(0.15, 0.12, 0.18),
    )  # fmt: skip


def finding(code, *who, severity="error", **given):
    return Finding(code, severity, who, **given)


MAY, APRIL = (
    Position(412, CASES, "A413", "2026-05-11"),
    Position(300, CASES, "A301", "2026-04-05"),
)
FEBRUARY = (
    Position(120, CASES, "A121", "2026-02-08"),
    Position(190, CASES, "A191", "2026-03-02"),
)
DEAD = finding(
    "constant-feed", "bayes", number=Estimate(157.0, NAN, NAN), unit="identical-reports", saving=estimate(38.0, 14.0),
    p_value=1e-9, since=412, date="2026-05-11", facts={"from": MAY, "report": 0.31, "count": 157},
)  # fmt: skip
UNIT = finding(
    "rescaled-feed", "tree", severity="warning", saving=estimate(11.0, 6.0), p_value=0.003, since=300, unit="factor",
    number=estimate(0.01, 0.001), date="2026-04-05",
    facts={"form": "factor", "from": APRIL, "factor": 0.01, "then": (0.1, 0.3, 0.6), "now": (0.001, 0.003, 0.006)},
)  # fmt: skip
SHARP = finding(
    "over-confident", "forest", severity="warning", number=Estimate(0.62, 0.51, 0.74), unit="slope",
    saving=Estimate(3.0, -1.0, 7.0), p_value=0.02, facts={"form": "two", "said": 0.92, "happened": 0.71},
)  # fmt: skip
GAP = finding(
    "reporting-gap", "neighbours", severity="note", since=120, until=190, date="2026-02-08",
    facts={"from": FEBRUARY[0], "to": FEBRUARY[1], "count": 70},
)  # fmt: skip
SOFT = finding(
    "under-confident-pool", severity="warning", number=Estimate(1.61, 1.38, 1.9), unit="slope",
    saving=Estimate(19.0, 2.0, 40.0), p_value=0.003, facts={"form": "two", "said": 0.7, "happened": 0.84},
)  # fmt: skip
LEAK = finding(
    "leaked-outcome", "tree", number=Estimate(0.999, 0.998, 1.0), unit="auc", p_value=1e-12,
    details=(Detail("forest", estimate(0.93)), Detail("logistic", estimate(0.91))),
    facts={"form": "beside", "area": 0.999, "best": "forest", "best_area": 0.93},
)  # fmt: skip
UNRELATED = finding(
    "unrelated-outcome", severity="error", number=estimate(0.501), unit="auc", p_value=0.6,
    facts={"positive": 1, "negative": 0, "decision": 0, "cost": 370.0},
)  # fmt: skip


def diagnosis(subject, who, *findings):
    if not findings:
        return Diagnosis(subject, who, kinds.SOUND)
    first, *rest = findings
    severity = None if first.severity == "note" else first.severity
    return Diagnosis(subject, who, first.code, severity, first, tuple(rest))


def summaries(agents=AGENTS, price=None):
    worth = np.linspace(60.0, -12.0, len(agents))
    return tuple(
        AgentSummary(
            agent, 1.0 if i else 0.925, CASES if i else 526, 0.05 + 0.02 * i, 200.0 + 50.0 * i, 220.0,
            estimate(1 / len(agents), 0.03), estimate(worth[i], 6.0), estimate(worth[i] * 1.4, 9.0),
            1 / len(agents), (0.0 if i in (2, 3) else 1 / 3) if len(agents) == 5 else 1 / len(agents),
            estimate(worth[i], 9.0), estimate(worth[i] * 3.1, 28.0), price,
            None if price is None else estimate(worth[i] - 1000 * price, 9.0),
        )
        for i, agent in enumerate(agents)
    )  # fmt: skip


def use(pool="auto", without=(), **given):
    return Step("use", (), {"pool": pool, "without": without, "threshold": None, "agent": None, **given},
                estimate(48.0, 20.0), estimate(149.0, 62.0), 0.0004)  # fmt: skip


KEEP = Step("keep", (), {"pool": "mean"})
LEAVE = Step(
    "leave-out", ("bayes",), {}, estimate(38.0, 14.0), estimate(118.0, 43.0), 1e-9
)
RESCALE = Step(
    "rescale",
    ("tree",),
    {"factor": 100.0, "from": APRIL, "date": "2026-04-05"},
    estimate(11.0, 6.0),
    estimate(34.0, 19.0),
)


def plan(*steps, trust="no", pool="auto", without=(), alternative="platt", **given):
    whole = Plan(
        trust, steps, "mean", pool, without, estimate(97.0, 31.0), estimate(300.0, 96.0), alternative,
        constant="positive", constant_saving=estimate(430.0, 40.0), tried=9, tested=CASES, folds=5, forward=True,
    )  # fmt: skip
    return replace(whole, **given)


def audit(agents=AGENTS, **changes):
    """Two agents at fault and a better pool."""
    slopes = [1.0, 0.62, 1.05, 0.9, 1.2]
    by_agent = {f.who[0]: f for f in (DEAD, UNIT, SHARP, GAP)}
    renamed = dict(zip(AGENTS, agents, strict=False))
    found = [
        replace(f, who=tuple(renamed[w] for w in f.who)) for f in by_agent.values()
    ]
    by_agent = {f.who[0]: f for f in found}
    out = (renamed["bayes"],)
    whole = Audit(
        outcome=diagnosis("outcome", ""),
        agents=tuple(
            diagnosis("agent", agent, *([by_agent[agent]] if agent in by_agent else ())) for agent in agents
        ),
        pool=diagnosis("pool", "mean", SOFT),
        plan=plan(replace(LEAVE, agents=out), replace(RESCALE, agents=(renamed["tree"],)), use(without=out), without=out),
        findings=(*found, SOFT), costs={"fn": 10.0, "fp": 1.0}, threshold=1 / 11, level=0.95,
        cases=CASES, positives=212, classes=2, missing=0.015, seed=0,
        calibration=(
            *(calibration(agent, slopes[i % 5]) for i, agent in enumerate(agents)),
            calibration("pool", 1.61), calibration("pool, recalibrated"),
        ),
        summaries=summaries(agents), correlation=correlation(agents), effective_agents=1.7, curve=curve(),
        comparison=comparison(agents), significance=significance(), drift=drift(agents),
        operations=(operation("mean"), operation("auto", 103.0, 0.08), operation("platt", 118.0, 0.06)),
        tradeoff=tradeoff(), withheld=(Note("drifted-pool", {"why": "fewer than 1,000 cases"}),),
        notes=(Note("shapley", {}),), source="reports.csv", date="2026-11-19", cases_per_month=3100.0,
        label_cases=(357, 212),
    )  # fmt: skip
    return replace(whole, **changes)


def sound():
    """Nothing wrong: the page must be calm."""
    kept = plan(
        KEEP,
        trust="yes",
        pool=None,
        alternative=None,
        saving=None,
        saving_per_month=None,
    )
    return change(
        audit(), agents=tuple(diagnosis("agent", agent) for agent in AGENTS), pool=diagnosis("pool", "mean"),
        findings=(), significance=(), plan=kept, drift=drift(alarms=False), operations=(operation("mean"),),
        tradeoff=tradeoff(pools=("mean",)), withheld=(),
    )  # fmt: skip


def leak():
    """An agent may know the outcome: a question comes first."""
    asked = Step("ask-leak", ("tree",), {"removed": ("tree",)})
    found = {"tree": [LEAK], "bayes": [DEAD]}
    return change(
        audit(), agents=tuple(diagnosis("agent", agent, *found.get(agent, ())) for agent in AGENTS),
        plan=plan(asked, trust="asked", in_doubt=True), findings=(LEAK, DEAD),
    )  # fmt: skip


def doubt():
    """The outcome may be the wrong column."""
    named = Step("name-outcome")
    return change(
        audit(), outcome=diagnosis("outcome", "outcome", UNRELATED), findings=(UNRELATED, *audit().findings),
        plan=plan(named, trust="asked", in_doubt=True),
    )  # fmt: skip


def change(one, **changes):
    return replace(one, **changes)


def four_classes():
    """Four classes, where no label is the positive one."""
    matrix = [
        [0.0 if i == j else 1.0 + 4 * (i > j) for j in range(4)] for i in range(4)
    ]
    operations = tuple(
        replace(
            operation(pool, cost),
            alerts=None,
            alerts_per_day=None,
            precision=None,
            recall=None,
            false_alarms=None,
        )
        for pool, cost in (("mean", 310.0), ("auto", 254.0))
    )
    return change(
        audit(), classes=4, threshold=None, costs={"matrix": matrix}, curve=None, tradeoff=None, operations=operations,
        labels=Labels(("green", "amber", "red", "black")), label_cases=(300, 150, 80, 39), comparison=None, significance=(),
    )  # fmt: skip


def without_times():
    return change(
        audit(), drift=None, cases_per_month=None, tradeoff=tradeoff(),
        operations=tuple(replace(o, alerts_per_day=None, cost_per_month=None) for o in audit().operations),
        plan=replace(audit().plan, steps=tuple(replace(s, saving_per_month=None) for s in audit().plan.steps)),
    )  # fmt: skip


def with_prices():
    """Costs by amount in a currency, and a price for every report."""
    best = AgentSet(("logistic", "forest"), ("tree", "bayes", "neighbours"), estimate(120.0, 20.0),
                    estimate(180.0, 20.0), estimate(60.0, 15.0))  # fmt: skip
    return change(
        audit(), costs={"fn": "amount", "fp": 5.0, "currency": "EUR"}, threshold=None, summaries=summaries(price=0.02),
        best_set=best, tradeoff=tradeoff(by_amount=True, now=5.0),
        operations=tuple(operation(p, c, b, money=True) for p, c, b in (("mean", 2400.0, 0.0), ("auto", 1730.0, 0.06), ("platt", 1820.0, 0.04))),
        segments=segments(), by="country",
        capacity=AtCapacity("200 per day", 261, 200, Estimate(0.8, 0.76, 0.84), 0.9, estimate(2100.0, 200.0), estimate(300.0, 100.0), 0.93, 0.82),
        changes=Changes("may.json", "2026-08-19", (), (
            Change("agent", "bayes", "new", "sound", "constant-feed"),
            Change("agent", "logistic", "better", "over-confident", "sound"),
            Change("agent", "forest", "worth", "sound", "sound", estimate(12.0, 4.0)),
        ), (), estimate(2300.0, 200.0), "mean", "auto"),
    )  # fmt: skip


def segments(agents=AGENTS):
    return tuple(
        Segment(name, cases, cases // 3, None if cases > 30 else "fewer than 30 cases",
                estimate(200.0, 30.0), Estimate(0.9, 0.84, 0.94), estimate(0.01), estimate(1.1, 0.2),
                agents=tuple(AgentSkill(a, cases, estimate(0.9 - 0.02 * i)) for i, a in enumerate(agents)) if cases > 30 else ())
        for name, cases in (("DE", 300), ("FR", 180), ("IT", 70), ("LU", 19))
    )  # fmt: skip


def many(count=40):
    names = AGENTS + tuple(f"vendor-{i:02d} of the panel" for i in range(count - 5))
    return audit(names)


EVERY = {
    "dead": audit, "sound": sound, "leak": leak, "doubt": doubt, "four-classes": four_classes,
    "no-times": without_times, "prices": with_prices, "many": many,
}  # fmt: skip
