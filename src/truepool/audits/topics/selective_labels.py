"""Whether outcomes are missing mostly where the pool says no."""

from collections.abc import Iterator

import numpy as np
from sklearn.base import clone

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.topic import Topic
from truepool.comparison import Estimate
from truepool.core.arrays import BoolArray, IntArray, from_classes
from truepool.core.formatting import percent
from truepool.data.panel import PendingCases
from truepool.measures.decisions import choose

RATIO = 1.5
"""Outcomes that are missing less than so many times as often are only a note."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test, where cases without an outcome are not accounted for by propensities.

    The pool decides all cases, at the threshold of an average case; the chance of so
    many missing outcomes among those it decides 0 is hypergeometric (Fisher 1922).
    """
    pending = evidence.panel.pending
    if pending is None or evidence.panel.propensity is not None:
        return
    known, missing = _alarms(evidence, pending)
    if not missing.size:
        return
    table = np.array([[(~known).sum(), known.sum()], [(~missing).sum(), missing.sum()]])
    shares = table[1] / np.maximum(table.sum(axis=0), 1)  # missing, by decision
    no, yes = (float(share) for share in shares)
    yield Candidate(
        "selective-labels",
        (),
        f"Outcomes are missing in {percent(no)} of the cases that the pool decides "
        f"negative and in {percent(yes)} of those it decides positive. Costs, "
        "calibration and comparisons are those of cases with an outcome"
        f"{_recall(evidence, known, no, yes)}.",
        "Review some cases at random (`truepool score --explore`) and give the chance "
        "of each to be reviewed (--propensity).",
        p_value=_p_value(table),
        matters=no > RATIO * yes,
        most="warning",
        number=Estimate(no - yes, float("nan"), float("nan")),
        unit="difference between the shares of missing outcomes",
    )


def _alarms(evidence: Evidence, pending: PendingCases) -> tuple[BoolArray, BoolArray]:
    """Which cases are decided other than 0: tested ones, and ones without outcome."""
    panel, costs = evidence.panel, evidence.loss.costs.mean()
    reported = ~np.isnan(pending.values[:, :, 0]).all(axis=1)
    learned = evidence.sampling.training_part(np.arange(len(panel)))
    pool = clone(evidence.pool).fit_panel(panel.take(learned))
    later = from_classes(pool.probabilities(pending.values[reported]))
    known, missing = (
        np.asarray(choose(p, costs, evidence.threshold) > 0)
        for p in (evidence.pooled, later)
    )
    return known, missing


def _p_value(table: IntArray) -> float:
    from scipy.stats import hypergeom

    of_no, missing = int(table[:, 0].sum()), int(table[1].sum())
    found = int(table[1, 0])
    return float(hypergeom.sf(found - 1, int(table.sum()), of_no, missing))


def _recall(evidence: Evidence, known: BoolArray, no: float, yes: float) -> str:
    """Say what recall would be if cases without an outcome are like those with one."""
    happened = evidence.outcomes > 0
    hits, misses = int((happened & known).sum()), int((happened & ~known).sum())
    if not hits or no >= 1 or yes >= 1:
        return ""
    found, lost = hits / (1 - yes), misses / (1 - no)
    return (
        f"; its recall there is {percent(hits / (hits + misses))}, and would be "
        f"{percent(found / (found + lost))} in all cases if the others of each "
        "decision are like them"
    )


topic = Topic("selective labels", check, few_cases=True, unsplit=True)
