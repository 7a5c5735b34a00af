"""Runs: a feed that becomes constant, and a feed that stops."""

from collections import Counter
from dataclasses import dataclass
from math import log
from typing import final

import numpy as np
from scipy.special import betaln, comb

from truepool.core.arrays import BoolArray, FloatArray, IntArray

MIN_RUN = 20
"""Shorter runs are never a fault."""

HISTORY = 100_000
"""The number of reports of each agent that a detector remembers."""

LENGTH_RATIO, USUAL_QUANTILE = 3.0, 0.99
"""A fault is a run so many times longer than this quantile of the feed's other runs."""

COUNTED = 100_000
"""Cases from which the share of the most common report is counted."""

TAIL, SKIPPED = 30, 3
"""Longest runs that show how long runs get, and how many of them may be faults."""

RECORD = 0.01
"""A monitored feed may set a record for its longest run with this chance."""

PRIOR_WEIGHT = 20.0
"""Weight, in transitions, of the feed's overall repeat rate relative to that of the
value in question."""


@dataclass(frozen=True)
class Run:
    """The longest run of one value: its start, its end and its p-value.

    99 % of the other runs are no longer than ``usual``.
    """

    start: int
    stop: int
    usual: int
    p_value: float

    def __len__(self) -> int:
        """Return the number of reports in the run."""
        return self.stop - self.start


NO_RUN = Run(0, 0, 0, 1.0)


def report_codes(values: FloatArray) -> IntArray:
    """Integer codes of the distinct reports of each agent, (T, N); -1 for no report.

    >>> report_codes(np.array([[[0.1], [0.5]], [[0.3], [np.nan]], [[0.1], [0.5]]]))
    array([[ 0,  0],
           [ 1, -1],
           [ 0,  0]])
    """
    T, N, C = values.shape
    codes = np.full((T, N), -1)
    for i in range(N):
        known = np.flatnonzero(~np.isnan(values[:, i, 0]))
        mixed = np.zeros(len(known), dtype=np.int64)
        for c in range(C):
            distinct, place = np.unique(values[known, i, c], return_inverse=True)
            mixed = mixed * len(distinct) + place
            if c:  # renumber, or K columns would overflow
                mixed = np.unique(mixed, return_inverse=True)[1]
        codes[known, i] = mixed
    return codes


