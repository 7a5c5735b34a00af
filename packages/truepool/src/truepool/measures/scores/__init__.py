"""Scores of a series of pooled probabilities and of the decisions they lead to.

Class 0 is the negative class: a *miss* decides 0 in a case of another class, a *false
alarm* decides another class in a case of class 0.
"""

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import as_case_weights, case_mean
from truepool.measures.losses import Loss
from truepool.measures.scores.decision import RARE, Confusion, confusion
from truepool.measures.scores.probability import Murphy, auc, ece, loss, murphy
from truepool.measures.scores.smooth_calibration import smooth_ece
from truepool.panel.costs import Costs

__all__ = [
    "RARE",
    "Confusion",
    "Murphy",
    "auc",
    "confusion",
    "ece",
    "loss",
    "murphy",
    "smooth_ece",
    "summary",
]


def summary(
    pooled: ArrayLike,
    outcomes: ArrayLike,
    *,
    costs: Costs | None = None,
    threshold: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> dict[str, float]:
    """Every score by name.

    >>> summary([0.9, 0.2, 0.6], [1, 1, 0])["recall"]
    0.5
    """
    priced = Loss("cost", costs or Costs(), threshold)
    counts = confusion(
        pooled, outcomes, costs=costs, threshold=threshold, sample_weight=sample_weight
    )
    weights = as_case_weights(sample_weight, np.size(outcomes))
    parts = murphy(pooled, outcomes, sample_weight=sample_weight)
    return {
        "cost": case_mean(priced(pooled, outcomes), weights),
        "brier": parts.brier,
        "log": loss(pooled, outcomes, "log", sample_weight=sample_weight),
        "auc": auc(pooled, outcomes, sample_weight=sample_weight),
        "ece": ece(pooled, outcomes, bins=15, sample_weight=sample_weight),
        "ece10": ece(pooled, outcomes, bins=10, sample_weight=sample_weight),
        "ece_debiased": ece(pooled, outcomes, debias=True, sample_weight=sample_weight),
        "reliability": parts.reliability,
        "resolution": parts.resolution,
        "uncertainty": parts.uncertainty,
        "recall": counts.recall,
        "precision": counts.precision,
        "f1": counts.f1,
        "f1_macro": counts.f1_macro,
        "rare_recall": counts.rare_recall(),
        "accuracy": counts.accuracy,
        "fn_rate": counts.fn_rate,
        "fp_rate": counts.fp_rate,
    }
