"""True rates of a jury's items, its errors and what they cost."""

from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.inference import Rate, estimate_class_rate, estimate_rate
from truepool.panel.costs import Costs
from truepool_jury.juries.values import Cost
from truepool_jury.juries.verdicts import Verdicts


def event_rate(
    verdicts: Verdicts, events: IntArray, predictions: FloatArray, level: float
) -> Rate:
    """Share of an event, from whether it happened in each labelled item."""
    known, others = predictions[verdicts.labelled], predictions[verdicts.unlabelled]
    return estimate_rate(events, known, others, weights=verdicts.weights, level=level)


def expected_cost(
    verdicts: Verdicts, decisions: IntArray, costs: Costs, level: float
) -> Cost:
    """Cost per item of decisions (T,): both kinds of error, each with its interval.

    Those of labelled items must not have been learned from their own labels.
    """
    p, labels = verdicts.anchor, verdicts.labels
    decided = decisions[verdicts.labelled]
    missed = event_rate(verdicts, labels * (1 - decided), p * (1 - decisions), level)
    alarms = event_rate(verdicts, (1 - labels) * decided, (1 - p) * decisions, level)
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
    return Cost(
        Estimate(value, low, high),
        missed,
        alarms,
        _class_rate(verdicts, labels, p, 1 - decisions, level),
        _class_rate(verdicts, 1 - labels, 1 - p, decisions, level),
    )


def _class_rate(
    verdicts: Verdicts,
    kind: IntArray,
    chance: FloatArray,
    wrong: IntArray,
    level: float,
) -> Rate | None:
    """Share of the items of a kind that are decided wrongly; None without a label."""
    if not kind.any():
        return None
    known, others = verdicts.labelled, verdicts.unlabelled
    return estimate_class_rate(
        kind, wrong[known], chance[known], chance[others], wrong[others],
        weights=verdicts.weights, level=level,
    )  # fmt: skip
