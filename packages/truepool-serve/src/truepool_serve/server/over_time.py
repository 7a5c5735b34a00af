"""Weights and credit of the agents of a pool over its settled cases."""

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import RequestError
from truepool.measures.inference import Resamples
from truepool.measures.losses import Loss
from truepool_serve.messages import Credit, Credits, Weights
from truepool_serve.server.settled import LEVEL, Settled

BRIER = Loss("brier")
MOST_POINTS = 1000
"""Points of a series in one answer."""


def weights_over_time(settled: Settled, points: int) -> Weights:
    """Return the weights that decided, at evenly spaced settled cases.

    A weight is a share among those who reported; None: the agent did not.
    """
    known = settled.where(one for one in settled.cases if one.record.weights)
    _check(points)
    count = len(known.cases)
    spaced = np.linspace(0, count - 1, min(points, count)).round().astype(int)
    chosen = known.weights[spaced].T.tolist()
    return Weights(
        cases=count,
        at=known.times[spaced].tolist(),
        weights={
            agent: [None if weight != weight else weight for weight in series]
            for agent, series in zip(settled.agents, chosen, strict=True)
        },
    )


def credit_over_time(settled: Settled, points: int) -> Credits:
    """Return by how much the Brier loss would grow without each agent.

    Of all cases with an interval, and as means over blocks of cases. A case counts for
    an agent who did not report on it with 0.
    """
    _check(points)
    known = settled.where(one for one in settled.cases if one.record.contributions)
    gains, count = _gains(known), len(known.cases)
    blocks = np.array_split(np.arange(count), min(points, max(1, count)))
    blocks = [block for block in blocks if block.size]
    agents = tuple(enumerate(settled.agents))
    return Credits(
        cases=count,
        loss="brier",
        level=LEVEL,
        agents={agent: _summary(gains[:, i]) for i, agent in agents},
        until=[float(known.times[block[-1]]) for block in blocks],
        credit={
            agent: [float(gains[block, i].mean()) for block in blocks]
            for i, agent in agents
        },
    )


def _gains(settled: Settled) -> FloatArray:
    """Loss without each agent minus loss with it, (T, N)."""
    pooled, outcomes = settled.pooled, settled.outcomes
    without = np.clip(pooled[:, None] - settled.changes, 0.0, 1.0)
    lost = BRIER.evaluate(pooled, outcomes)
    return BRIER.evaluate(without, outcomes[:, None]) - lost[:, None]


def _summary(gains: FloatArray) -> Credit:
    if len(gains) < 2:
        return Credit(credit=None, interval=None)
    low, high = Resamples(len(gains)).interval(gains, LEVEL)
    return Credit(credit=float(gains.mean()), interval=[float(low), float(high)])


def _check(points: int) -> None:
    if not 1 <= points <= MOST_POINTS:
        raise RequestError(
            "invalid", f"ask for 1 to {MOST_POINTS:,} points; got {points}"
        )
