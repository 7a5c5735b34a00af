"""What each score of judges is worth as a probability."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from truepool.core.arrays import FloatArray, IntArray, logit
from truepool.pools.training.certainty import LARGEST_CLIP

PRIOR_LABELS = 4.0
"""Labels that speak for equal steps at every score, before any other is seen."""


@dataclass(frozen=True, eq=False)
class ScoreScale:
    """What scores, as shares of their range, stand for.

    ``probabilities`` are how often the event happened at each score, on a rising curve.
    ``verdicts`` are what is pooled in their place: the same in log-odds, stretched
    about the base rate to the spread of equal steps. A mean of calibrated verdicts
    would be under-confident.
    """

    shares: FloatArray
    probabilities: FloatArray
    verdicts: FloatArray

    def apply(self, reports: FloatArray) -> FloatArray:
        """Replace scores by verdicts; linear between those that were seen."""
        return np.interp(reports, self.shares, self.verdicts)


def fit_scale(
    reports: FloatArray, labels: IntArray, weights: FloatArray | None = None
) -> ScoreScale:
    """Fit one rising curve to the scores (T, N) of all judges (isotonic regression).

    A score s from 1 to 5 comes in as (s - 1) / 4. The scores of one item share its
    label and count together as one. `PRIOR_LABELS` labels at each score stand for equal
    steps, so that a score seen once does not become 0 or 1.

    >>> scores = np.array([[0.0, 0.25], [0.5, 0.75], [1.0, 1.0], [0.25, 0.5]] * 9)
    >>> scale = fit_scale(scores, np.array([0, 1, 1, 0] * 9))
    >>> scale.probabilities.round(2)
    array([0.  , 0.08, 0.5 , 0.88, 1.  ])
    """
    from sklearn.isotonic import isotonic_regression

    known = ~np.isnan(reports)
    answers = known.sum(axis=1)
    each = np.ones(len(labels)) if weights is None else weights
    count = np.repeat(each / np.maximum(answers, 1), answers)
    happened = np.repeat(labels, answers)
    given = reports[known]
    shares, place = np.unique(np.append(given, [0.0, 1.0]), return_inverse=True)
    place = place[: len(given)]
    seen = np.bincount(place, count, len(shares)) + PRIOR_LABELS
    positive = np.bincount(place, count * happened, len(shares))
    rates = (positive + PRIOR_LABELS * shares) / seen
    fitted = np.asarray(isotonic_regression(rates, sample_weight=seen))
    curve, steps = (logit(values, LARGEST_CLIP) for values in (fitted, shares))
    base = float(logit(np.array([each @ labels / each.sum()]), LARGEST_CLIP)[0])
    spread = curve[place].std()
    stretch = steps[place].std() / spread if spread > 0 else 1.0
    return ScoreScale(shares, fitted, expit(base + (curve - base) * stretch))