def commonest_shares(values: FloatArray) -> tuple[float, ...]:
    """Share of each agent's reports (T, N, C) that are its most common one.

    From at most `COUNTED` cases, spread evenly. 1 for an agent that never reported.

    >>> commonest_shares(np.array([[[0.1], [0.5]], [[0.1], [0.4]], [[0.3], [np.nan]]]))
    (0.6666666666666666, 0.5)
    """
    step = -(-len(values) // COUNTED)
    columns = [own[own >= 0] for own in report_codes(values[::step]).T]
    return tuple(
        float(np.bincount(own).max() / len(own)) if len(own) else 1.0 for own in columns
    )


def repeated_cases(codes: IntArray) -> BoolArray:
    """Cases in which every report equals the one before, (T,): duplicate cases."""
    same = np.zeros(len(codes), dtype=np.bool_)
    same[1:] = (codes[1:] == codes[:-1]).all(axis=1)
    return same


def constant_run(codes: IntArray) -> Run:
    r"""Test whether a feed became constant, from the codes (T,) of its reports.

    Tests the longest run, of L reports, against the rest of the feed. Each report
    repeats the last one with a probability q, which has a Beta distribution given by
    how often the rest repeats any value and this value (a feed that reports 0.00 in
    nine cases out of ten has long runs of it). The probability of L - 1 repeats,

    .. math:: \frac{B(a + L - 1, b)}{B(a, b)},

    times the number of places where a run could begin, bounds the p-value. So does
    `tail_chance`: where cases of one kind follow each other, repeats are not
    independent. It is 1 for a run that is not much longer than usual (`LENGTH_RATIO`,
    `USUAL_QUANTILE`), and for a feed that was always constant.

    >>> rng = np.random.default_rng(0)
    >>> found = constant_run(np.r_[rng.integers(0, 50, 300), np.full(60, 7)])
    >>> found.start, found.stop, found.p_value < 1e-9
    (300, 360, True)
    """
    return _test_longest(codes)


def missing_run(missing: BoolArray) -> Run:
    """Test whether a feed stopped, from its missing reports, (T,).

    Tests the longest run without a report, after the first report, as `constant_run`
    does: a feed that often skips a case, or ten, has such runs. A feed that reports on
    less than half of the cases is not tested. If it never skipped two cases in a row,
    the share of skipped cases gives the probability of the next.

    >>> missing = np.arange(400) % 7 == 3
    >>> missing[350:] = True
    >>> missing_run(missing).start, missing_run(missing).p_value < 1e-9
    (350, True)
    """
    first = int(np.argmin(missing))
    series = missing[first:].astype(np.int64)
    found = _test_longest(series, only=1)
    if found.start == 0 or series[: found.start].mean() > 0.5:
        return NO_RUN
    return Run(found.start + first, found.stop + first, found.usual, found.p_value)


def log_chance(
    repeats: int, same: float, of: float, own_same: float, own_of: float
) -> float:
    """Log probability of this many repeats in a row.

    The feed repeated itself in ``same`` of ``of`` transitions, and the value in
    question in ``own_same`` of ``own_of``.
    """
    rate = (same + 0.5) / (of + 1)
    weight = min(PRIOR_WEIGHT, of + 1)
    a, b = weight * rate + own_same, weight * (1 - rate) + own_of - own_same
    return float(betaln(a + repeats, b) - betaln(a, b))


def tail_chance(longest: IntArray, length: int) -> float:
    r"""Chance of a run of this length, from the next longest runs, in falling order.

    Above some length runs have an exponential tail, so the gaps :math:`j (L_j -
    L_{j+1})` between the j-th longest ones are exponential with one mean (Renyi 1953).
    It is estimated from the runs after the `SKIPPED` longest. The run lies as far
    beyond these as the largest of so many exponential variables. 0 of too few runs.

    >>> others = np.sort(np.random.default_rng(0).geometric(0.2, 5_000))[::-1]
    >>> [round(tail_chance(others, length), 3) for length in (40, 50, 90)]
    [0.904, 0.222, 0.0]
    """
    order = longest[:TAIL].astype(np.float64)
    if len(order) < MIN_RUN:
        return 0.0
    j = np.arange(SKIPPED + 1, len(order) + 1)
    total = float((j * (order[SKIPPED - 1 : -1] - order[SKIPPED:])).sum())
    if total <= 0:
        return 0.0
    beyond = np.arange(1, SKIPPED + 1) * max(length - order[SKIPPED - 1], 0.0) / total
    signs = comb(SKIPPED, np.arange(1, SKIPPED + 1)) * (-1.0) ** np.arange(SKIPPED)
    return min(1.0, float((signs * (1 + beyond) ** -float(len(j))).sum()))


def _runs(series: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Starts, ends and values of all runs."""
    begins = np.r_[True, series[1:] != series[:-1]]
    starts = np.flatnonzero(begins)
    return starts, np.r_[starts[1:], len(series)], series[starts]


def _test_longest(series: IntArray, only: int | None = None) -> Run:
    """Test the longest run, of one value only if given."""
    if not len(series):  # an agent that never reported
        return NO_RUN
    starts, stops, values = _runs(series)
    lengths = stops - starts
    eligible = lengths if only is None else np.where(values == only, lengths, 0)
    best = int(np.argmax(eligible))
    if len(lengths) < 2 or eligible[best] < MIN_RUN:
        return NO_RUN
    long = int(lengths[best])
    others = np.arange(len(lengths)) != best
    alike = others & (values == values[best])
    compared = others if only is None and alike.sum() < MIN_RUN else alike
    usual = int(np.quantile(lengths[compared], USUAL_QUANTILE)) if compared.any() else 0
    log_p = np.log(len(series)) + log_chance(
        long - 1,
        float((lengths[others] - 1).sum() if only is None else lengths[alike].sum()),
        float(lengths[others].sum()),
        float((lengths[alike] - 1).sum()),
        float(lengths[alike].sum()),
    )
    p = float(np.exp(min(log_p, 0.0))) if long >= LENGTH_RATIO * usual else 1.0
    p = max(p, tail_chance(np.sort(lengths[alike])[::-1], long))
    return Run(int(starts[best]), int(stops[best]), usual, p)


@final
class RunDetector:
    """Monitor one feed for a run of one value, one report at a time.

    As `constant_run`, but from the reports before the run alone. It raises an alarm
    when the probability of so many repeats falls below one in
    ``cases_per_false_alarm``, so that about one false alarm at most is expected over as
    many reports. One alarm per run. It remembers the last ``history`` different values,
    and counts longer runs as this long.

    >>> detector = RunDetector(cases_per_false_alarm=10_000)
    >>> reports = [*np.random.default_rng(0).random(100), *[0.5] * 50]
    >>> [t for t, report in enumerate(reports) if detector.update(report)]
    [119]
    """

    def __init__(
        self,
        cases_per_false_alarm: float,
        only: float | None = None,
        history: int = HISTORY,
    ) -> None:
        self.cases_per_false_alarm, self.only = cases_per_false_alarm, only
        self.history = history
        self.value, self.length, self.stuck = float("nan"), 0, False
        self._same = self._count = 0.0
        self._own: dict[float, tuple[float, float]] = {}
        self._lengths: Counter[int] = Counter()

    def update(self, value: float) -> bool:
        """Add one report and return whether the feed has just got stuck."""
        if value != self.value:
            self._close()
            self.value, self.length, self.stuck = value, 1, False
            return False
        self.length += 1
        if self.length < MIN_RUN or (self.only is not None and value != self.only):
            return False
        if self.stuck or not self._is_improbable():
            return False
        self.stuck = True
        return True

    def _is_improbable(self) -> bool:
        """Whether the run is improbable given the history."""
        if self.length < LENGTH_RATIO * self._usual():
            return False
        own = self._own.get(self.value, (0.0, 0.0))
        chance = log_chance(self.length - 1, self._same, self._count, *own)
        if chance >= -log(self.cases_per_false_alarm):
            return False
        return tail_chance(self._longest(), self.length) < RECORD

    def _usual(self) -> int:
        """The length that 99 % of the earlier runs do not exceed."""
        beyond = (1 - USUAL_QUANTILE) * sum(self._lengths.values())
        for length in sorted(self._lengths, reverse=True):
            beyond -= self._lengths[length]
            if beyond < 0:
                return length
        return 0

    def _longest(self) -> IntArray:
        """The longest of the earlier runs, in falling order."""
        found: list[int] = []
        for length in sorted(self._lengths, reverse=True):
            found += [length] * min(self._lengths[length], TAIL - len(found))
            if len(found) == TAIL:
                break
        return np.array(found, dtype=np.int64)

    def _close(self) -> None:
        """Add the run that ended to the history, unless it was a fault."""
        if not self.length or self.stuck:
            return
        same, count = self._own.pop(self.value, (0.0, 0.0))
        self._own[self.value] = same + self.length - 1, count + self.length
        if len(self._own) > self.history:
            del self._own[next(iter(self._own))]  # the value that is longest ago
        self._count += self.length
        if self.only is None or self.value == self.only:
            self._same += self.length - (self.only is None)
            self._lengths[min(self.length, self.history)] += 1
