"""Learners as loops: what their published formulas say, case by case, on four agents."""

import numpy as np
from panels import random_panel

AGENTS = 4


def panel_of(seed, cases=60):
    return random_panel(seed, cases=cases, agents=AGENTS, skill=1.0)


def plain(panel, first, step):
    """Weights (T + 1, N) of ``w, memory = step(w, memory, reports, outcome)``."""
    w, memory = np.full(AGENTS, 1 / AGENTS), first
    path = [w]
    for m, y in zip(panel.reports, panel.outcomes, strict=True):
        w, memory = step(w, memory, m, y)
        path.append(w)
    return np.array(path)


def uniform_contributions(m, y):
    base = (m.mean() - y) ** 2
    return np.array([(np.delete(m, i).mean() - y) ** 2 - base for i in range(AGENTS)])


def positive_share(D):
    D = np.maximum(D, 0)
    return D / D.sum() if D.sum() > 0 else np.full(AGENTS, 1 / AGENTS)
