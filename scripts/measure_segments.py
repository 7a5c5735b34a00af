"""Measure how often the audit says that an agent fails in a segment.

Run: python scripts/measure_segments.py [PANELS] [--first SEED]. Four agents, one
over-confident and one biased everywhere, report on cases in 2, 5 or 12 segments of
equal size; 5 % of the reports are missing. First all agents are as good in one segment
as in another: 2,000 cases, of which 3, 9 or 22 % are positive, in segments that differ
in base rate and case mix or do not. Then the first agent fails: 4,000 cases, 9 %
positive. A finding is one with p below 0.05 after Holm's adjustment for the agents; the
audit, which adjusts for all its tests, finds less.
"""

import argparse
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from truepool.audits.checks.segments import skill_by_segment
from truepool.audits.evidence import Evidence
from truepool.audits.kinds import LIKELY
from truepool.core.arrays import BoolArray, FloatArray, IntArray
from truepool.measures.inference import holm
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean

SEGMENTS, SHARES = (2, 5, 12), (0.03, 0.09, 0.22)
SOUND_CASES, FAULTY_CASES = 2_000, 4_000
AGENTS, MISSING = 4, 0.05
ERROR, SHARED = 1.2, 0.3
"""Standard error of what an agent sees of the log-odds; correlation of the errors."""
SPREAD, LEVEL, SPREADS = 1.8, 1.0, (0.7, 1.3)
"""Standard deviation of the log-odds of the cases; where segments differ, the standard
deviation of their means, and the factors by which their spread differs."""
FACTOR, BIAS, SHIFT = 2.0, 0.7, 1.5
"""Log-odds of the over-confident agent times, of the biased one plus, and of an agent
that reports too high in one segment plus."""
FAULTS = ("noise in one segment", "noise elsewhere", "too high in one segment")


def make_panel(
    rng: np.random.Generator,
    cases: int,
    share: float,
    segments: int,
    differ: bool,
    fault: str = "",
) -> Panel:
    """Return agents whose reports are calibrated but for the faults that are planted.

    The log-odds z of a case are normal within its segment, an agent sees z plus an
    error, and reports (nearly) the probability given that.
    """
    segment = np.arange(cases) % segments
    middle, spread = np.zeros(segments), np.full(segments, SPREAD)
    if differ:
        middle = LEVEL * rng.normal(size=segments)
        spread = SPREAD * rng.uniform(*SPREADS, segments)
    unit = rng.normal(size=cases)
    own = spread[segment] * unit
    start = brentq(
        lambda shift: float(expit(shift + middle[segment] + own).mean()) - share,
        -30,
        30,
    )
    mean = start + middle[segment]
    outcomes = (rng.random(cases) < expit(mean + own)).astype(np.int64)
    common, apart = rng.normal(size=(cases, 1)), rng.normal(size=(cases, AGENTS))
    errors = ERROR * (np.sqrt(SHARED) * common + np.sqrt(1 - SHARED) * apart)
    log_odds = _posterior(mean, spread[segment], own[:, None] + errors)
    log_odds[:, 1] *= FACTOR
    log_odds[:, 2] += BIAS
    if fault:
        inside = segment == 0
        where = ~inside if fault == "noise elsewhere" else inside
        if fault == "too high in one segment":
            log_odds[where, 0] += SHIFT
        else:
            log_odds[where, 0] = rng.permutation(log_odds[where, 0])
    reports = expit(log_odds)
    silent = rng.random(reports.shape) < MISSING
    silent[silent.all(axis=1), 0] = False  # a case needs a report
    reports[silent] = np.nan
    return Panel(reports, outcomes, columns={"segment": segment.astype(str)})


def _posterior(mean: FloatArray, spread: FloatArray, seen: FloatArray) -> FloatArray:
    """Log-odds of an event given an error-prone sight of its own log-odds, (T, N)."""
    kept = (spread**2 / (spread**2 + ERROR**2))[:, None]
    variance = kept * ERROR**2
    return np.asarray((mean[:, None] + kept * seen) / np.sqrt(1 + np.pi / 8 * variance))


def find(panel: Panel, seed: int) -> list[tuple[int, BoolArray]]:
    """Return the agents that fail in some segments, and in which."""
    costs = Costs(fn=10, fp=1)
    evidence = Evidence(
        panel, Mean(costs=costs), costs, None, 0.95, 50, seed, "segment"
    )
    skill = evidence.compute(skill_by_segment)
    if skill.judged.sum() < 2:
        return []
    found = [skill.find_weak(i) for i in range(AGENTS)]
    adjusted = holm(np.array([one.p_value for one in found]))
    names = _first_cases(panel, evidence.cases, skill.segment)
    return [
        (i, one.failing[names]) for i, one in enumerate(found) if adjusted[i] < LIKELY
    ]


def _first_cases(panel: Panel, cases: IntArray, segment: IntArray) -> IntArray:
    """Places of the segments 0, 1, ... among those of the audit, the largest first."""
    own = panel.columns["segment"][cases].astype(np.int64)
    return np.array(
        [segment[np.flatnonzero(own == g)[0]] for g in range(own.max() + 1)]
    )


def print_sound(seeds: range) -> None:
    """Print in how many panels an agent is said to fail though none does."""
    for segments, share, differ in product(SEGMENTS, SHARES, (False, True)):
        found = 0
        for seed in seeds:
            rng = np.random.default_rng([seed, segments, round(100 * share), differ])
            panel = make_panel(rng, SOUND_CASES, share, segments, differ)
            found += bool(find(panel, seed))
        kind = "different" if differ else "alike"
        print(
            f"sound, {segments} segments ({kind}), {100 * share:g} % positive: "
            f"{found} of {len(seeds)} with a finding",
            flush=True,
        )


def print_power(seeds: range) -> None:
    """Print how often the agent that fails is found with the right segments."""
    for fault in FAULTS:
        shares = []
        blamed = 0
        for segments in SEGMENTS:
            right = 0
            there = np.arange(segments) == 0
            if fault == "noise elsewhere":
                there = ~there
            for seed in seeds:
                rng = np.random.default_rng([seed, segments, FAULTS.index(fault)])
                panel = make_panel(rng, FAULTY_CASES, 0.09, segments, True, fault)
                result = find(panel, seed)
                right += any(i == 0 and (w == there).all() for i, w in result)
                blamed += any(i != 0 for i, _ in result)
            shares.append(f"{100 * right / len(seeds):.0f} %")
        print(
            f"{fault}: {' | '.join(shares)} for {SEGMENTS} segments; another agent "
            f"blamed in {blamed} of {len(SEGMENTS) * len(seeds)}",
            flush=True,
        )


def main() -> None:
    """Print false alarms, then how often a failing agent is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("panels", type=int, nargs="?", default=100)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.panels)
    print_sound(seeds)
    print_power(seeds)


if __name__ == "__main__":
    main()
