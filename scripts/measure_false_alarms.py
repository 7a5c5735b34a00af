"""Measure how often an audit of a sound panel reports an error.

Run: python scripts/measure_false_alarms.py [PANELS] [--first SEED]
[--feeds|--outcome|--reversed].
Every agent is calibrated by construction and sees something of its own; number of cases
and agents, skill, base rate, costs, correlation, rounding, missing reports, cases
without an outcome and times are drawn by the seed. With --feeds only the checks of
feeds, drift and the outcome rate run, which takes seconds; they are then adjusted among
themselves alone, so that they report more than they would in a whole audit. With
--outcome the question whether the outcome column is the right one is asked alone, of
agents by their skill: of chance, where it should be asked, and weak, where it should
not. With --reversed the warning of `truepool fit` of an agent that reports the opposite
is measured alone: on sound panels, of agents of chance, and of five agents of whom one
is reversed.
"""

import argparse
import json
from collections import Counter

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit, ndtri

from truepool.audits import audit
from truepool.audits.checks import drift, feeds, outcome_rate
from truepool.audits.checks.reversal import is_unrelated, reversed_agents
from truepool.audits.evidence import Evidence
from truepool.audits.findings import select_findings
from truepool.core.arrays import FloatArray
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean
from truepool_lab.stress.drift import quality_panel
from truepool_lab.stress.label_flip import LabelFlip

BASE_RATES = (0.002, 0.02, 0.05, 0.2, 0.37, 0.5)
CASES = (150, 500, 2_000, 8_000)
RESAMPLES = 200

SKILLS = (0.5, 0.55, 0.6, 0.65)
"""AUC of each agent where the outcome column is in doubt, or should not be."""
SIZES = (
    (200, 0.3), (500, 0.1), (500, 0.5), (1_000, 0.03), (2_000, 0.03), (2_000, 0.3),
    (5_000, 0.01), (20_000, 0.01),
)  # fmt: skip
"""Numbers of cases and shares of positives of these panels."""


def sound_panel(seed: int, decimals: bool = False) -> tuple[Panel, Costs]:
    """Return a panel without a fault, and what errors cost its users.

    Reports are rounded to two significant figures in a third of the panels. Rounded to
    two ``decimals`` instead, 0.003 becomes 0.00: the feeds are still sound, but the
    agent is over-confident, and rightly called so.
    """
    rng = np.random.default_rng([seed, 6])
    skills = rng.uniform(0.5, 2.0, int(rng.integers(2, 9)))
    cases, base_rate = int(rng.choice(CASES)), float(rng.choice(BASE_RATES))
    if cases * base_rate < 4:  # both classes must happen
        base_rate = 0.05
    made = quality_panel(
        "none",
        before=skills,
        after=skills,
        cases=cases,
        base_rate=base_rate,
        correlation=float(rng.uniform(0.0, 0.7)),
        honest=True,
        seed=seed,
    )
    reports = made.reports.copy()
    if rng.random() < 1 / 3:
        reports = np.round(reports, 2) if decimals else rounded(reports)
    if rng.random() < 1 / 3:
        quiet = rng.random(reports.shape) < 0.1
        quiet[:, 0] = False
        reports[quiet] = np.nan
    outcomes = np.array(made.outcomes)
    if outcomes.min() == outcomes.max():
        outcomes[0] = 1 - outcomes[0]
    count = cases if rng.random() < 2 / 3 else int(0.8 * cases)
    if outcomes[:count].min() == outcomes[:count].max():
        count = cases
    times = np.arange(cases) if rng.random() < 1 / 2 else None
    costs = Costs(fn=float(rng.choice([1.0, 5.0, 10.0])))
    panel = Panel(
        reports[:count],
        outcomes[:count],
        times=None if times is None else times[:count],
    )
    if count < cases:
        later = None if times is None else times[count:]
        panel = panel.with_pending(reports[count:], times=later)
    return panel, costs


def rounded(reports: FloatArray) -> FloatArray:
    """Reports with two significant figures of what is nearer, 0 or 1."""
    rest = np.minimum(reports, 1 - reports)
    unit = 10.0 ** (np.floor(np.log10(rest)) - 1)
    short = np.round(rest / unit) * unit
    return np.where(reports < 0.5, short, 1 - short)


