"""Judges one by one: what each adds, how far it is off, and whom it repeats."""

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtri

from truepool.audits.topics.calibration import calibration
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray
from truepool.data.panel import Panel
from truepool.juries.column_pairs import mean_estimate
from truepool.juries.values import Advice, Copy, Judge
from truepool.juries.verdicts import Verdicts
from truepool.measures.credit.bootstrap import contributions
from truepool.measures.diversity import correlation, effective_agents
from truepool.measures.groups import FEWEST_CASES
from truepool.measures.inference import Resamples, independent_units

MIN_LABELS = 20
"""Labels from which rates, costs and judges are spoken of; the study of their coverage
began there."""
COPY, DISTINCT = 0.9, 0.8
"""Log-odds that correlate by the first are a near-copy, if they correlate by
significantly more than the second. Set on simulated juries, where judges whose errors
correlate by 0.4 stayed below 0.82; by 0.7, they reach 0.9."""
SIGNIFICANCE = 0.01


def judges(verdicts: Verdicts, level: float, seed: int) -> Iterator[Judge]:
    """Describe every judge; bias and credit where there are enough labels."""
    shares = 1 - np.isnan(verdicts.reports).mean(axis=0)
    reports = verdicts.reports[verdicts.labelled]
    credits = _credits(verdicts, level, seed)
    for i, name in enumerate(verdicts.judges):
        known = ~np.isnan(reports[:, i])
        p, y = reports[known, i], verdicts.labels[known]
        n = len(y)
        brier = accuracy = bias = curve = None
        w = verdicts.weights[known]
        if n:
            brier = float(np.average(np.square(p - y), weights=w))
            right = np.where(p == 0.5, 0.5, (p > 0.5) == y)
            accuracy = float(np.average(right, weights=w))
        enough = n >= MIN_LABELS
        if enough:
            weights = None if verdicts.random.all() else w
            bias = mean_estimate(
                independent_units((p - y)[:, None], weights)[:, 0], level
            )
            inside = np.clip(p, verdicts.clip, 1 - verdicts.clip)
            curve = calibration(name, inside[:, None], y, level, weights)
        credit = credits[i] if enough and credits else None
        advice = None if credit is None else _advise(credit)
        answered = float(shares[i])
        yield Judge(name, answered, n, brier, accuracy, bias, credit, advice, curve)


def _credits(verdicts: Verdicts, level: float, seed: int) -> list[Estimate]:
    """Credit of each judge with its interval; none of few labels."""
    if len(verdicts.labels) < MIN_LABELS:
        return []
    panel = verdicts.panel()
    units = independent_units(contributions(panel), panel.weights)
    draws = Resamples(len(units), seed=seed)
    return [Estimate(float(one.mean()), *draws.interval(one, level)) for one in units.T]


def _advise(credit: Estimate) -> Advice:
    if credit.low > 0:
        return "keep"
    return "drop" if credit.high < 0 else "undecided"


def similarity(verdicts: Verdicts) -> tuple[float, tuple[Copy, ...]]:
    """Return the effective number of judges, and who nearly repeats whom.

    Over all items, labelled or not.
    """
    T = len(verdicts.reports)
    no_labels = np.zeros(T, dtype=np.int64)  # correlations use none
    panel = Panel(verdicts.reports, no_labels, verdicts.judges, copy=False)
    number = effective_agents(correlation(panel))
    alike = correlation(panel.with_reports(verdicts.log_odds))
    known = (~np.isnan(verdicts.reports)).astype(np.float64)
    return number, tuple(_copies(verdicts.judges, alike, known.T @ known))


def _copies(
    names: tuple[str, ...], alike: FloatArray, both: FloatArray
) -> Iterator[Copy]:
    """One test per judge but the first: does it repeat the most similar earlier one.

    Judges who share few items may agree on all of them by chance.
    """
    found = np.where(both >= FEWEST_CASES, np.nan_to_num(alike), 0.0)
    for j in range(1, len(names)):
        i = int(np.argmax(found[j, :j]))
        r = float(np.clip(found[j, i], 0.0, 1 - 1e-12))
        gap = (np.arctanh(r) - np.arctanh(DISTINCT)) * np.sqrt(max(both[j, i] - 3, 0.0))
        if r >= COPY and gap > ndtri(1 - SIGNIFICANCE / (len(names) - 1)):
            yield Copy(names[j], names[i], float(found[j, i]))
