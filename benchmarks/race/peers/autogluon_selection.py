"""AutoGluon: greedy ensemble selection (Caruana et al. 2004) by log loss."""

import numpy as np
from autogluon.core.metrics import log_loss
from autogluon.core.models.greedy_ensemble.ensemble_selection import EnsembleSelection
from features import fill, normalise

SIZE = 100
"""AutoGluon's own default for weighted ensembles of many models."""


def select(reports, outcomes):
    binary = reports.shape[2] == 2
    chosen = EnsembleSelection(
        ensemble_size=SIZE,
        problem_type="binary" if binary else "multiclass",
        metric=log_loss,
        random_state=np.random.RandomState(0),
    )
    chosen.fit(members(reports), outcomes)

    def predict(asked):
        pooled = chosen.predict_proba(members(asked))
        if binary:
            pooled = np.stack([1 - pooled, pooled], axis=1)
        return normalise(pooled)

    return predict


def members(reports):
    """One array of predictions for each agent."""
    full = fill(reports)
    part = full[..., 1] if full.shape[2] == 2 else full
    return [np.ascontiguousarray(part[:, i]) for i in range(part.shape[1])]


METHODS = {"EnsembleSelection": select}
