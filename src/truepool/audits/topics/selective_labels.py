"""Whether outcomes are missing mostly where the pool says no."""

from collections.abc import Iterator

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.topic import Topic
from truepool.comparison import Estimate
from truepool.core.arrays import BoolArray, IntArray, to_classes
from truepool.core.formatting import percent
from truepool.measures.losses import Loss

RATIO = 1.5
"""Where outcomes are neither missing so many times as often among cases that the pool
decides negative, nor known as often among the others, that is only a note."""

FEW_ALARMS = 30
"""With fewer positive decisions, the likeliest cases stand for those reviewed first."""

TENTH = 0.1
"""Share of the cases that these are."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test, where cases without an outcome are not accounted for by propensities.

    The pool decides all cases of the tested time, each at its own costs; the chance of
    so many missing outcomes among those it decides 0 is hypergeometric (Fisher 1922).
    Where it decides hardly any positive, whatever the reason, the same is asked of the
    cases that it finds likeliest to be.
    """
    pending = evidence.panel.pending
    if pending is None or evidence.panel.propensity is not None:
        return
    unknown = [name for name in evidence.costs.columns if name not in pending.columns]
    if unknown:
        evidence.sampling.withhold(
            "selective labels",
            f"the cases without an outcome have no {unknown[0]!r}, on which the "
            "decision depends",
        )
        return
    known, missing = _alarms(evidence)
    if not missing.size:
        return
    parts = "that the pool decides negative", "those it decides positive"
    decided = int(known.sum() + missing.sum()) >= FEW_ALARMS
    if not decided:
        known, missing = _likeliest(evidence)
        tenth = "the tenth that it finds most likely to be"
        parts = "that the pool finds less likely to be positive", tenth
    table = np.array([[(~known).sum(), known.sum()], [(~missing).sum(), missing.sum()]])
    shares = table[1] / np.maximum(table.sum(axis=0), 1)  # missing, by decision
    no, yes = (float(share) for share in shares)
    yield Candidate(
        "selective-labels",
        (),
        f"Outcomes are missing in {percent(no)} of the cases {parts[0]} and in "
        f"{percent(yes)} of {parts[1]}. Costs, calibration and comparisons are those "
        "of cases with an outcome"
        f"{_recall(evidence, known, no, yes) if decided else ''}.",
        "Give the chance of each case to be reviewed (`--propensity COLUMN`). If it is "
        "not known, review some cases at random from now on (`truepool score "
        "--explore`).",
        p_value=_p_value(table),
        matters=no > RATIO * yes or 1 - yes > RATIO * (1 - no),
        most="warning",
        number=Estimate(no - yes, float("nan"), float("nan")),
        unit="difference between the shares of missing outcomes",
    )


def _alarms(evidence: Evidence) -> tuple[BoolArray, BoolArray]:
    """Which cases are decided other than 0: tested ones, and ones without outcome."""
    loss = Loss("cost", evidence.costs, evidence.threshold)
    alarms = evidence.everyone.decide(evidence.pooled_everyone, loss) > 0
    tested = evidence.everyone.tested
    return alarms[:tested], alarms[tested:]


def _likeliest(evidence: Evidence) -> tuple[BoolArray, BoolArray]:
    """Which cases are likeliest to be other than 0: tested, and without outcome."""
    chance = 1 - to_classes(evidence.pooled_everyone)[:, 0]
    likeliest = chance > np.quantile(chance, 1 - TENTH)
    tested = evidence.everyone.tested
    return likeliest[:tested], likeliest[tested:]


def _p_value(table: IntArray) -> float:
    from scipy.stats import hypergeom

    of_no, missing = int(table[:, 0].sum()), int(table[1].sum())
    found = int(table[1, 0])
    return float(hypergeom.sf(found - 1, int(table.sum()), of_no, missing))


def _recall(evidence: Evidence, known: BoolArray, no: float, yes: float) -> str:
    """Say what recall would be if cases without an outcome are like those with one."""
    happened = evidence.outcomes > 0
    hits, misses = (
        evidence.mean((happened & part).astype(np.float64)) for part in (known, ~known)
    )
    if not hits or no >= 1 or yes >= 1:
        return ""
    found, lost = hits / (1 - yes), misses / (1 - no)
    return (
        f"; its recall there is {percent(hits / (hits + misses))}, and would be "
        f"{percent(found / (found + lost))} in all cases if the others of each "
        "decision are like them"
    )


topic = Topic("selective labels", check, few_cases=True, unsplit=True)
