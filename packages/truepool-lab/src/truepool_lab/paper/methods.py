"""The pools that the paper compares, by its names."""

import warnings

import numpy as np

from truepool import VCG, Panel
from truepool.core.arrays import FloatArray
from truepool.core.seeds import short_seed
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
    "Log-Odds the mean of log-odds, the best single agent by the cost loss"
)
STACKING_READING = (
    "stacking on the probabilities of agents cross-fitted in 3 folds over all training "
    "rows, as stated (the rows that end in 'on log-odds': on the log-odds of "
    "the reports that all other pools learn from)"
)
ON_LOG_ODDS = {
    "Stacking-LR": "Stacking-LR, on log-odds",
    "Stacking-MLP": "Stacking-MLP, on log-odds",
}
"""The stacking of sec:experiments, and our pool in its place: learned on the log-odds
of agents that have not seen the fifth of the rows that all other pools learn from."""


def vcg(threshold: float = THRESHOLD) -> VCG:
    """Return the weights that match the printed rows (READINGS 4)."""
    return VCG(loss="cost", costs=COSTS, threshold=threshold)


def methods(threshold: float = THRESHOLD, seed: int = 0) -> dict[str, Pool]:
    """Return the methods of tab:main_results that learn from the reports on a fifth.

    Stacking is on log-odds here; that of the paper is `stack`.

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
        ON_LOG_ODDS["Stacking-LR"]: StackedLR(seed=seed),
        ON_LOG_ODDS["Stacking-MLP"]: StackedMLP(seed=seed),
        "Best Individual": BestAgent(loss="cost", costs=COSTS, threshold=threshold),
    }


def pool_with(pool: Pool, validation: Panel, test: Panel) -> FloatArray:
    """Fit a pool on one panel and return its probabilities on the other."""
    return pool.fit_panel(validation).combine(test.values)


def stack(known: Panel, test: Panel, seed: int = 0) -> dict[str, FloatArray]:
    """Second-level models on agents' probabilities, as sec:experiments has them.

    ``known`` are reports of cross-fitted agents. The paper gives no settings: the
    regression is scikit-learn's, the network has one hidden layer of 32, as ours.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    models = {
        "Stacking-LR": LogisticRegression(max_iter=1000),
        "Stacking-MLP": MLPClassifier(
            (32,), alpha=1e-3, max_iter=300, random_state=short_seed(seed)
        ),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return {
            name: model.fit(known.reports, known.outcomes).predict_proba(test.reports)[
                :, 1:
            ]
            for name, model in models.items()
        }


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