def found(seed: int, feeds_only: bool) -> list[tuple[str, str]]:
    """Severity and code of each diagnosis of one sound panel, or of each finding."""
    panel, costs = sound_panel(seed, decimals=feeds_only)
    if not feeds_only:
        result = audit(panel, costs=costs, seed=seed, resamples=RESAMPLES)
        return [(str(one.severity), one.code) for one in result.diagnoses]
    evidence = Evidence(panel, Mean(costs=costs), costs, None, 0.95, 50, seed)
    checks = [feeds]
    if evidence.shortage is None:
        checks += [drift, outcome_rate]
    tests = [one for check in checks for one in check.check(evidence)]
    return [(one.severity, one.code) for _, one in select_findings(tests)]


def skilled_panel(
    seed: int, area: float, cases: int, share: float, agents: int = 3
) -> Panel:
    """Return agents with the same AUC, whose log-odds are correlated by 0.3."""
    rng = np.random.default_rng([seed, cases, round(1000 * share)])
    outcomes = (np.arange(cases) < round(share * cases)).astype(np.int64)
    apart = np.sqrt(2) * ndtri(area)
    shared, own = rng.normal(size=(cases, 1)), rng.normal(size=(cases, agents))
    log_odds = np.sqrt(0.3) * shared + np.sqrt(0.7) * own
    return Panel(expit(apart * (outcomes[:, None] - 0.5) + log_odds), outcomes)


def doubts(seeds: range, area: float, cases: int, share: float) -> float:
    """Share of the panels in which the outcome column is in doubt."""
    panels = (skilled_panel(seed, area, cases, share) for seed in seeds)
    return float(np.mean([is_unrelated(panel) for panel in panels]))


def print_doubts(seeds: range, jobs: int) -> None:
    """Print how often the outcome is in doubt, by size, share of positives and AUC."""
    print("| cases | positive |", *(f"AUC {area:g} |" for area in SKILLS))
    for cases, share in SIZES:
        rates = Parallel(n_jobs=jobs)(
            delayed(doubts)(seeds, area, cases, share) for area in SKILLS
        )
        shown = (f"{100 * rate:.1f} % |" for rate in rates)
        print(f"| {cases:,} | {100 * share:g} % |", *shown)


def print_reversed(seeds: range) -> None:
    """Print how often agents are said to report the opposite, sound ones and others."""
    sound = [bool(reversed_agents(sound_panel(seed)[0])) for seed in seeds]
    print(f"sound panels: {sum(sound)} of {len(sound)} with a warning")
    for cases, share in SIZES:
        chance = [
            bool(reversed_agents(skilled_panel(seed, 0.5, cases, share, agents=5)))
            for seed in seeds
        ]
        rate = 100 * float(np.mean(chance))
        print(f"agents of chance, {cases:,} cases, {100 * share:g} %: {rate:.1f} %")
    for area in (0.6, 0.65, 0.7, 0.75, 0.8):
        panels = (skilled_panel(seed, area, 3_000, 0.02, agents=5) for seed in seeds)
        turned = [reversed_agents(LabelFlip()(one, "agent2")) for one in panels]
        found = np.mean([any(one.agent == "agent2" for one in run) for run in turned])
        wrong = np.mean([any(one.agent != "agent2" for one in run) for run in turned])
        print(
            f"one of five reversed, AUC {1 - area:.2f}, 3,000 cases, 2 %: found in "
            f"{100 * found:.1f} %, another blamed in {100 * wrong:.1f} %"
        )


def main() -> None:
    """Print the share of sound panels with an error, and which errors these were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("panels", type=int, nargs="?", default=200)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--feeds", action="store_true", help="feeds and drift alone")
    parser.add_argument("--outcome", action="store_true", help="the outcome column")
    parser.add_argument("--reversed", action="store_true", help="the opposite")
    parser.add_argument("--jobs", type=int, default=-1)
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.panels)
    if given.outcome:
        print_doubts(seeds, given.jobs)
        return
    if given.reversed:
        print_reversed(seeds)
        return
    results = Parallel(n_jobs=given.jobs)(
        delayed(found)(seed, given.feeds) for seed in seeds
    )
    grave: dict[str, Counter[str]] = {"error": Counter(), "warning": Counter()}
    errors = 0
    for one in results:
        errors += any(severity == "error" for severity, _ in one)
        for severity, code in one:
            if severity in grave:
                grave[severity][code] += 1
    share = errors / len(results)
    error = np.sqrt(share * (1 - share) / len(results))
    print(
        f"{errors} of {len(results)} sound panels have an error: {100 * share:.1f} % "
        f"(standard error {100 * error:.1f} %)"
    )
    print(json.dumps({"first": given.first, "panels": len(results), **grave}))


if __name__ == "__main__":
    main()
