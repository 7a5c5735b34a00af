"""Which cases may be decided without a person, and which should go to one."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from math import ceil, log
from typing import Literal, TypeAlias

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
from truepool.measures.decisions import decide
from truepool.panel.costs import Costs

FIRST_SHARE = 0.5
"""Share of cases, the surest ones, that is tested first."""
STEP = 0.05
"""How much larger the share is that is tested next."""
MAX_LABELS = 1_000_000
"""More labels than this are never suggested."""
MIN_FORECAST = 20
"""Labels in the share tested from which its share of errors is taken for a forecast."""
MAX_FORECASTS = 5
"""Numbers of labels for which a share is forecast."""
ROUND_NUMBERS = tuple(int(f"{d}{'0' * z}") for z in range(1, 6) for d in (1, 2, 5))
"""Numbers of labels that a forecast may be made for."""
CLIP = 1e-9


Outlook: TypeAlias = Literal["complete", "possible", "unknown", "unlikely", "beyond"]


@dataclass(frozen=True)
class Forecast:
    """What a number of labels would allow if the pool errs as often as it does now."""

    labels: int
    share: float


@dataclass(frozen=True, eq=False)
class Certificate:
    """Which cases may be decided without a person, with a guarantee.

    With probability at least ``confidence`` over the draw of the labelled cases, the
    share of errors among the cases in ``automatic`` is at most ``max_error`` if they
    are decided by ``decisions``.

    Attributes
    ----------
    automatic : (T,) of bool
        The cases that may be decided without a person.
    decisions : (T,) of int
        The decisions that were tested, of all cases.
    share : float
        Share of cases in ``automatic``.
    bound : float or None
        Upper confidence bound on their share of errors; None if there are none.
    labels, errors : int
        Labelled cases among the largest share tested, and how many the pool got wrong.
    outlook : str
        Whether more labels would allow more: "complete" if nothing is left, "possible"
        with about ``labels_needed``, "unknown" while few labels fall into the share
        tested, "unlikely" if it is shown to have too many errors, "beyond" if it would
        take more labels than there are cases.
    labels_needed : int or None
        Labels, drawn from all cases, for the next larger share: if the pool errs as
        often as it does there or, while that is unknown, not at all.
    forecast : tuple of Forecast
        The share that larger numbers of labels would allow; empty while unknown.
    """

    automatic: BoolArray
    decisions: IntArray
    share: float
    bound: float | None
    max_error: float
    confidence: float
    labels: int
    errors: int
    outlook: Outlook
    labels_needed: int | None
    forecast: tuple[Forecast, ...]


@dataclass(frozen=True, eq=False)
class _Step:
    """A share of cases that is tested, and what the labels in it say."""

    chosen: BoolArray
    labels: int
    errors: int

    @property
    def mass(self) -> float:
        return float(self.chosen.mean())

    @property
    def rate(self) -> float:
        return self.errors / self.labels if self.labels else 0.0


def certify(
    pooled: ArrayLike,
    labelled: ArrayLike,
    labels: ArrayLike,
    *,
    costs: Costs | None = None,
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
        Probabilities of all cases. They must not have been fitted to these labels.
    labelled : (n,) of int
        Which cases have a label: a random sample of all.
    labels : (n,)
        Their labels, 0 or 1.
    costs : Costs, optional
        Cases are decided at the lowest expected cost; the surest are those whose
        decision is most probably right.
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
    check_shares(max_error, confidence)
    if which.shape != truth.shape:
        raise SettingError(
            "every labelled case needs one label; got "
            f"{len(which)} cases and {len(truth)} labels"
        )
    decisions = decide(p, costs)
    wrong = decisions[which] != truth
    steps = list(_steps(np.where(decisions == 1, p, 1 - p), which, wrong))
    bounds = [error_bound(step.errors, step.labels, confidence) for step in steps]
    passed = next(
        (i for i, bound in enumerate(bounds) if bound > max_error), len(steps)
    )
    last = steps[min(passed, len(steps) - 1)]
    automatic = steps[passed - 1].chosen if passed else np.zeros(len(p), dtype=bool)
    outlook: Outlook = "complete"
    needed: int | None = None
    forecast: tuple[Forecast, ...] = ()
    if not automatic.all():
        outlook, needed = _outlook(last, max_error, confidence)
        if last.labels >= MIN_FORECAST:
            limits = max_error, confidence
            forecast = tuple(_forecast(steps, passed, len(truth), *limits))
    return Certificate(
        automatic, decisions, float(automatic.mean()),
        bounds[passed - 1] if passed else None, max_error, confidence,
        last.labels, last.errors, outlook, needed, forecast,
    )  # fmt: skip


def _steps(right: FloatArray, labelled: IntArray, wrong: BoolArray) -> Iterator[_Step]:
    """Yield larger and larger shares of the cases, by the chance of being right."""
    margin = logit(right, CLIP)
    for share in np.arange(FIRST_SHARE, 1.0 + STEP / 2, STEP):
        chosen = margin >= np.quantile(margin, max(0.0, 1.0 - share))
        inside = chosen[labelled]
        yield _Step(chosen, int(inside.sum()), int(wrong[inside].sum()))


def _outlook(
    step: _Step, max_error: float, confidence: float
) -> tuple[Outlook, int | None]:
    """Say whether more labels would allow a share, and how many."""
    known = step.labels >= MIN_FORECAST
    fewest = 1 - error_bound(step.labels - step.errors, step.labels, confidence)
    if known and fewest > max_error:
        return "unlikely", None
    if known and step.rate >= max_error:
        return "unknown", None
    rate = step.rate if known else 0.0
    among = labels_needed(rate, max_error=max_error, confidence=confidence)
    needed = None if among is None else ceil(among / step.mass)
    if needed is None or needed > len(step.chosen):
        return "beyond", None
    return ("possible" if known else "unknown"), needed


def _forecast(
    steps: list[_Step], passed: int, labels: int, max_error: float, confidence: float
) -> Iterator[Forecast]:
    """Forecast the share for round numbers of labels, as far as there are cases."""
    most = len(steps[0].chosen)
    rounds = (n for n in ROUND_NUMBERS if labels < n <= most)
    for n in [*rounds][:MAX_FORECASTS]:
        reached = steps[passed - 1].mass if passed else 0.0
        for step in steps:
            among = int(n * step.mass)
            errors = ceil(step.rate * among)
            if error_bound(errors, among, confidence) > max_error:
                break
            reached = max(reached, step.mass)
        yield Forecast(n, reached)


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
    """Labels from which on errors at this rate are shown to be at most ``max_error``.

    The bound rises by a step with every error, so that a smaller number may be enough,
    and a few more labels not.

    >>> labels_needed(0.0), labels_needed(0.0, max_error=0.05), labels_needed(0.05)
    (22, 45, 104)
    >>> labels_needed(0.2) is None
    True
    """
    check_shares(max_error, confidence)
    if error_rate >= max_error:
        return None
    low = high = ceil(log(1 - confidence) / log(1 - max_error))

    def suffices(labels: int, more: int = 0) -> bool:
        errors = ceil(error_rate * labels) + more
        return error_bound(errors, labels, confidence) <= max_error

    # With an error more, larger numbers suffice as well.
    while error_rate and not suffices(high, 1):
        high *= 2
        if high > MAX_LABELS:
            return None
    enough = takewhile(suffices, range(high, low - 1, -1))
    return min(enough)


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
    expected = (costs or Costs()).expected_cost(chances)
    return np.asarray(expected.min(axis=-1))


def check_shares(max_error: float, confidence: float) -> None:
    """Refuse limits that are no shares."""
    for name, share in (("max_error", max_error), ("confidence", confidence)):
        if not 0 < share < 1:
            raise SettingError(f"{name} must lie between 0 and 1; got {share!r}")
