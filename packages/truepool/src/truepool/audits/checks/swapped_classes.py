"""Whether an agent's columns of two classes are swapped (more than two classes)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from scipy.stats import rankdata

from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.checks.reversal import REVERSED
from truepool.audits.discrimination import auc_interval
from truepool.audits.evidence import Evidence
from truepool.audits.kinds import LIKELY
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.groups import describe_shortage
from truepool.measures.inference import independent_units, paired_p_values
from truepool.measures.scores import auc
from truepool.panel.panel import Panel


@dataclass(frozen=True, eq=False)
class Pair:
    """How an agent tells two classes apart, in the cases that are one of them."""

    classes: tuple[int, int]
    p_value: float
    area: float
    outcomes: IntArray

    def is_swapped(self, level: float) -> bool:
        """Whether the other of the two gets more probability for sure."""
        return self.p_value < level and self.area < REVERSED


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test per agent, adjusted for the number of pairs of classes."""
    panel = evidence.panel
    if panel.classes == 2:
        return
    for i in range(len(panel.agents)):
        pairs = tell_apart(panel, i)
        if pairs:
            yield _agent(evidence, i, pairs)


def tell_apart(panel: Panel, agent: int) -> list[Pair]:
    """Test an agent on every pair of classes that has enough cases."""
    classes = combinations(range(panel.classes), 2)
    tests = [_test(panel, panel.values[:, agent], pair) for pair in classes]
    return [test for test in tests if test is not None]


def swapped(pairs: list[Pair]) -> list[tuple[int, int]]:
    """Pairs of classes that are swapped; none where a class is in two of them.

    An agent that is reversed, or whose columns are shuffled, takes many classes for
    each other.
    """
    found = [p.classes for p in pairs if p.is_swapped(LIKELY / len(pairs))]
    named = [k for pair in found for k in pair]
    return found if len(set(named)) == len(named) else []


def _test(panel: Panel, reports: FloatArray, pair: tuple[int, int]) -> Pair | None:
    """Test whether reports (T, K) rank the cases of two classes the wrong way round.

    By the covariance of ranks with the class, as for reversed agents: a bias towards
    one of the two does not matter.
    """
    of_pair = np.isin(panel.outcomes, pair) & ~np.isnan(reports[:, 0])
    cases = np.flatnonzero(of_pair)
    outcomes = (panel.outcomes[cases] == pair[1]).astype(np.int64)
    weights, groups = panel.case_weights(), panel.groups
    w = None if weights is None else weights[cases]
    g = None if groups is None else groups[cases]
    if describe_shortage(outcomes, groups=g) is not None:
        return None
    first, second = (reports[cases, k] for k in pair)
    total = first + second
    share = np.where(total > 0, second / np.where(total > 0, total, 1.0), 0.5)
    ranks = rankdata(share) / len(share)
    happened = outcomes - np.average(outcomes, weights=w)
    products = (ranks - np.average(ranks, weights=w)) * happened
    parts = independent_units(products[:, None], w, g)
    p = float(paired_p_values(parts)[0]) if parts.mean() < 0 else 1.0
    return Pair(pair, p, auc(share, outcomes, sample_weight=w), outcomes)


def _agent(evidence: Evidence, agent: int, pairs: list[Pair]) -> Candidate:
    panel = evidence.panel
    names = panel.labels.names
    found = swapped(pairs)
    worst = min(pairs, key=lambda pair: pair.p_value)
    shown = tuple((str(names[i]), str(names[j])) for i, j in found or [worst.classes])
    return Candidate(
        "swapped-classes",
        (panel.agents[agent],),
        {"classes": shown, "area": worst.area},
        p_value=min(1.0, len(pairs) * worst.p_value) if found else 1.0,
        number=auc_interval(worst.area, worst.outcomes, evidence.level),
        unit="auc-between-two",
        price=partial(_saving, evidence, agent, found),
    )


def _saving(
    evidence: Evidence, agent: int, pairs: list[tuple[int, int]]
) -> Estimate | None:
    """What swapping these columns of the agent saves per case."""
    swapped_back = swap(evidence.panel.values[:, agent], pairs)
    changed = evidence.with_reports(agent, swapped_back)
    return evidence.saving(evidence.cost - evidence.cost_of(changed))


def swap(reports: FloatArray, pairs: list[tuple[int, int]]) -> FloatArray:
    """Reports (T, K) with the columns of each pair of classes swapped."""
    swapped_back = reports.copy()
    for i, j in pairs:
        swapped_back[:, [i, j]] = swapped_back[:, [j, i]]
    return swapped_back


checks = (Check("swapped classes", check, few_cases=True, unsplit=True),)
