"""Who got worse over time: a test with a p-value, alarms, and what a figure shows."""

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from scipy.special import kolmogorov, ndtri

from truepool.alarms import alarms
from truepool.arrays import FloatArray, IntArray
from truepool.audit.evidence import Evidence
from truepool.audit.values import Drift
from truepool.comparison import Estimate
from truepool.inference.testing import long_run_variance
from truepool.losses import Loss
from truepool.panel import Panel
from truepool.rounds import replay

WATCHED = 5_000
"""Cases, thinned evenly in time, on which detectors and the learner run."""
POINTS = 100
LEARNER = "gradient"


@dataclass(frozen=True)
class Change:
    """Where a series changes most, the means on either side, and how likely by luck.

    ``error`` is the standard error of the difference of these means, place given.
    """

    place: int
    before: float
    after: float
    p_value: float
    error: float

    def rise(self, level: float) -> Estimate:
        """How far the mean rose, with its interval."""
        rise = self.after - self.before
        reach = float(ndtri((1 + level) / 2)) * self.error
        return Estimate(rise, rise - reach, rise + reach)


def change(series: FloatArray) -> Change:
    r"""Test for one change of the mean at an unknown place (CUSUM).

    :math:`\max_k |\sum_{t \le k} (x_t - \bar x)| / (\hat\sigma \sqrt T)` against the
    largest deviation of a Brownian bridge (Kolmogorov); the variance counts
    autocovariances, about the means on either side.

    >>> found = change(np.r_[np.tile([0.0, 1.0], 50), np.tile([2.0, 3.0], 50)])
    >>> found.place, found.before, found.after, found.p_value < 1e-6
    (100, 0.5, 2.5, True)
    """
    T = len(series)
    walk = np.cumsum(series - series.mean())[:-1]
    place = int(np.argmax(np.abs(walk))) + 1
    before, after = series[:place].mean(), series[place:].mean()
    rest = series - np.where(np.arange(T) < place, before, after)
    deviation = np.sqrt(max(long_run_variance(rest, int(np.cbrt(T))), 0.0))
    spread = deviation * np.sqrt(T)
    top = float(np.abs(walk[place - 1]))
    if top <= 1e-12 * T:  # rounding, no change
        p = 1.0
    else:
        p = float(kolmogorov(top / spread)) if spread > 0 else 0.0
    error = float(deviation * np.sqrt(1 / place + 1 / (T - place)))
    return Change(place, float(before), float(after), p, error)


def losses_in_time(evidence: Evidence) -> tuple[FloatArray, FloatArray, IntArray]:
    """Brier losses of agents (T, N) and of the pool (T,), and the cases, by time.

    NaN where an agent is silent, or the pool only learned.
    """
    panel, order = evidence.panel, evidence.panel.order
    loss = Loss("brier")
    said = np.nan_to_num(panel.values, nan=0.5)
    lost = loss.of(said, panel.outcomes[:, None])
    lost[np.isnan(panel.values[:, :, 0])] = np.nan
    pool = np.full(len(panel), np.nan)
    pool[evidence.rows] = loss.of(evidence.pooled, evidence.outcomes)
    return lost[order], pool[order], order


def drift(evidence: Evidence) -> Drift | None:
    """Losses and weights over time; None where the cases have no times."""
    panel = evidence.panel
    if panel.times is None:
        return None
    lost, pool, order = losses_in_time(evidence)
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
