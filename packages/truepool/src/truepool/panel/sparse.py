"""Sparse reports: only those that were given, case by case.

Thousands of forecasters who answer one question in a hundred leave 99 % of the table of
all cases and agents empty. Here a report takes 16 bytes and an empty cell none. Every
quantity is a sum over the cells of each case or of each agent, in the order of the
cases, so it equals that of the table (T, N) to rounding.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, csr_array

from truepool.core.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    blocks,
    read_only,
)
from truepool.core.errors import SettingError
from truepool.core.kernels.reference import MIN_SHARE

SPARSE_CELLS = 1_000_000
SPARSE_FILL = 0.1
"""Reports of two classes are kept sparse from this many cells (cases times agents) on,
if less than this share of them is filled."""
DENSE_CELLS = 50_000_000
"""Most cells of sparse reports that are written out as a table: 400 MB."""


def prefers_sparse(cells: int, filled: int) -> bool:
    """Whether this many cells, of which so many are filled, are kept sparse.

    >>> prefers_sparse(1_000_000, 99_999), prefers_sparse(1_000_000, 100_000)
    (True, False)
    """
    return cells >= SPARSE_CELLS and filled < SPARSE_FILL * cells


@dataclass(frozen=True, eq=False)
class SparseReports:
    """Reports of N agents on T cases, two classes, without the empty cells.

    The reports on case t are ``values[starts[t]:starts[t + 1]]``, given by the agents
    of the same places of ``agent``, which ascend.

    >>> reports = SparseReports.from_cells([0, 1, 1], [2, 0, 2], [0.9, 0.2, 0.4], 2, 3)
    >>> reports
    SparseReports(2 cases, 3 agents, 3 reports)
    >>> reports.dense()[:, :, 0]
    array([[nan, nan, 0.9],
           [0.2, nan, 0.4]])
    """

    starts: IntArray
    agent: IntArray
    values: FloatArray
    agents: int

    @classmethod
    def from_cells(
        cls,
        case: IntArray,
        agent: IntArray,
        values: FloatArray,
        cases: int,
        agents: int,
    ) -> "SparseReports":
        """Reports by case and agent; of several in a cell the last stays."""
        place = np.asarray(case, np.int64) * agents + np.asarray(agent, np.int64)
        order = np.argsort(place, kind="stable")
        place = place[order]
        last = np.append(place[1:] != place[:-1], True)[: len(place)]
        row, column = np.divmod(place[last], agents)
        starts = np.append(0, np.bincount(row, minlength=cases).cumsum())
        return cls(starts, column, np.asarray(values, np.float64)[order][last], agents)

    @classmethod
    def from_dense(cls, table: FloatArray) -> "SparseReports":
        """Reports of a table (T, N), NaN where there is none."""
        reported = ~np.isnan(table)
        row, column = np.nonzero(reported)
        starts = np.append(0, np.bincount(row, minlength=len(table)).cumsum())
        return cls(starts, column, table[reported], table.shape[1])

    def __post_init__(self) -> None:
        for name in ("starts", "agent", "values"):
            object.__setattr__(self, name, read_only(vars(self)[name]))

    def __len__(self) -> int:
        """Return the number of cases, T."""
        return len(self.starts) - 1

    def __repr__(self) -> str:
        return (
            f"SparseReports({len(self):,} cases, {self.agents:,} agents, "
            f"{len(self.values):,} reports)"
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        """Cases, agents and coordinates, as those of a table: (T, N, 1)."""
        return len(self), self.agents, 1

    @property
    def cells(self) -> int:
        """Cases times agents."""
        return len(self) * self.agents

    @property
    def counts(self) -> IntArray:
        """Number of reports on each case, (T,)."""
        return np.diff(self.starts)

    @cached_property
    def case(self) -> IntArray:
        """Case of each report, (M,)."""
        return np.repeat(np.arange(len(self)), self.counts)

    @cached_property
    def agent_counts(self) -> IntArray:
        """Number of reports by each agent, (N,)."""
        return np.bincount(self.agent, minlength=self.agents)

    def by_case(self, cells: FloatArray) -> FloatArray:
        """Sum of (M,) over the reports on each case, (T,)."""
        sums = np.bincount(self.case, cells, len(self))
        return sums.astype(np.float64, copy=False)

    def by_agent(self, cells: FloatArray) -> FloatArray:
        """Sum of (M,) over the reports by each agent, (N,)."""
        sums = np.bincount(self.agent, cells, self.agents)
        return sums.astype(np.float64, copy=False)

    def with_values(self, values: FloatArray) -> "SparseReports":
        """Return other numbers (M,) in the same cells."""
        return SparseReports(self.starts, self.agent, values, self.agents)

    def take(self, cases: IntArray | BoolArray | slice) -> "SparseReports":
        """Return the reports on some of the cases, in the order given."""
        chosen = np.arange(len(self))[cases]
        counts = self.counts[chosen]
        starts = np.append(0, counts.cumsum())
        cells = np.repeat(self.starts[chosen] - starts[:-1], counts)
        cells += np.arange(starts[-1])
        return SparseReports(starts, self.agent[cells], self.values[cells], self.agents)

    def match_agents(self, places: IntArray, agents: int) -> "SparseReports":
        """Return the reports by agents in other places; those at -1 are left out."""
        moved = places[self.agent]
        kept = moved >= 0
        return SparseReports.from_cells(
            self.case[kept], moved[kept], self.values[kept], len(self), agents
        )

    @cached_property
    def _columns(self) -> csc_array:
        cells = np.arange(len(self.values)), self.agent, self.starts
        return csr_array(cells, shape=self.shape[:2]).tocsc()

    def in_order(self, order: IntArray) -> IntArray:
        """Places (M,) of the cells, case by case, their agents in this order (N,)."""
        return np.asarray(self._columns[:, order].tocsr().data, dtype=np.int64)

    def dense(self, part: slice | None = None) -> FloatArray:
        """Coordinates (t, N, 1) of some consecutive cases, NaN for no report."""
        first, last, _ = (part or slice(None)).indices(len(self))
        cells = slice(self.starts[first], self.starts[last])
        table = np.full((last - first, self.agents, 1), np.nan)
        table[self.case[cells] - first, self.agent[cells], 0] = self.values[cells]
        return table

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Coordinates (t, N, 1), some cases at a time."""
        for part in blocks(len(self), self.agents):
            yield part, read_only(self.dense(part))

    def check_cells(self, user: str, cure: str) -> None:
        """Refuse to write out more cells than fit into memory."""
        if self.cells > DENSE_CELLS:
            raise SettingError(
                f"{user} needs every cell of the table, at most {DENSE_CELLS:,}; got "
                f"{len(self):,} cases of {self.agents:,} agents, of which "
                f"{len(self.values) / self.cells:.1%} are filled. {cure}"
            )

    def linear(self, weights: FloatArray) -> FloatArray:
        r"""Weighted mean of the reports on each case, (T,): `kernels.linear`."""
        share = weights[self.agent]
        mass, total = self.by_case(share), self.by_case(share * self.values)
        with np.errstate(divide="ignore", invalid="ignore"):
            equal = self.by_case(self.values) / self.counts
            pooled = np.where(mass > 0, total / mass, equal)
        return np.asarray(np.minimum(pooled, 1.0))

    def without(self, weights: FloatArray, prior: float) -> FloatArray:
        """Pool of the others on the case of each report, (M,): `kernels.without`."""
        own, case = weights[self.agent], self.case
        mass = self.by_case(own)[case]
        total = self.by_case(own * self.values)[case]
        plain = self.by_case(self.values)[case]
        others, count = mass - own, self.counts[case] - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            weighted = (total - own * self.values) / others
            equal = (plain - self.values) / count
        pooled = np.where(others > MIN_SHARE * mass, weighted, equal)
        pooled = np.where(count > 0, pooled, prior)
        return np.asarray(np.clip(pooled, 0.0, 1.0))

    def trimmed_mean(self, share: float) -> FloatArray:
        """Mean of each case's reports without this share at each end, (T,)."""
        count = self.counts
        cut = np.floor(share * count + 1e-9).astype(np.int64)
        cut = np.minimum(cut, (count - 1) // 2)
        order = np.lexsort((self.values, self.case))
        rank = np.arange(len(order)) - self.starts[:-1][self.case]
        inside = (rank >= cut[self.case]) & (rank < (count - cut)[self.case])
        total = self.by_case(np.where(inside, self.values[order], 0.0))
        with np.errstate(invalid="ignore"):
            return np.asarray(total / (count - 2 * cut))
