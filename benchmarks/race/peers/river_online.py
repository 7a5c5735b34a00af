"""river: logistic regression by gradient steps, one pass; exponential weights of the agents."""

import numpy as np
from features import fill, logits, normalise
from river import base, ensemble, linear_model, preprocessing


class Column(base.Regressor):
    """An expert that repeats the report of one agent."""

    def __init__(self, name):
        self.name = name

    def learn_one(self, x, y):
        """Learn nothing."""

    def predict_one(self, x):
        return x[self.name]


def rows(values):
    flat = values.reshape(len(values), -1)
    return [dict(enumerate(row)) for row in flat.tolist()]


def logistic(reports, outcomes):
    K = reports.shape[2]
    model = preprocessing.StandardScaler() | (
        linear_model.LogisticRegression()
        if K == 2
        else linear_model.SoftmaxRegression()
    )
    for x, y in zip(rows(logits(reports)), outcomes.tolist(), strict=True):
        model.learn_one(x, bool(y) if K == 2 else y)

    def predict(asked):
        found = [model.predict_proba_one(x) for x in rows(logits(asked))]
        return normalise(np.array([[p.get(k, 0.0) for k in range(K)] for p in found]))

    return predict


def exponential_weights(reports, outcomes):
    K, N = reports.shape[2], reports.shape[1]
    models = [
        ensemble.EWARegressor([Column(i) for i in range(N)], learning_rate=0.5)
        for _ in range(K)
    ]
    for k, model in enumerate(models):
        for x, y in zip(rows(fill(reports)[..., k]), outcomes.tolist(), strict=True):
            model.learn_one(x, float(y == k))

    def predict(asked):
        full = fill(asked)
        pooled = [
            [model.predict_one(x) for x in rows(full[..., k])]
            for k, model in enumerate(models)
        ]
        return normalise(np.array(pooled).T)

    return predict


METHODS = {"LogisticRegression": logistic, "EWARegressor": exponential_weights}
