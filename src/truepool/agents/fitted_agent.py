"""A trained agent: what it sees of a row, and what it makes of that."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from truepool.agents.interface import check_speaks
from truepool.agents.zoo.interface import Model
from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.data.features.encoding import Encoder
from truepool.data.labels import Labels

QUANTILES = np.linspace(0, 1, 21)


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """An agent that was trained, as it is saved, asked and exported.

    Attributes
    ----------
    name : what it is called
    classes_ : the labels it knows; of two, the positive one is the second
    positive : the positive label, None where it was trained on more than two
    encoder : the columns it sees, and how they become numbers
    classifier : what was fitted; it knows the labels as 0, 1, ...
    model : the kind of model it is, None for a classifier of your own
    calibration : how it was calibrated, if it was
    grid : (21, F) quantiles of what it was trained on, to check exports with
    """

    name: str
    classes_: Array
    positive: Any
    encoder: Encoder
    classifier: Any
    model: Model | None
    calibration: str | None
    grid: FloatArray

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of every class it knows, (T, K), from rows as it was given."""
        return self.answer(self.encoder.transform(X))

    def answer(self, values: FloatArray) -> FloatArray:
        """Probability of every class from numbers (T, F) of the columns it sees."""
        return np.asarray(self.classifier.predict_proba(values), dtype=np.float64)

    def __repr__(self) -> str:
        kind = self.model or type(self.classifier).__name__
        told = f", calibrated by {self.calibration}" if self.calibration else ""
        return (
            f"Fitted({self.name!r}, {kind}, {len(self.encoder.names_)} features, "
            f"{len(self.classes_)} classes{told})"
        )


def fit(
    name: str,
    agent: Any,
    encoder: Encoder,
    values: FloatArray,
    outcomes: IntArray,
    labels: Labels,
    *,
    seed: int,
    calibration: str | None = None,
) -> Fitted:
    """Train one agent on numbers (T, F) and class numbers (T,), on one thread."""
    from threadpoolctl import threadpool_limits

    from truepool.agents.calibration import calibrated, held_out

    model = agent if isinstance(agent, Model) else None
    untrained = seeded(agent, seed) if model is None else model.classifier(seed)
    check_speaks(name, untrained)
    present, numbers = np.unique(outcomes, return_inverse=True)
    learn = np.arange(len(outcomes))
    if calibration is not None:
        learn, rest = held_out(numbers, seed, name)
    with threadpool_limits(1):
        trained = untrained.fit(values[learn], numbers[learn])
        if calibration is not None:
            trained = calibrated(trained, values[rest], numbers[rest], calibration)
    return Fitted(
        name,
        np.asarray(labels.names)[present],
        labels.positive,
        encoder,
        trained,
        model,
        calibration,
        _grid(values),
    )


def seeded(classifier: Any, seed: int) -> Any:
    """Return a copy of a classifier of your own, seeded where it was left to chance."""
    from sklearn.base import clone

    copy = clone(classifier)
    unset = [
        name
        for name, value in copy.get_params().items()
        if name.split("__")[-1] == "random_state" and value is None
    ]
    return copy.set_params(**dict.fromkeys(unset, seed))


def _grid(values: FloatArray) -> FloatArray:
    """Quantiles (21, F) that are values of the column, 0 for one without any."""
    grid = np.zeros((len(QUANTILES), values.shape[1]))
    for i, column in enumerate(values.T):
        there = column[~np.isnan(column)]
        if len(there):
            grid[:, i] = np.quantile(there, QUANTILES, method="inverted_cdf")
    return grid
