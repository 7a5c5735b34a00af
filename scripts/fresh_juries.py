"""Simulated panels on which nothing was chosen: functions of the draw.

Those of `OWN` were made up after everything about a jury was set, those of `FRESH`
after the prior for few cases was set and before it was measured on any of them. Each
returns reports (T, N) and what is true (T,).
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import expit, logit

from truepool.core.arrays import FloatArray, IntArray
from truepool.datasets import synthetic

Table = tuple[FloatArray, IntArray]
ITEMS = 1_500


def rubric(draw: int, items: int = ITEMS) -> Table:
    """Six judges of two model families give scores from 1 to 5; errors run in families.

    The judges see a quality in [0, 1] that is above 0.45 for good items, and most are
    lenient.
    """
    rng = np.random.default_rng([draw, 1])
    quality = rng.beta(2.0, 1.6, items)
    truth = (quality + rng.normal(0, 0.12, items) > 0.45).astype(int)
    family = rng.normal(0, 0.12, (items, 2))[:, [0, 0, 0, 1, 1, 1]]
    seen = quality[:, None] + family + rng.normal(0, 0.15, (items, 6))
    lenient = rng.uniform(-0.05, 0.2, 6)
    return np.clip(np.round(4 * (seen + lenient)), 0, 4) / 4, truth


def topics(draw: int, items: int = ITEMS) -> Table:
    """Eight judges, each an expert in one of four topics and a novice in the others.

    Three items in ten are positive; verdicts are probabilities with two decimals.
    """
    rng = np.random.default_rng([draw, 2])
    truth = (rng.random(items) < 0.3).astype(int)
    topic = rng.integers(0, 4, items)
    expert = topic[:, None] == np.arange(8) % 4
    strength = np.where(expert, 2.5, 0.5)
    noise = rng.normal(size=(items, 8)) + 0.5 * rng.normal(size=(items, 1))
    log_odds = strength * ((2 * truth - 1)[:, None] * strength + noise) + logit(0.3)
    return np.round(expit(0.8 * log_odds), 2), truth


def sleepers(draw: int, items: int = ITEMS) -> Table:
    """Five judges, two of whom say 0.7 half of the time; a tenth of answers is absent.

    One positive item in three is hard: all judges take it for a negative one.
    """
    rng = np.random.default_rng([draw, 3])
    truth = (rng.random(items) < 0.4).astype(int)
    looks = np.where((truth == 1) & (rng.random(items) < 1 / 3), 0, truth)
    log_odds = 1.8 * (2 * looks - 1)[:, None] + 1.3 * rng.normal(size=(items, 5))
    reports = np.round(expit(log_odds), 1)
    reports[:, :2][rng.random((items, 2)) < 0.5] = 0.7
    reports[rng.random(reports.shape) < 0.1] = np.nan
    answered = ~np.isnan(reports).all(axis=1)
    return reports[answered], truth[answered]


def echo(draw: int) -> Table:
    """Six judges of whom three repeat a weak one with little noise of their own."""
    rng = np.random.default_rng([draw, 11])
    truth = (rng.random(ITEMS) < 0.5).astype(int)
    skills = np.array([0.5, 1.2, 1.2, 0.5, 0.5, 0.5])
    seen = skills * (2 * truth - 1)[:, None] + rng.normal(size=(ITEMS, 6))
    seen[:, 3:] = seen[:, :1] + 0.2 * rng.normal(size=(ITEMS, 3))
    return expit(2 * skills * seen), truth


def timid(draw: int) -> Table:
    """Seven able judges who never leave the range from 0.35 to 0.65."""
    rng = np.random.default_rng([draw, 12])
    truth = (rng.random(ITEMS) < 0.35).astype(int)
    seen = 0.9 * (2 * truth - 1)[:, None] + rng.normal(size=(ITEMS, 7))
    return 0.35 + 0.3 * expit(1.8 * seen - 0.6), truth


def loud(draw: int) -> Table:
    """Five judges who say 0.01 or 0.99; their mistakes are half their own."""
    rng = np.random.default_rng([draw, 13])
    truth = (rng.random(ITEMS) < 0.45).astype(int)
    noise = rng.normal(size=(ITEMS, 1)) + rng.normal(size=(ITEMS, 5))
    seen = rng.uniform(0.6, 1.4, 5) * (2 * truth - 1)[:, None] + noise / np.sqrt(2)
    return np.where(seen > 0, 0.99, 0.01), truth


def strangers(draw: int) -> Table:
    """Twelve judges, eight of whom know nothing and say so with confidence."""
    rng = np.random.default_rng([draw, 14])
    truth = (rng.random(ITEMS) < 0.4).astype(int)
    skills = np.where(np.arange(12) < 4, 1.5, 0.0)
    seen = skills * (2 * truth - 1)[:, None] + rng.normal(size=(ITEMS, 12))
    return np.round(expit(2 * seen), 2), truth


def part_time(draw: int) -> Table:
    """Twenty judges of unequal skill who each answer a quarter of the items."""
    rng = np.random.default_rng([draw, 15])
    truth = (rng.random(ITEMS) < 0.5).astype(int)
    skills = rng.uniform(0.1, 1.5, 20)
    seen = skills * (2 * truth - 1)[:, None] + rng.normal(size=(ITEMS, 20))
    reports = expit(1.6 * seen)
    reports[rng.random(reports.shape) < 0.75] = np.nan
    answered = ~np.isnan(reports).all(axis=1)
    return reports[answered], truth[answered]


def alike(draw: int, *, bias: float = 0.0, base_rate: float = 0.3) -> Table:
    """Agents of the data set `synthetic` whose noise is correlated by a half."""
    panel = synthetic(ITEMS, seed=draw, bias=bias, base_rate=base_rate, correlation=0.5)
    return panel.reports, panel.outcomes


OWN: dict[str, Callable[[int], Table]] = {
    "rubric": rubric,
    "topics": topics,
    "sleepers": sleepers,
}
FRESH: dict[str, Callable[[int], Table]] = {
    "echo": echo,
    "timid": timid,
    "loud": loud,
    "strangers": strangers,
    "part-time": part_time,
    "alike": alike,
    "alike-biased": partial(alike, bias=1.0, base_rate=0.1),
}
