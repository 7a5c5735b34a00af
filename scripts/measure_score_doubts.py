"""Measure how often `score` doubts a sound batch, and how often one that is off.

Run: python scripts/measure_score_doubts.py [TABLES] [--first SEED] [--batches 50].
A pool learns from 20,000 cases of a table, or from 500, and later batches of 300 cases
are compared with its habits: sound ones, and the same with one agent that reports in
another unit, one minus its probability, or about the wrong cases. Payments of a bank
are sound where nothing changes (`large`, `clean`); of the other kind half of the cases
are positive.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.special import expit

from truepool.core.arrays import FloatArray, IntArray
from truepool.panel.panel import Panel
from truepool.pools.training.habits import Habits
from truepool.scoring.changes import Doubt, compare

sys.path.append(str(Path(__file__).parents[1] / "packages/truepool/tests"))

BATCH = 300
LEARNED = (500, 20_000)
SKILLS = np.array([2.6, 2.2, 2.0, 1.8, 1.6])
FAULTS: dict[str, Callable[[np.random.Generator, FloatArray], FloatArray]] = {
    "divided by 1,000": lambda rng, p: p / 1000,
    "divided by 100": lambda rng, p: p / 100,
    "1 - p": lambda rng, p: 1 - p,
    "wrong cases": lambda rng, p: rng.permutation(p),
}


def balanced(seed: int, cases: int) -> tuple[FloatArray, IntArray]:
    """Return agents that are as often right about either of two classes."""
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, 2, cases)
    spread = np.full((5, 5), 0.3)
    np.fill_diagonal(spread, 1.0)
    noise = rng.multivariate_normal(np.zeros(5), spread, cases)
    return expit(SKILLS * (noise + np.outer(outcomes - 0.5, SKILLS))), outcomes


def payments(name: str, seed: int, cases: int) -> tuple[FloatArray, IntArray]:
    """Return reports and outcomes of a bank, in random order."""
    from scenarios import bank  # type: ignore[import-not-found]

    drawn = bank.make(name, seed, rows=int(1.2 * cases))
    order = np.random.default_rng(seed).permutation(len(drawn.fraud))[:cases]
    return drawn.reports[order], drawn.fraud[order]


def main() -> None:
    """Print how many batches are doubted, by kind of table and size of the fit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="?", type=int, default=20)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--batches", type=int, default=50)
    args = parser.parse_args()
    head = ("table", "learned", "sound", "refused", "warned", *FAULTS)
    print("|", " | ".join(head), "|")
    print("|---" * len(head) + "|")
    for kind in ("large", "clean", "balanced"):
        for learned in LEARNED:
            found: Counter[str] = Counter()
            for seed in range(args.first, args.first + args.tables):
                found += doubts(kind, seed, learned, args.batches)
            share = [f"{found[fault] / found['off']:.0%}" for fault in FAULTS]
            sound = (found[one] for one in ("sound", "refused", "warned"))
            print("|", " | ".join(map(str, (kind, learned, *sound, *share))), "|")


def doubts(kind: str, seed: int, learned: int, batches: int) -> Counter[str]:
    """Count the batches of a table that are refused or warned about."""
    cases = learned + BATCH * batches
    made = balanced(seed, cases) if kind == "balanced" else payments(kind, seed, cases)
    reports, outcomes = made
    habits = Habits.learn(Panel(reports[:learned], outcomes[:learned]))
    found: Counter[str] = Counter()
    if habits is None:
        return found
    rng = np.random.default_rng(seed)
    for place in range(batches):
        rows = slice(learned + BATCH * place, learned + BATCH * (place + 1))
        batch, agent = reports[rows], place % reports.shape[1]
        found["sound"] += 1
        doubted = compare(habits, batch).values()
        found["refused"] += any(d in (Doubt.UNIT, Doubt.OPPOSITE) for d in doubted)
        found["warned"] += any(d in (Doubt.REVERSED, Doubt.NOISE) for d in doubted)
        if place < reports.shape[1]:
            found["off"] += 1
            for name, fault in FAULTS.items():
                off = batch.copy()
                off[:, agent] = fault(rng, off[:, agent])
                found[name] += agent in compare(habits, off)
    return found


if __name__ == "__main__":
    main()
