"""Which cases may be decided without a person, and which should go to one."""

from dataclasses import dataclass
from math import ceil, log

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from truepool.core.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_pooled,
    logit,
    to_classes,
)
from truepool.core.errors import SettingError
from truepool.data.costs import Costs

FIRST_SHARE = 0.5
"""Share of cases, the surest ones, that is tested first."""
STEP = 0.05
"""How much larger the share is that is tested next."""
MAX_LABELS = 1_000_000
"""More labels than this are never suggested."""
CLIP = 1e-9


@dataclass(frozen=True, eq=False)
class Certificate:
    """Which cases may be decided without a person, with a guarantee.

    With probability at least ``confidence`` over the draw of the labelled cases, the
    share of errors among the cases in ``automatic`` is at most ``max_error``.

    Attributes
    ----------
    automatic : (T,) of bool
        The cases that may be decided without a person.
    share : float
        Their share of all cases.
    bound : float or None
        Upper confidence bound on their share of errors; None if there are none.
    labels, errors : int
        Labelled cases among the largest share tested, and how many the pool got wrong.
    labels_needed : int or None
        Labels, drawn from all cases, that the next larger share would need if the pool
        went on to err as often as it does there; None if no number would do.
    """

    automatic: BoolArray
    share: float
    bound: float | None
    max_error: float
    confidence: float
    labels: int
    errors: int
    labels_needed: int | None


def certify(
    pooled: ArrayLike,
    labelled: ArrayLike,
    labels: ArrayLike,
    *,
    max_error: float = 0.1,
    confidence: float = 0.9,
) -> Certificate:
    """Find the largest share of cases that may be decided without a person.

    Learn then Test (Angelopoulos et al. 2021) with a fixed sequence: the surest half of
    all cases is tested first, then 5 % more each time, and the first share whose
    Clopper-Pearson bound exceeds ``max_error`` ends it. Shares come from the pooled
    probabilities alone, so that looking at them costs nothing.

    Parameters
    ----------
    pooled : (T,)
        Probabilities of all cases; decided 1 above one half. They must not have been
        fitted to these labels.
    labelled : (n,) of int
        Which cases have a label: a random sample of all.
    labels : (n,)
        Their labels, 0 or 1.
    max_error, confidence : float
        Largest share of errors among cases decided without a person, and how sure
        that is.

    Examples
    --------
    >>> pooled = [0.99, 0.01] * 100 + [0.6, 0.4] * 50
    >>> labelled = range(0, 300, 3)
    >>> found = certify(pooled, labelled, [case % 2 == 0 for case in labelled])
    >>> found.share, round(found.bound, 3)
    (1.0, 0.023)
    """
    p = as_pooled(pooled)[:, 0]
    which = np.asarray(labelled, dtype=np.int64)
    truth = np.asarray(labels, dtype=np.int64)
    _check_shares(max_error, confidence)
    if which.shape != truth.shape:
        raise SettingError(
            "every labelled case needs one label; got "
            f"{len(which)} cases and {len(truth)} labels"
        )
    margin = np.abs(logit(p, CLIP))
    wrong = (p[which] > 0.5).astype(np.int64) != truth
    automatic, bound, count, errors = np.zeros(len(p), dtype=bool), None, 0, 0
    needed: int | None = None
    for share in np.arange(FIRST_SHARE, 1.0 + STEP / 2, STEP):
        line = np.quantile(margin, max(0.0, 1.0 - share))
        chosen = margin >= line
        inside = chosen[which]
        count, errors = int(inside.sum()), int(wrong[inside].sum())
        upper = error_bound(errors, count, confidence)
        if upper > max_error:
            rate = errors / count if count else 0.0
            among = labels_needed(rate, max_error=max_error, confidence=confidence)
            needed = None if among is None else ceil(among / chosen.mean())
            break
        automatic, bound = chosen, upper
    share = float(automatic.mean())
    return Certificate(
        automatic, share, bound, max_error, confidence, count, errors, needed
    )


def error_bound(errors: int, labels: int, confidence: float = 0.9) -> float:
    """Upper confidence bound on a share of errors (Clopper and Pearson 1934).

    >>> round(error_bound(0, 22), 4), error_bound(0, 0)
    (0.0994, 1.0)
    """
    if errors >= labels:
        return 1.0
    return float(betaincinv(errors + 1, labels - errors, confidence))


def labels_needed(
    error_rate: float, *, max_error: float = 0.1, confidence: float = 0.9
) -> int | None:
    """Labels after which errors at this rate are shown to be at most ``max_error``.

    >>> labels_needed(0.0), labels_needed(0.0, max_error=0.05), labels_needed(0.05)
    (22, 45, 91)
    >>> labels_needed(0.2) is None
    True
    """
    _check_shares(max_error, confidence)
    if error_rate >= max_error:
        return None
    low = ceil(log(1 - confidence) / log(1 - max_error))
    high = low

    def suffices(labels: int) -> bool:
        errors = ceil(error_rate * labels)
        return error_bound(errors, labels, confidence) <= max_error

    while not suffices(high):
        high *= 2
        if high > MAX_LABELS:
            return None
    # The bound rises by a step with every error: the first number from which it holds.
    return next(n for n in range(max(low, high // 2), high + 1) if suffices(n))


def review_order(pooled: ArrayLike, costs: Costs | None = None) -> IntArray:
    """Return the cases in the order in which a person should see them.

    First those whose automatic decision has the largest expected cost.

    >>> review_order([0.02, 0.3, 0.95], Costs(fn=10, fp=1))
    array([1, 0, 2])
    """
    expected = expected_decision_cost(pooled, costs)
    return np.argsort(-expected, kind="stable")


def expected_decision_cost(pooled: ArrayLike, costs: Costs | None = None) -> FloatArray:
    """Expected cost (T,) of the best automatic decision of each case.

    >>> expected_decision_cost([0.02, 0.3, 0.95], Costs(fn=10, fp=1)).round(2)
    array([0.2 , 0.7 , 0.05])
    """
    chances = to_classes(as_pooled(pooled))
    expected = (costs or Costs()).expected(chances)
    return np.asarray(expected.min(axis=-1))


def _check_shares(max_error: float, confidence: float) -> None:
    for name, share in (("max_error", max_error), ("confidence", confidence)):
        if not 0 < share < 1:
            raise SettingError(f"{name} must lie between 0 and 1; got {share!r}")
