"""Weights of the candidates that `auto` combines."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truepool.core.arrays import SMALLEST, FloatArray, IntArray, case_mean, logit
from truepool.measures.inference import Resamples
from truepool.measures.losses import Loss, outcome_probability

PRIOR = 5.0
"""Cases that the equal start of the weights counts for."""
CAUTIOUS = ("mean", "shrunk")
"""Candidates that lose little with few cases: one learns nothing, the other no more
than there is evidence for."""
CAUTION, FEW_CASES, MANY_CASES = 10.0, 10, 40
"""Cases that the prior of these counts for besides: so many with few cases, none with
many, and in between in proportion."""
STEPS, PRECISION = 100, 1e-7
"""When the weights have converged: most steps, and the largest change in the last."""
INSIDE, SHORTEST = 0.95, 1e-9
"""A step takes no more than this share of a weight away, and is not made shorter."""
SMALLEST_WEIGHT = 0.01
"""A candidate with less weight is dropped."""
REACH = 2.5
"""Log-odds around the threshold within which a probability matters to decisions."""
CERTAIN = 1e-9
"""Probabilities are clipped this far from 0 and 1 before their log-odds are taken."""
RESAMPLES = 1000
"""Over which the weights of averaged candidates are taken."""


@dataclass(frozen=True)
class Candidate:
    """How one pool did on cases that it had not learned from, and its weight."""

    name: str
    log_loss: float
    brier: float
    weight: float


def weigh(
    names: list[str],
    pooled: list[FloatArray],
    outcomes: IntArray,
    case_weights: FloatArray | None,
    cases: int,
    *,
    rare: bool = False,
    line: FloatArray | float | None = None,
    seed: int = 0,
) -> tuple[list[Candidate], FloatArray]:
    """Rows of the table, largest weight first, and the weights (M,) by name.

    ``pooled`` are probabilities out of fold; ``cases`` counts all that were given.
    Where the event is ``rare`` the candidates are averaged, else stacked; ``line`` is
    the threshold of the decisions, one or (T,), if it matters.
    """
    given = np.stack([outcome_probability(p, outcomes) for p in pooled], axis=1)
    given = np.maximum(given, SMALLEST)
    if rare:
        odds = np.stack([logit(p[:, 0], CERTAIN) for p in pooled], axis=1)
        losses = decision_losses(odds, outcomes, line)
        weights = average_weights(losses, case_weights, seed)
    else:
        weights = mixture_weights(given, case_weights, prior_cases(names, cases))
    shares = np.where(weights < min(SMALLEST_WEIGHT, weights.max()), 0.0, weights)
    shares /= shares.sum()
    brier = Loss("brier")
    table = [
        Candidate(
            names[i],
            float(case_mean(-np.log(given[:, i]), case_weights)),
            float(case_mean(brier.evaluate(pooled[i], outcomes), case_weights)),
            float(shares[i]),
        )
        for i in np.argsort(-weights, kind="stable")
    ]
    return table, shares


def decision_losses(
    odds: FloatArray, outcomes: IntArray, line: FloatArray | float | None
) -> FloatArray:
    """Log loss (T, M) of log-odds (T, M) of a positive outcome, as decisions see it.

    Log-odds are clipped `REACH` from those of the threshold: how far below it a case is
    said to be, or above, changes no decision. It is a proper loss, the cost averaged
    over the thresholds within reach. Without a ``line`` nothing is clipped.

    >>> odds = np.array([[-9.0, -5.0], [0.0, 1.0]])
    >>> decision_losses(odds, np.array([0, 1]), 0.5).round(3)
    array([[0.079, 0.079],
           [0.693, 0.313]])
    """
    if line is not None:
        centre = np.reshape(logit(np.asarray(line, dtype=np.float64), CERTAIN), (-1, 1))
        odds = np.clip(odds, centre - REACH, centre + REACH)
    signs = np.where(outcomes == 1, -1.0, 1.0)[:, None]
    return np.asarray(np.logaddexp(0.0, signs * odds))


def average_weights(
    losses: FloatArray, case_weights: FloatArray | None = None, seed: int = 0
) -> FloatArray:
    r"""Weights (M,) of models with losses (T, M), by how probable each is.

    :math:`w_m = E\bigl[e^{-L_m} / \sum_j e^{-L_j}\bigr]` over bootstrap resamples of
    the summed losses L (pseudo-BMA+, Yao et al. 2018). Stacking would have as many
    degrees of freedom as candidates, and a hundred events cannot tell fifteen apart.

    >>> average_weights(np.array([[0.1, 0.1, 0.7]] * 50)).round(2)
    array([0.5, 0.5, 0. ])
    """
    T = len(losses)
    weighted = losses if case_weights is None else case_weights[:, None] * losses
    sums = T * Resamples(T, RESAMPLES, seed).means(weighted)
    chances = np.exp(sums.min(axis=1, keepdims=True) - sums)
    return np.asarray((chances / chances.sum(axis=1, keepdims=True)).mean(axis=0))


def prior_cases(names: Sequence[str], cases: int) -> FloatArray:
    r"""Cases that the prior of each candidate counts for, (M,).

    :math:`s / M` of each, s = 5, and with T < 40 cases :math:`(40 - T) / 3` more that
    the plain mean and `shrunk` share.

    >>> prior_cases(["mean", "vcg", "shrunk", "platt", "beta"], 10)
    array([6., 1., 6., 1., 1.])
    >>> prior_cases(["mean", "vcg", "shrunk", "platt", "beta"], 40)
    array([1., 1., 1., 1., 1.])
    """
    cautious = np.isin(names, CAUTIOUS)
    few = min(max((MANY_CASES - cases) / (MANY_CASES - FEW_CASES), 0.0), 1.0)
    more = CAUTION * few * cautious / max(cautious.sum(), 1)
    return np.asarray(PRIOR / len(names) + more)


def mixture_weights(
    given: FloatArray,
    case_weights: FloatArray | None = None,
    prior: FloatArray | None = None,
) -> FloatArray:
    r"""Weights (M,) of greatest likelihood for probabilities (T, M) of what happened.

    ``prior`` (M,) has the cases that the start of each weight counts for, by default
    the same for all. They minimise
    :math:`n \sum_m w_m - \sum_t c_t \log \sum_m w_m p_{tm} - \sum_m s_m \log w_m`,
    whose minimum has a sum of 1 where n is that of all c and s, by Newton's method.

    >>> mixture_weights(np.array([[0.9, 0.5]] * 100)).round(2)
    array([0.95, 0.05])
    """
    T, M = given.shape
    prior = np.full(M, PRIOR / M) if prior is None else prior
    counted = np.ones(T) if case_weights is None else case_weights
    total = float(counted.sum() + prior.sum())

    def loss(weights: FloatArray, mixed: FloatArray) -> float:
        return float(
            total * weights.sum() - counted @ np.log(mixed) - prior @ np.log(weights)
        )

    weights = np.full(M, 1.0 / M)
    mixed = given @ weights
    value = loss(weights, mixed)
    for _ in range(STEPS):
        shares = given / mixed[:, None]
        slope = total - counted @ shares - prior / weights
        curve = (shares * counted[:, None]).T @ shares
        curve[np.diag_indices(M)] += prior / weights**2
        step = np.linalg.solve(curve, slope)
        size = min(1.0, INSIDE / max(float((step / weights).max()), INSIDE))
        if np.abs(step).max() <= PRECISION:
            break
        while True:
            new = weights - size * step
            mixed = given @ new
            found = loss(new, mixed)
            if found <= value or size < SHORTEST:
                break
            size /= 2
        weights, value = new, found
    return np.asarray(weights / weights.sum())
