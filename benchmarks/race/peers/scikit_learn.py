"""scikit-learn: the mean, logistic regression, isotonic regression, gradient boosting."""

import numpy as np
from features import columns, fill, logits, normalise
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV


def average(reports, outcomes):
    return lambda asked: np.nanmean(asked, axis=1)


def on_reports(reports):
    return columns(fill(reports))


def on_logits(reports):
    values = logits(reports)
    return values.reshape(len(values), -1)


def regression(model, features):
    def fit(reports, outcomes):
        known = model().fit(features(reports), outcomes)
        return spread(known, lambda asked: known.predict_proba(features(asked)))

    return fit


def spread(known, predict):
    """Give a class that the model has not seen the probability 0."""

    def wide(asked):
        pooled = np.zeros((len(asked), asked.shape[2]))
        pooled[:, known.classes_.astype(int)] = predict(asked)
        return pooled

    return wide


def cross_validated():
    return LogisticRegressionCV(
        Cs=10,
        cv=5,
        max_iter=1000,
        scoring="neg_log_loss",
        l1_ratios=(0,),
        use_legacy_attributes=False,
    )


def isotonic(reports, outcomes):
    """Isotonic regression of each class on its mean report."""
    mean = np.nanmean(reports, axis=1)
    curves = [
        IsotonicRegression(y_min=1e-3, y_max=1 - 1e-3, out_of_bounds="clip").fit(
            mean[:, k], outcomes == k
        )
        for k in range(mean.shape[1])
    ]

    def predict(asked):
        averages = np.nanmean(asked, axis=1)
        pooled = [curve.predict(averages[:, k]) for k, curve in enumerate(curves)]
        return normalise(np.stack(pooled, axis=1))

    return predict


METHODS = {
    "mean": average,
    "LR on reports": regression(lambda: LogisticRegression(max_iter=1000), on_reports),
    "LR on logits": regression(lambda: LogisticRegression(max_iter=1000), on_logits),
    "LRCV on reports": regression(cross_validated, on_reports),
    "LRCV on logits": regression(cross_validated, on_logits),
    "isotonic": isotonic,
    "HistGradientBoosting": regression(HistGradientBoostingClassifier, columns),
}
