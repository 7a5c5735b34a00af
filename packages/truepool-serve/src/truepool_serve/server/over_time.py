"""Weights and credit of the agents of a pool over its settled cases."""

from dataclasses import replace
from typing import Any

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import RequestError
from truepool.measures.inference import Resamples
from truepool.measures.losses import Loss
from truepool_serve.server.contributions import pooled_coordinates, report_changes
from truepool_serve.server.history import LEVEL, History

BRIER = Loss("brier")
MOST_POINTS = 1000
"""Points of a series in one answer."""


def weights_over_time(history: History, points: int) -> dict[str, Any]:
    """Return the weights that decided, at evenly spaced settled cases.

    A weight is a share among those who reported; None: the agent did not.
    """
    known = [case for case in history.cases if case.decision.get("weights")]
    _check(points)
    spaced = np.linspace(0, len(known) - 1, min(points, len(known))).round()
    chosen = [known[int(i)] for i in spaced]
    return {
        "cases": len(known),
        "at": [case.at for case in chosen],
        "weights": {
            agent: [case.decision["weights"].get(agent) for case in chosen]
            for agent in history.agents
        },
    }


def credit_over_time(history: History, points: int) -> dict[str, Any]:
    """Return by how much the Brier loss would grow without each agent.

    Of all cases with an interval, and as means over blocks of cases. A case counts for
    an agent who did not report on it with 0.
    """
    _check(points)
    known = [case for case in history.cases if case.decision.get("contributions")]
    gains = _gains(replace(history, cases=known))
    blocks = np.array_split(np.arange(len(known)), min(points, max(1, len(known))))
    return {
        "cases": len(known),
        "loss": "brier",
        "level": LEVEL,
        "agents": {
            agent: _summary(gains[:, i]) for i, agent in enumerate(history.agents)
        },
        "until": [known[block[-1]].at for block in blocks if block.size],
        "credit": {
            agent: [float(gains[block, i].mean()) for block in blocks if block.size]
            for i, agent in enumerate(history.agents)
        },
    }


def _gains(history: History) -> FloatArray:
    """Loss without each agent minus loss with it, (T, N)."""
    pooled, outcomes = pooled_coordinates(history), history.outcomes
    without = np.clip(pooled[:, None] - report_changes(history), 0.0, 1.0)
    lost = BRIER.evaluate(pooled, outcomes)
    return BRIER.evaluate(without, outcomes[:, None]) - lost[:, None]


def _summary(gains: FloatArray) -> dict[str, Any]:
    if len(gains) < 2:
        return {"credit": None, "interval": None}
    interval = Resamples(len(gains)).interval(gains, LEVEL)
    return {"credit": float(gains.mean()), "interval": list(interval)}


def _check(points: int) -> None:
    if not 1 <= points <= MOST_POINTS:
        raise RequestError(
            "invalid", f"ask for 1 to {MOST_POINTS:,} points; got {points}"
        )
