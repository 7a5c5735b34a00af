"""Measure how often the audit's feed and drift checks find a planted fault.

Run: python scripts/measure_drift_power.py CASES REPETITIONS [FAULT]. Five calibrated
agents (AUC .76 to .84, noise correlated by .3; costs fn 10, fp 1), dated; the third
agent breaks after 60 % of them (slow decay: from 40 % on, down to noise at the end). A
fault is found where a warning or an error names that agent. The p-values are adjusted
for the tests of a whole audit, whose others are counted as having found nothing.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.checks import drift, feeds, outcome_rate
from truepool.audits.evidence import Evidence
from truepool.audits.findings import select_findings
from truepool.audits.values import Finding
from truepool.core.arrays import FloatArray, logit
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean
from truepool_lab.stress.drift import quality_panel

SKILLS = (1.0, 1.1, 1.2, 1.3, 1.4)
BASE_RATES = (0.002, 0.02, 0.1, 0.37)
COSTS = Costs(fn=10, fp=1)
OTHER_TESTS = 30
"""Tests that a whole audit of five agents makes beside these."""
AGENT = 2


def constant(reports: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Its median, over and over."""
    return _from(reports, 0.6, np.full_like(reports, np.median(reports)))


def noise(reports: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Reports of its own distribution that have nothing to do with the case."""
    return _from(reports, 0.6, rng.permutation(reports))


def old_copy(reports: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Its reports of a day before; a day has a twentieth of the cases."""
    return _from(reports, 0.6, np.roll(reports, len(reports) // 20))


def scale(reports: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Log-odds twice as far from their median."""
    z = logit(reports)
    middle = np.median(z)
    return _from(reports, 0.6, 1 / (1 + np.exp(-(middle + 2 * (z - middle)))))


def decay(reports: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Log-odds that turn to noise little by little, at the same spread."""
    z = logit(reports)
    share = np.clip(np.linspace(-2 / 3, 1, len(z)), 0, 1)
    middle = z.mean()
    other = rng.permutation(z) - middle
    mixed = middle + np.sqrt(1 - share**2) * (z - middle) + share * other
    return np.asarray(1 / (1 + np.exp(-mixed)))


FAULTS: dict[str, Callable[[FloatArray, np.random.Generator], FloatArray]] = {
    "constant": constant,
    "noise": noise,
    "one-day-old copy": old_copy,
    "scale change": scale,
    "slow decay": decay,
}


def detected(fault: str, base_rate: float, cases: int, seed: int) -> tuple[bool, ...]:
    """Whether it was found: at all, from outcomes alone; whether others were blamed."""
    made = quality_panel(
        "none",
        before=SKILLS,
        after=SKILLS,
        cases=cases,
        base_rate=base_rate,
        correlation=0.3,
        honest=True,
        seed=seed,
    )
    outcomes = np.array(made.outcomes)
    if outcomes.min() == outcomes.max():
        outcomes[0] = 1 - outcomes[0]
    reports = made.reports.copy()
    rng = np.random.default_rng([seed, cases])
    reports[:, AGENT] = FAULTS[fault](reports[:, AGENT], rng)
    panel = Panel(reports, outcomes, times=np.arange(cases))
    evidence = Evidence(panel, Mean(costs=COSTS), COSTS, None, 0.95, 50, seed)
    checks = [feeds]
    if evidence.shortage is None:
        checks += [drift, outcome_rate]
    candidates = [replace(s, price=None) for one in checks for s in one.check(evidence)]
    idle = Candidate("copy", p_value=1.0)
    candidates += [idle] * OTHER_TESTS
    findings = _grave(candidates)
    who = panel.agents[AGENT]
    alone = [s for s in candidates if s.code == "drifted"]
    outcome_tests = _grave(alone + [idle] * (len(candidates) - len(alone)))
    return (
        any(who in f.who for f in findings),
        any(who in f.who for f in outcome_tests),
        any(who not in f.who for f in findings),
    )


def _grave(candidates: list[Candidate]) -> list[Finding]:
    """Warnings and errors about agents."""
    found = (finding for _, finding in select_findings(candidates))
    return [one for one in found if one.severity != "note" and one.who]


def main(cases: int, repetitions: int, *faults: str) -> None:
    """Print one row per fault: the share found at each base rate."""
    for fault in faults or FAULTS:
        row = {}
        for base_rate in BASE_RATES:
            runs = [
                detected(fault, base_rate, cases, seed) for seed in range(repetitions)
            ]
            row[str(base_rate)] = [round(float(s), 3) for s in np.mean(runs, axis=0)]
        print(json.dumps({"fault": fault, "cases": cases, "shares": row}), flush=True)


def _from(reports: FloatArray, at: float, then: FloatArray) -> FloatArray:
    """These reports, and others from this share of the cases on."""
    return np.where(np.arange(len(reports)) < at * len(reports), reports, then)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
