"""Simulated juries: judges who see each item through shared and own noise."""

import numpy as np
from scipy.special import expit, logit

import truepool as tp

RECIPES = {
    "J5g": {"bias": [1.5]},
    "J9g": {
        "judges": 9, "shared": 0.4, "bias": [2.0, -1.5], "copies": {8: 2},
        "missing": 0.2, "certainty": (1.0, 2.5),
    },
    "J7clique": {
        "judges": 7, "rate": 0.5, "shared": 0.2, "copies": {1: 0, 2: 0}, "votes": True,
    },
    "J5rare": {"rate": 0.02, "skill": (1.0, 2.0), "bias": [1.5], "shared": 0.2},
    "J7bias": {"judges": 7, "rate": 0.3, "bias": [1.0] * 7},
    "J3b": {"judges": 3, "votes": True},
    "J7flip": {"judges": 7, "bias": [0.0, 1.5], "reversed_judge": 0},
}  # fmt: skip
"""What sets each jury apart."""


def simulate(
    rng,
    items=2000,
    judges=5,
    rate=0.6,
    shared=0.3,
    bias=(),
    copies=None,
    votes=False,
    missing=0.0,
    certainty=(0.8, 2.0),
    skill=(0.6, 1.6),
    reversed_judge=None,
):
    """Verdicts (T, N) and what is true (T,)."""
    truth = (rng.random(items) < rate).astype(int)
    difficulty = np.exp(0.6 * rng.normal(size=items) - 0.18)
    difficulty *= np.where(rng.random(items) < 0.05, -1, 1)
    skills, certainties = rng.uniform(*skill, judges), rng.uniform(*certainty, judges)
    noise = np.sqrt(shared) * rng.normal(size=(items, 1))
    noise = noise + np.sqrt(1 - shared) * rng.normal(size=(items, judges))
    evidence = ((2 * truth - 1) * difficulty)[:, None] * skills + noise
    log_odds = certainties * (2 * skills * evidence + logit(rate))
    log_odds[:, : len(bias)] += bias
    for copy, model in (copies or {}).items():
        log_odds[:, copy] = log_odds[:, model] + rng.normal(0, 0.4, items)
    reports = (log_odds > 0) * 1.0 if votes else np.round(expit(log_odds), 1)
    if reversed_judge is not None:
        reports[:, reversed_judge] = 1 - reports[:, reversed_judge]
    reports[rng.random(reports.shape) < missing] = np.nan
    answered = ~np.isnan(reports).all(axis=1)
    return reports[answered], truth[answered]


def with_labels(reports, truth, labels):
    """The first items labelled, the others pending: a panel."""
    panel = tp.Panel(reports[:labels], truth[:labels])
    return panel.with_pending(reports[labels:])
