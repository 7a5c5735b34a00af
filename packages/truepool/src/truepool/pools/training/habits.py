"""How agents reported in the cases that a pool learned from, to compare new ones with.

Reports are compared on the scale of log-odds: each agent with its own quantiles, and
with what the other agents suggest that it would have said, see `imputation`.
"""

from dataclasses import dataclass
from enum import StrEnum
from zlib import crc32

import numpy as np
from scipy.stats import rankdata

from truepool.core.arrays import Array, BoolArray, FloatArray, logit
from truepool.core.engine import one_blas_thread
from truepool.measures.groups import FEWEST_CASES
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports
from truepool.pools.training import imputation

LEARNED = 20_000
"""Cases from which habits are learned, at most."""
CLIP = 1e-9
"""Reports are clipped this far from 0 and 1 before their log-odds are taken."""
LEVELS = np.array([0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99])
"""Quantiles of an agent's log-odds that are kept."""
SURELY = 2.0
"""A correlation is at least what was seen in the fit, less so many standard errors."""
MOST_SEEN = 1_000_000
"""Cases that are remembered one by one, to know them again, at most."""
ALIKE = 0.001
"""Without ids a case is known by its reports, unless a larger share of the cases that
were learned from look like another one of them: new cases would, too."""


class KnownBy(StrEnum):
    """How a case that was learned from is known again."""

    DATE = "date"
    NUMBER = "number"
    ID = "id"
    REPORTS = "reports"
    NOTHING = ""


@dataclass(frozen=True, eq=False)
class Habits:
    """What is remembered of the reports of N agents, of two classes.

    Attributes
    ----------
    quantiles : (7, N)
        Of the log-odds of each agent, at `LEVELS`.
    factor : (3, N, 1)
        How the agents move together, see `imputation`.
    gaps : (2, N)
        Median and standard deviation of each agent's log-odds minus what the others
        suggest; NaN where nobody else reported.
    links : (N,)
        Rank correlation of the two, at least.
    seen : (S,)
        Fingerprints of the cases, sorted; none where there are times.
    until : float
        Time of the last case, as a number; NaN without times.
    known_by : KnownBy
        How a case is known again: by its date or number in time, its id and reports,
        or its reports alone.
    """

    quantiles: FloatArray
    factor: FloatArray
    gaps: FloatArray
    links: FloatArray
    seen: Array
    until: float = float("nan")
    known_by: str = KnownBy.NOTHING

    @classmethod
    def learn(cls, panel: Panel, *, whole: bool = True) -> "Habits | None":
        """Remember a panel; None of more than two classes, or where it is sparse.

        Where it is not the ``whole`` of what was learned from, no case is known again.
        """
        if panel.classes > 2 or panel.sparse is not None:
            return None
        x = logit(some(panel.values[:, :, 0], LEARNED), CLIP)
        factor = imputation.learn(x[:, :, None], np.ones(len(x)))
        with one_blas_thread():  # the same bits in any process
            spread = [beside(x, factor, i) for i in range(x.shape[1])]
        known_by, seen = _identify(panel) if whole else (KnownBy.NOTHING, NO_CASES)
        dated = known_by in (KnownBy.DATE, KnownBy.NUMBER)
        return cls(
            np.stack([_quantiles(column) for column in x.T], axis=1),
            factor,
            np.array([[gap, error] for gap, error, _, _ in spread]).T,
            np.array([_surely(link, cases) for _, _, link, cases in spread]),
            seen,
            float(_numbers(panel.times).max()) if dated else float("nan"),
            known_by,
        )

    def fits(self, agents: int) -> bool:
        """Whether the arrays are about so many agents: a file may come from anybody."""
        shapes = [
            (self.quantiles, (len(LEVELS), agents)),
            (self.factor, (3, agents, 1)),
            (self.gaps, (2, agents)),
            (self.links, (agents,)),
        ]
        return all(array.shape == shape for array, shape in shapes)

    def is_seen(self, panel: Panel) -> BoolArray | None:
        """Which cases (T,) of a panel were learned from; None where nobody can know.

        Those that are not later than the last one, where both have times of one kind;
        else those with the same reports and, if they had any, ids.
        """
        if self.known_by in (KnownBy.DATE, KnownBy.NUMBER):
            if self.known_by != _kind_of_times(panel):
                return None
            return np.asarray(_numbers(panel.times) <= self.until)
        by_id = self.known_by == KnownBy.ID
        if self.known_by == KnownBy.NOTHING or (by_id and panel.ids is None):
            return None
        return np.asarray(np.isin(fingerprints(panel, ids=by_id), self.seen))


