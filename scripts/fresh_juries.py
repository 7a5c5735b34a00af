"""Simulated panels on which nothing was chosen: functions of the draw.

They were made up after the prior for few cases was set, and before it was measured on
any of them. Each returns reports (T, N) and what is true (T,).
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import expit

from truepool.core.arrays import FloatArray, IntArray
from truepool.datasets import synthetic

Table = tuple[FloatArray, IntArray]
ITEMS = 1_500


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


FRESH: dict[str, Callable[[int], Table]] = {
    "echo": echo,
    "timid": timid,
    "loud": loud,
    "strangers": strangers,
    "part-time": part_time,
    "alike": alike,
    "alike-biased": partial(alike, bias=1.0, base_rate=0.1),
}
