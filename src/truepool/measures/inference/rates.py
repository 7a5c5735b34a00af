"""True rates from a few labels and many pooled probabilities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError

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
    level: float = 0.95,
) -> Rate:
    r"""Share of cases in which the event happened, from labels and predictions.

    Prediction-powered inference with tuned weight (PPI++; Angelopoulos et al. 2023),
    and two pseudo-labels of each kind. With n labels m, predictions f of the labelled
    cases and :math:`f_U` of N others,

    .. math::
        \lambda = \mathrm{clip}\Bigl(\frac{\mathrm{cov}(m, f)}
            {(1 + n/N)\, \mathrm{var} f}, 0, 1\Bigr), \quad
        \theta = \lambda \bar f_U + \overline{m - \lambda f}.

    The predictions must not have been fitted to these labels: cross-fit them, or use a
    pool that needs none. The labelled cases must be a random sample.

    Parameters
    ----------
    labels : (n,)
        0 or 1 for each labelled case.
    predictions, unlabelled : (n,), (N,)
        Probabilities of the event for the labelled and for the other cases.
    level : float
        Of the interval.

    Examples
    --------
    >>> rate = estimate_rate([1, 0, 1, 0] * 10, [0.9, 0.1, 0.8, 0.3] * 10, [0.5] * 400)
    >>> f"{rate.estimate:.2f} [{rate.low:.2f}, {rate.high:.2f}]"
    '0.48 [0.41, 0.55]'
    """
    m, f, others = (_vector(values) for values in (labels, predictions, unlabelled))
    _check(m, f, others, level)
    n, N = len(m), len(others)
    trust = 0.0
    spread = np.concatenate([f, others]).var(ddof=1)
    if N and spread > 0:
        together = np.cov(m, f)[0, 1]
        trust = float(np.clip(together / ((1 + n / N) * spread), 0.0, 1.0))
    residuals = m - trust * f
    centre = residuals.mean() + (trust * others.mean() if N else 0.0)
    inside = float(np.clip(centre, 0.0, 1.0))
    total, pseudo = n + 2 * PSEUDO_LABELS, PSEUDO_LABELS
    centre += pseudo * (1 - 2 * inside) / total
    squares = ((residuals - residuals.mean()) ** 2).sum()
    squares += pseudo * inside**2 + pseudo * (1 - inside) ** 2
    variance = squares / (total - 1) / total
    if N > 1:
        variance += trust**2 * others.var(ddof=1) / N
    reach = float(ndtri((1 + level) / 2)) * np.sqrt(variance)
    ends = np.clip([centre, centre - reach, centre + reach], 0.0, 1.0)
    estimate, low, high = (float(end) for end in ends)
    return Rate(estimate, low, high, level, trust, n, N)


def _vector(values: ArrayLike) -> FloatArray:
    return np.asarray(values, dtype=np.float64).reshape(-1)


def _check(m: FloatArray, f: FloatArray, others: FloatArray, level: float) -> None:
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
    for values in (f, others):
        bad = ~((values >= 0) & (values <= 1))
        if bad.any():
            raise SettingError(
                f"predictions must lie in [0, 1]; got {values[bad][0].item()!r}"
            )
    if not 0 < level < 1:
        raise SettingError(f"level must lie between 0 and 1; got {level!r}")
