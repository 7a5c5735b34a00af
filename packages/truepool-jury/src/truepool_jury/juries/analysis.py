"""The analysis of a jury: from verdicts and a few labels to decisions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import ks_2samp

from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.core.errors import CostError, SettingError
from truepool.core.seeds import check_seed
from truepool.measures.decisions import decide
from truepool.measures.inference.bootstrap import check_level
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.crowd import Crowd
from truepool.pools.log_odds import LogOdds
from truepool.tables import ReportTable
from truepool_jury.juries.advice import advise
from truepool_jury.juries.column_pairs import order_bias, repetition
from truepool_jury.juries.judges import MIN_LABELS, judges, similarity
from truepool_jury.juries.learned_pool import MIN_FITTED, learn_pool, score_scale
from truepool_jury.juries.rates import event_rate, expected_cost
from truepool_jury.juries.values import NOT_RANDOM, Jury, Review, Shortage
from truepool_jury.juries.verdicts import Verdicts
from truepool_jury.measures.automation import (
    Certificate,
    certify,
    check_shares,
    expected_decision_cost,
    review_order,
)
from truepool_jury.measures.label_plan import MIN_PER_STRATUM, LabelPlan, plan_labels

POOLS = (LogOdds.name, Crowd.name)
"""Pools that no label has touched; the first is the default."""
Columns = Sequence[Sequence[str]]


def jury(
    verdicts: Panel | ReportTable,
    *,
    costs: Costs | None = None,
    pool: str = LogOdds.name,
    scores: tuple[float, float] | None = None,
    label_weights: ArrayLike | None = None,
    swapped: Columns = (),
    repeated: Columns = (),
    max_error: float = 0.1,
    confidence: float = 0.9,
    budget: int | None = None,
    label_next: int | None = None,
    empty_items: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> Jury:
    """Analyse the verdicts of several judges, few or none of them labelled.

    The rate and the certificate rest on the mean of the log-odds, which is fitted to no
    label, the cost on decisions out of fold, and all on labels that are a random sample
    of the items.

    Parameters
    ----------
    verdicts : Panel or ReportTable
        Probabilities by each judge. The cases of a panel are the labelled items, its
        ``pending`` cases (`read_panel` finds them) the others.
    costs : Costs, optional
        What a missed item and a false alarm cost: one number each.
    pool : {"log-odds", "crowd"}
        What no label has touched: the mean of the log-odds or, for a sparse crowd of
        many judges with few verdicts per item, the votes weighed by Dawid and Skene's
        model. From ten labels on ``shrunk`` learns from it and from the judges.
    scores : (lowest, highest), optional
        Verdicts are scores from this range, read in equal steps as `read_panel` does
        with ``scores="1-5"``. From ten labels on a rising curve says what each score is
        worth (isotonic regression).
    label_weights : (n,), optional
        How many items each label stands for, where it was chosen by `label_next` of an
        earlier run; NaN for labels drawn at random. Only these certify items.
    swapped : sequence of two names
        Columns that are one judge shown the same pair in both orders, both as the
        probability that the same one is better. They count as one judge, unless they
        are all there is.
    repeated : sequence of two or more names
        Columns that are one judge asked more than once. They count as one judge.
    max_error, confidence : float
        Items may be decided without a person if, with this confidence, at most this
        share of them is wrong.
    budget : int, optional
        How many items a person can look at: those with the largest expected cost. The
        others are decided at the lowest expected cost, without a bound on errors. By
        default a person gets all that may not be decided without one.
    label_next : int, optional
        How many items to choose for labelling.
    empty_items : int
        Items without any verdict that a reader left out; they are only counted.

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
    '0.34 [0.29, 0.41]'
    """
    check_seed(seed)
    costs = Costs() if costs is None else costs
    _check_settings(costs, pool, level, budget)
    given = Verdicts.from_panel(verdicts, label_weights, by_votes=pool == Crowd.name)
    both_orders = tuple(order_bias(given, a, b, level) for a, b in swapped)
    repetitions = tuple(repetition(given, runs) for runs in repeated)
    merged = given.merge([*swapped, *repeated])
    labels, random = merged.labels, merged.random
    enough = len(labels) >= MIN_LABELS
    name, pooled = learn_pool(merged, seed, scores=scores is not None)
    p_value = _sample_p_value(merged) if enough else None
    certificate = None
    if budget is None and not (p_value is not None and p_value < NOT_RANDOM):
        certificate = certify(
            merged.anchor,
            merged.labelled[random],
            labels[random],
            costs=costs,
            max_error=max_error,
            confidence=confidence,
        )
    check_shares(max_error, confidence)
    unaided, decided_by, review = _decide(merged, pooled, certificate, costs, budget)
    decisions = unaided.copy()
    decisions[merged.labelled] = labels
    single = merged is given and bool(swapped or repeated)
    effective, copies, compared = similarity(merged)
    positive = int(labels.sum())
    found = Jury(
        ids=merged.ids,
        pooled=pooled,
        decisions=decisions,
        decided_by=decided_by,
        pool=name,
        judges=tuple(judges(merged, level, seed)),
        effective_judges=float("nan") if single else effective,
        copies=() if single else copies,
        order_bias=both_orders,
        repetitions=repetitions,
        rate=event_rate(merged, labels, merged.anchor, level) if enough else None,
        cost=expected_cost(merged, unaided, costs, level) if enough else None,
        certificate=certificate,
        review=review,
        plan=None if label_next is None else _plan(merged, pooled, label_next, seed),
        sample_p_value=p_value,
        withheld=tuple(_withheld(len(labels))),
        costs=costs,
        level=level,
        labels=merged.names,
        label_cases=(len(labels) - positive, positive),
        scale=score_scale(merged) if scores and len(labels) >= MIN_FITTED else None,
        score_range=scores,
        clip=merged.clip,
        empty_items=empty_items,
        chosen_labels=int((~random).sum()),
        compared_pairs=compared,
        single=single,
    )
    return advise(found)


def _check_settings(costs: Costs, pool: str, level: float, budget: int | None) -> None:
    if pool not in POOLS:
        raise SettingError(
            f"the pool of a jury must be {' or '.join(POOLS)}; got {pool!r}. Other "
            "pools learn from many labels: see truepool compare."
        )
    if not costs.constant or costs.matrix is not None or costs.tp or costs.tn:
        raise CostError(
            "a jury takes one cost of a missed item and one of a false alarm; got "
            f"{costs!r}. Write Costs(fn=10, fp=1)."
        )
    check_level(level)
    if budget is not None and budget < 1:
        raise SettingError(
            f"a budget must be at least 1 item; got {budget!r}. Leave it out if no "
            "person looks at items."
        )


def _decide(
    verdicts: Verdicts,
    pooled: FloatArray,
    certificate: Certificate | None,
    costs: Costs,
    budget: int | None,
) -> tuple[IntArray, Array, Review | None]:
    """Decide every item as if it had no label, and say who decides it in the end.

    Items are decided at the lowest expected cost, by the pooled probability; what is
    certified, as it was tested. A person gets the items with the largest expected cost
    or, without a budget, all that are not certified.
    """
    decisions, rest = decide(pooled, costs), verdicts.unlabelled
    decided_by = np.full(len(pooled), "label", dtype="<U9")
    if budget is not None:
        first = review_order(pooled[rest], costs)[:budget]
        decided_by[rest] = "automatic"
        decided_by[rest[first]] = "person"
        expected = expected_decision_cost(pooled[rest], costs)
        total = float(expected.sum())
        left = 1 - float(expected[first].sum()) / total if total else 0.0
        return decisions, decided_by, Review(len(first), max(left, 0.0))
    decided_by[rest] = "person"
    if certificate is not None:
        sure = certificate.automatic
        decisions[sure] = certificate.decisions[sure]
        decided_by[rest[sure[rest]]] = "automatic"
    return decisions, decided_by, None


def _plan(verdicts: Verdicts, pooled: FloatArray, budget: int, seed: int) -> LabelPlan:
    """Choose unlabelled items to label."""
    rest = verdicts.unlabelled
    if not MIN_PER_STRATUM <= budget <= len(rest):
        raise SettingError(
            f"label_next must be at least {MIN_PER_STRATUM} and at most the number of "
            f"items without a label, {len(rest):,}; got {budget:,}. "
            + ("Choose fewer." if budget > len(rest) else "Choose more.")
        )
    plan = plan_labels(pooled[rest], budget, seed=seed)
    return replace(plan, cases=rest[plan.cases])


def _sample_p_value(verdicts: Verdicts) -> float | None:
    """Test that labelled items are like the others (Kolmogorov and Smirnov)."""
    known = verdicts.anchor[verdicts.labelled[verdicts.random]]
    rest = verdicts.anchor[verdicts.unlabelled]
    return float(ks_2samp(known, rest).pvalue) if len(known) and len(rest) else None


def _withheld(labels: int) -> Iterator[Shortage]:
    if labels < MIN_FITTED:
        yield Shortage("a pool that learns from the labels", MIN_FITTED)
    if labels < MIN_LABELS:
        yield Shortage("the true rate and the cost", MIN_LABELS)
        yield Shortage(
            "the bias, credit and effective number of the judges", MIN_LABELS
        )
