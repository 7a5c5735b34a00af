"""What agents of a real panel could have gained by misreporting, at whose cost."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from truepool.core.arrays import IntArray
from truepool.core.errors import SettingError
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.games.misreport_trial import FAMILIES, Bench, Lie
from truepool.games.payments import Payment, as_payment
from truepool.measures.decisions import check_threshold
from truepool.measures.folds import Folds, splits
from truepool.measures.inference import holm, paired_p_values
from truepool.pools import Pool
from truepool.pools.interface import configure

CASES = 100_000
"""Cases above which a random part of the panel is looked at."""


@dataclass(frozen=True)
class Misreport:
    """The best misreport of one family, and what it would have done.

    Attributes
    ----------
    family, deviation
        ``shift`` (d,), ``affine`` (intercept, slope of the log-odds), ``threshold``
        (report 1 above the cut, else 0), or () where the truth is as good.
    hindsight : float
        What it gains the agent a case, chosen and measured on all cases.
    gain, error, p_value : float
        What a misreport chosen on other cases gains (cross-validated), its standard
        error, and its p-value, adjusted (Holm) for the number of agents.
    pool_cost, pool_fn, pool_fp : float
        What that does to the pool: change of its cost a case, of the share of 1s
        missed and of the share of 0s that raise an alarm.
    """

    family: str
    deviation: tuple[float, ...]
    hindsight: float
    gain: float
    error: float
    p_value: float
    pool_cost: float
    pool_fn: float
    pool_fp: float


@dataclass(frozen=True)
class AgentIncentive:
    """What one agent could gain: the best misreport, and the best of each family."""

    agent: str
    best: Misreport
    families: tuple[Misreport, ...]

    @property
    def tempted(self) -> bool:
        """Whether the cross-validated gain is more than the luck of the cases."""
        return self.best.gain > 0 and self.best.p_value < 0.05


@dataclass(frozen=True)
class Incentives:
    """One row an agent, the most tempted first; ``cases`` of ``total`` were used."""

    rows: tuple[AgentIncentive, ...]
    payment: str
    pool: str
    costs: Costs
    threshold: float
    cases: int
    total: int

    def __getitem__(self, agent: str) -> AgentIncentive:
        for row in self.rows:
            if row.agent == agent:
                return row
        raise KeyError(agent)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, ready for JSON."""
        return asdict(self)

    def __repr__(self) -> str:
        count = sum(row.tempted for row in self.rows)
        return (
            f"Incentives({self.payment}, {self.pool}: {count} of {len(self.rows)} "
            f"agents gain by misreporting, on {self.cases:,} cases)"
        )


def incentives(
    panel: Panel,
    pool: str | Pool = "mean",
    costs: Costs | None = None,
    *,
    threshold: float | None = None,
    payment: str | Payment = "vcg",
    cv: Folds = 5,
    cases: int = CASES,
    seed: int = 0,
) -> Incentives:
    """Find what each agent of a panel could have gained by misreporting.

    Reports are taken for beliefs. An agent sends them shifted, moved on the log-odds
    scale, or cut to 0 and 1; the others stay as they are. The pool learns from what
    was sent, so a misreport that loses its sender weight pays for it. A misreport is
    chosen with the weights as they are, once on all cases (hindsight) and once on
    other cases than it is measured on.

    Parameters
    ----------
    payment : str or Payment
        What agents are paid for; by default what they save the pool (``vcg``).
    cases : int
        Larger panels are looked at through a random part of this many cases.

    Examples
    --------
    >>> from truepool.datasets import example
    >>> incentives(example(), "mean", Costs(fn=10, fp=1), threshold=0.5)
    Incentives(vcg, mean: 3 of 5 agents gain by misreporting, on 569 cases)
    """
    check_threshold(threshold)
    if panel.classes != 2:
        raise SettingError(
            f"incentives are found for two classes; the panel has {panel.classes}"
        )
    costs = costs or Costs()
    total = len(panel)
    if total > cases:
        rng = np.random.default_rng(seed)
        panel = panel.take(np.sort(rng.choice(total, cases, replace=False)))
    line = costs.threshold if threshold is None else threshold
    rule = as_payment(payment)
    bench = Bench(rule, configure(pool, costs=costs, threshold=line), costs, line)
    everything = np.arange(len(panel))
    pairs = splits(panel.outcomes, cv, seed, times=panel.times)
    hindsight = bench.trial(panel, everything, everything)
    folds = [bench.trial(panel, learn, test) for learn, test in pairs]
    outcomes = panel.outcomes[np.concatenate([test for _, test in pairs])]
    rows = _rows(panel.agents, costs, outcomes, hindsight, folds)
    return Incentives(rows, rule.name, bench.pool.name, costs, line, len(panel), total)


def _rows(
    agents: Sequence[str],
    costs: Costs,
    outcomes: IntArray,
    hindsight: list[list[Lie]],
    folds: list[list[list[Lie]]],
) -> tuple[AgentIncentive, ...]:
    rows = []
    for i, agent in enumerate(agents):
        past = hindsight[i]
        kinds = tuple(
            _summary(
                family.name, costs, outcomes, past[f], [fold[i][f] for fold in folds]
            )
            for f, family in enumerate(FAMILIES)
        )
        first = int(np.argmax([lie.gains.mean() for lie in past]))
        # The family too is chosen on other cases than its gain is measured on.
        chosen = [max(fold[i], key=lambda lie: lie.promised) for fold in folds]
        name = FAMILIES[first].name
        best = _summary(name, costs, outcomes, past[first], chosen)
        rows.append(AgentIncentive(agent, best, kinds))
    adjusted = holm(np.array([row.best.p_value for row in rows]))
    rows = [
        replace(row, best=replace(row.best, p_value=float(p)))
        for row, p in zip(rows, adjusted, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: -row.best.gain))


def _summary(
    family: str, costs: Costs, outcomes: IntArray, past: Lie, lies: list[Lie]
) -> Misreport:
    gains, missed, alarms = (
        np.concatenate([getattr(lie, name) for lie in lies])
        for name in ("gains", "missed", "alarms")
    )
    ones = float(outcomes.mean())
    return Misreport(
        family if past.deviation else "truth",
        past.deviation,
        float(past.gains.mean()),
        float(gains.mean()),
        float(gains.std(ddof=1) / np.sqrt(len(gains))),
        float(paired_p_values(gains[:, None])[0]),
        float((costs.fn * missed + costs.fp * alarms).mean()),
        float(missed.mean()) / ones,
        float(alarms.mean()) / (1 - ones),
    )
