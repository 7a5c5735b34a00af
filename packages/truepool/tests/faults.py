"""Panels for the audit: sound ones, and each with one planted fault."""

import numpy as np
from simulated_faults import copycat, label_flip, quality_panel, temperature

from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

SKILLS = [1.2, 1.1, 1.0, 1.3, 1.15]
COSTS = Costs(fn=5, fp=1)


def sound(seed=0, cases=2000, skills=SKILLS, correlation=0.2):
    """Calibrated agents, each with information of its own."""
    return quality_panel(
        "none", before=skills, after=skills, cases=cases, base_rate=0.3,
        correlation=correlation, honest=True, seed=seed,
    )  # fmt: skip


def over_confident(seed=0, cases=2000):
    return temperature(sound(seed, cases), "agent2", 0.4)


def flipped(seed=0, cases=2000):
    return label_flip(sound(seed, cases), "agent1")


def copied(seed=0, cases=2000, noise=0.0):
    return copycat(sound(seed, cases), "agent3", source="agent0", noise=noise)


def drifted(seed=0, cases=2000):
    later = [*SKILLS[:3], -0.3, *SKILLS[4:]]
    panel = quality_panel(
        "sudden", before=SKILLS, after=later, cases=cases, base_rate=0.3,
        correlation=0.2, seed=seed,
    )  # fmt: skip
    return timed(panel)


def timed(panel):
    return Panel(panel.reports, panel.outcomes, times=np.arange(len(panel)))
