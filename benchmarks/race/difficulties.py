"""What makes a panel hard; each changes all cases of a panel, learning and new ones."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from truepool.panel.panel import Panel
from truepool_lab.stress import make

Difficulty: TypeAlias = Callable[[Panel, np.random.Generator], Panel]

ABSENT = 0.8
"""Share of the reports that are missing from a sparse panel."""


def leave(panel: Panel, rng: np.random.Generator) -> Panel:
    """Change nothing."""
    return panel


def attack(panel: Panel, rng: np.random.Generator) -> Panel:
    """Turn one agent around, and let another output noise."""
    flipped, noisy = rng.choice(len(panel.agents), 2, replace=False)
    panel = make("label-flip")(panel, panel.agents[flipped])
    return make("random-noise")(
        panel, panel.agents[noisy], seed=int(rng.integers(2**31))
    )


def miscalibrate(panel: Panel, rng: np.random.Generator) -> Panel:
    """Make every agent over- or underconfident, by a factor of 3."""
    for agent in panel.agents:
        factor = 3.0 if rng.random() < 0.5 else 1 / 3
        panel = make("temperature", T=factor)(panel, agent)
    return panel


def drop(panel: Panel, rng: np.random.Generator) -> Panel:
    """Drop most reports; every case keeps at least one."""
    T, N = panel.reports.shape[:2]
    gone = rng.random((T, N)) < ABSENT
    gone[np.arange(T), rng.integers(0, N, T)] = False
    reports = panel.reports.copy()
    reports[gone] = np.nan
    return Panel(reports, panel.outcomes, times=panel.times)


def degrade(panel: Panel, rng: np.random.Generator) -> Panel:
    """Let a third of the agents lose their skill in the course of time."""
    losers = rng.choice(len(panel.agents), len(panel.agents) // 3, replace=False)
    names = [panel.agents[i] for i in losers]
    seed = int(rng.integers(2**31))
    return make("degradation", kind="gradual")(panel, names, seed=seed)


DIFFICULTIES: dict[str, Difficulty] = {
    "nothing": leave,
    "adversarial": attack,
    "miscalibrated": miscalibrate,
    "sparse": drop,
    "drift": degrade,
}
