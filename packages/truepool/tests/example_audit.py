"""An audit made by hand: five agents, seven findings, every part of the evidence."""

from dataclasses import replace

import numpy as np

from truepool.audits.values import (
    AgentSummary,
    Audit,
    Calibration,
    CostCurve,
    Detail,
    Drift,
    Finding,
    Fix,
    Operation,
    PairedComparison,
    Recommendation,
    Reliability,
)
from truepool.comparison import Comparison, Estimate, Row
from truepool.panel.costs import Costs

AGENTS = ("logistic", "forest", "tree", "bayes", "neighbours")
NAN = float("nan")


def estimate(value, half=0.01):
    return Estimate(value, value - half, value + half)


def reliability(slope=1.0, groups=8):
    mean_report = np.linspace(0.04, 0.96, groups)
    odds = np.log(mean_report / (1 - mean_report))
    happened = 1 / (1 + np.exp(-slope * odds))
    return Reliability(
        mean_report, happened, np.full(groups, 70.0), np.clip(mean_report - 0.1, 0, 1), np.clip(mean_report + 0.1, 0, 1)
    )  # fmt: skip


def calibration(who, slope=1.0, cases=569):
    return Calibration(
        who, cases, 0.031, 0.027, estimate(0.004), estimate(slope, 0.1),
        0.0004 if slope != 1 else 0.41, reliability(slope),
    )  # fmt: skip


def row(pool, loss, brier=0.04):
    gap = estimate(loss - 0.22, 0.03)
    same = Estimate(0.0, 0.0, 0.0)
    return Row(
        pool, estimate(loss, 0.05), same if pool == "mean" else gap,
        same if pool == "best-agent" else gap, 0.001 if loss < 0.2 else 1.0, 1.0, loss, brier,
        0.15, 0.02, 0.98, 0.8, 0.02, 0.15, (0.85, 0.98),
    )  # fmt: skip


def comparison(agents=AGENTS):
    rows = tuple(
        row(name, 0.14 + 0.01 * i)
        for i, name in enumerate(
            ("stacked-lr", "extremized", "platt", "vcg", "log-odds", "best-agent", "median", "brier", "mean", "vote")
        )
    )  # fmt: skip
    return Comparison(
        rows, "cost", Costs(fn=10), None, 0.95, 569, 569, agents, 2, ("auto",)
    )


def significance(streamed=True):
    return tuple(
        PairedComparison(pool, estimate(0.08 - 0.01 * i, 0.03), 0.0004, 0.004, 0.0041, 0.0007, 0.02 if streamed else None)
        for i, pool in enumerate(("stacked-lr", "extremized", "platt"))
    )  # fmt: skip


def findings(agents=AGENTS):
    return (
        Finding(
            "overconfident", "error", (agents[2],),
            f"Agent {agents[2]} is over-confident: what it calls 95 % happens in 78 % of cases.",
            f"Recalibrate {agents[2]} on cases with a known outcome, or ask for its raw scores.",
            Estimate(0.52, 0.41, 0.66), "calibration slope", Estimate(0.031, 0.012, 0.054), 2e-7, "reliability",
        ),
        Finding(
            "threshold", "error", (), "The threshold in use, 0.5, is not what the costs ask for, 0.091.",
            "Decide 1 above 0.091.", Estimate(0.5, NAN, NAN), "threshold", Estimate(0.027, 0.009, 0.049), 1e-5, "threshold",
        ),
        Finding(
            "underconfident-pool", "warning", ("pool",),
            "The mean of these agents is under-confident, as means of calibrated agents are.",
            "Use a recalibrated pool: platt or extremized.", Estimate(1.61, 1.38, 1.9), "calibration slope",
            Estimate(0.019, -0.002, 0.04), 0.003, "reliability",
        ),
        Finding(
            "redundant", "warning", (agents[0], agents[1]), f"{agents[0]} and {agents[1]} say nearly the same.",
            "Drop one of the two, or count them as one.", Estimate(0.94, 0.92, 0.95), "correlation",
            None, 0.002, "correlation",
        ),
        Finding(
            "drift", "warning", (agents[3],), f"{agents[3]} got worse at case 412.", "Find out what changed there.",
            Estimate(0.11, 0.06, 0.17), "Brier loss", Estimate(0.006, 0.001, 0.012), 0.01, "drift",
        ),
        Finding(
            "incentives", "note", (agents[4],), f"{agents[4]} could gain by shading its reports.",
            "Pay by a proper score of its own reports.", estimate(0.002, 0.001), "gain per case", None, None, "details",
            details=tuple(Detail(agent, estimate(0.002 - 0.0003 * i, 0.001)) for i, agent in enumerate(agents)),
        ),
        Finding(
            "advice", "note", (), "On these cases stacked-lr costs least: 0.140 a case.",
            "Pool with stacked-lr; the lead over the mean is statistically significant.", Estimate(0.14, 0.09, 0.19),
            "cost a case", None, 0.001, "comparison",
        ),
    )  # fmt: skip


