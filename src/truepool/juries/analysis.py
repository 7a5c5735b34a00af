"""The analysis of a jury: from verdicts and a few labels to decisions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import ks_2samp

from truepool.comparison import Estimate
from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.core.errors import CostError, SettingError
from truepool.core.seeds import check_seed
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.data.tables import ReportTable
from truepool.juries.column_pairs import order_bias, repetition
from truepool.juries.judges import MIN_LABELS, judges, similarity
from truepool.juries.values import Cost, Jury, Review, Shortage
from truepool.juries.verdicts import Verdicts
from truepool.measures.automation import (
    Certificate,
    certify,
    expected_decision_cost,
    review_order,
)
from truepool.measures.decisions import decide
from truepool.measures.folds import stratify
from truepool.measures.inference import Rate, estimate_rate
from truepool.measures.label_plan import LabelPlan, plan_labels
from truepool.pools.log_odds import LogOdds
from truepool.pools.shrunk import Shrunk

MIN_FITTED = 10
"""Labels from which the pool learns from them."""
FOLDS = 5
"""Parts of the labelled items; each is pooled by what the others teach."""
Pairs = Sequence[tuple[str, str]]


def jury(
    verdicts: Panel | ReportTable,
    *,
    costs: Costs | None = None,
    swapped: Pairs = (),
    repeated: Pairs = (),
    max_error: float = 0.1,
    confidence: float = 0.9,
    budget: int | None = None,
    label_next: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Jury:
    """Analyse the verdicts of several judges, few or none of them labelled.

    Rates, costs and the certificate rest on the mean of the log-odds, which is fitted
    to no label, and on labels that are a random sample of the items.

    Parameters
    ----------
    verdicts : Panel or ReportTable
        Probabilities by each judge. The cases of a panel are the labelled items, its
        ``pending`` cases (`read_panel` finds them) the others.
    costs : Costs, optional
        What a missed item and a false alarm cost: one number each.
    swapped : sequence of two names
        Columns that are one judge shown the same pair in both orders, both as the
        probability that the same one is better. They count as one judge, unless they
        are all there is.
    repeated : sequence of two names
        Columns that are one judge asked twice. They count as one judge.
    max_error, confidence : float
        Items may be decided without a person if, with this confidence, at most this
        share of them is wrong.
    budget : int, optional
        How many items a person can look at: those with the largest expected cost. By
        default a person gets all that may not be decided without one.
    label_next : int, optional
        How many items to choose for labelling.

    Examples
    --------
    >>> import truepool as tp
    >>> example = tp.datasets.example()
    >>> order = np.random.default_rng(0).permutation(len(example))
    >>> few, rest = example.take(order[:100]), example.reports[order[100:]]
    >>> found = jury(few.with_pending(rest))
    >>> found
    Jury(5 judges, 569 items, 100 labelled)
    >>> f"{found.rate.estimate:.2f} [{found.rate.low:.2f}, {found.rate.high:.2f}]"
    '0.35 [0.29, 0.41]'
    """
    check_seed(seed)
    costs = Costs() if costs is None else costs
    _check_settings(costs, level, budget)
    given = Verdicts.of(verdicts)
    both_orders = tuple(order_bias(given, *pair, level) for pair in swapped)
    repetitions = tuple(repetition(given, *pair) for pair in repeated)
    merged = given.merge([*swapped, *repeated])
    anchor, labels = merged.anchor, merged.labels
    enough = len(labels) >= MIN_LABELS
    pool, pooled = _pool(merged, seed)
    certificate = certify(
        anchor, merged.labelled, labels, max_error=max_error, confidence=confidence
    )
    decisions, decided_by, review = _decide(merged, pooled, certificate, costs, budget)
    effective, copies = similarity(merged)
    positive = int(labels.sum())
    return Jury(
        merged.ids,
        pooled,
        decisions,
        decided_by,
        pool,
        tuple(judges(merged, level, seed)),
        effective,
        copies,
        both_orders,
        repetitions,
        _rate(merged, labels, anchor, level) if enough else None,
        _cost(merged, costs, level) if enough else None,
        certificate,
        review,
        None if label_next is None else _plan(merged, pooled, label_next, seed),
        _sample_p_value(merged) if enough else None,
        tuple(_withheld(len(labels))),
        costs,
        level,
        merged.names,
        (len(labels) - positive, positive),
    )


def _check_settings(costs: Costs, level: float, budget: int | None) -> None:
    if not costs.constant or costs.matrix is not None or costs.tp or costs.tn:
        raise CostError(
            "a jury takes one cost of a missed item and one of a false alarm; got "
            f"{costs!r}. Write Costs(fn=10, fp=1)."
        )
    if not 0 < level < 1:
        raise SettingError(f"level must lie between 0 and 1; got {level!r}")
    if budget is not None and budget < 1:
        raise SettingError(
            f"a budget must be at least 1 item; got {budget!r}. Leave it out if no "
            "person looks at items."
        )


def _pool(verdicts: Verdicts, seed: int) -> tuple[str, FloatArray]:
    """Return which pool is used, and its probabilities; of labelled items out of fold.

    The mean of the log-odds, or from ten labels on the one that learns from them.
    """
    pooled = verdicts.anchor.copy()
    if len(verdicts.labels) < MIN_FITTED:
        return LogOdds.name, pooled
    known, values = verdicts.panel(), verdicts.reports[:, :, None]
    rest = verdicts.unlabelled
    if len(rest):
        pooled[rest] = Shrunk().fit_panel(known).combine(values[rest])[:, 0]
    part = stratify(verdicts.labels, FOLDS, seed)
    for fold in range(FOLDS):
        items = verdicts.labelled[part == fold]
        learned = Shrunk().fit_panel(known.take(np.flatnonzero(part != fold)))
        pooled[items] = learned.combine(values[items])[:, 0]
    return Shrunk.name, pooled


def _decide(
    verdicts: Verdicts,
    pooled: FloatArray,
    certificate: Certificate,
    costs: Costs,
    budget: int | None,
) -> tuple[IntArray, Array, Review | None]:
    """Decide every item, by its label, automatically or by a person.

    A certificate holds for the mean of the log-odds at one half, so its items are
    decided by that; all others at the least expected cost.
    """
    decisions, rest = decide(pooled, costs), verdicts.unlabelled
    decided_by = np.full(len(pooled), "label", dtype="<U9")
    review = None
    if budget is None:
        sure = certificate.automatic
        decisions = np.where(sure, verdicts.anchor > 0.5, decisions).astype(np.int64)
        decided_by[rest] = np.where(sure[rest], "automatic", "person")
    else:
        first = review_order(pooled[rest], costs)[:budget]
        decided_by[rest] = "automatic"
        decided_by[rest[first]] = "person"
        expected = expected_decision_cost(pooled[rest], costs)
        total = float(expected.sum())
        left = 1 - float(expected[first].sum()) / total if total else 0.0
        review = Review(len(first), max(left, 0.0))
    decisions[verdicts.labelled] = verdicts.labels
    return decisions, decided_by, review


def _rate(
    verdicts: Verdicts, events: IntArray, predictions: FloatArray, level: float
) -> Rate:
    """Share of an event, from whether it happened in each labelled item."""
    known, others = predictions[verdicts.labelled], predictions[verdicts.unlabelled]
    return estimate_rate(events, known, others, level=level)


def _cost(verdicts: Verdicts, costs: Costs, level: float) -> Cost:
    """Cost per item if nobody looks: both kinds of error, each with its interval."""
    p, labels = verdicts.anchor, verdicts.labels
    decisions = decide(p, costs)
    decided = decisions[verdicts.labelled]
    missed = _rate(verdicts, labels * (1 - decided), p * (1 - decisions), level)
    alarms = _rate(verdicts, (1 - labels) * decided, (1 - p) * decisions, level)
    prices = costs.table(2)
    fn, fp = float(prices[1, 0]), float(prices[0, 1])
    value, low, high = (
        fn * one + fp * other
        for one, other in (
            (missed.estimate, alarms.estimate),
            (missed.low, alarms.low),
            (missed.high, alarms.high),
        )
    )
    return Cost(Estimate(value, low, high), missed, alarms)


def _plan(verdicts: Verdicts, pooled: FloatArray, budget: int, seed: int) -> LabelPlan:
    """Choose unlabelled items to label."""
    rest = verdicts.unlabelled
    plan = plan_labels(pooled[rest], budget, seed=seed)
    return replace(plan, cases=rest[plan.cases])


def _sample_p_value(verdicts: Verdicts) -> float | None:
    """Test that labelled items are like the others (Kolmogorov and Smirnov)."""
    known, rest = verdicts.anchor[verdicts.labelled], verdicts.unlabelled
    return float(ks_2samp(known, verdicts.anchor[rest]).pvalue) if len(rest) else None


def _withheld(labels: int) -> Iterator[Shortage]:
    if labels < MIN_FITTED:
        yield Shortage("a pool that learns from the labels", MIN_FITTED)
    if labels < MIN_LABELS:
        yield Shortage("the true rate and the cost", MIN_LABELS)
        yield Shortage("the bias and credit of the judges", MIN_LABELS)
