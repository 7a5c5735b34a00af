"""Where paying an agent for its contribution makes misreporting pay.

An agent that is paid V(m) - V(m without i) wants what is best for the pool. That is
its belief where the pool decides at the threshold of the costs and is calibrated. Where
not, it can gain by moving its reports, and the pool pays for it.
"""

from collections.abc import Iterator

import numpy as np
from scipy.stats import chi2

from truepool.core.arrays import FloatArray
from truepool.core.formatting import money, number, percent
from truepool.measures.calibration import cox
from truepool.measures.decisions import choose
from truepool.measures.inference import Resamples
from truepool_serve.server.settled import LEVEL, Settled

SHIFTS = (-0.5, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.5)
"""How far reports are moved to see whether that pays."""
FEWEST = 30
"""Cases from which calibration and misreports are tested."""
SIGNIFICANCE = 0.01
"""Of the test whether the pool is calibrated."""
SAME = 0.005
"""Thresholds closer than this are the same."""


def warnings(settled: Settled, agent: str) -> Iterator[str]:
    """Yield why an agent could gain by misreporting, on the cases of a statement."""
    if len(settled.pool.labels.names) != 2 or not settled.cases:
        return
    yield from _threshold(settled)
    if len(settled.cases) < FEWEST:
        return
    yield from _calibration(settled)
    yield from _gain(settled, agent)


def _threshold(settled: Settled) -> Iterator[str]:
    """Say whether another threshold than that of the costs decides."""
    used = settled.pool.threshold
    implied = np.ravel(settled.costs.threshold)
    if used is not None and np.abs(implied - used).max() > SAME:
        mean = number(float(implied.mean()))
        yield (
            f"the pool decides above {number(used)}, and its costs imply {mean}: "
            "agents gain by moving their reports across the threshold. Leave out the "
            "threshold of the pool."
        )


def _calibration(settled: Settled) -> Iterator[str]:
    """Say whether the pooled probabilities are not those of the outcomes."""
    outcomes = settled.outcomes
    if outcomes.min() == outcomes.max():
        return
    pooled = settled.pooled[:, 0]
    found = cox(pooled, outcomes)
    p = float(chi2.sf(found.likelihood_ratio, 2))
    if p < SIGNIFICANCE:
        yield (
            f"the pool is not calibrated on these cases: it says "
            f"{percent(float(pooled.mean()))} on average, {percent(outcomes.mean())} "
            f"were positive, and its calibration slope is {number(found.slope)} (p = "
            f"{p:.2g} for both together). Agents gain by correcting for it. "
            "Recalibrate the pool."
        )


def _gain(settled: Settled, agent: str) -> Iterator[str]:
    """Say whether moving all reports by the same would have paid, weights unchanged."""
    gains = shift_gains(settled, agent)
    if gains is None:
        return
    measured = cross_fit(gains)
    low, high = Resamples(len(measured)).interval(measured, LEVEL)
    if low > 0:
        best = SHIFTS[int(gains.mean(axis=0).argmax())]
        gain = money(float(measured.mean()), settled.pool.costs.currency or "")
        interval = f"{100 * LEVEL:g} % interval {number(low)} to {number(high)}"
        yield (
            f"{agent} would have been paid {gain} more per case ({interval}) with all "
            f"its reports moved by {best:+g}, at the weights of these cases."
        )


def shift_gains(settled: Settled, agent: str) -> FloatArray | None:
    """Cost (T, S) saved if the agent had moved its reports by each of `SHIFTS`."""
    weights = settled.weights[:, settled.agents.index(agent)]
    reports = settled.values[:, settled.agents.index(agent), -1]
    if np.isnan(weights).any() or np.isnan(reports).any():
        return None
    weights, reports = weights[:, None], reports[:, None]
    moved = np.clip(reports + np.array(SHIFTS), 0.0, 1.0)
    pooled = settled.pooled
    costs = settled.costs.shape((len(pooled), 1))
    outcomes = settled.outcomes[:, None]
    threshold = settled.pool.threshold

    def paid(values: FloatArray) -> FloatArray:
        return costs.cost_per_case(
            outcomes, choose(values[:, :, None], costs, threshold), 2
        )

    return np.asarray(paid(pooled) - paid(pooled + weights * (moved - reports)))


def cross_fit(gains: FloatArray) -> FloatArray:
    """Gain (T,) of the column that is best on the other half of the cases, if any is.

    >>> cross_fit(np.array([[1.0, -1.0], [2.0, 0.0], [1.0, -1.0], [3.0, 0.0]]))
    array([1., 2., 1., 3.])
    """
    measured = np.zeros(len(gains))
    half = np.arange(len(gains)) % 2
    for part in (0, 1):
        means = gains[half != part].mean(axis=0)
        if means.max() > 0:
            measured[half == part] = gains[half == part, int(means.argmax())]
    return measured
