"""Scores of probabilities: losses, ranking and calibration."""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from truepool.core.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_case_weights,
    as_outcomes,
    as_pooled,
    case_mean,
    classes,
)
from truepool.core.errors import SettingError
from truepool.measures.losses import Loss, indicator
from truepool.panel.costs import Costs


def check_series(
    pooled: ArrayLike, outcomes: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[FloatArray, IntArray, FloatArray | None]:
    """Return coordinates (T, C), outcomes (T,) and case weights (T,) or None."""
    p = as_pooled(pooled)
    y = as_outcomes(outcomes, classes(p.shape[1]))
    if len(p) != len(y) or not len(y):
        raise SettingError(
            "scores need at least one case, with one pooled probability per outcome; "
            f"got {len(p)} and {len(y)} outcomes"
        )
    return p, y, as_case_weights(sample_weight, len(y))


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Part by whole, NaN where the whole is 0."""
    safe = np.where(whole > 0, whole, 1.0)
    return np.where(whole > 0, part / safe, np.nan)


@dataclass(frozen=True)
class Murphy:
    r"""Decomposition of the Brier loss (Murphy 1973; Stephenson et al. 2008 for bins).

    brier = reliability - resolution + uncertainty + within. ``within`` is the
    part due to binning; it is 0 without bins.
    """

    brier: float
    reliability: float
    resolution: float
    uncertainty: float
    within: float


def loss(
    pooled: ArrayLike,
    outcomes: ArrayLike,
    name: str = "brier",
    *,
    costs: Costs | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean of a named loss over the cases.

    >>> loss([0.5, 1.0], [1, 1])
    0.125
    """
    p, y, w = check_series(pooled, outcomes, sample_weight)
    return float(case_mean(Loss(name, costs or Costs()).evaluate(p, y), w))


def auc(
    pooled: ArrayLike, outcomes: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Area under the ROC curve; the mean of one class against the rest when K > 2.

    >>> auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    p, y, w = check_series(pooled, outcomes, sample_weight)
    truth = indicator(y, classes(p.shape[1]))
    each = [
        _area(p[:, c], truth[:, c] == 1, w)
        for c in range(p.shape[1])
        if 0 < truth[:, c].mean() < 1
    ]
    return float(np.mean(each)) if each else float("nan")


def _area(scores: FloatArray, truth: BoolArray, weights: FloatArray | None) -> float:
    """Share of the pairs of a positive and a negative case that are in order.

    Without weights pairs are counted, so that the area is 1 exactly where all are.
    """
    if weights is not None:
        from sklearn.metrics import roc_auc_score  # takes a second

        return float(roc_auc_score(truth, scores, sample_weight=weights))
    from scipy.stats import rankdata  # likewise

    positive = int(truth.sum())
    pairs = rankdata(scores)[truth].sum() - positive * (positive + 1) / 2
    return float(pairs / (positive * (len(truth) - positive)))


def ece(
    pooled: ArrayLike,
    outcomes: ArrayLike,
    *,
    bins: int = 15,
    debias: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Expected calibration error over bins of equal width.

    :math:`\sum_b \frac{n_b}{n} |\bar p_b - \bar y_b|`. Binary: probability of class 1
    against its frequency. K > 2: confidence in the likeliest class against how often
    it occurs. The plain estimate is above 0 even for a calibrated pool; ``debias``
    subtracts what sampling adds to the gap of each bin, under a normal approximation
    (Kumar, Liang & Ma 2019). That removes about a third of the bias for a calibrated
    pool, and nearly all of it where the gaps are large.

    >>> ece([0.2] * 10, [1] * 3 + [0] * 7, bins=10).__round__(6)
    0.1
    """
    p, y, w = check_series(pooled, outcomes, sample_weight)
    if bins < 1:
        raise SettingError(f"there must be at least one bin; got bins={bins}")
    if p.shape[1] == 1:
        confidence, correct = p[:, 0], y.astype(np.float64)
    else:
        confidence, correct = p.max(axis=1), (p.argmax(axis=1) == y).astype(np.float64)
    group = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    w = np.ones(len(confidence)) if w is None else w
    mass, mean_p, frequency = _by_group(group, confidence, correct, w)
    gap = np.abs(mean_p - frequency)
    if debias:
        count = mass**2 / np.maximum(np.bincount(group, w * w, len(mass)), 1e-300)
        spread = np.sqrt(frequency * (1 - frequency) / np.maximum(count, 1.0))
        gap = 2 * gap - _folded_normal_mean(gap, spread)
    return float((mass * gap).sum() / mass.sum())


def murphy(
    pooled: ArrayLike,
    outcomes: ArrayLike,
    *,
    bins: int | None = 10,
    sample_weight: ArrayLike | None = None,
) -> Murphy:
    """Decompose the Brier loss into reliability, resolution and uncertainty.

    Cases are grouped by bins of equal width, or by equal probabilities when ``bins``
    is None. For K > 2 the parts are sums over the classes.

    >>> parts = murphy([0.2, 0.2, 0.8, 0.8], [0, 1, 1, 1], bins=None)
    >>> round(parts.reliability - parts.resolution + parts.uncertainty, 6)
    0.19
    >>> round(parts.brier, 6)
    0.19
    """
    p, y, w = check_series(pooled, outcomes, sample_weight)
    if bins is not None and bins < 1:
        raise SettingError(f"there must be at least one bin; got bins={bins}")
    w = np.ones(len(p)) if w is None else w
    truth = indicator(y, classes(p.shape[1]))
    parts = np.zeros(5)
    for c in range(p.shape[1]):
        confidence, correct = p[:, c], truth[:, c]
        if bins is None:
            group = np.unique(confidence, return_inverse=True)[1]
        else:
            group = np.minimum((confidence * bins).astype(np.int64), bins - 1)
        mass, mean_p, frequency = _by_group(group, confidence, correct, w)
        share = mass / mass.sum()
        base = (share * frequency).sum()
        total = case_mean((confidence - correct) ** 2, w)
        reliability = (share * (mean_p - frequency) ** 2).sum()
        resolution = (share * (frequency - base) ** 2).sum()
        uncertainty = base * (1 - base)
        within = total - (reliability - resolution + uncertainty)
        parts += (total, reliability, resolution, uncertainty, within)
    return Murphy(*parts.tolist())


def _by_group(
    group: IntArray, confidence: FloatArray, correct: FloatArray, w: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mass, mean probability and frequency of every group, 0 where it is empty."""
    mass = cast(FloatArray, np.bincount(group, w))
    p_mass = cast(FloatArray, np.bincount(group, w * confidence))
    positive_mass = cast(FloatArray, np.bincount(group, w * correct))
    return (
        mass,
        np.nan_to_num(ratio(p_mass, mass)),
        np.nan_to_num(ratio(positive_mass, mass)),
    )


def _folded_normal_mean(mean: FloatArray, spread: FloatArray) -> FloatArray:
    """E|X| for X normal; the mean itself where there is no spread."""
    z = mean / np.where(spread > 0, spread, 1.0)
    bell = spread * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2)
    folded = bell + mean * (1 - 2 * ndtr(-z))
    return np.where(spread > 0, folded, mean)
