"""What each agent of a panel could have gained by misreporting, and at what cost."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import SettingError
from truepool.core.seeds import check_seed
from truepool.measures.decisions import check_threshold
from truepool.measures.folds import Folds, panel_splits
from truepool.measures.inference import holm, paired_p_values
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools import Pool, configure
from truepool_lab.games.beliefs import check_costs, check_count
from truepool_lab.games.misreport_trial import FAMILIES, Trial, TrialResult
from truepool_lab.games.payments import Payment, as_payment

MAX_CASES = 100_000
"""Largest number of cases used; a larger panel is sampled at random."""
LEVEL = 0.05
"""Adjusted p-value below which a gain is significant."""


@dataclass(frozen=True)
class Misreport:
    """The best misreport of one family, and what it would have done.

    Attributes
    ----------
    family, deviation
        ``shift`` (d,), ``affine`` (intercept, slope of the log-odds), ``threshold``
        (report 1 above the cut, else 0), or () where no misreport gains.
    hindsight : float
        Gain of the agent per case, chosen and measured on all cases.
    gain, error, p_value : float
        Cross-validated gain per case of a misreport chosen on other cases, its
        standard error, and its p-value, adjusted (Holm) for the number of agents.
    pool_cost, pool_fn, pool_fp : float
        Effect on the pool: change in its cost per case, in the share of positive
        cases missed and in the share of negative cases with a false alarm; 0 where
        there is no such case.
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
    """The best misreport of one agent, overall and in each family."""

    agent: str
    best: Misreport
    families: tuple[Misreport, ...]

    @property
    def significant(self) -> bool:
        """Whether the cross-validated gain is statistically significant."""
        return self.best.gain > 0 and self.best.p_value < LEVEL


@dataclass(frozen=True)
class Incentives:
    """One row per agent, the largest gain first; ``cases`` of ``total`` were used."""

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
        count = sum(row.significant for row in self.rows)
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
    cases: int = MAX_CASES,
    seed: int = 0,
) -> Incentives:
    """Find what each agent of a panel could have gained by misreporting.

    The reports are taken to be the agents' beliefs. One agent at a time sends them
    shifted, moved on the log-odds scale, or rounded to 0 and 1; the others do not
    change. The pool learns from the reports sent, so a misreport that costs its sender
    weight gains less. A misreport is chosen with the weights unchanged, once on all
    cases (hindsight) and once on other cases than it is measured on.

    Parameters
    ----------
    payment : str or Payment
        What agents are paid for; by default what they save the pool (``vcg``).
    cases : int
        Largest number of cases used; a larger panel is sampled at random.

    Examples
    --------
    >>> from truepool.datasets import example
    >>> incentives(example(), "mean", Costs(fn=10, fp=1), threshold=0.5)
    Incentives(vcg, mean: 3 of 5 agents gain by misreporting, on 569 cases)
    """
    check_threshold(threshold)
    check_seed(seed)
    check_count("cases", cases, 2)
    if panel.classes != 2:
        raise SettingError(
            f"incentives need a panel with two classes; got {panel.classes} classes"
        )
    if panel.case_weights() is not None:
        raise SettingError(
            "incentives count every case once; the panel has weights or propensities"
        )
    costs = costs or Costs()
    check_costs(costs)
    total = len(panel)
    if total > cases:
        rng = np.random.default_rng(seed)
        panel = panel.take(np.sort(rng.choice(total, cases, replace=False)))
    threshold = costs.threshold if threshold is None else threshold
    trial = Trial(
        as_payment(payment),
        configure(pool, costs=costs, threshold=threshold),
        costs,
        threshold,
    )
    everything = np.arange(len(panel))
    pairs = panel_splits(panel, cv, seed)
    hindsight = trial.run(panel, everything, everything)
    folds = [trial.run(panel, train, test) for train, test in pairs]
    outcomes = panel.outcomes[np.concatenate([test for _, test in pairs])]
    rows = _rows(panel.agents, costs, outcomes, hindsight, folds)
    return Incentives(
        rows, trial.payment.name, trial.pool.name, costs, threshold, len(panel), total
    )


def _rows(
    agents: Sequence[str],
    costs: Costs,
    outcomes: IntArray,
    hindsight: list[list[TrialResult]],
    folds: list[list[list[TrialResult]]],
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
        first = int(np.argmax([result.gains.mean() for result in past]))
        # The family too is chosen on other cases than its gain is measured on.
        chosen = [
            max(fold[i], key=lambda result: result.expected_gain) for fold in folds
        ]
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
    family: str,
    costs: Costs,
    outcomes: IntArray,
    past: TrialResult,
    folds: list[TrialResult],
) -> Misreport:
    gains = np.concatenate([result.gains for result in folds])
    fn = np.concatenate([result.fn for result in folds])
    fp = np.concatenate([result.fp for result in folds])
    positives = int(outcomes.sum())
    return Misreport(
        family if past.deviation else "truth",
        past.deviation,
        float(past.gains.mean()),
        float(gains.mean()),
        float(gains.std(ddof=1) / np.sqrt(len(gains))),
        float(paired_p_values(gains[:, None])[0]),
        float((costs.fn * fn + costs.fp * fp).mean()),
        _share(fn, positives),
        _share(fp, len(fp) - positives),
    )


def _share(changes: FloatArray, cases: int) -> float:
    return float(changes.sum()) / cases if cases else 0.0
