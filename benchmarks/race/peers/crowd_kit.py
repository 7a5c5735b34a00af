"""crowd-kit: votes of the agents, with the known outcomes as golden labels."""

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene, GoldMajorityVote
from features import normalise


def votes(reports, first=0):
    """One row per report: the likeliest class."""
    task, worker = np.nonzero(~np.isnan(reports[..., 0]))
    label = reports[task, worker].argmax(axis=1)
    return pd.DataFrame({"task": task + first, "worker": worker, "label": label})


def probabilities(found, first, count, K):
    wanted = found.reindex(index=range(first, first + count), columns=range(K))
    return normalise(wanted.fillna(0.0).to_numpy())


def dawid_skene(reports, outcomes):
    """It learns from the votes on the new cases, too."""
    T, K = len(reports), reports.shape[2]
    golden = pd.Series(outcomes, index=range(T))

    def predict(asked):
        both = pd.concat([votes(reports), votes(asked, T)], ignore_index=True)
        found = DawidSkene(n_iter=50).fit_predict_proba(both, golden)
        return probabilities(found, T, len(asked), K)

    return predict


def golden_vote(reports, outcomes):
    """A vote weighted by each agent's accuracy on the known outcomes."""
    K = reports.shape[2]
    model = GoldMajorityVote()
    model.fit(votes(reports), pd.Series(outcomes, index=range(len(reports))))

    def predict(asked):
        return probabilities(model.predict_proba(votes(asked)), 0, len(asked), K)

    return predict


METHODS = {"DawidSkene": dawid_skene, "GoldMajorityVote": golden_vote}
