"""What `auto` costs beside the best of its linear candidates, where fraud is rare."""

from dataclasses import dataclass

import numpy as np

import truepool as tp
from scenarios import bank, cards

LINEAR = (
    "mean", "log-odds", "best-agent", "extremized", "platt", "brier", "vcg", "convex",
    "stacked-lr", "ridge",
)  # fmt: skip
COSTS = {
    "1:1": tp.Costs(),
    "10:1": tp.Costs(fn=10, fp=1),
    "100:1": tp.Costs(fn=100, fp=1),
    "amounts": bank.COSTS,
}
LIMIT = 0.02
"""`auto` costs at most so much more, as a share."""
DRAWN = 1000
"""Bootstrap resamples of the payments on which pools are compared."""


@dataclass(frozen=True)
class Excess:
    """What `auto` costs more than the best linear candidate, as a share of its cost."""

    table: str
    costs: str
    auto: float
    best: float
    linear: str
    low: float
    high: float
    candidates: dict[str, float]
    """Cost per case of each linear candidate."""

    @property
    def value(self):
        return self.auto / self.best - 1


def on_cards(split, seed=0, share=1.0):
    """Excess at each of the costs: pools learn from one part, decide the other.

    ``split`` is the share to learn from, the earlier part; negative: a random one.
    """
    table = cards.make(share)
    T = len(table.fraud)
    cut = int(abs(split) * T)
    order = np.arange(T)
    if split < 0:
        order = np.random.default_rng(seed).permutation(T)
    learn, test = np.sort(order[:cut]), np.sort(order[cut:])
    amount = table.amount[test]
    name = f"cards {'random ' if split < 0 else ''}{abs(split):.0%}"
    return _compare(
        name, table.panel(learn), table.reports[test], table.fraud[test], amount, seed
    )


def on_bank(name, seed, **size):
    """Excess at each of the costs, on as many payments of another draw."""
    known, new = bank.make(name, seed, **size), bank.make(name, seed + 500_000, **size)
    panel = known.panel
    return _compare(name, panel, new.reports, new.fraud, new.amount, seed)


def _compare(table, panel, reports, fraud, amount, seed):
    return [
        _excess(table, name, costs, panel, reports, fraud, amount, seed)
        for name, costs in COSTS.items()
    ]


def _excess(table, name, costs, panel, reports, fraud, amount, seed):
    columns = {"amount": amount}
    resolved = costs.resolve(columns)
    by_case = {}
    for pool in (*LINEAR, "auto"):
        fitted = tp.pools.make(pool, costs=costs).fit_panel(panel)
        decided = fitted.pool(reports[:, :, None], columns).decisions
        by_case[pool] = resolved.cost_per_case(fraud, decided, 2)
    best = min(LINEAR, key=lambda pool: by_case[pool].mean())
    own, other = by_case["auto"], by_case[best]
    rng = np.random.default_rng(seed)
    # Only cases that cost anything matter to a sum; how many are drawn is Poisson.
    paid = np.flatnonzero((own != 0) | (other != 0))
    ratios = []
    for _ in range(DRAWN):
        drawn = rng.poisson(1.0, len(paid))
        ratios.append((drawn @ own[paid]) / (drawn @ other[paid]) - 1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    every = {pool: by_case[pool].mean() for pool in LINEAR}
    return Excess(table, name, own.mean(), other.mean(), best, low, high, every)
