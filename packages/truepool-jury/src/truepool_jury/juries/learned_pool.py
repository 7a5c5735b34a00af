"""The pool that learns from a few labels, next to one that needs none."""

import numpy as np

from truepool.core.arrays import BoolArray, FloatArray, IntArray
from truepool.measures.folds import stratify
from truepool.panel.panel import Panel
from truepool.pools.crowd import Crowd
from truepool.pools.log_odds import LogOdds
from truepool.pools.shrunk import Shrunk
from truepool_jury.juries.score_scale import ScoreScale, fit_scale
from truepool_jury.juries.verdicts import Verdicts

MIN_FITTED = 10
"""Labels from which the pool learns from them."""
FOLDS = 10
"""Parts of the labelled items; each is pooled by what the others teach.

With five, the pools of labelled items saw a fifth of the labels less than the pool in
use: where labels teach much, the cost came out too high (docs/jury.md).
"""


def learn_pool(
    verdicts: Verdicts, seed: int, *, scores: bool
) -> tuple[str, FloatArray]:
    """Return which pool is used, and its probabilities; of labelled items out of fold.

    The one without labels, or from ten labels on the one that learns from them.
    """
    pooled = verdicts.anchor.copy()
    free = Crowd.name if verdicts.by_votes else LogOdds.name
    if len(verdicts.labels) < MIN_FITTED:
        return free, pooled
    part = stratify(verdicts.labels, FOLDS, seed)
    folds = [(verdicts.labelled[part == fold], part != fold) for fold in range(FOLDS)]
    folds.append((verdicts.unlabelled, np.ones(len(part), dtype=bool)))
    for items, known in folds:
        if len(items):
            pooled[items] = _learn(verdicts, items, known, scores=scores)
    return f"{Shrunk.name} + {free}" if verdicts.by_votes else Shrunk.name, pooled


def _learn(
    verdicts: Verdicts, items: IntArray, known: BoolArray, *, scores: bool
) -> FloatArray:
    """Pool items by what some of the labels, (n,) of bool, teach."""
    panel = verdicts.panel().take(np.flatnonzero(known))
    values = verdicts.reports[items]
    if scores:
        scale = fit_scale(panel.reports, panel.outcomes, panel.weights)
        panel, values = (
            panel.with_reports(scale.apply(panel.reports)),
            scale.apply(values),
        )
    if verdicts.by_votes:  # the weighed votes are one more judge
        votes = verdicts.anchor[:, None]
        learned = np.hstack([panel.reports, votes[verdicts.labelled[known]]])
        panel = Panel(learned, panel.outcomes, weights=panel.weights)
        values = np.hstack([values, votes[items]])
    return Shrunk().fit_panel(panel).combine(values[:, :, None])[:, 0]


def score_scale(verdicts: Verdicts) -> ScoreScale:
    """Say what each score is worth, by all labels."""
    panel = verdicts.panel()
    return fit_scale(panel.reports, panel.outcomes, panel.weights)
