"""The pools that the paper compares, by its names."""

import numpy as np

from truepool import VCG, Panel
from truepool.core.arrays import FloatArray
from truepool.measures.scores import Confusion, confusion
from truepool.pools import Pool
from truepool.pools.best_agent import BestAgent
from truepool.pools.brier import Brier
from truepool.pools.log_odds import LogOdds
from truepool.pools.stacked_lr import StackedLR
from truepool.pools.vote import Vote
from truepool_lab.paper.settings import COSTS, THRESHOLD, UNCLIPPED
from truepool_lab.pools.confidence import Confidence
from truepool_lab.pools.externality import Externality
from truepool_lab.pools.stacked_mlp import StackedMLP

METHODS_READING = (
    "VCG by the 0/1 cost loss (FN 10, FP 1) at the table's threshold, Brier by inverse "
    "Brier loss, Externality by inverse gap to the others, confidence |p - 1/2|, "
    "Log-Odds the mean of log-odds, stacking 3-fold, the best single agent by the cost "
    "loss"
)


def vcg(threshold: float = THRESHOLD) -> VCG:
    """Return the weights that match the printed rows (READINGS 4)."""
    return VCG(loss="cost", costs=COSTS, threshold=threshold)


def methods(threshold: float = THRESHOLD, seed: int = 0) -> dict[str, Pool]:
    """Return the nine methods of tab:main_results.

    >>> len(methods())
    9
    """
    return {
        "VCG": vcg(threshold),
        "Brier": Brier(),
        "Externality": Externality(),
        "Majority Vote": Vote(threshold=threshold),
        "Conf-Weighted": Confidence(),
        "Log-Odds": LogOdds(clip=UNCLIPPED),
        "Stacking-LR": StackedLR(seed=seed),
        "Stacking-MLP": StackedMLP(seed=seed),
        "Best Individual": BestAgent(loss="cost", costs=COSTS, threshold=threshold),
    }


def pool_with(pool: Pool, validation: Panel, test: Panel) -> FloatArray:
    """Fit a pool on one panel and return its probabilities on the other."""
    return pool.fit_panel(validation).combine(test.values)


def platt_probabilities(
    validation: Panel, test: Panel, penalty: float = 0.0
) -> FloatArray:
    """Logistic regression on the mean report itself, as apd:platt describes it.

    Platt (1999) has no penalty on the slope; scikit-learn's default is 1, which
    matters with a few hundred rows. `truepool.pools.platt.Platt` scales log-odds
    instead.
    """
    from sklearn.linear_model import LogisticRegression

    known, new = (
        panel.reports.mean(axis=1, keepdims=True) for panel in (validation, test)
    )
    strength = 1 / penalty if penalty else np.inf
    model = LogisticRegression(C=strength, max_iter=1000).fit(
        known, validation.outcomes
    )
    found: FloatArray = model.predict_proba(new)
    return found[:, 1:]


def tally(pooled: FloatArray, test: Panel, threshold: float = THRESHOLD) -> Confusion:
    """Return the confusion counts at the threshold."""
    return confusion(pooled, test.outcomes, threshold=threshold)
