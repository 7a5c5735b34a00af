"""Where a game ends, and the missed cases, false alarms and costs there."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from truepool.core import display
from truepool.core.arrays import FloatArray
from truepool.measures.decisions import choose
from truepool.measures.inference import bootstrap_means, percentile_interval
from truepool.panel.costs import Costs

ZERO_RATE = 1e-12
"""A rate below this counts as 0, and no ratio to it is defined."""


@dataclass(frozen=True)
class PriceOfAnarchy:
    """The rate under strategic reports compared with the rate under truthful ones.

    ``ratio`` is ``strategic / truthful`` (def:poa), None ("undefined") where the
    truthful rate is 0; ``difference`` is always defined.

    >>> price = PriceOfAnarchy(0.2, 0.0)
    >>> PriceOfAnarchy(0.2, 0.1).ratio, price.ratio, str(price)
    (2.0, None, 'undefined (+0.2)')
    """

    strategic: float
    truthful: float

    @property
    def ratio(self) -> float | None:
        """The strategic rate divided by the truthful rate."""
        return self.strategic / self.truthful if self.truthful > ZERO_RATE else None

    @property
    def difference(self) -> float:
        """The strategic rate minus the truthful rate."""
        return self.strategic - self.truthful

    def __str__(self) -> str:
        ratio = "undefined" if self.ratio is None else f"{self.ratio:.3g}"
        return f"{ratio} ({self.difference:+.3g})"


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium:
    """Where a game ends.

    Attributes
    ----------
    shifts : (N,)
        Each agent's shift; for other responses its mean report minus its mean belief.
    deviations : tuple
        Each agent's deviation in its family: (shift,), (intercept, slope), or () where
        it differs from case to case.
    fn, fp, cost : float
        Share of positive cases missed, share of negative cases with a false alarm, and
        cost per case, at the end.
    truthful_fn, truthful_fp, truthful_cost : float
        The same if every agent reports its belief (and the pool learns from that).
    bias : float
        Mean pooled report minus mean pooled belief.
    rounds, converged, cycle
        Number of rounds; whether the last one changed nothing; the length of the cycle
        that the agents are in, None if there is none.
    path : (R + 1, N)
        Mean shifts after every round; repeated cycles are left out.
    """

    payment: str
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
    def price_fn(self) -> PriceOfAnarchy:
        """Price of anarchy in missed cases (FN)."""
        return PriceOfAnarchy(self.fn, self.truthful_fn)

    @property
    def price_fp(self) -> PriceOfAnarchy:
        """Price of anarchy in false alarms."""
        return PriceOfAnarchy(self.fp, self.truthful_fp)

    @property
    def price_cost(self) -> PriceOfAnarchy:
        """Price of anarchy in cost."""
        return PriceOfAnarchy(self.cost, self.truthful_cost)

    @property
    def poa(self) -> float | None:
        """Price of anarchy in missed cases; None where the truthful rate is 0."""
        return self.price_fn.ratio

    def intervals(
        self, level: float = 0.95, resamples: int = 1000, seed: int = 0
    ) -> dict[str, tuple[float, float] | None]:
        """Bootstrap intervals over the cases, with the agents' reports held fixed.

        None where a price of anarchy is undefined in some resample.
        """
        draws = bootstrap_means(self.by_case, resamples, seed)
        found: dict[str, tuple[float, float] | None] = {}
        for name, values in _rates(draws).items():
            if np.isfinite(values).all():
                low, high = percentile_interval(values[:, None], level)
                found[name] = (float(low[0]), float(high[0]))
            else:
                found[name] = None
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, ready for JSON."""
        fields: dict[str, Any] = {
            name: getattr(self, name)
            for name in (
                "payment", "fn", "fp", "cost", "truthful_fn", "truthful_fp",
                "truthful_cost", "bias", "rounds", "converged", "cycle", "poa",
            )
        }  # fmt: skip
        for name, price in (
            ("fn", self.price_fn), ("fp", self.price_fp), ("cost", self.price_cost),
        ):  # fmt: skip
            fields[f"price_{name}"] = {
                "ratio": price.ratio,
                "difference": price.difference,
                "defined": price.ratio is not None,
            }
        fields["shifts"] = self.shifts.tolist()
        fields["deviations"] = [list(deviation) for deviation in self.deviations]
        return fields

    @cached_property
    def shift(self) -> float:
        """Mean shift over the agents."""
        return float(self.shifts.mean())

    def _repr_html_(self) -> str:
        return str(display.render("truepool_lab.render.tables", "notebook", self))

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        rounds = "1 round" if self.rounds == 1 else f"{self.rounds} rounds"
        end = f"{state} after {rounds}"
        if self.cycle:
            end = f"in a cycle of {self.cycle} rounds"
        return (
            f"Equilibrium({self.payment}: shift {self.shift:+.3f}, FN "
            f"{self.truthful_fn:.3f} -> {self.fn:.3f}, PoA {self.price_fn}, {end})"
        )


def errors_by_case(
    pooled: FloatArray,
    truthful: FloatArray,
    chance: FloatArray,
    costs: Costs,
    threshold: float,
) -> FloatArray:
    """Quantities (T, 8) whose means give every rate: see `_rates`."""
    columns = [chance, 1 - chance]
    for pool in (pooled, truthful):
        says = choose(pool[:, None], costs, threshold)
        missed, alarms = chance * (1 - says), (1 - chance) * says
        columns += [missed, alarms, costs.fn * missed + costs.fp * alarms]
    return np.stack(columns, axis=1)


def rates(by_case: FloatArray) -> dict[str, float]:
    """Rates over all cases."""
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
            "poa": missed / np.where(missed0 > ZERO_RATE, missed0, np.nan),
            "poa_cost": cost / np.where(cost0 > ZERO_RATE, cost0, np.nan),
        }
    found["difference"] = found["fn"] - found["truthful_fn"]
    return found
