"""metaforecast: online aggregation of experts, by squared loss; the last weights are used."""

import numpy as np
import pandas as pd
from features import fill, normalise
from metaforecast.ensembles import BOA, MLpol


def aggregate(rule):
    def fit(reports, outcomes):
        mixture = rule(loss_type="square", gradient=True, weight_by_uid=False)
        K = reports.shape[2]
        own = range(1, 2) if K == 2 else range(K)
        y = np.stack([outcomes == k for k in own], axis=1).astype(float)
        mixture.fit(table(fill(reports)[..., own], y))

        def predict(asked):
            given = table(fill(asked)[..., own])
            pooled = np.asarray(mixture.predict(given)).reshape(len(asked), -1)
            if K == 2:
                pooled = np.concatenate([1 - pooled, pooled], axis=1)
            return normalise(pooled)

        return predict

    return fit


def table(values, y=None):
    """One row per case and class, one column per agent."""
    T, N, C = values.shape
    flat = values.transpose(0, 2, 1).reshape(T * C, N)
    frame = pd.DataFrame(flat, columns=[f"agent{i}" for i in range(N)])
    frame["unique_id"], frame["ds"] = "case", np.arange(T * C)
    if y is not None:
        frame["y"] = y.reshape(-1)
    return frame


METHODS = {"BOA": aggregate(BOA), "ML-Poly": aggregate(MLpol)}