NO_CASES = np.zeros(0, np.uint32)


def _identify(panel: Panel) -> tuple[KnownBy, Array]:
    """How the cases of a panel can be known again, and their fingerprints."""
    if panel.times is not None:
        return _kind_of_times(panel), NO_CASES
    if len(panel) > MOST_SEEN:
        return KnownBy.NOTHING, NO_CASES
    by_id = panel.ids is not None
    seen = np.unique(fingerprints(panel, ids=by_id))
    if by_id:
        return KnownBy.ID, seen
    if len(panel) - len(seen) > ALIKE * len(panel):
        return KnownBy.NOTHING, NO_CASES
    return KnownBy.REPORTS, seen


def _kind_of_times(panel: Panel) -> KnownBy:
    if panel.times is None:
        return KnownBy.NOTHING
    return KnownBy.DATE if panel.times.dtype.kind == "M" else KnownBy.NUMBER


def fingerprints(panel: Panel, *, ids: bool) -> Array:
    """A number for each case (T,), from its reports and, if asked for, its id."""
    mixed = np.zeros(len(panel), np.uint64)
    bits = np.ascontiguousarray(np.nan_to_num(panel.values, nan=-1.0)) + 0.0
    columns = bits.reshape(len(panel), -1).view(np.uint64)
    for column in columns.T:
        mixed = _mix(mixed ^ column)
    if ids and panel.ids is not None:
        names = [crc32(str(name).encode()) for name in panel.ids.tolist()]
        mixed = _mix(mixed ^ np.array(names, np.uint64))
    return (mixed >> np.uint64(32)).astype(np.uint32)


def _mix(x: Array) -> Array:
    """Spread the bits of whole numbers (Steele et al. 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((x ^ (x >> np.uint64(31))) + np.uint64(0x9E3779B97F4A7C15))


def some(values: FloatArray, most: int) -> FloatArray:
    """At most so many rows, spread evenly."""
    step = -(-len(values) // most) if len(values) else 1
    return values[::step]


def _quantiles(column: FloatArray) -> FloatArray:
    known = column[~np.isnan(column)]
    return np.quantile(known, LEVELS) if len(known) else np.full(len(LEVELS), np.nan)


def beside(
    x: FloatArray, factor: FloatArray, i: int
) -> tuple[float, float, float, int]:
    """Compare an agent's log-odds with what the others suggest.

    Median and standard deviation of the difference, rank correlation, and the number
    of cases.
    """
    without = x.copy()
    without[:, i] = np.nan
    expected = imputation.fill(without[:, :, None], factor)[:, i, 0]
    known = np.flatnonzero(~np.isnan(x[:, i]) & ~np.isnan(expected))
    own, suggested = x[known, i], expected[known]
    if len(known) < 2 or np.ptp(own) == 0 or np.ptp(suggested) == 0:
        return float("nan"), float("nan"), 0.0, 0
    gap = own - suggested
    link = float(np.corrcoef(rankdata(own), rankdata(suggested))[0, 1])
    link = min(max(link, -0.9999), 0.9999)
    return float(np.median(gap)), float(gap.std()), link, len(known)


def _surely(link: float, cases: int) -> float:
    """Lower limit of a rank correlation: in few cases noise correlates by chance.

    >>> round(_surely(0.5, 100), 2), round(_surely(0.5, 20_000), 2)
    (0.33, 0.49)
    """
    if cases < FEWEST_CASES:
        return 0.0
    return float(np.tanh(np.arctanh(link) - SURELY / np.sqrt(cases - 3)))


def _numbers(times: Array | None) -> FloatArray:
    given = np.zeros(0) if times is None else times
    if given.dtype.kind == "M":
        given = given.astype("datetime64[us]").astype(np.int64)
    return np.asarray(given, dtype=np.float64)


def shares_above(reports: FloatArray | SparseReports) -> tuple[float, ...]:
    """Share of each agent's reports that are above 1 %, 0 where it has none.

    >>> shares_above(np.array([[[0.2], [np.nan]], [[0.004], [0.1]]]))
    (0.5, 1.0)
    """
    counts = (
        reports.agent_counts if isinstance(reports, SparseReports)
        else (~np.isnan(reports[:, :, 0])).sum(axis=0)
    )  # fmt: skip
    if isinstance(reports, SparseReports):
        high = np.bincount(reports.agent[reports.values > 0.01], minlength=len(counts))
    else:
        high = (reports > 0.01).any(axis=2).sum(axis=0)
    return tuple((high / np.maximum(counts, 1)).tolist())
