"""From rows to what the page says: averages, and tests in each panel-cost cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.special import stdtr

from race.measurement import OLD, OURS, RATIOS
from truepool.core.arrays import FloatArray
from truepool.core.engine import Cell, Row
from truepool.measures.inference import bootstrap_means, holm, percentile_interval

Rows: TypeAlias = Mapping[Cell, Sequence[Row]]

MEAN = "scikit-learn mean"
LEVEL = 0.05
"""A cell counts as significant below this p-value."""
RESAMPLES = 2_000
LOG, BRIER = len(RATIOS), len(RATIOS) + 1
"""Where the log and the Brier loss stand among the means of a row, after the costs."""


def select(rows: Rows, experiment: str, panels: set[str]) -> Rows:
    """Return the rows of one experiment on some panels."""
    return {
        cell: found
        for cell, found in rows.items()
        if cell.experiment == experiment and cell["panel"] in panels
    }


@dataclass(frozen=True)
class Verdict:
    """`auto` against a peer in one cell: mean difference and p-value."""

    panel: str
    ratio: int
    cost: float
    other: float
    p: float
    adjusted: float

    @property
    def change(self) -> float:
        """How much more `auto` costs, as a share of what the other costs."""
        return self.cost / self.other - 1 if self.other else 0.0

    def significant(self, sign: int, adjusted: bool = False) -> bool:
        """Whether `auto` is significantly worse (sign 1) or better (sign -1)."""
        p = self.adjusted if adjusted else self.p
        return p < LEVEL and sign * (self.cost - self.other) > 0


class Results:
    """All rows of some panels, as arrays by competitor.

    ``means`` (P, R, 5) and ``errors`` (P, R, 5) of panels, draws and losses;
    ``calibration`` (P, R). Where a competitor failed, the mean stands in, and
    ``failures`` has the reason.
    """

    def __init__(self, rows: Rows) -> None:
        self.panels = tuple(dict.fromkeys(cell["panel"] for cell in rows))
        self.draws = 1 + max(cell.repeat for cell in rows)
        self.names = tuple(
            dict.fromkeys(row["name"] for found in rows.values() for row in found)
        )
        self.failures: dict[str, list[tuple[str, str]]] = {}
        shape = (len(self.panels), self.draws)
        self.means = {name: np.empty((*shape, BRIER + 1)) for name in self.names}
        self.errors = {name: np.empty((*shape, BRIER + 1)) for name in self.names}
        self.calibration = {name: np.empty(shape) for name in self.names}
        self.cases = np.empty(shape)
        for cell, found in rows.items():
            place = self.panels.index(cell["panel"]), cell.repeat
            by_name = {row["name"]: row for row in found}
            self.cases[place] = by_name[OURS]["cases"]
            for name in self.names:
                self._add(name, place, by_name)

    def _add(self, name: str, place: tuple[int, int], found: Mapping[str, Row]) -> None:
        row = found.get(name, {"error": "no answer"})
        if "error" in row:
            reason = self.panels[place[0]], row["error"]
            self.failures.setdefault(name, []).append(reason)
            row = found[MEAN]
        self.means[name][place] = row["means"]
        self.errors[name][place] = row["errors"]
        self.calibration[name][place] = row["ece"]

    @property
    def peers(self) -> tuple[str, ...]:
        """Everything that is not of this library, and answered at least once."""
        return tuple(
            name
            for name in self.names
            if name not in (OURS, OLD)
            and len(self.failures.get(name, ())) < self.means[name][..., 0].size
        )

    def relative(self, name: str) -> FloatArray:
        """Losses (P, 5) relative to those of the plain mean."""
        base = self.means[MEAN].mean(axis=1)
        return np.asarray(self.means[name].mean(axis=1) / base)

    def cost(self, name: str) -> float:
        """Cost relative to the plain mean, averaged over the panel-cost cells."""
        return float(self.costs(name).mean())

    @cached_property
    def best_peer(self) -> tuple[str, ...]:
        """For each draw, the peer with the least average cost on the other draws."""
        base = self.means[MEAN][..., :LOG].mean(axis=1, keepdims=True)
        by_draw = np.stack(
            [(self.means[n][..., :LOG] / base).mean(axis=(0, 2)) for n in self.peers]
        )  # (peers, draws)
        return tuple(self.peers[i] for i in _choose(by_draw))

    def costs(self, name: str) -> FloatArray:
        """Cost (P,) relative to the plain mean, averaged over the cost ratios."""
        return np.asarray(self.relative(name)[:, :LOG].mean(axis=1))

    def best_peer_costs(self) -> FloatArray:
        """The same for the best peer, on the draws that it was not chosen on."""
        base = self.means[MEAN][..., :LOG].mean(axis=1)
        cost = [self.means[n][:, r, :LOG] for r, n in enumerate(self.best_peer)]
        return np.asarray((np.mean(cost, axis=0) / base).mean(axis=1))

    def against(self, name: str) -> list[Verdict]:
        """`auto` against one competitor in every cell."""
        return self._verdicts({(p, k): (name,) * self.draws for p, k in self._cells()})

    def against_best(self) -> list[Verdict]:
        """`auto` against the best peer of each cell, chosen on the other draws."""
        chosen = {}
        for p, k in self._cells():
            costs = np.stack([self.means[name][p, :, k] for name in self.peers])
            chosen[p, k] = tuple(self.peers[i] for i in _choose(costs))
        return self._verdicts(chosen)

    def _cells(self) -> list[tuple[int, int]]:
        return [(p, k) for p in range(len(self.panels)) for k in range(LOG)]

    def _verdicts(
        self, chosen: Mapping[tuple[int, int], tuple[str, ...]]
    ) -> list[Verdict]:
        tested = []
        for (p, k), names in chosen.items():
            ours = self.means[OURS][p, :, k]
            other = np.array([self.means[n][p, r, k] for r, n in enumerate(names)])
            errors = np.array([self.errors[n][p, r, k] for r, n in enumerate(names)])
            found = paired_p_value(ours - other, errors, int(self.cases[p].sum()))
            tested.append((p, k, float(ours.mean()), float(other.mean()), found))
        adjusted = holm(np.array([found for *_, found in tested]))
        return [
            Verdict(self.panels[p], RATIOS[k], cost, other, found, float(a))
            for (p, k, cost, other, found), a in zip(tested, adjusted, strict=True)
        ]


def advantage(
    ours: FloatArray, other: FloatArray, sets: Sequence[str] | None = None
) -> tuple[float, float, float]:
    """How much cheaper ours (P,) is than the other on average, with its interval.

    The interval resamples the panels, as if they were independent; or whole data
    ``sets`` (P,), all panels of each.

    >>> advantage(np.array([0.8, 0.8]), np.array([1.0, 1.0]))
    (0.19999999999999996, 0.19999999999999996, 0.19999999999999996)
    """
    units = np.stack([ours, other], axis=1)
    if sets is not None:
        names = np.array(sets)
        units = np.stack([units[names == n].sum(axis=0) for n in dict.fromkeys(sets)])
    draws = bootstrap_means(units, RESAMPLES, seed=0)
    ratio = 1 - draws[:, :1] / draws[:, 1:]
    low, high = percentile_interval(ratio, 1 - LEVEL)
    return 1 - float(ours.mean() / other.mean()), float(low[0]), float(high[0])


def paired_p_value(differences: FloatArray, errors: FloatArray, cases: int) -> float:
    """Two-sided p-value of a mean difference over draws (R,), each with its error.

    The standard error is the larger of that between draws and that between cases, with
    the degrees of freedom that belong to it.

    >>> round(paired_p_value(np.array([1.0, 2.0, 3.0]), np.zeros(3), 300), 3)
    0.074
    """
    R = len(differences)
    between = differences.std(ddof=1) / np.sqrt(R) if R > 1 else 0.0
    within = np.sqrt(np.square(errors).sum()) / R
    error, freedom = (between, R - 1) if between > within else (within, cases - R)
    mean = abs(differences.mean())
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    return float(2 * stdtr(freedom, -mean / error))


def _choose(costs: FloatArray) -> list[int]:
    """For each draw the row of (M, R) with the least mean over the other draws."""
    R = costs.shape[1]
    others = (costs.sum(axis=1, keepdims=True) - costs) / max(R - 1, 1)
    return [int(i) for i in others.argmin(axis=0)]
