"""Judges one by one: what each adds, how far it is off, and whom it repeats."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from truepool.audits.discrimination import auc_interval
from truepool.audits.reliability import calibration
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.credit import contributions
from truepool.measures.diversity import correlation
from truepool.measures.groups import FEWEST_CASES, enough_cases
from truepool.measures.inference import Resamples, independent_units
from truepool.measures.scores import auc
from truepool.panel.panel import Panel
from truepool_jury.juries.column_pairs import mean_estimate
from truepool_jury.juries.values import Advice, Copy, Judge
from truepool_jury.juries.verdicts import Verdicts

MIN_LABELS = 20
"""Labels from which rates, costs and judges are spoken of; the study of their coverage
began there."""
COPY, DISTINCT = 0.9, 0.8
"""Log-odds that correlate by the first are a near-copy, if they correlate by
significantly more than the second. Set on simulated juries, where judges whose errors
correlate by 0.4 stayed below 0.82; by 0.7, they reach 0.9."""
SHARED = 0.5
"""A copy must also share errors: on items of one label the log-odds of the two must
correlate by significantly more than this."""
SIGNIFICANCE = 0.01
MIN_APART = 3
"""Labelled items in which a judge must differ from what it usually says with that
label, before anything is said about whom it shares errors with."""
CLOSE = 1e-9
"""Log-odds that are apart by rounding alone."""


def judges(verdicts: Verdicts, level: float, seed: int) -> Iterator[Judge]:
    """Describe every judge; bias and credit where there are enough labels."""
    shares = 1 - np.isnan(verdicts.reports).mean(axis=0)
    reports = verdicts.reports[verdicts.labelled]
    credits = _credits(verdicts, level, seed)
    for i, name in enumerate(verdicts.judges):
        known = ~np.isnan(reports[:, i])
        p, y = reports[known, i], verdicts.labels[known]
        n = len(y)
        brier = accuracy = bias = curve = area = None
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
            if enough_cases(y):
                area = auc_interval(auc(p, y, sample_weight=weights), y, level)
        credit = credits[i] if enough and credits else None
        advice = None if credit is None else _advise(credit)
        answered = float(shares[i])
        yield Judge(
            name, answered, n, brier, accuracy, bias, credit, advice, curve, area
        )


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


def similarity(verdicts: Verdicts) -> tuple[float, tuple[Copy, ...], int]:
    """Return the effective number of judges, who nearly repeats whom, pairs compared.

    Judges who are right agree because of the truth, so that labels have to tell what
    they share beyond it: the log-odds of labelled items, less their mean over the items
    of the same label. The number is NaN where labels are too few for that.
    """
    T = len(verdicts.reports)
    no_labels = np.zeros(T, dtype=np.int64)  # correlations use none
    panel = Panel(verdicts.reports, no_labels, verdicts.judges, copy=False)
    alike = correlation(panel.with_reports(verdicts.log_odds))
    errors = _Errors.from_verdicts(verdicts)
    known = (~np.isnan(verdicts.reports)).astype(np.float64)
    both = known.T @ known
    compared = int(np.count_nonzero(np.triu(both >= FEWEST_CASES, 1)))
    found = tuple(_copies(verdicts.judges, both, alike, errors))
    return errors.effective_judges, found, compared


@dataclass(frozen=True, eq=False)
class _Errors:
    """How the errors of judges correlate, (N, N), over ``both`` (N, N) labelled items.

    ``apart`` (N,) counts the items in which a judge is not where it usually is with
    that label.
    """

    correlation: FloatArray
    both: FloatArray
    apart: IntArray

    @classmethod
    def from_verdicts(cls, verdicts: Verdicts) -> "_Errors":
        labels, x = verdicts.labels, verdicts.log_odds[verdicts.labelled].copy()
        known = ~np.isnan(x)
        apart = np.zeros(x.shape[1], dtype=np.int64)
        for kind in np.unique(labels):
            for i in range(x.shape[1]):
                rows = np.flatnonzero((labels == kind) & known[:, i])
                if len(rows):
                    usual = np.median(x[rows, i])
                    apart[i] += np.count_nonzero(np.abs(x[rows, i] - usual) > CLOSE)
                    x[rows, i] -= x[rows, i].mean()
        both = known.T.astype(np.float64) @ known
        if not len(labels):
            return cls(np.full(both.shape, np.nan), both, apart)
        panel = Panel(np.where(known, 0.5, np.nan), labels, verdicts.judges)
        return cls(correlation(panel.with_reports(x)), both, apart)

    @property
    def effective_judges(self) -> float:
        """Participation ratio, N^2 over the sum of squared correlations.

        Of each square the part is taken off that chance has in so many labels.
        """
        N = len(self.both)
        pairs = np.triu_indices(N, 1)
        r, n = self.correlation[pairs], self.both[pairs]
        if (n < MIN_LABELS).any() or (self.apart < MIN_APART).any():
            return float("nan")
        squares = float(np.sum(r**2 - (1 - r**2) / (n - 2)))
        return N**2 / (N + 2 * max(squares, 0.0))

    def of_pair(self, i: int, j: int) -> float | None:
        """Correlation of two judges; None where the labels cannot tell."""
        few = max(self.apart[i], self.apart[j]) < MIN_APART
        if few or self.both[i, j] < MIN_LABELS:
            return None
        return float(self.correlation[i, j])


def _copies(
    names: Sequence[str], both: FloatArray, alike: FloatArray, errors: _Errors
) -> Iterator[Copy]:
    """One test per judge but the first: does it repeat the most similar earlier one.

    Judges who share few items may agree on all of them by chance.
    """
    found = np.where(both >= FEWEST_CASES, np.nan_to_num(alike), 0.0)
    line = ndtri(1 - SIGNIFICANCE / max(len(names) - 1, 1))
    for j in range(1, len(names)):
        i = int(np.argmax(found[j, :j]))
        r, shared = float(found[j, i]), errors.of_pair(i, j)
        if r < COPY or _gap(r, DISTINCT, both[j, i]) <= line:
            continue
        if shared is None or _gap(shared, SHARED, errors.both[i, j]) > line:
            yield Copy(names[j], names[i], r, shared)


def _gap(r: float, least: float, items: float) -> float:
    """How many standard errors a correlation lies above another (Fisher 1921)."""
    inside = float(np.clip(r, -1 + 1e-12, 1 - 1e-12))
    apart = np.arctanh(inside) - np.arctanh(least)
    return float(apart * np.sqrt(max(items - 3, 0.0)))
