"""Simulated agents and their faults: the few that the tests of the library need.

truepool-lab has them with more kinds and settings, and its tests hold these to its own.
"""

import numpy as np

from truepool.core.arrays import (
    from_classes,
    from_log_scale,
    log_scale,
    logit,
    to_classes,
)
from truepool.panel.panel import Panel

OUTCOMES, SHARED, OWN, NOISE, JITTER = 0, 1, 2, 3, 6
"""Axes with independent draws under every seed."""


def normals(seed, axis, agent, shape):
    """Standard normal numbers of one agent."""
    key = np.random.SeedSequence(seed, spawn_key=(axis, *agent))
    return np.random.default_rng(key).normal(size=shape)


def noise_in_log_odds(seed, axis, panel, i):
    """Noise (T, K - 1) with standard deviation 1 for any two classes."""
    noise = normals(seed, axis, [i], (len(panel), panel.classes))
    return (noise[:, 1:] - noise[:, :1]) / np.sqrt(2.0)


def schedule(kind, cases, at=0.5):
    """Extent of drift in each case, from 0 to 1."""
    t = np.arange(cases)
    if kind == "sudden":
        return (t >= at * cases - 1e-9).astype(float)
    if kind == "recurring":
        return (1.0 - np.cos(2.0 * np.pi * t / (0.25 * cases))) / 2.0
    assert kind == "none"
    return np.zeros(cases)


def quality_panel(
    kind, *, before, after, cases, base_rate=0.5, correlation=0.0, honest=False, seed=0
):
    """Binormal agents whose skill goes from ``before`` to ``after``, one number each.

    An honest agent knows its skill at any time; others take it for what it was before.
    """
    before, after = np.array(before, dtype=float), np.array(after, dtype=float)
    moved = schedule(kind, cases)[:, None]
    skills = (1.0 - moved) * before + moved * after
    key = np.random.SeedSequence(seed, spawn_key=(OUTCOMES,))
    outcomes = np.random.default_rng(key).random(cases) < base_rate
    shared = normals(seed, SHARED, [], cases)[:, None]
    own = np.stack([normals(seed, OWN, [i], cases) for i in range(len(before))], axis=1)
    noise = np.sqrt(correlation) * shared + np.sqrt(1.0 - correlation) * own
    scores = skills * (outcomes[:, None] - 0.5) + noise
    known = skills if honest else before
    log_odds = known * scores + logit(np.array(base_rate))
    return Panel(from_log_scale(log_odds[..., None])[..., 0], outcomes)


def replace(panel, agent, reports):
    """The panel with other reports (T, C) of an agent; missing ones stay missing."""
    i = panel.agents.index(agent)
    values = panel.values.copy()
    values[:, i] = np.where(np.isnan(values[:, i]), np.nan, reports)
    return panel.with_reports(values)


def temperature(panel, agent, T):
    """Over-confident below T = 1, under-confident above: log-odds divided by T."""
    full = to_classes(panel.values[:, panel.agents.index(agent)])
    full = (full / full.max(axis=-1, keepdims=True)) ** (1.0 / T)
    return replace(panel, agent, from_classes(full / full.sum(axis=-1, keepdims=True)))


def label_flip(panel, agent):
    """Reports of two classes the wrong way round."""
    return replace(panel, agent, 1.0 - panel.values[:, panel.agents.index(agent)])


def sleeper(panel, agent, at):
    """Reports of two classes the wrong way round from a share of the cases on.

    The cases are in the order of time here and in `degradation`.
    """
    own = panel.values[:, panel.agents.index(agent)]
    turned = schedule("sudden", len(panel), at)[:, None] > 0
    return replace(panel, agent, np.where(turned, 1.0 - own, own))


def degradation(panel, agent, at=0.5, noise=1.0, seed=0):
    """Nothing but noise from a share of the cases on."""
    i = panel.agents.index(agent)
    late = schedule("sudden", len(panel), at)[:, None] > 0
    noise = from_log_scale(noise * noise_in_log_odds(seed, NOISE, panel, i))
    return replace(panel, agent, np.where(late, noise, panel.values[:, i]))


def copycat(panel, agent, source, noise=0.0):
    """Reports of another agent, with noise in log-odds."""
    copied = panel.values[:, panel.agents.index(source)]
    if noise:
        jitter = noise_in_log_odds(0, JITTER, panel, panel.agents.index(agent))
        copied = from_log_scale(log_scale(copied) + noise * jitter)
    return replace(panel, agent, copied)
