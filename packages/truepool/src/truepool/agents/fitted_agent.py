"""A fitted agent: the features it sees and the classifier trained on them."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from truepool.agents.features.encoding import Encoder
from truepool.agents.interface import check_agent
from truepool.agents.zoo.interface import Model
from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.core.seeds import short_seed
from truepool.panel.labels import Labels

QUANTILES = np.linspace(0, 1, 21)


@dataclass(frozen=True, eq=False, repr=False)
class FittedAgent:
    """An agent that truepool trained, to be asked, saved and exported.

    Attributes
    ----------
    name : name of the agent
    classes_ : the labels it knows; of two, the positive one is the second
    positive : the positive label; None for more than two classes
    encoder : the columns it sees, and how they become numbers
    classifier : the fitted classifier; its labels are 0, 1, ...
    model : its model of the zoo; None for a classifier of your own
    calibration : method of calibration, if any
    grid : (21, F) quantiles of its training data, to check exports with
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
        """Probability of every class it knows, (T, K), from a table of features."""
        return self.predict_encoded(self.encoder.transform(X))

    def predict_encoded(self, values: FloatArray) -> FloatArray:
        """Probability of every class, (T, K), from encoded features (T, F)."""
        return np.asarray(self.classifier.predict_proba(values), dtype=np.float64)

    def __repr__(self) -> str:
        kind = self.model or type(self.classifier).__name__
        method = f", calibrated by {self.calibration}" if self.calibration else ""
        return (
            f"FittedAgent({self.name!r}, {kind}, {len(self.encoder.names_)} features, "
            f"{len(self.classes_)} classes{method})"
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
) -> FittedAgent:
    """Train one agent on features (T, F) and class numbers (T,), on one thread."""
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    from truepool.agents.calibration import calibrate, calibration_split

    short = short_seed(seed)
    model = agent if isinstance(agent, Model) else None
    untrained = (
        clone_with_seed(agent, short) if model is None else model.classifier(short)
    )
    check_agent(name, untrained)
    present, numbers = np.unique(outcomes, return_inverse=True)
    learn = np.arange(len(outcomes))
    if calibration is not None:
        learn, rest = calibration_split(numbers, short, name)
    with threadpool_limits(1), warnings.catch_warnings():
        if model is not None:
            # How long a model of the zoo learns is one of its settings, not a fault.
            warnings.simplefilter("ignore", ConvergenceWarning)
        trained = untrained.fit(values[learn], numbers[learn])
        if calibration is not None:
            trained = calibrate(trained, values[rest], numbers[rest], calibration)
    return FittedAgent(
        name,
        np.asarray(labels.names)[present],
        labels.positive,
        encoder,
        trained,
        model,
        calibration,
        _grid(values),
    )


def clone_with_seed(classifier: Any, seed: int) -> Any:
    """Return a copy of a classifier in which every unset ``random_state`` is set."""
    from sklearn.base import clone

    copy = clone(classifier)
    unset = [
        name
        for name, value in copy.get_params().items()
        if name.split("__")[-1] == "random_state" and value is None
    ]
    return copy.set_params(**dict.fromkeys(unset, seed))


def _grid(values: FloatArray) -> FloatArray:
    """Quantiles (21, F) of the columns, taken from their values; 0 for an empty one."""
    grid = np.zeros((len(QUANTILES), values.shape[1]))
    for i, column in enumerate(values.T):
        there = column[~np.isnan(column)]
        if len(there):
            grid[:, i] = np.quantile(there, QUANTILES, method="inverted_cdf")
    return grid
