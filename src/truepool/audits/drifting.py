"""Costs over time, what a change costs, and what a figure of it shows."""

from importlib.util import find_spec

import numpy as np
from scipy.special import ndtri

from truepool.audits.evidence import Evidence
from truepool.audits.values import Drift
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray
from truepool.data.panel import Panel
from truepool.measures.losses import Loss
from truepool.online import replay
from truepool.online.alarms import alarms
from truepool.online.alarms.change_point import Change

WATCHED = 5_000
"""Cases, thinned evenly in time, on which detectors and the learner run."""
POINTS = 100
LEARNER = "gradient"


def rise(found: Change, level: float) -> Estimate:
    """How far a mean rose, with its interval."""
    gap = found.after - found.before
    reach = float(ndtri((1 + level) / 2)) * found.error
    return Estimate(gap, gap - reach, gap + reach)


def silenced(evidence: Evidence, agent: int, cases: IntArray) -> Estimate | None:
    """What the pool costs more than had the agent not reported on these cases."""
    looked = evidence.looked
    said = evidence.panel.values[looked]
    said[np.isin(looked, cases), agent] = np.nan
    outcomes = evidence.panel.outcomes[looked]
    without = evidence.loss.of(evidence.judged.answers(said, looked), outcomes)
    return evidence.estimate(evidence.looked_cost - without)


def costs_in_time(evidence: Evidence) -> tuple[FloatArray, FloatArray]:
    """Cost of each agent's own decisions (T, N) and of the pool's (T,), by time.

    NaN where an agent has no report, or the pool only learned.
    """
    return _in_time(evidence, evidence.loss)


def _in_time(evidence: Evidence, loss: Loss) -> tuple[FloatArray, FloatArray]:
    panel, order = evidence.panel, evidence.panel.order
    said = np.nan_to_num(panel.values, nan=0.5)
    lost = loss.of(said, panel.outcomes[:, None])
    lost[np.isnan(panel.values[:, :, 0])] = np.nan
    pool = np.full(len(panel), np.nan)
    pool[evidence.rows] = loss.of(evidence.pooled, evidence.outcomes)
    return lost[order], pool[order]


def drift(evidence: Evidence) -> Drift | None:
    """Losses and weights over time; None where the cases have no times."""
    panel = evidence.panel
    if panel.times is None:
        return None
    lost, pool = _in_time(evidence, Loss("brier"))
    order = panel.order
    every = order[_even(len(order), WATCHED)]
    watched = panel.take(every)
    if len(every) < len(order):
        evidence.sampling.note(
            f"Drift alarms and weight paths are from {len(every):,} cases, thinned "
            "evenly in time."
        )
    trace = replay(LEARNER, watched)
    path = trace.weights
    if path is None:  # it was asked for
        raise AssertionError
    shown = _even(len(every), POINTS)
    cuts = np.linspace(0, len(order), min(POINTS, len(order)) + 1).astype(np.int64)
    series = {agent: lost[:, i] for i, agent in enumerate(panel.agents)}
    series[evidence.label] = pool
    return Drift(
        (cuts[:-1] + cuts[1:]) / 2,
        {who: _block_means(column, cuts) for who, column in series.items()},
        path[shown],
        LEARNER,
        _alarms(evidence, watched, len(order) / len(every)),
    )


def _alarms(
    evidence: Evidence, watched: Panel, step: float
) -> tuple[tuple[str, int, float, float], ...]:
    if find_spec("river") is None:
        evidence.sampling.withhold(
            "drift alarms", "river is not installed; pip install 'truepool[drift]'"
        )
        return ()
    return tuple(
        (alarm.who, int(alarm.case * step), alarm.before, alarm.after)
        for alarm in alarms(watched)
    )


def _even(cases: int, most: int) -> IntArray:
    """At most so many places, evenly spread."""
    if cases <= most:
        return np.arange(cases)
    return np.linspace(0, cases - 1, most).astype(np.int64)


def _block_means(column: FloatArray, cuts: IntArray) -> FloatArray:
    """Mean of what is not NaN between the cuts; NaN where nothing is."""
    known = ~np.isnan(column)
    total = np.r_[0.0, np.cumsum(np.where(known, column, 0.0))]
    count = np.r_[0, np.cumsum(known)]
    held = count[cuts[1:]] - count[cuts[:-1]]
    gained = total[cuts[1:]] - total[cuts[:-1]]
    return np.where(held > 0, gained / np.maximum(held, 1), np.nan)
