"""Measure how often an audit of a sound panel cries error.

Run: python scripts/measure_false_alarms.py [SEEDS]. Every agent is calibrated by
construction and sees something of its own; size, skill, prevalence, costs, correlation,
silence and times are drawn by the seed.
"""

import sys
from collections import Counter

import numpy as np
from joblib import Parallel, delayed

from truepool.audit import Audit, audit
from truepool.costs import Costs
from truepool.panel import Panel
from truepool.stress.drift import quality_panel


def sound_panel(seed: int) -> tuple[Panel, Costs]:
    """Return a panel without a fault, and what errors cost its users."""
    rng = np.random.default_rng([seed, 6])
    agents = int(rng.integers(2, 9))
    skills = rng.uniform(0.5, 2.0, agents)
    made = quality_panel(
        "none",
        before=skills,
        after=skills,
        cases=int(rng.choice([150, 500, 2_000, 8_000])),
        base_rate=float(rng.choice([0.05, 0.2, 0.5])),
        correlation=float(rng.uniform(0.0, 0.7)),
        honest=True,
        seed=seed,
    )
    reports = made.reports.copy()
    if rng.random() < 1 / 3:
        quiet = rng.random(reports.shape) < 0.1
        quiet[:, 0] = False
        reports[quiet] = np.nan
    times = np.arange(len(made)) if rng.random() < 1 / 2 else None
    costs = Costs(fn=float(rng.choice([1.0, 5.0, 10.0])))
    return Panel(reports, made.outcomes, times=times), costs


def audited(seed: int) -> Audit:
    """Audit one sound panel."""
    panel, costs = sound_panel(seed)
    return audit(panel, costs=costs, seed=seed)


def main(seeds: int) -> None:
    """Print the share of sound panels with an error, and which errors these were."""
    told = Parallel(n_jobs=-1)(delayed(audited)(seed) for seed in range(seeds))
    false = [one for one in told if one.worst() == "error"]
    codes = Counter(f.code for one in false for f in one.findings[:1])
    share = len(false) / seeds
    error = np.sqrt(share * (1 - share) / seeds)
    print(
        f"{len(false)} of {seeds} sound panels have an error: {100 * share:.1f} % "
        f"(standard error {100 * error:.1f} %); first findings {dict(codes)}"
    )
    wary = Counter(
        f.code for one in told for f in one.findings if f.severity == "warning"
    )
    print(f"warnings: {dict(wary)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
