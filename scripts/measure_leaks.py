"""Measure how often an agent that knows the outcome is asked about, and a sound one.

Run: python scripts/measure_leaks.py [PANELS] [--first SEED].
Power: payments of the scenario `leak`, from which so many frauds are taken. False
questions: panels of four sound agents, each with an AUC of .97 to .985 and normal
scores, by the number of positives; a panel counts if any of its agents is asked about.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from truepool.audits.leaks import find_suspects
from truepool.panel.panel import Panel

sys.path.append(str(Path(__file__).parents[1] / "packages/truepool/tests"))

POSITIVES = (20, 50, 100, 200)
NEGATIVES = 10_000
AREAS, AGENTS = (0.97, 0.985), 4
CORRELATIONS = (0.0, 0.5, 0.9)


def leak(seed: int, positives: int) -> Panel:
    """Return payments with one agent that knows the outcome, and so many frauds."""
    from scenarios import bank  # type: ignore[import-not-found]

    drawn = bank.make("leak", seed)
    fraud = np.flatnonzero(drawn.fraud == 1)
    rng = np.random.default_rng([seed, positives])
    few = rng.choice(fraud, min(positives, len(fraud)), replace=False)
    rows = np.sort(np.r_[np.flatnonzero(drawn.fraud == 0), few])
    return Panel(drawn.reports[rows], drawn.fraud[rows], bank.VENDORS)


def sound(seed: int, positives: int, negatives: int, correlation: float) -> Panel:
    """Return strong agents none of whom knows the outcome."""
    rng = np.random.default_rng([seed, positives, negatives])
    outcomes = (np.arange(positives + negatives) < positives).astype(int)
    apart = np.sqrt(2) * norm.ppf(rng.uniform(*AREAS, AGENTS))
    spread = np.full((AGENTS, AGENTS), correlation)
    np.fill_diagonal(spread, 1.0)
    scores = rng.multivariate_normal(np.zeros(AGENTS), spread, len(outcomes))
    return Panel(expit(scores + np.outer(outcomes, apart) - 4), outcomes)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("panels", nargs="?", type=int, default=200)
    parser.add_argument("--first", type=int, default=1000)
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.panels)
    print("| positives | only the leak is asked about |\n|---|---|")
    for positives in POSITIVES:
        panels = (leak(seed, positives) for seed in seeds)
        asked = [[s.agent for s in find_suspects(panel)] for panel in panels]
        right = sum(agents == ["charlie"] for agents in asked)
        print(f"| {positives} | {right} of {len(seeds)} |", flush=True)
    print("\n| positives | negatives | correlation | a sound agent is asked about |")
    print("|---|---|---|---|")
    for positives in POSITIVES:
        for negatives in (positives, 4 * positives, NEGATIVES):
            for correlation in CORRELATIONS:
                kind = positives, negatives, correlation
                wrong = sum(bool(find_suspects(sound(s, *kind))) for s in seeds)
                cells = (*kind, f"{wrong} of {len(seeds)}")
                print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
