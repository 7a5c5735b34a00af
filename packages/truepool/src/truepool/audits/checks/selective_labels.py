"""Whether outcomes are missing in cases of one decision more often than of another."""

from collections.abc import Iterator

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.evidence import Evidence
from truepool.comparison import Estimate
from truepool.core.arrays import BoolArray, IntArray, to_classes
from truepool.measures.losses import Loss

RATIO = 1.5
"""Where outcomes are neither missing so many times as often among cases of one decision
as of the other, nor known so many times as often, that is only a note."""

FEW_ALARMS = 30
"""With fewer positive decisions, the likeliest cases stand for those reviewed first; of
more than two classes, those that are decided less often are left out."""

TENTH = 0.1
"""Share of the cases that the likeliest are."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test, where cases without an outcome are not accounted for by propensities.

    The pool decides all cases of the tested time, up to the last that has an outcome,
    each at its own costs. Of two classes, the chance of so many missing outcomes among
    those of one decision is hypergeometric (Fisher 1922). Where it decides hardly any
    positive, whatever the reason, the same is asked of the cases that it finds
    likeliest to be. Of more classes, the shares are compared by chi-square (Pearson
    1900).
    """
    pending = evidence.panel.pending
    if pending is None or evidence.panel.propensity is not None:
        return
    unknown = [name for name in evidence.costs.columns if name not in pending.columns]
    if unknown:
        evidence.sampling.note("pending-without-cost", column=unknown[0])
        return
    missing = _missing(evidence)
    settled = _settled_time(evidence)
    if not (missing & settled).any():
        return
    decided = evidence.everyone.decide(
        evidence.pooled_everyone, Loss("cost", evidence.costs, evidence.threshold)
    )
    if evidence.panel.classes > 2:
        yield from _by_class(evidence, decided[settled], missing[settled])
        return
    alarms = decided > 0
    by_decision = int(alarms[settled].sum()) >= FEW_ALARMS
    if not by_decision:
        alarms = _likeliest(evidence)
    table = _count(alarms[settled].astype(np.int64), missing[settled], 2)
    no, yes = (float(share) for share in table[1] / np.maximum(table.sum(axis=0), 1))
    known = alarms[: evidence.everyone.tested]
    recalls = _recalls(evidence, known, no, yes) if by_decision else None
    yield Candidate(
        "selective-labels",
        facts={
            "form": "likely"
            if not by_decision
            else "decision"
            if recalls is None
            else "recall",
            "no": no,
            "yes": yes,
            "recall": None if recalls is None else recalls[0],
            "recall_of_all": None if recalls is None else recalls[1],
            "seems": "low" if no > yes else "high",
        },
        p_value=_p_value(table),
        matters=_matters(no, yes),
        number=Estimate(no - yes, float("nan"), float("nan")),
        unit="missing-outcomes",
    )


def _missing(evidence: Evidence) -> BoolArray:
    """Which cases of `everyone` have no outcome."""
    return np.arange(len(evidence.everyone.cases)) >= evidence.everyone.tested


def _settled_time(evidence: Evidence) -> BoolArray:
    """Which cases of `everyone` are not newer than all that have an outcome.

    The newest outcomes are not known yet, whatever was decided.
    """
    everyone = evidence.everyone
    if everyone.panel.times is None:
        return np.ones(len(everyone.cases), dtype=bool)
    times = everyone.panel.times[everyone.cases]
    return np.asarray(times <= times[: everyone.tested].max())


def _likeliest(evidence: Evidence) -> BoolArray:
    """Which cases of `everyone` are likeliest to be other than 0."""
    chance = 1 - to_classes(evidence.pooled_everyone)[:, 0]
    return np.asarray(chance > np.quantile(chance, 1 - TENTH))


def _count(decided: IntArray, missing: BoolArray, classes: int) -> IntArray:
    """Cases with an outcome and without, (2, K), by decision."""
    return np.stack(
        [np.bincount(decided[part], minlength=classes) for part in (~missing, missing)]
    )


def _matters(first: float, second: float) -> bool:
    """Whether outcomes are missing, or known, much more often in one of two parts."""
    low, high = sorted((first, second))
    return high > RATIO * low or 1 - low > RATIO * (1 - high)


def _by_class(
    evidence: Evidence, decided: IntArray, missing: BoolArray
) -> Iterator[Candidate]:
    """Compare the shares of missing outcomes of more than two decisions."""
    from scipy.stats import chi2_contingency

    table = _count(decided, missing, evidence.panel.classes)
    often = np.flatnonzero(table.sum(axis=0) >= FEW_ALARMS)
    if len(often) < 2 or not table[:, often].sum(axis=1).all():
        return
    shares = table[1, often] / table[:, often].sum(axis=0)
    least, most = int(np.argmin(shares)), int(np.argmax(shares))
    low, high = float(shares[least]), float(shares[most])
    name = evidence.panel.labels.names
    yield Candidate(
        "selective-labels",
        facts={
            "form": "many",
            "low": low,
            "high": high,
            "least": str(name[often[least]]),
            "most": str(name[often[most]]),
        },
        p_value=float(chi2_contingency(table[:, often], correction=False).pvalue),
        matters=_matters(low, high),
        number=Estimate(high - low, float("nan"), float("nan")),
        unit="missing-outcomes",
    )


def _p_value(table: IntArray) -> float:
    """Two-sided p-value: twice the smaller tail."""
    from scipy.stats import hypergeom

    of_no, missing = int(table[:, 0].sum()), int(table[1].sum())
    found, chance = int(table[1, 0]), hypergeom(int(table.sum()), of_no, missing)
    return float(min(1.0, 2 * min(chance.sf(found - 1), chance.cdf(found))))


def _recalls(
    evidence: Evidence, known: BoolArray, no: float, yes: float
) -> tuple[float, float] | None:
    """Recall, and what it would be if cases without an outcome are like the others."""
    happened = evidence.outcomes > 0
    hits, misses = (
        evidence.mean((happened & part).astype(np.float64)) for part in (known, ~known)
    )
    if not hits or no >= 1 or yes >= 1:
        return None
    found, lost = hits / (1 - yes), misses / (1 - no)
    return hits / (hits + misses), found / (found + lost)


checks = (
    Check("selective labels", check, about="outcome", few_cases=True, unsplit=True),
)
