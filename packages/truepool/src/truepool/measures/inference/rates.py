"""True rates from a few labels and many pooled probabilities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.measures.inference.bootstrap import check_level, standard_errors

PSEUDO_LABELS = 2.0
"""Labels of each kind that are added (Agresti and Coull 1998): without them the
interval of a rare event is too narrow."""
MIN_LABELS = 2
"""With fewer labels nothing is said about their spread."""


@dataclass(frozen=True)
class Rate:
    """A rate with its interval.

    Attributes
    ----------
    estimate, low, high : float
        The rate, and the ends of its interval at ``level``; all in [0, 1].
    trust : float
        Weight of the predictions, in [0, 1]: 0 takes the labels alone.
    labels, unlabelled : int
        Number of cases with and without a label.
    """

    estimate: float
    low: float
    high: float
    level: float
    trust: float
    labels: int
    unlabelled: int


def estimate_rate(
    labels: ArrayLike,
    predictions: ArrayLike,
    unlabelled: ArrayLike = (),
    *,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Rate:
    r"""Share of cases in which the event happened, from labels and predictions.

    Prediction-powered inference with tuned weight (PPI++; Angelopoulos et al. 2023);
    the interval, not the estimate, has two pseudo-labels of each kind. With n labels m,
    predictions f of the labelled cases and :math:`f_U` of N others,

    .. math::
        \lambda = \mathrm{clip}\Bigl(\frac{\mathrm{cov}(m, f)}
            {(1 + n/N)\, \mathrm{var} f}, 0, 1\Bigr), \quad
        \theta = \lambda \bar f_U + \overline{m - \lambda f}.

    The predictions must not have been fitted to these labels: cross-fit them, or use a
    pool that needs none. The labelled cases must be a random sample, or have weights.

    Parameters
    ----------
    labels : (n,)
        0 or 1 for each labelled case.
    predictions, unlabelled : (n,), (N,)
        Probabilities of the event for the labelled and for the other cases.
    weights : (n,), optional
        How many cases each label stands for, where some had a better chance to be
        labelled. Means are weighted, and n is the effective number of labels,
        :math:`(\sum w)^2 / \sum w^2`.
    level : float
        Of the interval.

    Examples
    --------
    >>> rate = estimate_rate([1, 0, 1, 0] * 10, [0.9, 0.1, 0.8, 0.3] * 10, [0.5] * 400)
    >>> f"{rate.estimate:.2f} [{rate.low:.2f}, {rate.high:.2f}]"
    '0.47 [0.41, 0.55]'
    """
    m, f, others = (_vector(values) for values in (labels, predictions, unlabelled))
    w = _weights(weights, m)
    _check(m, f, others, w, level)
    whole, rest = np.ones(len(m)), np.ones(len(others))
    return _estimate(_Sample(m, f, w), whole, others, rest, level)


def estimate_class_rate(
    labels: ArrayLike,
    decisions: ArrayLike,
    predictions: ArrayLike,
    unlabelled: ArrayLike = (),
    unlabelled_decisions: ArrayLike = (),
    *,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Rate:
    r"""Share of the cases of a class that are decided so, from a few labels.

    The ratio of two PPI++ means with one weight :math:`\lambda`: with m = 1 in the
    class, d = 1 where decided so and f the probability of the class, :math:`\theta`
    solves :math:`\overline{m (d - \theta)} = 0`, both means corrected by f. Two
    pseudo-labels of each kind are added to those of the class: they widen the interval
    to the side that they pull to.

    >>> kind, said = [1, 1, 1, 0] * 10, [1, 0, 1, 0] * 10
    >>> found = estimate_class_rate(kind, said, [0.9, 0.4, 0.8, 0.2] * 10)
    >>> f"{found.estimate:.2f} [{found.low:.2f}, {found.high:.2f}]"
    '0.67 [0.48, 0.83]'
    """
    m, f, others = (_vector(values) for values in (labels, predictions, unlabelled))
    w = _weights(weights, m)
    _check(m, f, others, w, level)
    if not m.any():
        raise SettingError(
            "the rate of a class needs a label of that class; there is none. Label "
            "more cases."
        )
    said, said_of_others = _vector(decisions), _vector(unlabelled_decisions)
    return _estimate(_Sample(m, f, w), said, others, said_of_others, level, ratio=True)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Labels, predictions and weights of the labelled cases."""

    labels: FloatArray
    predictions: FloatArray
    weights: FloatArray

    @property
    def number(self) -> float:
        """Effective number of labels."""
        return float(self.weights.sum() ** 2 / np.square(self.weights).sum())

    def mean(self, values: FloatArray) -> float:
        return float(self.weights @ values / self.weights.sum())

    def squares(self, residuals: FloatArray) -> float:
        """Sum of squares about the mean, of as many values as the effective number."""
        apart = self.weights * (residuals - self.mean(residuals)) / self.weights.sum()
        return self.number**2 * float(apart @ apart)


