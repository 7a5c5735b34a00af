"""Where a game ended, and what that does to missed cases, alarms and costs."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from truepool.core import display
from truepool.core.arrays import FloatArray
from truepool.data.costs import Costs
from truepool.measures.decisions import choose
from truepool.measures.inference import bootstrap_means, percentile_interval

NEXT_TO_NOTHING = 1e-12
"""A rate below this is 0: nothing can be divided by it."""


@dataclass(frozen=True)
class Price:
    """What strategy does to a rate: the price of anarchy, safe where truth errs never.

    ``ratio`` is ``after / before`` (def:poa), None ("undefined") where the truthful
    rate is 0; ``difference`` is always there.

    >>> Price(0.2, 0.1).ratio, Price(0.2, 0.0).ratio, str(Price(0.2, 0.0))
    (2.0, None, 'undefined (+0.2)')
    """

    after: float
    before: float

    @property
    def ratio(self) -> float | None:
        """The rate after over the rate before."""
        return self.after / self.before if self.before > NEXT_TO_NOTHING else None

    @property
    def difference(self) -> float:
        """The rate after less the rate before."""
        return self.after - self.before

    def __str__(self) -> str:
        told = "undefined" if self.ratio is None else f"{self.ratio:.3g}"
        return f"{told} ({self.difference:+.3g})"


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium:
    """Where a game ended.

    Attributes
    ----------
    shifts : (N,)
        Each agent's shift; for other responses its mean report less its mean belief.
    deviations : tuple
        Each agent's deviation in its family: (shift,), (intercept, slope), or () where
        every case has its own.
    fn, fp, cost : float
        Share of 1s missed, share of 0s that raise an alarm, cost a case, at the end.
    truthful_fn, truthful_fp, truthful_cost : float
        The same if everybody reports its belief (and the pool learns from that).
    bias : float
        Mean pooled report less mean pooled belief.
    rounds, converged, cycle
        Rounds played; whether the last changed nothing; the length of the circle the
        agents go in, None if they do not.
    path : (R + 1, N)
        Mean shifts after every round played; whole turns of a circle are left out.
    """

    mechanism: str
    shifts: FloatArray
    deviations: tuple[tuple[float, ...], ...]
    fn: float
    fp: float
    cost: float
    truthful_fn: float
    truthful_fp: float
    truthful_cost: float
    bias: float
    rounds: int
    converged: bool
    cycle: int | None
    path: FloatArray
    by_case: FloatArray = field(repr=False)
    reports: FloatArray = field(repr=False)

    @property
    def anarchy(self) -> Price:
        """Price of anarchy in missed cases (FN)."""
        return Price(self.fn, self.truthful_fn)

    @property
    def anarchy_fp(self) -> Price:
        """Price of anarchy in false alarms."""
        return Price(self.fp, self.truthful_fp)

    @property
    def anarchy_cost(self) -> Price:
        """Price of anarchy in cost."""
        return Price(self.cost, self.truthful_cost)

    @property
    def poa(self) -> float | None:
        """Price of anarchy in missed cases; None where the truthful rate is 0."""
        return self.anarchy.ratio

    def intervals(
        self, level: float = 0.95, resamples: int = 1000, seed: int = 0
    ) -> dict[str, tuple[float, float] | None]:
        """Intervals by resampling the cases, the agents' strategies held fixed.

        None where a price is undefined in some resample.
        """
        draws = bootstrap_means(self.by_case, resamples, seed)
        told: dict[str, tuple[float, float] | None] = {}
        for name, values in _rates(draws).items():
            if np.isfinite(values).all():
                low, high = percentile_interval(values[:, None], level)
                told[name] = (float(low[0]), float(high[0]))
            else:
                told[name] = None
        return told

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, ready for JSON."""
        told: dict[str, Any] = {
            name: getattr(self, name)
            for name in (
                "mechanism", "fn", "fp", "cost", "truthful_fn", "truthful_fp",
                "truthful_cost", "bias", "rounds", "converged", "cycle", "poa",
            )
        }  # fmt: skip
        for name, price in (
            ("fn", self.anarchy), ("fp", self.anarchy_fp), ("cost", self.anarchy_cost),
        ):  # fmt: skip
            told[f"price_{name}"] = {
                "ratio": price.ratio,
                "difference": price.difference,
                "defined": price.ratio is not None,
            }
        told["shifts"] = self.shifts.tolist()
        told["deviations"] = [list(deviation) for deviation in self.deviations]
        return told

    @cached_property
    def shift(self) -> float:
        """Mean shift over the agents."""
        return float(self.shifts.mean())

    def _repr_html_(self) -> str:
        return str(display.render("html.notebook", "equilibrium", self))

    def __repr__(self) -> str:
        end = (
            f"still after {self.rounds} rounds"
            if self.converged
            else f"moving after {self.rounds} rounds"
        )
        if self.cycle:
            end = f"in a circle of {self.cycle}"
        return (
            f"Equilibrium({self.mechanism}: shift {self.shift:+.3f}, FN "
            f"{self.truthful_fn:.3f} -> {self.fn:.3f}, PoA {self.anarchy}, {end})"
        )


def errors_by_case(
    pooled: FloatArray,
    truthful: FloatArray,
    chance: FloatArray,
    costs: Costs,
    threshold: float,
) -> FloatArray:
    """What every rate is a ratio of means of, (T, 8): see `_rates`."""
    columns = [chance, 1 - chance]
    for pool in (pooled, truthful):
        says = choose(pool[:, None], costs, threshold)
        missed, alarms = chance * (1 - says), (1 - chance) * says
        columns += [missed, alarms, costs.fn * missed + costs.fp * alarms]
    return np.stack(columns, axis=1)


def rates(by_case: FloatArray) -> dict[str, float]:
    """Rates of all the cases together."""
    found = _rates(by_case.mean(axis=0)[None])
    return {name: float(values[0]) for name, values in found.items()}


def _rates(means: FloatArray) -> dict[str, FloatArray]:
    ones, zeros, missed, alarms, cost, missed0, alarms0, cost0 = means.T
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            "fn": missed / ones,
            "fp": alarms / zeros,
            "cost": cost,
            "truthful_fn": missed0 / ones,
            "truthful_fp": alarms0 / zeros,
            "truthful_cost": cost0,
            "poa": missed / np.where(missed0 > NEXT_TO_NOTHING, missed0, np.nan),
            "poa_cost": cost / np.where(cost0 > NEXT_TO_NOTHING, cost0, np.nan),
        }
    found["difference"] = found["fn"] - found["truthful_fn"]
    return found
