"""Runs: a feed that goes constant, and a feed that stops."""

from collections import Counter
from dataclasses import dataclass
from math import log
from typing import final

import numpy as np
from scipy.special import betaln

from truepool.core.arrays import BoolArray, FloatArray, IntArray

SHORTEST = 20
"""A shorter run is never called a fault."""

LONGER, USUAL = 3.0, 0.99
"""A fault is a run so many times longer than this quantile of the feed's other runs."""

PRIOR = 20.0
"""Weight, in transitions, of the feed's general rate of repeats beside that of the one
value that is repeated."""


@dataclass(frozen=True)
class Run:
    """The longest run of one value: where it begins and ends, and how likely by chance.

    ``usual`` is the length that 99 % of the other runs do not exceed.
    """

    start: int
    stop: int
    usual: int
    p_value: float

    def __len__(self) -> int:
        """Return how many reports the run has."""
        return self.stop - self.start


NO_RUN = Run(0, 0, 0, 1.0)


def codes_of(values: FloatArray) -> IntArray:
    """Whole numbers for the distinct reports of each agent, (T, N); -1 for no report.

    >>> codes_of(np.array([[[0.1], [0.5]], [[0.3], [np.nan]], [[0.1], [0.5]]]))
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
            if c:  # small numbers again, or K columns would overflow
                mixed = np.unique(mixed, return_inverse=True)[1]
        codes[known, i] = mixed
    return codes


def repeated_cases(codes: IntArray) -> BoolArray:
    """Cases that repeat the one before in every report, (T,): the same case again."""
    same = np.zeros(len(codes), dtype=np.bool_)
    same[1:] = (codes[1:] == codes[:-1]).all(axis=1)
    return same


def constant_run(codes: IntArray) -> Run:
    r"""Test whether a feed went constant, from the codes (T,) of its reports.

    The longest run, of L reports, against what the rest of the feed makes likely. Each
    report repeats the last one with a chance q, whose distribution is Beta, from how
    often the rest repeats itself and how often it repeats this value (a feed that says
    0.00 in nine cases of ten has long runs of it). The chance of L - 1 repeats,

    .. math:: \frac{B(a + L - 1, b)}{B(a, b)},

    times the places where a run could begin, bounds the p-value. It is 1 for a run
    that is no `LONGER` than is `USUAL`, and for a feed that never said anything else.

    >>> rng = np.random.default_rng(0)
    >>> found = constant_run(np.r_[rng.integers(0, 50, 300), np.full(60, 7)])
    >>> found.start, found.stop, found.p_value < 1e-9
    (300, 360, True)
    """
    return _tested(codes)


def missing_run(missing: BoolArray) -> Run:
    """Test whether a feed stopped, from where it has no report, (T,).

    The longest run without a report, after the first report, tested as by
    `constant_run`: a feed that often leaves out a case, or ten, has such runs. A feed
    that reports on less than half of the cases is not tested. Where it never left out
    two in a row, how many it left out tells the chance of the next.

    >>> quiet = np.arange(400) % 7 == 3
    >>> quiet[350:] = True
    >>> missing_run(quiet).start, missing_run(quiet).p_value < 1e-9
    (350, True)
    """
    first = int(np.argmin(missing))
    series = missing[first:].astype(np.int64)
    found = _tested(series, of=1)
    if found.start == 0 or series[: found.start].mean() > 0.5:
        return NO_RUN
    return Run(found.start + first, found.stop + first, found.usual, found.p_value)


def log_chance(
    repeats: int, same: float, of: float, own_same: float, own_of: float
) -> float:
    """Log of the chance of so many repeats in a row.

    The feed repeated itself in ``same`` of ``of`` transitions, and the value in
    question in ``own_same`` of ``own_of``.
    """
    rate = (same + 0.5) / (of + 1)
    weight = min(PRIOR, of + 1)
    a, b = weight * rate + own_same, weight * (1 - rate) + own_of - own_same
    return float(betaln(a + repeats, b) - betaln(a, b))


def _runs(series: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Where runs begin and end, and what they repeat."""
    begins = np.r_[True, series[1:] != series[:-1]]
    starts = np.flatnonzero(begins)
    return starts, np.r_[starts[1:], len(series)], series[starts]


def _tested(series: IntArray, of: int | None = None) -> Run:
    """Test the longest run, of one value if it is named."""
    starts, stops, values = _runs(series)
    lengths = stops - starts
    eligible = lengths if of is None else np.where(values == of, lengths, 0)
    best = int(np.argmax(eligible))
    if len(lengths) < 2 or eligible[best] < SHORTEST:
        return NO_RUN
    long = int(lengths[best])
    others = np.arange(len(lengths)) != best
    alike = others & (values == values[best])
    compared = others if of is None and alike.sum() < SHORTEST else alike
    usual = int(np.quantile(lengths[compared], USUAL)) if compared.any() else 0
    log_p = np.log(len(series)) + log_chance(
        long - 1,
        float((lengths[others] - 1).sum() if of is None else lengths[alike].sum()),
        float(lengths[others].sum()),
        float((lengths[alike] - 1).sum()),
        float(lengths[alike].sum()),
    )
    p = float(np.exp(min(log_p, 0.0))) if long >= LONGER * usual else 1.0
    return Run(int(starts[best]), int(stops[best]), usual, p)


@final
class RunDetector:
    """Watch one feed for a run of one value, one report at a time.

    As `constant_run`, from what was seen before the run alone: an alarm where the
    chance of so many repeats falls below one in ``every``, so that over as many
    reports about one false alarm is to be expected at most. One alarm per run.

    >>> watch = RunDetector(every=10_000)
    >>> reports = [*np.random.default_rng(0).random(100), *[0.5] * 50]
    >>> [t for t, report in enumerate(reports) if watch.update(report)]
    [119]
    """

    def __init__(self, every: float, of: float | None = None) -> None:
        self.every, self.of = every, of
        self.value, self.length, self.stuck = float("nan"), 0, False
        self._same = self._count = 0.0
        self._own: dict[float, tuple[float, float]] = {}
        self._lengths: Counter[int] = Counter()

    def update(self, value: float) -> bool:
        """Take one report in, and say whether the feed is stuck now."""
        if value != self.value:
            self._close()
            self.value, self.length, self.stuck = value, 1, False
            return False
        self.length += 1
        if self.length < SHORTEST or (self.of is not None and value != self.of):
            return False
        if self.stuck or not self._strange():
            return False
        self.stuck = True
        return True

    def _strange(self) -> bool:
        """Whether the history does not explain the run."""
        if self.length < LONGER * self._usual():
            return False
        own = self._own.get(self.value, (0.0, 0.0))
        chance = log_chance(self.length - 1, self._same, self._count, *own)
        return chance < -log(self.every)

    def _usual(self) -> int:
        """Length that 99 % of the earlier runs do not exceed."""
        beyond = (1 - USUAL) * sum(self._lengths.values())
        for length in sorted(self._lengths, reverse=True):
            beyond -= self._lengths[length]
            if beyond < 0:
                return length
        return 0

    def _close(self) -> None:
        """Put the run that ended with the history, unless it was a fault."""
        if not self.length or self.stuck:
            return
        same, count = self._own.get(self.value, (0.0, 0.0))
        self._own[self.value] = same + self.length - 1, count + self.length
        self._count += self.length
        if self.of is None or self.value == self.of:
            self._same += self.length - (self.of is None)
            self._lengths[self.length] += 1