def _estimate(
    known: _Sample,
    said: FloatArray,
    others: FloatArray,
    said_of_others: FloatArray,
    level: float,
    *,
    ratio: bool = False,
) -> Rate:
    """Return the rate; as a ratio, the share of ``said`` among cases of the class.

    Both solve for theta in a mean of scores, m (d - theta) or m d - theta, that is
    linear in it; a score has the prediction f (d - theta), or f d.
    """
    m, f, n, N = known.labels, known.predictions, known.number, len(others)
    base = known.mean(m * said) / known.mean(m) if ratio else 0.0
    score, guess = m * (said - base), f * (said - base)
    guess_of_others = others * (said_of_others - base)
    trust = 0.0
    spread = np.concatenate([guess, guess_of_others]).var(ddof=1)
    if N and spread > 0 and n > 1:  # one weight may outweigh all others
        together = known.mean(score * guess) - known.mean(score) * known.mean(guess)
        together *= n / (n - 1)
        trust = float(np.clip(together / ((1 + n / N) * spread), 0.0, 1.0))
    residuals = score - trust * guess
    centre = known.mean(residuals) + (trust * guess_of_others.mean() if N else 0.0)
    share = 1.0
    if ratio:
        share = known.mean(m - trust * f) + (trust * others.mean() if N else 0.0)
        share = max(share, 1 / n)
        centre = base + centre / share
    inside = float(np.clip(centre, 0.0, 1.0))
    total, pseudo = n * share + 2 * PSEUDO_LABELS, PSEUDO_LABELS
    pulled = centre + pseudo * (1 - 2 * inside) / total
    squares = known.squares(residuals)
    squares += pseudo * inside**2 + pseudo * (1 - inside) ** 2
    variance = squares / (total - 1) / total
    if N > 1:
        variance += (trust / share) ** 2 * guess_of_others.var(ddof=1) / N
    reach = standard_errors(level) * np.sqrt(variance)
    low, high = pulled - reach, pulled + reach
    if ratio:
        # A class has few labels, so its pseudo-labels pull far, and where predictions
        # leave little variance they would pull the interval off the rate.
        low, high = min(low, centre - reach), max(high, centre + reach)
    low, high = (float(end) for end in np.clip([low, high], 0.0, 1.0))
    estimate = min(max(inside, low), high)
    return Rate(estimate, low, high, level, trust, len(m), N)


def _weights(weights: ArrayLike | None, labels: FloatArray) -> FloatArray:
    """Weights of the labels, the largest 1; equal where none are given."""
    w = np.ones(len(labels)) if weights is None else _vector(weights)
    return w / w.max(initial=1e-300) if np.isfinite(w).all() else w


def _vector(values: ArrayLike) -> FloatArray:
    return np.asarray(values, dtype=np.float64).reshape(-1)


def _check(
    m: FloatArray, f: FloatArray, others: FloatArray, w: FloatArray, level: float
) -> None:
    if len(m) < MIN_LABELS:
        raise SettingError(
            f"a rate needs at least {MIN_LABELS} labels; got {len(m)}. "
            "Label more cases."
        )
    if len(f) != len(m):
        raise SettingError(
            "every labelled case needs its prediction; got "
            f"{len(m)} labels and {len(f)} predictions"
        )
    if not np.isin(m, (0.0, 1.0)).all():
        wrong = m[~np.isin(m, (0.0, 1.0))][0]
        raise SettingError(f"labels must be 0 or 1; got {wrong.item()!r}")
    if w.shape != m.shape or not (np.isfinite(w) & (w > 0)).all():
        raise SettingError(
            "every label needs one weight above 0; got "
            f"{len(w)} weights for {len(m)} labels, the smallest {w.min(initial=1):g}"
        )
    for values in (f, others):
        bad = ~((values >= 0) & (values <= 1))
        if bad.any():
            raise SettingError(
                f"predictions must lie in [0, 1]; got {values[bad][0].item()!r}"
            )
    check_level(level)
