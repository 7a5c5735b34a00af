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
DRAWN = 400
"""Bootstrap resamples of the payments on which pools are compared."""


@dataclass(frozen=True)
class Paid:
    """What each pool costs per case on the payments of one draw.

    ``resampled`` has the same where each payment of the table counts as often as it was
    drawn: in resample b it is drawn as often in every draw, which share payments.
    """

    table: str
    costs: str
    mean: dict[str, float]
    resampled: dict[str, list[float]]


@dataclass(frozen=True)
class Excess:
    """What `auto` costs more than the best linear pool over draws, as a share."""

    auto: float
    best: float
    linear: str
    low: float
    high: float

    @classmethod
    def over(cls, draws):
        """Compare `auto` with the one linear pool of the lowest mean cost."""
        mean = {p: np.mean([d.mean[p] for d in draws]) for p in draws[0].mean}
        best = min(LINEAR, key=mean.__getitem__)
        own, other = (
            np.mean([d.resampled[p] for d in draws], axis=0) for p in ("auto", best)
        )
        low, high = np.quantile(own / other - 1, [0.025, 0.975])
        return cls(mean["auto"], mean[best], best, low, high)

    @property
    def value(self):
        return self.auto / self.best - 1


def on_cards(split, seed=0, share=1.0):
    """What pools cost, at each of the costs: they learn one part, decide the other.

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
    drawn = _times_drawn(T, 0)[:, test]
    return _compare(
        name, table.panel(learn), table.reports[test], table.fraud[test], amount, drawn
    )


def on_bank(name, seed, **size):
    """What pools cost, at each of the costs, on as many payments of another draw."""
    known, new = bank.make(name, seed, **size), bank.make(name, seed + 500_000, **size)
    drawn = _times_drawn(len(new.fraud), seed)
    return _compare(name, known.panel, new.reports, new.fraud, new.amount, drawn)


def _times_drawn(payments, seed):
    """How often each payment is drawn in each resample, (B, T)."""
    rng = np.random.default_rng([seed, payments])
    return rng.poisson(1.0, (DRAWN, payments)).astype(np.uint8)


def _compare(table, panel, reports, fraud, amount, drawn):
    return [
        _pay(table, name, costs, panel, reports, fraud, amount, drawn)
        for name, costs in COSTS.items()
    ]


def _pay(table, name, costs, panel, reports, fraud, amount, drawn):
    columns = {"amount": amount}
    resolved = costs.resolve(columns)
    by_case = {}
    for pool in (*LINEAR, "auto"):
        fitted = tp.pools.make(pool, costs=costs).fit_panel(panel)
        decided = fitted.pool(reports[:, :, None], columns).decisions
        by_case[pool] = resolved.cost_per_case(fraud, decided, 2)
    mean = {pool: cost.mean() for pool, cost in by_case.items()}
    resampled = {}
    for pool, cost in by_case.items():
        paid = np.flatnonzero(cost)  # only these matter to a sum
        resampled[pool] = (drawn[:, paid] @ cost[paid] / len(cost)).tolist()
    return Paid(table, name, mean, resampled)