def recommendation(agents=AGENTS, listed=None, **changes):
    """What the findings come to; all else made by hand."""
    listed = findings(agents) if listed is None else listed
    grave = [f for f in listed if f.severity != "note"]
    fixes = tuple(Fix(f.code, f.who, f.severity, f.cost, f.since) for f in grave)
    worst = grave[0].severity if grave else None
    trust = {"error": "no", "warning": "with care", None: "yes"}[worst]
    whole = Recommendation(
        trust, fixes, "mean", "stacked-lr", None, 0.14, 0.22, estimate(0.08, 0.03), 0.0041,
        "it is the simplest of the pools that cost significantly less", tried=9, tested=569, folds=5,
        regime="cases are few (569)", usual="vcg", usual_cost=0.17,
    )  # fmt: skip
    return replace(whole, **changes)


def agent_summaries(agents=AGENTS):
    worth = np.linspace(0.03, -0.012, len(agents))
    return tuple(
        AgentSummary(
            agent, 1.0 if i else 0.925, 0.05 + 0.02 * i, 0.2 + 0.05 * i,
            estimate(1 / len(agents), 0.03), estimate(worth[i], 0.006), estimate(worth[i] * 1.4, 0.009),
            569 if i else 526, 0.22,
        )
        for i, agent in enumerate(agents)
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


def drift(agents=AGENTS, alarms=True):
    cases = np.linspace(0, 568, 120)
    losses = {
        agent: 0.05 + 0.01 * i + 0.01 * np.sin(cases / 40 + i)
        for i, agent in enumerate(agents)
    }
    losses[agents[3]] = losses[agents[3]] + 0.1 * (cases > 400)
    losses["pool"] = 0.045 + 0.005 * np.cos(cases / 50)
    raw = np.exp(-np.outer(cases / 568, np.arange(len(agents)) * 0.8))
    weights = raw / raw.sum(axis=1, keepdims=True)
    return Drift(
        cases,
        losses,
        weights,
        "gradient",
        ((agents[3], 412, 0.06, 0.17),) if alarms else (),
    )


def correlation(agents=AGENTS):
    gaps = np.abs(np.subtract.outer(np.arange(len(agents)), np.arange(len(agents))))
    matrix = 0.9**gaps
    matrix[0, -1] = matrix[-1, 0] = -0.15
    return matrix


def operation(pool):
    return Operation(
        pool, 569, estimate(0.2, 0.05), None, None, Estimate(0.46, 0.42, 0.5), Estimate(0.8, 0.74, 0.84),
        Estimate(0.98, 0.96, 0.99), None, Estimate(0.15, 0.12, 0.18),
    )  # fmt: skip


def audit(agents=AGENTS, **changes):
    slopes = [1.0, 1.2, 0.52, 0.9, 1.05]
    whole = Audit(
        findings=findings(agents), pool="mean", costs={"fn": 10.0, "fp": 1.0}, threshold=0.5, level=0.95,
        cases=569, positives=212, classes=2, agents=agents, missing=0.015, seed=0,
        calibration=(
            *(calibration(agent, slopes[i % 5]) for i, agent in enumerate(agents)),
            calibration("pool", 1.61), calibration("pool, recalibrated"),
        ),
        agent_summaries=agent_summaries(agents), correlation=correlation(agents), effective_agents=1.7, curve=curve(),
        comparison=comparison(agents), significance=significance(), drift=drift(agents),
        recommendation=recommendation(agents),
        operations=(operation("mean"), operation("stacked-lr")),
        withheld=(("drift of the pool", "fewer than 1,000 cases"),), sampled=("Shapley credit: 2,000 orders.", "Robustness: 500 cases.",),
    )  # fmt: skip
    if "findings" in changes and "recommendation" not in changes:
        changes["recommendation"] = recommendation(agents, changes["findings"])
    return replace(whole, **changes)
