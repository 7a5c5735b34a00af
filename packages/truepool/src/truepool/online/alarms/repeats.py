"""Repeats: a feed that sends earlier reports again, for other cases."""

from dataclasses import dataclass
from math import log
from typing import final

import numpy as np

from truepool.core.arrays import BoolArray, FloatArray, IntArray
from truepool.online.alarms.runs import HISTORY, MIN_RUN, log_chance

LAGS = 32
"""The number of random lags that estimate how often reports match by chance."""

MIN_WINDOW = 8
"""The shortest window that is searched for among earlier ones."""

DUPLICATE_SHARE = 0.99
"""If most other agents repeat this share of their reports at the same lag, the cases
themselves are duplicates."""


@dataclass(frozen=True)
class Repeat:
    """Where a feed repeats itself, how old the reports are, and the p-value.

    From ``since`` until ``until`` it sends what it sent ``lag`` cases before. A feed
    that falls behind by a day repeats the last correct day, and from then on sends
    reports that were not seen before, for the wrong cases.
    """

    since: int
    until: int
    lag: int
    p_value: float


NO_REPEAT = Repeat(0, 0, 0, 1.0)


def repeat(codes: IntArray, agent: int) -> Repeat:
    r"""Test whether a feed repeats its own earlier reports, from codes (T, N).

    Windows of reports are searched for among the earlier ones (by hash), which gives
    the lag :math:`\ell`; the longest run of :math:`x_t = x_{t - \ell}` is tested.
    Chance matches, which rounded reports have, are modelled by those at random lags,
    and the p-value allows for every lag and every start of a run. A report that also
    equals the one just before is not counted: that is a constant feed. A feed that
    repeats from its first cases on is periodic, and cases that most other agents repeat
    too are duplicates; neither is a fault.

    >>> rng = np.random.default_rng(0)
    >>> codes = rng.integers(0, 50, (600, 3))
    >>> codes[400:, 1] = codes[300:500, 1]
    >>> found = repeat(codes, 1)
    >>> found.since, found.lag, found.p_value < 1e-9, repeat(codes, 0).p_value
    (400, 100, True, 1.0)
    """
    mine = codes[:, agent]
    T = len(mine)
    if T < 4 * MIN_RUN:
        return NO_REPEAT
    history = _chance_matches(mine)
    window = _window(T, history)
    lag = _lag(mine, window) if window <= T // 4 else 0
    if not lag:
        return NO_REPEAT
    same = _same(mine, lag)
    begin, stop = _longest(same)
    fresh = np.r_[True, mine[1:] != mine[:-1]]
    counted = int(fresh[begin:stop].sum())
    since = _first(same, max(window // 2, MIN_WINDOW))
    if since - lag < MIN_RUN or _others_repeat(codes, agent, lag, begin, stop):
        return NO_REPEAT
    log_p = 2 * np.log(T) + log_chance(counted, *history, 0.0, 0.0)
    p = float(np.exp(min(log_p, 0.0))) if counted >= MIN_RUN else 1.0
    return Repeat(since, stop, lag, p)


def _chance_matches(mine: IntArray) -> tuple[float, float]:
    """At random lags: how often a match follows a match, and the number of matches."""
    T = len(mine)
    rng = np.random.default_rng(T)
    lags = rng.integers(MIN_RUN, T // 2, LAGS)
    pairs = []
    for lag in lags.tolist():
        same = _same(mine, lag)
        pairs.append((int((same[1:] & same[:-1]).sum()), int(same[:-1].sum())))
    follows, matches = np.sort(np.array(pairs), axis=0)[: LAGS - 2].sum(axis=0)
    return float(follows), float(max(matches, T))


def _window(T: int, history: tuple[float, float]) -> int:
    """Window length, a power of two, that chance does not repeat among T windows."""
    size = MIN_WINDOW
    while size <= T and 2 * np.log(T) + log_chance(size, *history, 0.0, 0.0) > -7:
        size *= 2
    return size


def _lag(mine: IntArray, window: int) -> int:
    """The most common distance to an identical earlier window; 0 if there is none."""
    rng = np.random.default_rng(window)
    table = rng.integers(1, 2**63, int(mine.max()) + 2, dtype=np.uint64)
    hashes, base, size = table[mine], 0x9E3779B97F4A7C15, 1
    while size < window:
        hashes = hashes[:-size] * np.uint64(base) + hashes[size:]
        base, size = base * base % 2**64, 2 * size
    steps = np.r_[0, np.cumsum(mine[1:] != mine[:-1])]
    varied = steps[window - 1 :] > steps[: len(hashes)]
    places = np.flatnonzero(varied)
    order = places[np.argsort(hashes[places], kind="stable")]
    twice = hashes[order[1:]] == hashes[order[:-1]]
    lags = (order[1:] - order[:-1])[twice]
    return int(np.bincount(lags).argmax()) if len(lags) else 0


def _same(mine: IntArray, lag: int) -> BoolArray:
    """Whether each report equals the one ``lag`` cases earlier, (T,)."""
    same = np.zeros(len(mine), dtype=np.bool_)
    same[lag:] = (mine[lag:] == mine[:-lag]) & (mine[lag:] >= 0)
    return same


def _longest(same: BoolArray) -> tuple[int, int]:
    edges = np.flatnonzero(np.diff(np.r_[False, same, False].astype(np.int8)))
    starts, stops = edges[::2], edges[1::2]
    best = int(np.argmax(stops - starts))
    return int(starts[best]), int(stops[best])


def _first(same: BoolArray, length: int) -> int:
    """Where the first run of at least this length begins."""
    edges = np.flatnonzero(np.diff(np.r_[False, same, False].astype(np.int8)))
    long = edges[1::2] - edges[::2] >= length
    return int(edges[::2][np.argmax(long)])


def _others_repeat(
    codes: IntArray, agent: int, lag: int, begin: int, stop: int
) -> bool:
    """Whether most other agents repeat themselves there too."""
    now, then = codes[begin:stop], codes[begin - lag : stop - lag]
    moving = (now != now[0]).any(axis=0)
    shares: FloatArray = (now == then).mean(axis=0)
    too = np.delete(moving & (shares >= DUPLICATE_SHARE), agent)
    return bool(2 * too.sum() > len(too))


@final
class RepeatDetector:
    """Monitor one feed for repeats of its own earlier reports, one report at a time.

    A pair of consecutive reports that occurred before gives a lag; while the reports
    keep matching those at that lag, they are counted, unless they equal the one just
    before (a constant feed). It raises an alarm when the chance of so many matches,
    estimated from the matches at `LAGS` fixed lags, falls below one in
    ``cases_per_false_alarm`` times the number of lags. ``lag`` is then the age of the
    reports. One alarm per repeat. Only the last ``history`` reports are remembered, so
    that older ones are not found again.

    >>> detector = RepeatDetector(cases_per_false_alarm=10_000)
    >>> reports = np.random.default_rng(0).random(300)
    >>> reports[200:] = reports[100:200]
    >>> [t for t, x in enumerate(reports) if detector.update(x)], detector.lag
    ([219], 100)
    """

    def __init__(self, cases_per_false_alarm: float, history: int = HISTORY) -> None:
        self.cases_per_false_alarm, self.history = cases_per_false_alarm, history
        self.lag = self.matched = self._count = 0
        self._reports: list[float] = []  # a ring: report t has the place t % history
        self._pairs: dict[tuple[float, float], int] = {}
        self._alike = self._follow = 0.0
        lags = np.random.default_rng(0).integers(20, 2000, LAGS).tolist()
        self._lags = [lag for lag in lags if lag < history - 1]
        self._alarmed = False

    def update(self, value: float) -> bool:
        """Add one report and return whether the feed now repeats itself."""
        t, self._count = self._count, self._count + 1
        last = self._at(t - 1) if t else value
        self._remember(t, value)
        self._learn(t)
        if self.lag and self._at(t - self.lag) == value:
            self.matched += value != last
        elif t:
            before = self._pairs.get((last, value))
            self.lag = 0 if before is None else t - before
            self.matched = 2 if self.lag > 1 and value != last else 0
            self._alarmed = False
        if t:
            self._pairs[last, value] = t
        if self._alarmed or self.matched < MIN_RUN or t - self.lag < 2 * MIN_RUN:
            return False
        history = self._follow, max(self._alike, float(t))
        chance = log_chance(self.matched, *history, 0.0, 0.0)
        self._alarmed = chance < -log(self.cases_per_false_alarm * t)
        return self._alarmed

    def _at(self, t: int) -> float:
        return self._reports[t % self.history]

    def _remember(self, t: int, value: float) -> None:
        """Store a report in place of the oldest, whose pair is then forgotten."""
        if t < self.history:
            self._reports.append(value)
            return
        oldest = t - self.history
        pair = self._at(oldest), self._at(oldest + 1)
        if self._pairs.get(pair) == oldest + 1:
            del self._pairs[pair]
        self._reports[t % self.history] = value

    def _learn(self, t: int) -> None:
        """Count chance matches at fixed lags other than the current one."""
        seen, size = self._reports, self.history
        now, last = seen[t % size], seen[(t - 1) % size] if t else 0.0
        for lag in self._lags:
            if lag < t and lag != self.lag and last == seen[(t - 1 - lag) % size]:
                self._alike += 1
                self._follow += now == seen[(t - lag) % size]
